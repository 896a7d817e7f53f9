// tcgen05: one thread multiplies into tensor memory, warps read it from there.
//
//   tensor_alloc<256>(tensor_base);                                   a whole warp
//   tcgen05_mma_f16(tensor_at(tensor_begin, 0, 0), tile_of(A_s, …), tile_of(B_s, …), 0x08400490,
//   …); tcgen05_commit(full, slot);                                       the same thread
//   tcgen05_ld_x32(&c[0], tensor_at(tensor_begin, 32 * q, 0));         a warp, its quarter of the
//   lanes tcgen05_wait_ld();
//
// A product is asked for by one thread and done by the tensor core, one after the other for each
// warp. What it reads and writes is looked at when it is asked for, with what the thread knows
// then; early, it is carried out at once, late, when no warp can go on (interp_tmem.c). An arrival
// that a commit makes tells of everything that was asked for before it, and comes when that is
// over.
//
// A block-scaled product takes factors from tensor memory besides: tcgen05_factors.c.
//
// M is 128 and one CTA does it: row r of C is lane r, column n of C is column n of the operand. Or
// a pair does, two CTAs of a cluster with ranks 2i and 2i + 1, by one thread of the even one: M is
// 256, each has the tile of A, the lanes and the columns for 128 rows, and the tile of B for half
// of the columns, at the same places of its own memory. Sources: PTX ISA, TensorCore 5th Generation
// Family Instructions: tcgen05.alloc, .mma, .commit, .ld, .st, .wait, .fence, and "Matrix fragments
// for shape .32x32b".
#include <string.h>

#include "base/whole.h"
#include "model/ir/matrix_tile.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/ops/tcgen05_inside.h"

enum { VECTOR = 4, N_MAX = TCGEN05_N_MAX, K_MAX = 64 };  // elements along K

// ---- check --------------------------------------------------------------------------------------

typedef struct Groups {
  const Stmt *other;  // the first that has another number of CTAs
  int group;
} Groups;

static bool has_group(OpKind kind) {
  return kind == OP_T_ALLOC || kind == OP_T_FREE || kind == OP_T_MMA || kind == OP_T_CP ||
         kind == OP_T_COMMIT;
}

static void look_for_group(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Groups *groups = context;
  if (stmt->kind != STMT_OP || !has_group(stmt->op.kind) || groups->other) return;
  if (tcgen05_group(&stmt->op) != groups->group) groups->other = stmt;
}

// All of a kernel have one number of CTAs.
const char *tcgen05_group_fault(Arena *arena, const Program *program, const Op *op) {
  Groups groups = {.group = tcgen05_group(op)};
  for (int i = 0; i < program->n_kernels; i++)
    stmt_walk(program->kernel[i].body, look_for_group, &groups);
  if (groups.other)
    return arena_printf(arena,
                        "%s has cta_group::%d, and %s (statement %d) has cta_group::%d: all must "
                        "be the same in a kernel",
                        op_name(op->kind), groups.group, op_name(groups.other->op.kind),
                        groups.other->id, tcgen05_group(&groups.other->op));
  const int64_t cluster = kernel_launch(program_main(program)).cluster;
  return groups.group == 1 || cluster % 2 == 0
             ? NULL
             : "a pair is two CTAs of a cluster: the cluster must have an even number of CTAs";
}

static const char *pair_columns_fault(Arena *arena, const Op *op) {
  enum { STEP = 16 };
  if (tcgen05_group(op) == 1 || op->atom->n % STEP == 0) return NULL;
  return arena_printf(arena,
                      "a pair cannot have %d columns: each CTA has half of them, a multiple of 8",
                      op->atom->n);
}

static const char *base_fault(Arena *arena, const Op *op, const Buffer *base) {
  if (base->role == ROLE_TENSOR_BASE) return NULL;
  return arena_printf(arena, "%s keeps its address in a word with the role %s, and %s is %s",
                      op_name(op->kind), buffer_role_name(ROLE_TENSOR_BASE), base->name,
                      buffer_role_name(base->role));
}

static const char *columns_fault(Arena *arena, int64_t columns) {
  if (tensor_can_allocate(columns)) return NULL;
  const int64_t near = tensor_allocation(min64(columns, TENSOR_COLUMNS));
  return arena_printf(arena,
                      "%lld columns of tensor memory: allocate a power of two from %d to %d, "
                      "such as %lld",
                      (long long)columns, TENSOR_COLUMNS_LEAST, TENSOR_COLUMNS, (long long)near);
}

static const char *alloc_fault(Arena *arena, const Program *program, const Code *code) {
  const Op *op = &code->stmt->op;
  const char *fault = base_fault(arena, op, op->dst.buffer);
  if (!fault) fault = columns_fault(arena, op->columns);
  return fault ? fault : tcgen05_group_fault(arena, program, op);
}

static const char *free_fault(Arena *arena, const Program *program, const Code *code) {
  const Op *op = &code->stmt->op;
  const char *fault = base_fault(arena, op, op->src.buffer);
  return fault ? fault : tcgen05_group_fault(arena, program, op);
}

static const char *mma_fault(Arena *arena, const Program *program, const Code *code) {
  const Op *op = &code->stmt->op;
  const Atom *atom = op->atom;
  if (!atom_is_of_thread(atom)) return "tcgen05.mma names no atom of one thread";
  const char *fault = tile_type_fault(arena, atom, ATOM_C, op->dst.buffer);
  if (!fault) fault = tile_type_fault(arena, atom, ATOM_A, op->src.buffer);
  if (!fault) fault = tile_type_fault(arena, atom, ATOM_B, op->src2.buffer);
  if (!fault) fault = tile_turned_fault(arena, op);
  if (!fault) fault = pair_columns_fault(arena, op);
  if (!fault) fault = tcgen05_factors_fault(arena, code);
  if (!fault && !operand_is_uniform(&code->dst))
    fault = "all lanes must name the same accumulators";
  for (int i = 0; i < 2 && !fault; i++) {
    const Operand *operand = i == 0 ? &code->src : &code->src2;
    if (operand->buffer->rank < 2)
      fault = "a tile needs a row and a column";
    else if (!value_is_uniform(&code->tile[i].corner))
      fault = "all lanes must name the same tile, but this differs by lane";
  }
  return fault ? fault : tcgen05_group_fault(arena, program, op);
}

static const char *commit_fault(Arena *arena, const Program *program, const Code *code) {
  const char *fault = mbar_place_fault(arena, program, code);
  const Op *op = &code->stmt->op;
  if (!fault) fault = tcgen05_group_fault(arena, program, op);
  if (fault || tcgen05_group(op) == 1 || op->ranks) return fault;
  return "a commit of a pair needs a mask: the ranks whose mbarriers it arrives at";
}

// .x1 to .x128 registers of 32 bits, one for each column.
static const char *move_fault(Arena *arena, const Program *program, const Code *code) {
  (void)program;
  const Op *op = &code->stmt->op;
  const Buffer *registers = op->dst.buffer->space == SPACE_TENSOR ? op->src.buffer : op->dst.buffer;
  if (dtype_bytes(registers->type) != 4)
    return arena_printf(arena, "%s moves values of 32 bits, and %s has %s", op_name(op->kind),
                        registers->name, dtype_name(registers->type));
  if (op->width >= 1 && op->width <= 128 && is_power_of_two(op->width)) return NULL;
  return arena_printf(arena, "%s moves %d columns: a power of two up to 128 can move at once",
                      op_name(op->kind), op->width);
}

static void prepare_mma(Arena *arena, const Program *program, Code *code) {
  const Op *op = &code->stmt->op;
  for (int i = 0; i < 2; i++) tile_prepare(arena, program, code, i);
  if (!op->tile[0].is_described || !op->tile[1].is_described) return;
  code->wrong = matrix_tile_instruction_difference(arena, op, matrix_tile_instruction(arena, op));
}

// ---- allocation ---------------------------------------------------------------------------------

static void run_alloc(Machine *m, Warp *w, const Code *code) {
  TensorMemory *tensor = &m->own->tensor;
  const int columns = (int)code->stmt->op.columns;
  if (!op_whole_warp(m, w, code)) return;
  if (tensor->gave_up || tensor->columns) {
    interp_report(m, FINDING_ALLOCATION, w, 0, code->stmt, NULL, 0,
                  "allocates %d columns, but the block has given up its right to more than %d",
                  columns, tensor->columns);
    return;
  }
  tensor->columns = columns;
  tensor->gave_up = true;
  tensor->alloc = touch_of(m, w, code);
  m->epoch++;
}

static void run_free(Machine *m, Warp *w, const Code *code) {
  const TensorMemory *tensor = &m->own->tensor;
  const int columns = (int)code->stmt->op.columns;
  if (!op_whole_warp(m, w, code)) return;
  if (columns != tensor->columns) {
    interp_report(m, FINDING_ALLOCATION, w, 0, code->stmt, NULL, 0,
                  tensor->columns ? "frees %d columns, but %d are allocated"
                                  : "frees %d columns, but none are allocated",
                  columns, tensor->columns);
    return;
  }
  tmem_release(m, w, code);
}

// ---- multiplying --------------------------------------------------------------------------------

typedef double Four __attribute__((vector_size(VECTOR * sizeof(double)), aligned(16)));
typedef union LaneSums {
  Four all[LANES / VECTOR];
  double lane[LANES];
} LaneSums;
typedef struct Operands {
  LaneSums a[TENSOR_QUARTERS][K_MAX];  // by k, lane after lane
  double b[N_MAX * K_MAX];
  int depth;      // elements along K
  int per_scale;  // that share a factor; 0: there are none
  TensorFactors factors;
} Operands;

// Rows of units become rows of elements.
static void read_elements(Machine *m, const Warp *w, const Code *code, const TensorWork *work,
                          int i, double *out) {
  const Buffer *buffer = (i == 0 ? &code->src : &code->src2)->buffer;
  const TilePart all = {0, code->tile[i].rows};
  const int each = dtype_elements(buffer->type), units = all.n_rows * code->tile[i].depth;
  if (buffer->space == SPACE_GLOBAL)
    tile_read_global(m, code, i, work->index[i], all, out);
  else
    tile_read_shared(m, w, code, NULL, 0, i, work->corner[i], all, out);
  for (int u = units - 1; u >= 0 && each > 1; u--)
    for (int e = each - 1; e >= 0; e--) out[u * each + e] = number_element(buffer->type, out[u], e);
}

uint32_t tcgen05_ranks(const Warp *w, const Op *op) {
  return tcgen05_group(op) == 1 ? 1u << w->rank : 3u << (w->rank & ~1);
}

// Rows of A of the block at hand.
static void read_a(Machine *m, const Warp *w, const Code *code, const TensorWork *work,
                   Operands *out) {
  static _Thread_local double a[TENSOR_LANES * K_MAX];
  const int depth = out->depth;
  read_elements(m, w, code, work, 0, a);
  for (int row = 0; row < TENSOR_LANES; row++)
    for (int k = 0; k < depth; k++) out->a[row / LANES][k].lane[row % LANES] = a[row * depth + k];
}

// Columns of B; in a pair the even block's columns come first.
static void read_b(Machine *m, const Warp *w, const Code *code, const TensorWork *work,
                   Operands *out) {
  double *columns = out->b;
  EACH_RANK(rank, tcgen05_ranks(w, &code->stmt->op)) {
    interp_at_rank(m, (int)rank);
    read_elements(m, w, code, work, 1, columns);
    columns += code->tile[1].rows * out->depth;
  }
}

// Adds the products of k from first on to the sums of all lanes, four registers of them at a time,
// which a loop over k does not put down.
static void add_up(LaneSums *sum, const LaneSums *a, const double *b, int first, int end) {
  for (int v = 0; v < LANES / VECTOR; v += 4) {
    Four *to = &sum->all[v], s0 = to[0], s1 = to[1], s2 = to[2], s3 = to[3];
    for (int k = first; k < end; k++) {
      const Four *of = &a[k].all[v];
      s0 += of[0] * b[k];
      s1 += of[1] * b[k];
      s2 += of[2] * b[k];
      s3 += of[3] * b[k];
    }
    to[0] = s0, to[1] = s1, to[2] = s2, to[3] = s3;
  }
}

// One column of a quarter.
static void add_products(Row *sums, DType type, const LaneSums *a, const double *b, int depth,
                         bool begins) {
  LaneSums sum = {.lane = {0}};
  for (uint32_t lane = 0; lane < LANES && !begins; lane++)
    sum.lane[lane] = row_get(sums, type, lane);
  add_up(&sum, a, b, 0, depth);
  for (uint32_t lane = 0; lane < LANES; lane++)
    row_put(sums, type, lane, type == DTYPE_S32 ? tile_wrapped(sum.lane[lane]) : sum.lane[lane]);
}

// The same for block scaling, one group of elements along K that share a factor at a time.
static void add_scaled(Row *sums, const Operands *in, int quarter, int n, bool begins) {
  const TensorFactors *factors = &in->factors;
  const double *b = &in->b[n * in->depth];
  LaneSums sum = {.lane = {0}};
  for (uint32_t lane = 0; lane < LANES && !begins; lane++)
    sum.lane[lane] = (double)sums->lane[lane];
  for (int s = 0; s < in->depth / in->per_scale; s++) {
    LaneSums part = {.lane = {0}};
    add_up(&part, in->a[quarter], b, s * in->per_scale, (s + 1) * in->per_scale);
    for (int lane = 0; lane < (int)LANES; lane++)
      sum.lane[lane] +=
          part.lane[lane] * factors->a[quarter * (int)LANES + lane][s] * factors->b[quarter][n][s];
  }
  for (int lane = 0; lane < (int)LANES; lane++) sums->lane[lane] = (float)sum.lane[lane];
}

static void carry_out_product(Machine *m, const Warp *w, const TensorWork *work) {
  static _Thread_local Operands operands;
  const Code *code = &m->code->code[work->code];
  const Atom *atom = code->stmt->op.atom;
  operands.depth = code->tile[0].depth * atom->unit;
  operands.per_scale = atom_scales(atom) ? operands.depth / atom_scales(atom) : 0;
  read_b(m, w, code, work, &operands);
  EACH_RANK(rank, tcgen05_ranks(w, &code->stmt->op)) {
    interp_at_rank(m, (int)rank);
    read_a(m, w, code, work, &operands);
    if (operands.per_scale) tcgen05_read_factors(m, code, work, &operands.factors);
    for (int quarter = 0; quarter < TENSOR_QUARTERS; quarter++)
      for (int n = 0; n < atom->n; n++) {
        Row *sums = &m->own->tensor.row[quarter][work->column + n];
        if (operands.per_scale)
          add_scaled(sums, &operands, quarter, n, work->begins);
        else
          add_products(sums, code->dst.buffer->type, operands.a[quarter],
                       &operands.b[n * operands.depth], operands.depth, work->begins);
      }
  }
  interp_at_rank(m, w->rank);
}

static void arrive(Machine *m, const Warp *w, const Code *code, const TensorWork *work) {
  EACH_RANK(rank, work->ranks) {
    interp_at_rank(m, (int)rank);
    Mbar *bar = &m->memory[code->dst.buffer->id].mbar[work->at];
    const int agent = tmem_agent(m, w) / LANES;
    order_tell_done(m->order, work->known, agent, work->epoch);
    order_join(m->order, order_mbar_gathered(bar->order), work->known);
    mbar_arrive(m, w, code, bar);
    if (m->watch) watch_landing(m, code, bar);
  }
  interp_at_rank(m, w->rank);
}

void tmem_do(Machine *m, Warp *w, const TensorWork *work) {
  if (work->commits)
    arrive(m, w, &m->code->code[work->code], work);
  else if (work->copies)
    tcgen05_copy_factors(m, w, work);
  else
    carry_out_product(m, w, work);
}

void tcgen05_asked(Machine *m, Warp *w) {
  TensorAgent *agent = w->agent;
  if (m->async != INTERP_EARLY) return;
  const TensorWork work = agent->work[agent->first + --agent->n];
  tmem_do(m, w, &work);
}

static bool find_tiles(Machine *m, const Warp *w, const Code *code, TensorWork *work) {
  const Touch now = tcgen05_touch(m, w, code);
  bool whole = true;
  for (int i = 0; i < 2; i++) {
    const TileCode *tile = &code->tile[i];
    const Buffer *buffer = (i == 0 ? &code->src : &code->src2)->buffer;
    work->corner[i] = interp_scalar(w, &tile->corner);
    for (int d = 0; d < buffer->rank; d++) work->index[i][d] = interp_scalar(w, &tile->index[d]);
    if (buffer->space != SPACE_SHARED) continue;
    tile_check_corner(m, w, code, i, work->index[i]);
    whole = tile_ask(m, w, code, &now, tmem_agent(m, w), i, work->corner[i]) && whole;
  }
  return whole;
}

Touch tcgen05_touch(const Machine *m, const Warp *w, const Code *code) {
  Touch now = touch_of(m, w, code);
  now.thread = thread_of(w, (uint32_t)lowest_lane(w->active));
  return now;
}

void tcgen05_alone(Machine *m, const Warp *w, const Code *code, const char *what) {
  const int n = __builtin_popcount(w->active);
  if (n == 1) return;
  interp_report(m, FINDING_DIVERGENCE, w, lowest_lane(w->active), code->stmt, NULL, 0,
                "is one of %d lanes that execute this, but one thread must: %s", n, what);
}

// For the block at hand: its columns are there, its tiles written, and no access to the sums is
// open.
static bool ask_here(Machine *m, const Warp *w, const Code *code, const TensorReach *reach,
                     TensorWork *work) {
  if (m->rank != w->rank) interp_reach_rank(m, w, code, m->rank);
  if (!tmem_has(m, w, code, code->dst.buffer, reach) || !find_tiles(m, w, code, work)) return false;
  if (!tcgen05_ask_factors(m, w, code, work)) return false;
  const Touch now = tcgen05_touch(m, w, code);
  if (!work->begins && !tmem_read(m, w, code, reach, &now, tmem_agent(m, w))) return false;
  tmem_write(m, w, code, reach, &now, tmem_agent(m, w));
  return true;
}

static void run_mma(Machine *m, Warp *w, const Code *code) {
  tcgen05_alone(m, w, code, "each lane adds the product again");
  if (code->wrong)
    interp_report(m, FINDING_DESCRIPTOR, w, -1, code->stmt, code->dst.buffer, 0, "%s", code->wrong);
  const Buffer *sums = code->dst.buffer;
  const int64_t at = interp_scalar(w, &code->dst.offset);
  const TensorReach reach = {0, TENSOR_QUARTERS, (int)(sums->column + at % TENSOR_COLUMNS),
                             code->stmt->op.atom->n, sums};
  if (at / TENSOR_COLUMNS) {
    interp_report(m, FINDING_OUT_OF_BOUNDS, w, -1, code->stmt, sums, at,
                  "accumulators start in lane %lld, but 128 rows must start in lane 0",
                  (long long)(at / TENSOR_COLUMNS));
    return;
  }
  const bool begins = code->stmt->op.enable_input_d && !interp_scalar(w, &code->value);
  TensorWork work = {.code = (int)(code - m->code->code), .begins = begins, .column = reach.column};
  bool whole = true;
  EACH_RANK(rank, tcgen05_ranks(w, &code->stmt->op)) {
    interp_at_rank(m, (int)rank);
    whole = whole && ask_here(m, w, code, &reach, &work);
  }
  interp_at_rank(m, w->rank);
  if (!whole) return;
  tmem_ask(m, w, &work);
  tcgen05_asked(m, w);
}

// All that the thread knows when it asks is over when the commit arrives: what it has waited for,
// such as the boxes that filled the slabs. Of its own accesses since it last told of them a commit
// says nothing.
static void note_clock(const Machine *m, const Warp *w, TensorWork *work) {
  const uint32_t *clock = interp_clock(m, thread_of(w, (uint32_t)lowest_lane(w->active)));
  order_assign(m->order, work->known, clock);
  order_fact(m->order, work->known, ORDER_PASSED)[w->index] = work->epoch;
}

// A commit is about what its own thread has asked for: where that is nothing it arrives at once,
// and tells of no product of another lane.
static void arrive_at_once(Machine *m, const Warp *w, const Code *code, uint32_t lane,
                           uint32_t ranks) {
  uint32_t *known = interp_copy_clock(m, interp_clock(m, thread_of(w, lane)));
  order_fact(m->order, known, ORDER_PASSED)[w->index] = ++m->epoch;
  EACH_RANK(rank, ranks) {
    interp_at_rank(m, (int)rank);
    Mbar *bar = &m->memory[code->dst.buffer->id].mbar[interp_scalar(w, &code->dst.offset)];
    order_join(m->order, order_mbar_gathered(bar->order), known);
    mbar_arrive(m, w, code, bar);
  }
  interp_at_rank(m, w->rank);
}

static void run_commit(Machine *m, Warp *w, const Code *code) {
  tcgen05_alone(m, w, code, "a lane that issued no product arrives at once");
  const uint32_t ranks = interp_ranks(m, w, code);
  EACH_RANK(rank, ranks) {
    interp_at_rank(m, (int)rank);
    interp_reach_rank(m, w, code, (int)rank);
    const bool ready = mbar_ready(m, w, code, &code->dst) != NULL;
    interp_at_rank(m, w->rank);
    if (!ready) return;
  }
  EACH_LANE(lane, w->active & ~w->agent->askers) arrive_at_once(m, w, code, lane, ranks);
  if (!(w->active & w->agent->askers)) return;
  TensorWork *work = tmem_new_work(m, w);
  work->code = (int)(code - m->code->code);
  work->commits = true;
  work->ranks = ranks;
  work->at = interp_scalar(w, &code->dst.offset);
  work->epoch = ++m->epoch;
  note_clock(m, w, work);
  tcgen05_asked(m, w);
}

// ---- moving -------------------------------------------------------------------------------------

// A warp reaches the lanes of its quarter, lane l the l-th of them.
static bool reach_lanes(Machine *m, const Warp *w, const Code *code, const Operand *operand,
                        TensorReach *out) {
  const int quarter = w->place % TENSOR_QUARTERS;
  Lanes at;
  interp_lanes(w, &operand->offset, &at);
  for (int lane = 0; lane < (int)LANES; lane++) {
    const int row = at.lane[lane] / TENSOR_COLUMNS, wanted = quarter * (int)LANES + lane;
    if (row == wanted && at.lane[lane] % TENSOR_COLUMNS == at.lane[0] % TENSOR_COLUMNS) continue;
    interp_report(m, FINDING_OUT_OF_BOUNDS, w, lane, code->stmt, operand->buffer, at.lane[lane],
                  "uses lane %d of tensor memory, but warp %d reaches only lanes %d to %d, one for "
                  "each of its lanes",
                  row, w->place, quarter * (int)LANES, quarter * (int)LANES + (int)LANES - 1);
    return false;
  }
  const int column = at.lane[0] % TENSOR_COLUMNS;
  *out =
      (TensorReach){quarter, 1, operand->buffer->column + column, operand->width, operand->buffer};
  if (column + operand->width > operand->buffer->dim[1]) {
    interp_report(m, FINDING_OUT_OF_BOUNDS, w, 0, code->stmt, operand->buffer, at.lane[0],
                  "uses columns %d to %d, but only 0 to %lld exist", column,
                  column + operand->width - 1, (long long)operand->buffer->dim[1] - 1);
    return false;
  }
  return tmem_has(m, w, code, operand->buffer, out);
}

static void poison(Warp *w, const Registers *to, int n) {
  for (int j = 0; j < n; j++) {
    EACH_LANE(lane, w->active) row_put(&to->row[j], to->type, lane, interp_poison());
    mark_written(w, to, j);
  }
}

static void run_ld(Machine *m, Warp *w, const Code *code) {
  const int n = code->stmt->op.width;
  TensorReach reach;
  const Touch now = touch_of(m, w, code);
  Registers to = reach_registers(m, w, code, &code->dst);
  if (!to.row) return;
  if (!op_whole_warp(m, w, code) || !reach_lanes(m, w, code, &code->src, &reach) ||
      !tmem_read(m, w, code, &reach, &now, thread_of(w, 0))) {
    poison(w, &to, n);
    return;
  }
  TensorMove *move = tmem_new_move(m, w->loads);
  *move = (TensorMove){(int)(code - m->code->code), reach.column, to.first, false};
  for (int j = 0; j < n; j++) mark_written(w, &to, j);
  memset(&w->loads->busy[to.first], 1, (size_t)n);
  if (m->async == INTERP_EARLY) tmem_bring(m, w, move);
}

// All that is stored is taken when it is issued; that it is there only behind the wait is a
// question of order.
static void run_st(Machine *m, Warp *w, const Code *code) {
  const int n = code->stmt->op.width;
  TensorReach reach;
  const Touch now = touch_of(m, w, code);
  Registers from = interp_read_registers(m, w, code, &code->src);
  if (!from.row || !op_whole_warp(m, w, code) || !reach_lanes(m, w, code, &code->dst, &reach))
    return;
  tmem_write(m, w, code, &reach, &now, thread_of(w, 0));
  *tmem_new_move(m, w->stores) =
      (TensorMove){(int)(code - m->code->code), reach.column, from.first, true};
  for (int i = 0; i < n; i++)
    m->own->tensor.row[reach.first_quarter][reach.column + i] = from.row[i];
}

static void run_wait_ld(Machine *m, Warp *w, const Code *code) {
  if (!op_whole_warp(m, w, code)) return;
  for (int i = 0; i < w->loads->n; i++) {
    TensorMove *move = &w->loads->move[i];
    tmem_bring(m, w, move);
    memset(&w->loads->busy[move->row], 0, (size_t)tmem_reach_of(m, w, move).n);
  }
  w->loads->n = 0;
  OrderMoves *moves = &m->moves[w->index];
  order_wait_for_moves(&moves->loads, &moves->loaded, m->epoch);
}

static void run_wait_st(Machine *m, Warp *w, const Code *code) {
  if (!op_whole_warp(m, w, code)) return;
  w->stores->n = 0;
  OrderMoves *moves = &m->moves[w->index];
  order_wait_for_moves(&moves->stores, &moves->stored, m->epoch);
}

static void run_before(Machine *m, Warp *w, const Code *code) {
  (void)code;
  interp_before(m, w);
}

static void run_after(Machine *m, Warp *w, const Code *code) {
  (void)code;
  interp_after(m, w);
}

// ---- rules --------------------------------------------------------------------------------------

static const char *const products[ROLE_COUNT] = {
    [ROLE_SUMS] = "multiply the tiles of %a and %b on the tensor core"};
static const char *const help_of_product[ROLE_COUNT + 1] = {
    [ROLE_SUMS] =
        "one thread issues it; the tensor core reads both tiles by their descriptors and adds to "
        "tensor memory, in the order of issue"};
static const char *const help_of_alloc[ROLE_COUNT + 1] = {
    [ROLE_COUNT] = "a warp allocates columns for the whole block and waits until enough are free"};
static const char *const help_of_free[ROLE_COUNT + 1] = {
    [ROLE_COUNT] =
        "no warp reads the columns any more; a block that keeps them blocks the next one"};
static const char *const help_of_commit[ROLE_COUNT + 1] = {
    [ROLE_COUNT] =
        "arrives when all earlier products are done: then their slots can be filled again and "
        "their accumulators read"};
static const char *const help_of_ld[ROLE_COUNT + 1] = {
    [ROLE_COUNT] =
        "warp w reads lanes 32 * (w % 4) and up, which are rows of C; each register gets a column"};
static const char *const help_of_wait[ROLE_COUNT + 1] = {
    [ROLE_COUNT] =
        "wait for the loads from tensor memory: before it their registers are not valid, and no "
        "product may overwrite the columns"};
static const char *const help_of_before[ROLE_COUNT + 1] = {
    [ROLE_COUNT] = "earlier reads of tensor memory come before the product that overwrites it"};
static const char *const help_of_after[ROLE_COUNT + 1] = {
    [ROLE_COUNT] = "later accesses to tensor memory come after the wait before this fence"};

const OpRules rules_T_ALLOC = {
    .text = {.write = tcgen05_emit_alloc}, {.run = run_alloc, .fault = alloc_fault}, help_of_alloc};
const OpRules rules_T_FREE = {
    .text = {.write = tcgen05_emit_free}, {.run = run_free, .fault = free_fault}, help_of_free};
const OpRules rules_T_MMA = {.text = {.write = tcgen05_emit_mma, .purposes = products},
                             {.run = run_mma, .fault = mma_fault, .prepare = prepare_mma},
                             help_of_product};
const OpRules rules_T_COMMIT = {.text = {.write = tcgen05_emit_commit},
                                {.run = run_commit, .fault = commit_fault},
                                help_of_commit};
const OpRules rules_T_LD = {
    .text = {.write = tcgen05_emit_ld}, {.run = run_ld, .fault = move_fault}, help_of_ld};
const OpRules rules_T_ST = {.text = {.write = tcgen05_emit_st},
                            {.run = run_st, .fault = move_fault}};
const OpRules rules_T_WAIT_LD = {
    .text = {.call = &tcgen05_wait_ld}, {.run = run_wait_ld}, help_of_wait};
const OpRules rules_T_WAIT_ST = {.text = {.call = &tcgen05_wait_st}, {.run = run_wait_st}};
const OpRules rules_T_BEFORE = {
    .text = {.call = &tcgen05_before}, {.run = run_before}, help_of_before};
const OpRules rules_T_AFTER = {.text = {.call = &tcgen05_after}, {.run = run_after}, help_of_after};
