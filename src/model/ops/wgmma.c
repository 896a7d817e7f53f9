// wgmma: a warpgroup multiplies in the background tiles that descriptors find in shared memory.
//
//   wgmma_m64n128k16_f32_bf16<0, 0>(&acc[0][0][0], tile_of(A_s, at, 0x4000…), tile_of(B_s, at, …),
//       0 < k_o + k_i);
//
// Each warp runs its quarter: 16 rows of A and C, all of B. The elements are those that the
// descriptor finds, not those that the program means: its fields are decoded (ir/matrix_tile.h),
// and where they and the buffer disagree that is a finding.
//
// Early, a wgmma reads and adds when it is issued; late, when its group is waited for: both ends
// are legal for the hardware. So a slab that is released before the wait is a race in the second
// run, one that is read before it has come in the first. Before slabs are staged, tiles lie in
// global memory, where no instruction finds them: that is interpreted, and never emitted.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "model/ir/matrix_tile.h"
#include "model/ir/stmt.h"
#include "model/ops/tile_operand.h"

enum { WARPS = 4, WARP_ROWS = 16, N_MAX = 256, K_MAX = 32, VECTOR = 4, ARCH = 90 };

// ---- compiling ----------------------------------------------------------------------------------

static int wgmma_width(const Op *op, AtomOperand operand) {
  const Buffer *buffer = operand == ATOM_C ? op->dst.buffer : op->src.buffer;
  bool held = operand != ATOM_B && op->atom && buffer && buffer->space == SPACE_REGISTER;
  return held ? fragment_map(op->atom, operand).n_values : 1;
}

static const char *wgmma_fault(Arena *arena, const Program *program, const Code *code) {
  (void)program;
  const Op *op = &code->stmt->op;
  const Atom *atom = op->atom;
  if (!atom || !atom_is_of_warpgroup(atom)) return "wgmma names no atom of a warpgroup";
  const char *fault = tile_type_fault(arena, atom, ATOM_C, op->dst.buffer);
  if (!fault) fault = tile_type_fault(arena, atom, ATOM_A, op->src.buffer);
  if (!fault) fault = tile_type_fault(arena, atom, ATOM_B, op->src2.buffer);
  if (!fault) fault = tile_turned_fault(arena, op);
  for (int i = 0; i < 2 && !fault; i++) {
    const TileCode *tile = &code->tile[i];
    const Operand *operand = i == 0 ? &code->src : &code->src2;
    if (tile->in_memory && operand->buffer->rank < 2) fault = "a tile needs a row and a column";
    if (tile->in_memory && !value_is_uniform(&tile->corner))
      fault = "all lanes must name the same tile, but this differs by lane";
  }
  return fault;
}

// Elements of A by row of K, elements of C as Sums has them.
static FragmentTable tabulate(Arena *arena, const Atom *atom, AtomOperand operand) {
  FragmentMap map = fragment_map(atom, operand);
  const int columns = operand == ATOM_C ? N_MAX : map.cols;
  uint16_t(*at)[LANES] = arena_alloc(arena, sizeof *at * (size_t)map.n_values);
  for (int value = 0; value < map.n_values; value++)
    for (int lane = 0; lane < LANES; lane++) {
      FragmentElement e = fragment_map_element(&map, lane, value);
      at[value][lane] = (uint16_t)(e.row * columns + e.col);
    }
  return (FragmentTable){map.n_values, columns, (const uint16_t(*)[LANES])at};
}

static void prepare_wgmma(Arena *arena, const Program *program, Code *code) {
  const Atom *atom = code->stmt->op.atom;
  FragmentTable *table = ARENA_ARRAY(arena, FragmentTable, ATOM_OPERANDS);
  for (int operand = 0; operand < ATOM_OPERANDS; operand++)
    if (atom_in_registers(atom, (AtomOperand)operand))
      table[operand] = tabulate(arena, atom, (AtomOperand)operand);
  code->fragment = table;
  for (int i = 0; i < 2; i++) tile_prepare(arena, program, code, i);
}

// ---- reading operands ---------------------------------------------------------------------------

static void read_fragment(const Warp *w, const Code *code, const AsyncMultiply *item, double *out) {
  const FragmentTable *table = &code->fragment[ATOM_A];
  DType type = code->src.buffer->type;
  for (int v = 0; v < table->n_values; v++)
    for (uint32_t lane = 0; lane < LANES; lane++)
      out[table->at[v][lane]] =
          number_tensor(type, row_get(&w->row[item->fragment + v], type, lane));
}

// The reader of a warp's products: its share of the tensor core, where clocks are kept.
static uint16_t share_of(const Machine *m, const Warp *w) {
  return m->first_tensor ? (uint16_t)((m->first_tensor + w->index) * LANES) : thread_of(w, 0);
}

static void read_operand(Machine *m, const Warp *w, const Code *code, const AsyncMultiply *item,
                         int i, double *out) {
  const Operand *operand = i == 0 ? &code->src : &code->src2;
  int quarter = w->place % WARPS * WARP_ROWS;
  TilePart part = i == 0 ? (TilePart){quarter, WARP_ROWS} : (TilePart){0, code->tile[1].rows};
  Touch now = touch_of(m, w, code);
  if (!code->tile[i].in_memory)
    read_fragment(w, code, item, out);
  else if (operand->buffer->space == SPACE_GLOBAL)
    tile_read_global(m, code, i, item->index[i], part, out);
  else
    tile_read_shared(m, w, code, &now, share_of(m, w), i, item->corner[i], part, out);
}

// ---- multiplying --------------------------------------------------------------------------------

typedef double Four __attribute__((vector_size(VECTOR * sizeof(double)), aligned(16)));
typedef union SumRow {
  Four all[N_MAX / VECTOR];
  double column[N_MAX];
} SumRow;
typedef union Sums {
  SumRow row[WARP_ROWS];
  double cell[WARP_ROWS * N_MAX];
} Sums;

// B comes as [n][k] and is turned round, so that eight columns are multiplied at once; their sums
// stay in registers over all of k.
static void multiply(const Atom *atom, const double *a, const double *b, Sums *sum) {
  static _Thread_local SumRow turned[K_MAX];
  for (int n = 0; n < atom->n; n++)
    for (int k = 0; k < atom->k; k++) turned[k].column[n] = b[n * atom->k + k];
  for (int row = 0; row < WARP_ROWS; row++)
    for (int v = 0; v < atom->n / VECTOR; v += 2) {
      Four *to = &sum->row[row].all[v], s0 = to[0], s1 = to[1];
      for (int k = 0; k < atom->k; k++) {
        s0 += a[row * atom->k + k] * turned[k].all[v];
        s1 += a[row * atom->k + k] * turned[k].all[v + 1];
      }
      to[0] = s0, to[1] = s1;
    }
}

// The sums of a lane: value v at table->at[v][lane] of the warp's 16 rows.
static void move_sums(Warp *w, const Code *code, int64_t first, Sums *sum, bool back) {
  const FragmentTable *table = &code->fragment[ATOM_C];
  DType type = code->dst.buffer->type;
  for (int v = 0; v < table->n_values; v++) {
    Row *row = &w->row[first + v];
    for (uint32_t lane = 0; lane < LANES; lane++) {
      double *cell = &sum->cell[table->at[v][lane]];
      if (back)
        row_put(row, type, lane, type == DTYPE_S32 ? tile_wrapped(*cell) : *cell);
      else
        *cell = row_get(row, type, lane);
    }
  }
}

static void carry_out(Machine *m, Warp *w, const AsyncMultiply *item) {
  static _Thread_local double a[WARP_ROWS * K_MAX], b[N_MAX * K_MAX];
  static _Thread_local Sums sum;
  const Code *code = &m->code->code[item->code];
  read_operand(m, w, code, item, 0, a);
  read_operand(m, w, code, item, 1, b);
  if (item->begins)
    memset(&sum, 0, sizeof sum);
  else
    move_sums(w, code, item->sums, &sum, false);
  multiply(code->stmt->op.atom, a, b, &sum);
  move_sums(w, code, item->sums, &sum, true);
}

// ---- run ----------------------------------------------------------------------------------------

static AsyncMultiply *new_item(Machine *m, TensorQueue *queue) {
  if (queue->n == queue->capacity) {
    queue->capacity = queue->capacity ? 2 * queue->capacity : 16;
    AsyncMultiply *more = ARENA_ARRAY(m->arena, AsyncMultiply, queue->capacity);
    if (queue->n) memcpy(more, queue->item, sizeof *more * (size_t)queue->n);
    queue->item = more;
  }
  return &queue->item[queue->n++];
}

// Registers become the tensor core's until the group has ended.
static void take_registers(Machine *m, Warp *w, const Code *code, const Operand *operand,
                           const Registers *at, bool sums) {
  TensorQueue *queue = w->tensor;
  const uint32_t group = w->groups->products.closed;
  bool unfenced = false;
  for (int row = at->first; row < at->first + operand->width * at->rows; row++) {
    unfenced = unfenced || queue->touched[row] >= queue->fence;
    queue->busy_until[row] = group + 1;
  }
  if (unfenced)
    interp_report(m, FINDING_MISSING_FENCE, w, -1, code->stmt, operand->buffer, at->at,
                  "%s registers that this warp has used since its last wgmma.fence",
                  sums ? "sums in" : "reads");
}

static bool whole_warp(Machine *m, const Warp *w, const Code *code) {
  if (w->active == UINT32_MAX) return true;
  interp_report(m, FINDING_DIVERGENCE, w, lowest_lane(w->active), code->stmt, NULL, 0,
                "reaches an instruction of the whole warpgroup, but lane %d does not",
                lowest_lane(~w->active));
  return false;
}

static void find_tile(Machine *m, Warp *w, const Code *code, int i, AsyncMultiply *item) {
  const TileCode *tile = &code->tile[i];
  if (!tile->in_memory) return;
  const Buffer *buffer = (i == 0 ? &code->src : &code->src2)->buffer;
  item->corner[i] = interp_scalar(w, &tile->corner);
  for (int d = 0; d < buffer->rank; d++) item->index[i][d] = interp_scalar(w, &tile->index[d]);
  if (buffer->space == SPACE_SHARED) tile_check_corner(m, w, code, i, item->index[i]);
  w->tensor->issued = hash_bytes(w->tensor->issued, &item->corner[i], sizeof item->corner[i]);
}

// Sums that begin are written, whatever they were; others are read first.
static Registers sums_of(Machine *m, const Warp *w, const Code *code, bool begin) {
  if (!begin) return interp_read_registers(m, w, code, &code->dst);
  return reach_registers(m, w, code, &code->dst);
}

static void run_wgmma(Machine *m, Warp *w, const Code *code) {
  TensorQueue *queue = w->tensor;
  bool fragment = !code->tile[0].in_memory;
  bool begins = code->stmt->op.scale_d && !interp_scalar(w, &code->value);
  Registers sums = sums_of(m, w, code, begins), a = {.row = NULL};
  if (fragment) a = interp_read_registers(m, w, code, &code->src);
  if (!sums.row || (fragment && !a.row) || !whole_warp(m, w, code)) return;
  AsyncMultiply *item = new_item(m, queue);
  *item = (AsyncMultiply){.code = (int)(code - m->code->code),
                          .group = w->groups->products.closed,
                          .begins = begins,
                          .sums = sums.first,
                          .fragment = a.first};
  for (int j = 0; begins && j < code->dst.width; j++) mark_written(w, &sums, j);
  take_registers(m, w, code, &code->dst, &sums, true);
  if (fragment) take_registers(m, w, code, &code->src, &a, false);
  queue->issued = hash_bytes(queue->issued, &item->code, sizeof item->code);
  queue->issued = hash_bytes(queue->issued, &item->begins, sizeof item->begins);
  for (int i = 0; i < 2; i++) find_tile(m, w, code, i, item);
  if (m->async == INTERP_EARLY) carry_out(m, w, item);
}

static void run_fence(Machine *m, Warp *w, const Code *code) {
  if (!whole_warp(m, w, code)) return;
  w->tensor->fence = ++w->tensor->serial;
}

static void run_commit(Machine *m, Warp *w, const Code *code) {
  if (!whole_warp(m, w, code)) return;
  w->groups->asked.tick[w->groups->products.closed++ % ORDER_GROUPS_KEPT] = ++m->epoch;
}

static int first_of_four(const Machine *m, const Warp *w) {
  return w->index - w->index % m->block_warps % WARPS;
}

static int end_of_four(const Machine *m, const Warp *w) {
  const int end = (w->index / m->block_warps + 1) * m->block_warps, first = first_of_four(m, w);
  return first + WARPS < end ? first + WARPS : end;
}

// The warp of the four that has not asked for all that a wait is for; -1: all have.
static int has_not_asked(const Machine *m, const Warp *w, const Code *code) {
  const uint32_t over = w->groups->products.closed - (uint32_t)code->stmt->op.groups;
  for (int i = first_of_four(m, w); i < end_of_four(m, w); i++)
    if ((int32_t)(m->warp[i].groups->products.closed - over) < 0) return i;
  return -1;
}

static bool wait_may_go_on(const Machine *m, const Warp *w, const Code *code) {
  return has_not_asked(m, w, code) < 0;
}

static void report_wait(Machine *m, const Warp *w, const Code *code) {
  interp_report(m, FINDING_DEADLOCK, w, -1, code->stmt, NULL, 0,
                "warp %s waits for products of its warpgroup that warp %s has not asked for",
                interp_warp_name(m, w->index), interp_warp_name(m, has_not_asked(m, w, code)));
}

// Products up to a group, of one of the four: late ones are carried out now.
static void end_products(Machine *m, Warp *w, const OrderGroups *over) {
  TensorQueue *queue = w->tensor;
  int kept = 0;
  for (int i = 0; i < queue->n; i++) {
    if (!order_group_is_over(over, queue->item[i].group))
      queue->item[kept++] = queue->item[i];
    else if (m->async == INTERP_LATE)
      carry_out(m, w, &queue->item[i]);
  }
  queue->n = kept;
}

// The reads of the four are over, and behind them is what they waited for before they asked.
static void learn_of_four(Machine *m, const Warp *w, uint32_t group) {
  uint32_t *clocks[] = {clock_of(m, w->index), rest_of(m, w->index)};
  m->epoch++;
  for (int i = first_of_four(m, w); i < end_of_four(m, w); i++)
    for (int c = 0; c < 2; c++) {
      uint32_t *passed = &order_fact(m->order, clocks[c], ORDER_PASSED)[i];
      order_tell_done(m->order, clocks[c], m->first_tensor + i, m->epoch);
      if (*passed < m->warp[i].groups->asked.tick[group])
        *passed = m->warp[i].groups->asked.tick[group];
    }
}

// A group is one of the warpgroup: it is over for none of the four before all have asked for it,
// and when one has waited, it is over for all (PTX ISA, wgmma.commit_group: "a wgmma-group per
// warpgroup"; an H200: a warp that sleeps in front of its wgmma holds up the others).
static void run_wait(Machine *m, Warp *w, const Code *code) {
  OrderGroups *groups = &w->groups->products;
  if (!whole_warp(m, w, code)) return;
  if (!wait_may_go_on(m, w, code)) {
    w->state = WARP_ASLEEP;
    w->pc--;
    m->lanes[code->stmt->op.kind] -= __builtin_popcount(w->active);
    return;
  }
  if (!order_groups_wait(groups, (uint32_t)code->stmt->op.groups)) return;
  for (int i = first_of_four(m, w); i < end_of_four(m, w); i++)
    end_products(m, &m->warp[i], groups);
  if (m->first_tensor) learn_of_four(m, w, (groups->done - 1) % ORDER_GROUPS_KEPT);
}

// ---- emit ---------------------------------------------------------------------------------------

static void emit_wgmma(Emitter *emitter, const Op *op) {
  bool rs = op->src.buffer->space == SPACE_REGISTER;
  const char *name =
      emit_helper(emitter, (Prelude){.kind = PRELUDE_WGMMA, .atom = op->atom, .by_registers = rs});
  const char *turned = "";
  if (op->atom->bits == 16 && rs) turned = op->tile[1].trans ? "<1>" : "<0>";
  if (op->atom->bits == 16 && !rs)
    turned = arena_printf(emitter->arena, "<%d, %d>", op->tile[0].trans, op->tile[1].trans);
  const char *a = rs ? arena_printf(emitter->arena, "&%s", emit_element(emitter, &op->src))
                     : tile_emit(emitter, op, 0, ARCH);
  const char *b = tile_emit(emitter, op, 1, ARCH);
  emitter_line(emitter, "%s%s(&%s, %s, %s, %s);", name, turned, emit_element(emitter, &op->dst), a,
               b, op->scale_d ? emit_condition(emitter, op->scale_d) : "1");
}

static const PreludeText fence = {
    "wgmma_fence",
    "// What this warpgroup did to its registers comes before what wgmma does to them.\n"
    "__device__ __forceinline__ void wgmma_fence() {\n"
    "  asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n}\n"};
static const PreludeText commit = {
    "wgmma_commit",
    "// What the warpgroup has asked for since the last commit becomes one group.\n"
    "__device__ __forceinline__ void wgmma_commit() {\n"
    "  asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");\n}\n"};
static const PreludeText wait = {
    "wgmma_wait",
    "// Waits until at most n groups are in flight.\n"
    "template <int n>\n"
    "__device__ __forceinline__ void wgmma_wait() {\n"
    "  asm volatile(\"wgmma.wait_group.sync.aligned %0;\" ::\"n\"(n) : \"memory\");\n}\n"};

static void emit_wait(Emitter *emitter, const Op *op) {
  emitter_line(emitter, "%s<%lld>();", emit_given(emitter, &wait), (long long)op->groups);
}

static const char *const products[ROLE_COUNT] = {
    [ROLE_ACC] = "multiply each tile of %a by each of %b on the tensor core"};
static const char *const help_of_product[ROLE_COUNT + 1] = {
    [ROLE_ACC] =
        "asynchronous: the tensor core reads both tiles by their descriptors; do not touch "
        "accumulators or slabs before the wait"};
static const char *const help_of_fence[ROLE_COUNT + 1] = {
    [ROLE_COUNT] = "earlier accesses of this warpgroup to the accumulator registers come first"};
static const char *const help_of_wait[ROLE_COUNT + 1] = {
    [ROLE_COUNT] =
        "wait until at most this number of groups is in flight; the slabs of the others are then "
        "read and their accumulators can be used"};

const OpRules rules_WGMMA = {
    .text = {.write = emit_wgmma, .purposes = products},
    {.run = run_wgmma, .fault = wgmma_fault, .width = wgmma_width, .prepare = prepare_wgmma},
    help_of_product};
const OpRules rules_WG_FENCE = {.text = {.call = &fence}, {.run = run_fence}, help_of_fence};
const OpRules rules_WG_COMMIT = {.text = {.call = &commit}, {.run = run_commit}};
const OpRules rules_WG_WAIT = {
    .text = {.write = emit_wait},
    {.run = run_wait, .may_go_on = wait_may_go_on, .report_stuck = report_wait},
    help_of_wait};
