// ldmatrix, stmatrix and mma.sync, which the 32 lanes of a warp carry out as one.
//
// fragment.h says which element a lane's value is, tabulated when the operation is compiled. MMA
// gathers the lanes' values into matrices, multiplies those in doubles and rounds each sum once to
// the type of the accumulators. So the result agrees with any order of summation as long as it is
// exact; the inputs see to that. Sums in s32 wrap around as the instruction's do.
//
// LDMATRIX works on 16-byte rows. Lane l addresses row l % 8 of matrix l / 8; its address is
// checked as that lane's access, but the data counts as read by the lane that receives it. Worked
// example, .x2.trans of f16: lanes 0 to 7 address matrix 0, 8 to 15 matrix 1, the addresses of 16
// to 31 are not looked at. Lane 5 receives in value 0 and 1 (register 0) rows 2 and 3 of column 1
// of matrix 0: elements 1 of the rows that lanes 2 and 3 address. STMATRIX is the way back, and the
// data counts as written by the lane that has it.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/ir/stmt.h"
#include "model/ops/ops.h"

enum { WORD_BYTES = 4, ATOM_M_MAX = 16, ATOM_N = 8, ATOM_K_MAX = 32, SCALES_MAX = 4 };

// ---- compiling ----------------------------------------------------------------------------------

static int values_per_word(DType type) { return dtype_bytes(type) < 4 ? 4 / dtype_bytes(type) : 1; }

static bool runs_here(const Atom *atom) {
  return atom && atom_is_of_warp(atom) && atom->n == ATOM_N && atom->m <= ATOM_M_MAX &&
         atom->k <= ATOM_K_MAX;
}

static int mma_width(const Op *op, AtomOperand operand) {
  const bool held = runs_here(op->atom) && atom_in_lanes(op->atom, operand);
  return held ? fragment_map(op->atom, operand).n_values : 1;
}

static int ldmatrix_width(const Op *op, AtomOperand operand) {
  const Buffer *buffer = op->src.buffer;
  if (!buffer) return 1;
  return operand == ATOM_C ? (int)op->matrices * values_per_word(buffer->type)
                           : LDMATRIX_ROW_BYTES / dtype_bytes(buffer->type);
}

static const char *ldmatrix_fault(Arena *arena, const Program *program, const Code *code) {
  (void)program;
  const Op *op = &code->stmt->op;
  DType type = op->src.buffer->type;
  if (op->matrices != 1 && op->matrices != 2 && op->matrices != 4)
    return arena_printf(arena, "ldmatrix loads %lld matrices: 1, 2 or 4 can be loaded",
                        (long long)op->matrices);
  if (dtype_bytes(type) > WORD_BYTES)
    return arena_printf(arena, "ldmatrix hands out 32 bits, an element of %s has 64",
                        dtype_name(type));
  if (op->trans && dtype_bytes(type) != 2)
    return arena_printf(arena, "ldmatrix.trans transposes elements of 16 bits, %s has %d",
                        dtype_name(type), 8 * dtype_bytes(type));
  return NULL;
}

static int stmatrix_width(const Op *op, AtomOperand operand) {
  const Buffer *buffer = op->dst.buffer;
  if (!buffer) return 1;
  return operand == ATOM_A ? (int)op->matrices * values_per_word(buffer->type)
                           : LDMATRIX_ROW_BYTES / dtype_bytes(buffer->type);
}

static const char *stmatrix_fault(Arena *arena, const Program *program, const Code *code) {
  (void)program;
  const Op *op = &code->stmt->op;
  DType type = op->dst.buffer->type, from = op->src.buffer->type;
  if (op->matrices != 1 && op->matrices != 2 && op->matrices != 4)
    return arena_printf(arena, "stmatrix stores %lld matrices: 1, 2 or 4 can be stored",
                        (long long)op->matrices);
  if (dtype_bytes(type) != 2)
    return arena_printf(arena, "stmatrix stores elements of 16 bits, %s has %d", dtype_name(type),
                        8 * dtype_bytes(type));
  if (from == type || from == DTYPE_F32) return NULL;
  return arena_printf(arena, "stmatrix rounds f32 to %s, and %s is %s", dtype_name(type),
                      op->src.buffer->name, dtype_name(from));
}

static const char *fragment_fault(Arena *arena, const Atom *atom, AtomOperand which,
                                  const Operand *operand) {
  const char *wanted = which == ATOM_C ? atom->acc : atom->type;
  DType type = operand->buffer->type;
  if (strcmp(dtype_name(type), wanted) == 0) return NULL;
  return arena_printf(arena, "%s of %s is %s, but %s holds %s", atom_operand_name(which),
                      atom->name, wanted, operand->buffer->name, dtype_name(type));
}

static const char *mma_fault(Arena *arena, const Program *program, const Code *code) {
  (void)program;
  const Atom *atom = code->stmt->op.atom;
  if (!atom) return "mma names no atom";
  if (!runs_here(atom)) return arena_printf(arena, "the interpreter does not know %s", atom->name);
  const char *fault = fragment_fault(arena, atom, ATOM_C, &code->dst);
  if (!fault) fault = fragment_fault(arena, atom, ATOM_A, &code->src);
  return fault ? fault : fragment_fault(arena, atom, ATOM_B, &code->src2);
}

static FragmentTable tabulate(Arena *arena, const Atom *atom, AtomOperand operand) {
  FragmentMap map = fragment_map(atom, operand);
  uint16_t(*at)[LANES] = arena_alloc(arena, sizeof *at * (size_t)map.n_values);
  for (int value = 0; value < map.n_values; value++)
    for (int lane = 0; lane < LANES; lane++) {
      FragmentElement e = fragment_map_element(&map, lane, value);
      at[value][lane] = (uint16_t)(e.row * map.cols + e.col);
    }
  return (FragmentTable){map.n_values, map.cols, (const uint16_t(*)[LANES])at};
}

static void prepare_mma(Arena *arena, const Program *program, Code *code) {
  (void)program;
  const Atom *atom = code->stmt->op.atom;
  FragmentTable *table = ARENA_ARRAY(arena, FragmentTable, ATOM_MATRICES);
  for (int operand = 0; operand < ATOM_MATRICES; operand++)
    if (operand != ATOM_OPERANDS && atom_in_lanes(atom, (AtomOperand)operand))
      table[operand] = tabulate(arena, atom, (AtomOperand)operand);
  code->fragment = table;
}

// ---- both ---------------------------------------------------------------------------------------

// Without all of its lanes a warp's instruction does nothing that could be relied on.
bool op_whole_warp(Machine *m, const Warp *w, const Code *code) {
  uint32_t missing = ~w->active;
  if (!missing) return true;
  interp_report(m, FINDING_DIVERGENCE, w, lowest_lane(w->active), code->stmt, NULL, 0,
                "reaches an instruction of the whole warp, but lane %d does not",
                lowest_lane(missing));
  return false;
}

static void poison(Warp *w, const Registers *to, int n) {
  for (int j = 0; j < n; j++) {
    EACH_LANE(lane, w->active) row_put(&to->row[j * to->rows], to->type, lane, interp_poison());
    mark_written(w, to, j);
  }
}

// Values share registers of 32 bits: an operand starts with the first of its register.
static bool starts_register(Machine *m, const Warp *w, const Code *code, const Operand *operand,
                            const Registers *at) {
  int together = values_per_word(at->type);
  if (at->at % together == 0) return true;
  interp_report(m, FINDING_MISALIGNED, w, -1, code->stmt, operand->buffer, at->at,
                "starts inside a register of %d values", together);
  return false;
}

// ---- ldmatrix -----------------------------------------------------------------------------------

// The element of its matrix that a lane receives as part `part` of `parts` in its 32 bits.
static FragmentElement received(bool trans, int parts, int lane, int part) {
  if (trans) return ldmatrix_element(true, lane, part);
  return (FragmentElement){lane / 4, lane % 4 * parts + part};
}

static void receive(Machine *m, Warp *w, const Code *code, const Reach *reach, const Registers *to,
                    int matrix) {
  int parts = values_per_word(to->type);
  Touch now = touch_of(m, w, code);
  for (int part = 0; part < parts; part++) {
    Row *row = &to->row[matrix * parts + part];
    for (uint32_t lane = 0; lane < LANES; lane++) {
      FragmentElement e = received(code->stmt->op.trans, parts, (int)lane, part);
      int from = ldmatrix_addressing_lane(matrix, e.row);
      now.thread = thread_of(w, lane);
      if (reach->inside >> from & 1)
        interp_read_element(m, w, code, &now, reach->memory, reach->at.lane[from] + e.col, row,
                            lane);
      else
        row_put(row, to->type, lane, interp_poison());
    }
    mark_written(w, to, matrix * parts + part);
  }
}

static void run_ldmatrix(Machine *m, Warp *w, const Code *code) {
  int n = (int)code->stmt->op.matrices;
  Registers to = reach_registers(m, w, code, &code->dst);
  if (!to.row) return;
  if (!op_whole_warp(m, w, code) || !starts_register(m, w, code, &code->dst, &to)) {
    poison(w, &to, code->dst.width);
    return;
  }
  uint32_t addressing = n == 4 ? UINT32_MAX : (1u << n * LDMATRIX_ROWS) - 1;
  Reach reach;
  reach_memory(m, w, code, &code->src, addressing, &reach);
  for (int matrix = 0; matrix < n; matrix++) receive(m, w, code, &reach, &to, matrix);
}

// ---- stmatrix -----------------------------------------------------------------------------------

static void give(Machine *m, const Warp *w, const Code *code, const Reach *reach,
                 const Registers *from, int matrix) {
  const Memory *memory = reach->memory;
  int parts = values_per_word(memory->type);
  Touch now = touch_of(m, w, code);
  for (int part = 0; part < parts; part++) {
    const Row *row = &from->row[(matrix * parts + part) * from->rows];
    for (uint32_t lane = 0; lane < LANES; lane++) {
      FragmentElement e = received(code->stmt->op.trans, parts, (int)lane, part);
      int to = ldmatrix_addressing_lane(matrix, e.row);
      if (!(reach->inside >> to & 1)) continue;
      int64_t at = reach->at.lane[to] + e.col;
      now.thread = thread_of(w, lane);
      shadow_write(m, memory, at, &now);
      number_write(memory->type, memory_at(memory, at), row_get(row, from->type, lane));
    }
  }
}

static void run_stmatrix(Machine *m, Warp *w, const Code *code) {
  int n = (int)code->stmt->op.matrices;
  Registers from = interp_read_registers(m, w, code, &code->src);
  if (!from.row || !op_whole_warp(m, w, code) || !starts_register(m, w, code, &code->src, &from))
    return;
  uint32_t addressing = n == 4 ? UINT32_MAX : (1u << n * LDMATRIX_ROWS) - 1;
  Reach reach;
  reach_memory(m, w, code, &code->dst, addressing, &reach);
  for (int matrix = 0; matrix < n; matrix++) give(m, w, code, &reach, &from, matrix);
}

// ---- mma ----------------------------------------------------------------------------------------

typedef double Eight __attribute__((vector_size(ATOM_N * sizeof(double)), aligned(16)));
typedef struct Factors {
  double a[ATOM_M_MAX * SCALES_MAX], b[SCALES_MAX * ATOM_N];
} Factors;

typedef union OutRow {
  Eight all;
  double column[ATOM_N];
} OutRow;

static void gather(const FragmentTable *table, const Registers *from, double *matrix) {
  bool single = from->type != DTYPE_F64 && from->type != DTYPE_S32 && from->type != DTYPE_TF32;
  for (int v = 0; v < table->n_values; v++) {
    const Row *row = &from->row[v * from->rows];
    const uint16_t *at = table->at[v];
    for (uint32_t lane = 0; lane < LANES; lane++)
      matrix[at[lane]] = single ? (double)row->lane[lane]
                                : number_tensor(from->type, row_get(row, from->type, lane));
  }
}

// s32 sums keep their low 32 bits.
static double wrapped(double sum) {
  return isnan(sum) ? sum : (double)(int32_t)(uint32_t)(int64_t)sum;
}

static void scatter(Warp *w, const FragmentTable *table, const double *matrix,
                    const Registers *to) {
  for (int v = 0; v < table->n_values; v++) {
    Row *row = &to->row[v * to->rows];
    for (uint32_t lane = 0; lane < LANES; lane++) {
      double sum = matrix[table->at[v][lane]];
      if (to->type == DTYPE_F32)
        row->lane[lane] = (float)sum;
      else
        row_put(row, to->type, lane, to->type == DTYPE_S32 ? wrapped(sum) : sum);
    }
    mark_written(w, to, v);
  }
}

// c += a · b, rows of c being of ATOM_N columns.
static void multiply(const Atom *atom, const double *a, const OutRow *b, OutRow *c) {
  for (int i = 0; i < atom->m; i++) {
    Eight sum = c[i].all;
    for (int k = 0; k < atom->k; k++) sum += a[i * atom->k + k] * b[k].all;
    c[i].all = sum;
  }
}

// The factors that lanes supply: the first of the lanes with values for the same row or column.
static void gather_factors(const FragmentTable *table, const Registers *from, double *matrix) {
  for (int v = 0; v < table->n_values; v++) {
    const Row *row = &from->row[v * from->rows];
    for (int lane = LANES - 1; lane >= 0; lane--)
      matrix[table->at[v][lane]] = row_get(row, from->type, (uint32_t)lane);
  }
}

// For a block-scaled atom: the units of K that share a factor are summed, then scaled by both.
static void multiply_scaled(const Atom *atom, DType type, const Factors *factors, const double *a,
                            const OutRow *b, OutRow *c) {
  const int scales = atom_scales(atom), units = atom->k / scales;
  for (int i = 0; i < atom->m; i++)
    for (int j = 0; j < ATOM_N; j++)
      for (int s = 0; s < scales; s++) {
        double part = 0;
        for (int k = s * units; k < (s + 1) * units; k++)
          part += number_product(type, a[i * atom->k + k], b[k].column[j]);
        c[i].column[j] += part * factors->a[i * scales + s] * factors->b[s * ATOM_N + j];
      }
}

static bool take_factors(Machine *m, Warp *w, const Code *code, Factors *out) {
  const Registers a = interp_read_registers(m, w, code, &code->scale[ATOM_A]);
  const Registers b = interp_read_registers(m, w, code, &code->scale[ATOM_B]);
  if (!a.row || !b.row) return false;
  gather_factors(&code->fragment[ATOM_SFA], &a, out->a);
  gather_factors(&code->fragment[ATOM_SFB], &b, out->b);
  return true;
}

static void run_mma(Machine *m, Warp *w, const Code *code) {
  Registers a = interp_read_registers(m, w, code, &code->src),
            b = interp_read_registers(m, w, code, &code->src2);
  Registers acc = interp_read_registers(m, w, code, &code->dst);
  if (!a.row || !b.row || !acc.row) return;
  bool sound = op_whole_warp(m, w, code) && starts_register(m, w, code, &code->src, &a) &&
               starts_register(m, w, code, &code->src2, &b) &&
               starts_register(m, w, code, &code->dst, &acc);
  if (!sound) {
    poison(w, &acc, code->dst.width);
    return;
  }
  double left[ATOM_M_MAX * ATOM_K_MAX];
  OutRow right[ATOM_K_MAX], sum[ATOM_M_MAX];
  gather(&code->fragment[ATOM_A], &a, left);
  gather(&code->fragment[ATOM_B], &b, right[0].column);
  gather(&code->fragment[ATOM_C], &acc, sum[0].column);
  Factors factors;
  if (!code->scale[ATOM_A].buffer)
    multiply(code->stmt->op.atom, left, right, sum);
  else if (take_factors(m, w, code, &factors))
    multiply_scaled(code->stmt->op.atom, a.type, &factors, left, right, sum);
  scatter(w, &code->fragment[ATOM_C], sum[0].column, &acc);
}

// ---- emit ---------------------------------------------------------------------------------------

static void emit_ldmatrix(Emitter *emitter, const Op *op) {
  const char *name = emit_helper(emitter, (Prelude){.kind = PRELUDE_LDMATRIX,
                                                    .type = emit_stored_type(op->src.buffer->type),
                                                    .width = (int)op->matrices,
                                                    .trans = op->trans});
  emit_type_name(emitter, op->src.buffer->type);
  emitter_line(emitter, "%s(&%s, %s);", name, emit_element(emitter, &op->dst),
               emit_place(emitter, &op->src));
}

static void emit_stmatrix(Emitter *emitter, const Op *op) {
  const char *name =
      emit_helper(emitter, (Prelude){.kind = PRELUDE_STMATRIX,
                                     .type = op->dst.buffer->type,
                                     .registers = emit_stored_type(op->src.buffer->type),
                                     .width = (int)op->matrices,
                                     .trans = op->trans});
  emit_type_name(emitter, op->dst.buffer->type);
  emitter_line(emitter, "%s(%s, &%s);", name, emit_place(emitter, &op->dst),
               emit_element(emitter, &op->src));
}

static void emit_mma(Emitter *emitter, const Op *op) {
  const Atom *atom = op->atom;
  assert(atom && atom_is_of_warp(atom));
  const char *name = emit_helper(emitter, (Prelude){.kind = PRELUDE_MMA, .atom = atom});
  if (op->scale[ATOM_A].buffer) {
    const char *factor[2];
    for (int i = 0; i < 2; i++)
      factor[i] = arena_printf(emitter->arena, "%s, %s", emit_element(emitter, &op->scale[i]),
                               emit_part(emitter, &op->scale[i]));
    emitter_line(emitter, "%s(&%s, &%s, &%s, %s, %s);", name, emit_element(emitter, &op->dst),
                 emit_element(emitter, &op->src), emit_element(emitter, &op->src2), factor[0],
                 factor[1]);
    return;
  }
  emitter_line(emitter, "%s(&%s, &%s, &%s);", name, emit_element(emitter, &op->dst),
               emit_element(emitter, &op->src), emit_element(emitter, &op->src2));
}

static const char *const fragments[ROLE_COUNT] = {[ROLE_FRAG_A] = "the warp's fragments of %s",
                                                  [ROLE_FRAG_B] = "the warp's fragments of %s",
                                                  [ROLE_FRAG_V] = "the warp's fragments of %s"};
static const char *const rows_of_c[ROLE_COUNT] = {
    [ROLE_SLAB_C] = "put the accumulators into shared memory, eight rows at a time"};
static const char *const products[ROLE_COUNT] = {
    [ROLE_ACC] = "multiply each fragment of %a by each of %b",
    [ROLE_SCORE] = "multiply each fragment of %a by each of %b"};

const OpRules rules_LDMATRIX = {
    .text = {.write = emit_ldmatrix, .purposes = fragments},
    {.run = run_ldmatrix, .fault = ldmatrix_fault, .width = ldmatrix_width}};
static const char *const help_of_stmatrix[ROLE_COUNT + 1] = {
    [ROLE_SLAB_C] =
        "stores eight rows of 16 bytes at once without a conflict; without it each lane would "
        "store 4 bytes"};

const OpRules rules_STMATRIX = {
    .text = {.write = emit_stmatrix, .purposes = rows_of_c},
    {.run = run_stmatrix, .fault = stmatrix_fault, .width = stmatrix_width},
    help_of_stmatrix};
const OpRules rules_MMA = {
    .text = {.write = emit_mma, .purposes = products},
    {.run = run_mma, .fault = mma_fault, .width = mma_width, .prepare = prepare_mma}};
