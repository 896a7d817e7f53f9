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
#include "model/ops/ops.h"

enum { WARPS = 4, WARP_ROWS = 16, N_MAX = 256, K_MAX = 32, VECTOR = 8, K_BYTES = 32 };

// ---- compiling ----------------------------------------------------------------------------------

static int wgmma_width(const Op *op, AtomOperand operand) {
  const Buffer *buffer = operand == ATOM_C ? op->dst.buffer : op->src.buffer;
  bool held = operand != ATOM_B && op->atom && buffer && buffer->space == SPACE_REGISTER;
  return held ? fragment_map(op->atom, operand).n_values : 1;
}

static const char *type_fault(Arena *arena, const Atom *atom, AtomOperand which,
                              const Buffer *buffer) {
  const char *wanted = which == ATOM_C ? atom->acc : atom->type;
  if (str_equal(dtype_name(buffer->type), wanted)) return NULL;
  return arena_printf(arena, "%s of %s is %s, in which %s does not fit: it holds %s",
                      atom_operand_name(which), atom->name, wanted, buffer->name,
                      dtype_name(buffer->type));
}

// Which way tiles run is free for types of 16 bits alone.
static const char *turned_fault(Arena *arena, const Op *op) {
  for (int operand = ATOM_A; operand <= ATOM_B; operand++)
    if (op->tile[operand].is_described && op->tile[operand].trans && op->atom->bits != 16)
      return arena_printf(arena, "%s of %s runs along M or N, and its tiles run along K alone",
                          atom_operand_name((AtomOperand)operand), op->atom->name);
  return NULL;
}

static const char *wgmma_fault(Arena *arena, const Program *program, const Code *code) {
  (void)program;
  const Op *op = &code->stmt->op;
  const Atom *atom = op->atom;
  if (!atom || !atom_is_of_warpgroup(atom)) return "wgmma names no atom of a warpgroup";
  const char *fault = type_fault(arena, atom, ATOM_C, op->dst.buffer);
  if (!fault) fault = type_fault(arena, atom, ATOM_A, op->src.buffer);
  if (!fault) fault = type_fault(arena, atom, ATOM_B, op->src2.buffer);
  if (!fault) fault = turned_fault(arena, op);
  for (int i = 0; i < 2 && !fault; i++) {
    const TileCode *tile = &code->tile[i];
    const Operand *operand = i == 0 ? &code->src : &code->src2;
    if (tile->in_memory && operand->buffer->rank < 2) fault = "a tile lies in rows and columns";
    if (tile->in_memory && !value_is_uniform(&tile->corner))
      fault = "a tile begins at one place, this differs by lane";
  }
  return fault;
}

// Elements of A by row of K, those of C as Sums has them.
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

// The tile as the buffer has it, described or not: a panel is a step of its own.
static int64_t meant_offset(const Buffer *slab, bool trans, int64_t row, int64_t k) {
  int last = slab->rank - 1;
  int64_t fast = trans ? row : k, slow = trans ? k : row;
  int64_t offset = slow * slab->stride[last - 1];
  if (slab->panel)
    offset += fast / slab->panel * slab->stride[last - 2] + fast % slab->panel;
  else
    offset += fast * slab->stride[last];
  return offset * dtype_bytes(slab->type);
}

static int64_t offset_of(const Op *op, int i, const Buffer *slab, bool trans, int64_t row,
                         int64_t k) {
  if (!op->tile[i].is_described) return meant_offset(slab, trans, row, k);
  return matrix_tile_offset(&op->tile[i], dtype_bytes(slab->type), row, k);
}

static void prepare_tile(Arena *arena, const Program *program, Code *code, int i) {
  TileCode *tile = &code->tile[i];
  const Op *op = &code->stmt->op;
  const Buffer *buffer = i == 0 ? op->src.buffer : op->src2.buffer;
  tile->rows = i == 0 ? op->atom->m : op->atom->n;
  tile->depth = op->atom->k;
  if (!tile->in_memory || buffer->space == SPACE_GLOBAL) return;
  bool trans = matrix_tile_runs_across(program, buffer, (AtomOperand)i);
  MatrixTile meant = matrix_tile_of(program, op, (AtomOperand)i);
  if (op->tile[i].is_described) trans = op->tile[i].trans;
  int32_t *at = ARENA_ARRAY(arena, int32_t, (int64_t)tile->rows * tile->depth);
  for (int64_t row = 0; row < tile->rows; row++)
    for (int64_t k = 0; k < tile->depth; k++)
      at[row * tile->depth + k] = (int32_t)offset_of(op, i, buffer, trans, row, k);
  tile->at = at;
  tile->swizzle = op->tile[i];
  const TileShape shape = {(AtomOperand)i, tile->rows, tile->depth, K_BYTES / tile->depth};
  tile->wrong = matrix_tile_difference(arena, &shape, &op->tile[i], &meant);
}

static void prepare_wgmma(Arena *arena, const Program *program, Code *code) {
  const Atom *atom = code->stmt->op.atom;
  FragmentTable *table = ARENA_ARRAY(arena, FragmentTable, ATOM_OPERANDS);
  for (int operand = 0; operand < ATOM_OPERANDS; operand++)
    if (atom_in_registers(atom, (AtomOperand)operand))
      table[operand] = tabulate(arena, atom, (AtomOperand)operand);
  code->fragment = table;
  for (int i = 0; i < 2; i++) prepare_tile(arena, program, code, i);
}

// ---- reading tiles ------------------------------------------------------------------------------

typedef struct Quarter {
  int first_row, n_rows;  // of a tile: M of A, all N of B
} Quarter;

static double number_at(const Memory *memory, int64_t at) {
  return number_tensor(memory->type, number_read(memory->type, memory_at(memory, at)));
}

// One element of a tile in shared memory; a descriptor may lead anywhere.
static double shared_element(Machine *m, const Warp *w, const Code *code, const Touch *now,
                             const Memory *memory, int64_t at) {
  if (at < 0 || at >= memory->elements) {
    interp_report(m, FINDING_OUT_OF_BOUNDS, w, -1, code->stmt, memory->buffer, at,
                  "reads element %lld of %lld by its descriptor", (long long)at,
                  (long long)memory->elements);
    return interp_poison();
  }
  if (shadow_read_async(m, memory, at, now)) return number_at(memory, at);
  report_unwritten(m, w, code, now, memory, at);
  return interp_poison();
}

// Bits of the address in shared memory are swizzled; where no descriptor can say how a slab is laid
// out yet, as the buffer has it.
static int64_t permuted(const Buffer *slab, const TileCode *tile, int64_t byte) {
  if (tile->swizzle.is_described)
    return matrix_tile_swizzled(&tile->swizzle, slab->offset_bytes + byte) - slab->offset_bytes;
  int64_t out = byte, mask = ((int64_t)1 << slab->swizzle_bits) - 1;
  if (slab->swizzle_bits)
    out ^= (byte >> (slab->swizzle_base + slab->swizzle_shift) & mask) << slab->swizzle_base;
  return out;
}

static void read_shared(Machine *m, const Warp *w, const Code *code, const Touch *now, int i,
                        int64_t corner, Quarter part, double *out) {
  const TileCode *tile = &code->tile[i];
  const Memory *memory = &m->memory[(i == 0 ? &code->src : &code->src2)->buffer->id];
  int bytes = memory->bytes, first = part.first_row * tile->depth;
  for (int e = 0; e < part.n_rows * tile->depth; e++) {
    int64_t byte = permuted(memory->buffer, tile, corner * bytes + tile->at[first + e]);
    out[e] = shared_element(m, w, code, now, memory, byte / bytes);
  }
}

// Outside of the matrix there are zeros, as TMA and guarded loads bring them. Of several matrices
// the first index says which.
static void read_global(Machine *m, const Code *code, int i, const int64_t *index, Quarter part,
                        double *out) {
  const TileCode *tile = &code->tile[i];
  const Memory *memory = &m->memory[(i == 0 ? &code->src : &code->src2)->buffer->id];
  const Buffer *buffer = memory->buffer;
  const int last = buffer->rank - 1;
  const int64_t *dim = buffer->dim + last - 1, *stride = buffer->stride + last - 1;
  const int64_t matrix = last == 2 ? index[0] * buffer->stride[0] : 0;
  for (int row = 0; row < part.n_rows; row++)
    for (int k = 0; k < tile->depth; k++) {
      int64_t across = part.first_row + row, at[] = {index[last - 1], index[last]};
      at[i == 0 ? 0 : 1] += across;
      at[i == 0 ? 1 : 0] += k;
      bool inside = at[0] < dim[0] && at[1] < dim[1];
      *out++ = inside ? number_at(memory, matrix + at[0] * stride[0] + at[1] * stride[1]) : 0;
    }
}

static void read_fragment(const Warp *w, const Code *code, const AsyncMultiply *item, double *out) {
  const FragmentTable *table = &code->fragment[ATOM_A];
  DType type = code->src.buffer->type;
  for (int v = 0; v < table->n_values; v++)
    for (uint32_t lane = 0; lane < LANES; lane++)
      out[table->at[v][lane]] =
          number_tensor(type, row_get(&w->row[item->fragment + v], type, lane));
}

static void read_operand(Machine *m, const Warp *w, const Code *code, const AsyncMultiply *item,
                         int i, double *out) {
  const Operand *operand = i == 0 ? &code->src : &code->src2;
  int quarter = w->place % WARPS * WARP_ROWS;
  Quarter part = i == 0 ? (Quarter){quarter, WARP_ROWS} : (Quarter){0, code->tile[1].rows};
  Touch now = touch_of(m, w, code);
  if (!code->tile[i].in_memory)
    read_fragment(w, code, item, out);
  else if (operand->buffer->space == SPACE_GLOBAL)
    read_global(m, code, i, item->index[i], part, out);
  else
    read_shared(m, w, code, &now, i, item->corner[i], part, out);
}

// ---- multiplying --------------------------------------------------------------------------------

typedef double Eight __attribute__((vector_size(VECTOR * sizeof(double)), aligned(16)));
typedef union SumRow {
  Eight all[N_MAX / VECTOR];
  double column[N_MAX];
} SumRow;
typedef union Sums {
  SumRow row[WARP_ROWS];
  double cell[WARP_ROWS * N_MAX];
} Sums;

// B comes as [n][k] and is turned round, so that eight columns are multiplied at once.
static void multiply(const Atom *atom, const double *a, const double *b, Sums *sum) {
  static _Thread_local SumRow turned[K_MAX];
  for (int n = 0; n < atom->n; n++)
    for (int k = 0; k < atom->k; k++) turned[k].column[n] = b[n * atom->k + k];
  for (int row = 0; row < WARP_ROWS; row++)
    for (int k = 0; k < atom->k; k++)
      for (int v = 0; v < atom->n / VECTOR; v++)
        sum->row[row].all[v] += a[row * atom->k + k] * turned[k].all[v];
}

static double wrapped(double sum) {
  return sum == sum ? (double)(int32_t)(uint32_t)(int64_t)sum : sum;  // s32 keeps its low bits
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
        row_put(row, type, lane, type == DTYPE_S32 ? wrapped(*cell) : *cell);
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
  bool unfenced = false;
  for (int row = at->first; row < at->first + operand->width * at->rows; row++) {
    unfenced = unfenced || queue->touched[row] >= queue->fence;
    queue->busy_until[row] = queue->committed;
  }
  if (unfenced)
    interp_report(m, FINDING_MISSING_FENCE, w, -1, code->stmt, operand->buffer, at->at,
                  "%s registers that this warp was at since its last wgmma.fence",
                  sums ? "sums in" : "reads");
}

static bool whole_warp(Machine *m, const Warp *w, const Code *code) {
  if (w->active == UINT32_MAX) return true;
  interp_report(m, FINDING_DIVERGENCE, w, lowest_lane(w->active), code->stmt, NULL, 0,
                "reaches an instruction of the whole warpgroup that lane %d does not",
                lowest_lane(~w->active));
  return false;
}

// A tile that begins inside a panel must end in it, as its descriptor steps over panels in whole.
static void check_corner(Machine *m, const Warp *w, const Code *code, int i, const int64_t *index) {
  const TileCode *tile = &code->tile[i];
  const Buffer *slab = (i == 0 ? &code->src : &code->src2)->buffer;
  if (!tile->swizzle.is_described) return;
  if (tile->wrong)
    interp_report(m, FINDING_DESCRIPTOR, w, -1, code->stmt, slab, 0, "%s", tile->wrong);
  int64_t fast = tile->swizzle.trans ? tile->rows : tile->depth, begin = index[slab->rank - 1];
  int64_t slow = index[slab->rank - 2];
  if (slab->panel && begin % slab->panel && begin + fast > slab->panel)
    interp_report(m, FINDING_DESCRIPTOR, w, -1, code->stmt, slab, 0,
                  "begins %lld elements into a panel of %lld and ends in the next one, which no "
                  "descriptor can say",
                  (long long)begin, (long long)slab->panel);
  if (slow % 8)
    interp_report(m, FINDING_DESCRIPTOR, w, -1, code->stmt, slab, 0,
                  "begins in row %lld, and tiles begin at multiples of 8", (long long)slow);
}

static void find_tile(Machine *m, Warp *w, const Code *code, int i, AsyncMultiply *item) {
  const TileCode *tile = &code->tile[i];
  if (!tile->in_memory) return;
  const Buffer *buffer = (i == 0 ? &code->src : &code->src2)->buffer;
  item->corner[i] = interp_scalar(w, &tile->corner);
  for (int d = 0; d < buffer->rank; d++) item->index[i][d] = interp_scalar(w, &tile->index[d]);
  if (buffer->space == SPACE_SHARED) check_corner(m, w, code, i, item->index[i]);
  w->tensor->issued = hash_bytes(w->tensor->issued, &item->corner[i], sizeof item->corner[i]);
}

// Sums that begin are written, whatever they were; others are read first.
static Registers sums_of(Machine *m, const Warp *w, const Code *code, bool begin) {
  if (!begin) return read_registers(m, w, code, &code->dst);
  return reach_registers(m, w, code, &code->dst);
}

static void run_wgmma(Machine *m, Warp *w, const Code *code) {
  TensorQueue *queue = w->tensor;
  bool fragment = !code->tile[0].in_memory;
  bool begins = code->stmt->op.keep && !interp_scalar(w, &code->value);
  Registers sums = sums_of(m, w, code, begins), a = {.row = NULL};
  if (fragment) a = read_registers(m, w, code, &code->src);
  if (!sums.row || (fragment && !a.row) || !whole_warp(m, w, code)) return;
  AsyncMultiply *item = new_item(m, queue);
  *item = (AsyncMultiply){.code = (int)(code - m->code->code),
                          .group = queue->committed,
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
  if (whole_warp(m, w, code)) w->tensor->committed++;
}

static void run_wait(Machine *m, Warp *w, const Code *code) {
  TensorQueue *queue = w->tensor;
  int32_t end = queue->committed - (int32_t)code->stmt->op.count;
  if (!whole_warp(m, w, code) || end <= queue->completed) return;
  int kept = 0;
  for (int i = 0; i < queue->n; i++) {
    if (queue->item[i].group >= end)
      queue->item[kept++] = queue->item[i];
    else if (m->async == INTERP_LATE)
      carry_out(m, w, &queue->item[i]);
  }
  queue->n = kept;
  queue->completed = end;
}

// ---- emit ---------------------------------------------------------------------------------------

// tile_of(A_s, at, 0x4000004000010000ull)
static const char *emit_tile(Emitter *emitter, const Op *op, int i) {
  const Access *access = i == 0 ? &op->src : &op->src2;
  DType type = access->buffer->type;
  Buffer plain = *access->buffer;  // the descriptor swizzles; a corner is hardly ever moved by that
  plain.swizzle_bits = plain.n_xor = 0;
  Access at = *access;
  at.buffer = &plain;
  Arena *arena = emitter->arena;
  if (expr_equal(access_offset(arena, &at), access_offset(arena, access))) at = *access;
  emit_type_name(emitter, type);
  const char *name =
      emit_helper(emitter, (Prelude){.kind = PRELUDE_TILE, .type = emit_stored_type(type)});
  return arena_printf(emitter->arena, "%s(%s, 0x%llxull)", name, emit_place(emitter, &at),
                      (unsigned long long)matrix_tile_bits(&op->tile[i]));
}

static void emit_wgmma(Emitter *emitter, const Op *op) {
  bool rs = op->src.buffer->space == SPACE_REGISTER;
  const char *name =
      emit_helper(emitter, (Prelude){.kind = PRELUDE_WGMMA, .atom = op->atom, .by_registers = rs});
  const char *turned = "";
  if (op->atom->bits == 16 && rs) turned = op->tile[1].trans ? "<1>" : "<0>";
  if (op->atom->bits == 16 && !rs)
    turned = arena_printf(emitter->arena, "<%d, %d>", op->tile[0].trans, op->tile[1].trans);
  const char *a = rs ? arena_printf(emitter->arena, "&%s", emit_element(emitter, &op->src))
                     : emit_tile(emitter, op, 0);
  const char *b = emit_tile(emitter, op, 1);
  emitter_line(emitter, "%s%s(&%s, %s, %s, %s);", name, turned, emit_element(emitter, &op->dst), a,
               b, op->keep ? emit_condition(emitter, op->keep) : "1");
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

static void emit_fence(Emitter *emitter, const Op *op) {
  (void)op;
  emitter_line(emitter, "%s();", emit_given(emitter, &fence));
}

static void emit_commit(Emitter *emitter, const Op *op) {
  (void)op;
  emitter_line(emitter, "%s();", emit_given(emitter, &commit));
}

static void emit_wait(Emitter *emitter, const Op *op) {
  emitter_line(emitter, "%s<%lld>();", emit_given(emitter, &wait), (long long)op->count);
}

static const char *const products[ROLE_COUNT] = {
    [ROLE_ACC] = "ask the tensor core for each tile of %a times each of %b"};
static const char *const help_of_product[ROLE_COUNT + 1] = {
    [ROLE_ACC] =
        "in the background: the tensor core reads both tiles by their descriptors; sums and slabs "
        "are its own until the wait"};
static const char *const help_of_fence[ROLE_COUNT + 1] = {
    [ROLE_COUNT] = "what this warpgroup did to the registers of the sums comes first"};
static const char *const help_of_wait[ROLE_COUNT + 1] = {
    [ROLE_COUNT] =
        "until no more than so many groups are in flight; then their slabs are read to the end, "
        "and "
        "their sums may be touched"};

const OpRules rules_WGMMA = {
    .text = {emit_wgmma, NULL, products},
    {.run = run_wgmma, .fault = wgmma_fault, .width = wgmma_width, .prepare = prepare_wgmma},
    help_of_product};
const OpRules rules_WG_FENCE = {.text = {.write = emit_fence}, {.run = run_fence}, help_of_fence};
const OpRules rules_WG_COMMIT = {.text = {.write = emit_commit}, {.run = run_commit}};
const OpRules rules_WG_WAIT = {.text = {.write = emit_wait}, {.run = run_wait}, help_of_wait};
