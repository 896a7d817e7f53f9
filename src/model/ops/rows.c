// Tells the effect of a softmax on the rows of a product's sums: the largest value, powers of two,
// factors of rows, and sums that become an operand.
//
//   MAX        row_max[0] = fmaxf(row_max[0], S_f[n_r][v]);
//   LANES_MAX  row_max[0] = lanes_max(row_max[0], 3);          bits 0 and 1 of the lane
//   EXP2       S_f[n_r][v] = exp2_of(alpha * S_f[n_r][v] - base[0]);
//   CONVERT    P_f[0] = round_f16x2(S_f[0][0], S_f[0][1]);
//
// A row of an atom's sums lies in lanes with numbers that differ only in the bits that do not pick
// the row (fragment.h); `count` is the mask of these bits. Worked example, m16n8k16: lane l has
// columns 2 · (l % 4) and the next of rows l / 4 and l / 4 + 8, so lanes 4, 5, 6 and 7 share row 1,
// and the largest of its eight values is in all four after exchanges with lanes l ^ 1 and l ^ 2.
//
// 2 to the power of a whole number is exact, here and on the GPU (ex2.approx).
#include <math.h>

#include "model/ir/stmt.h"
#include "model/ops/ops.h"

// ---- run ----------------------------------------------------------------------------------------

typedef double Combine(double a, double b);

static double larger(double a, double b) { return a != a || b != b ? interp_poison() : fmax(a, b); }
static double sum_of(double a, double b) { return a + b; }
static double product_of(double a, double b) { return a * b; }
static double quotient_of(double a, double b) { return a / b; }

// dst = combine(dst, src), lane by lane.
static void update(Machine *m, Warp *w, const Code *code, Combine *combine) {
  Registers by = interp_read_registers(m, w, code, &code->src);
  Registers to = interp_read_registers(m, w, code, &code->dst);
  if (!by.row || !to.row) return;
  EACH_LANE(lane, w->active) {
    double value = row_get(to.row, to.type, lane);
    row_put(to.row, to.type, lane, combine(value, row_get(by.row, by.type, lane)));
  }
}

static void run_max(Machine *m, Warp *w, const Code *code) { update(m, w, code, larger); }
static void run_mul(Machine *m, Warp *w, const Code *code) { update(m, w, code, product_of); }
static void run_div(Machine *m, Warp *w, const Code *code) { update(m, w, code, quotient_of); }

// The powers of a softmax are below the power of its maximum. Above it they are right just the
// same, for all are divided by their sum, until the first one that overflows.
static void check_power(Machine *m, const Warp *w, const Code *code, int lane, double power) {
  if (power > 0)
    interp_report(m, FINDING_RANGE, w, lane, code->stmt, code->src.buffer, 0,
                  "is 2 to the power of %g: the largest score of its row is not the maximum",
                  power);
}

static void run_exp2(Machine *m, Warp *w, const Code *code) {
  const double alpha = (double)interp_alpha(m->options);
  Registers of = interp_read_registers(m, w, code, &code->src);
  Registers less = interp_read_registers(m, w, code, &code->src2);
  Registers to = reach_registers(m, w, code, &code->dst);
  if (!of.row || !less.row || !to.row) return;
  EACH_LANE(lane, w->active) {
    double power = alpha * row_get(of.row, of.type, lane) - row_get(less.row, less.type, lane);
    check_power(m, w, code, (int)lane, power);
    row_put(to.row, to.type, lane, exp2(power));
  }
  mark_written(w, &to, 0);
}

static void run_convert(Machine *m, Warp *w, const Code *code) {
  Registers from = interp_read_registers(m, w, code, &code->src);
  Registers to = reach_registers(m, w, code, &code->dst);
  for (int j = 0; from.row && to.row && j < code->dst.width; j++) {
    const Row *of = &from.row[j * from.rows];
    Row *row = &to.row[j * to.rows];
    EACH_LANE(lane, w->active)
    row_put(row, to.type, lane, number_convert(to.type, row_get(of, from.type, lane)));
    mark_written(w, &to, j);
  }
}

// Each step combines lanes with numbers that differ in one bit of the mask.
static void over_lanes(Machine *m, Warp *w, const Code *code, Combine *combine) {
  Registers to = interp_read_registers(m, w, code, &code->dst);
  if (!to.row || !op_whole_warp(m, w, code)) return;
  double value[LANES], before[LANES];
  for (uint32_t lane = 0; lane < LANES; lane++) value[lane] = row_get(to.row, to.type, lane);
  EACH_LANE(bit, (uint32_t)code->stmt->op.lane_bits) {
    for (uint32_t lane = 0; lane < LANES; lane++) before[lane] = value[lane];
    for (uint32_t lane = 0; lane < LANES; lane++)
      value[lane] = combine(before[lane], before[lane ^ 1u << bit]);
  }
  for (uint32_t lane = 0; lane < LANES; lane++) row_put(to.row, to.type, lane, value[lane]);
}

static void run_lanes_max(Machine *m, Warp *w, const Code *code) { over_lanes(m, w, code, larger); }
static void run_lanes_sum(Machine *m, Warp *w, const Code *code) { over_lanes(m, w, code, sum_of); }

static const char *lanes_fault(Arena *arena, const Program *program, const Code *code) {
  (void)program;
  int64_t mask = code->stmt->op.lane_bits;
  if (mask >= 0 && mask < LANES) return NULL;
  return arena_printf(arena, "lanes ^ %lld: a lane's number has 5 bits, so masks are 0 to 31",
                      (long long)mask);
}

// ---- emit ---------------------------------------------------------------------------------------

static const PreludeText exp2_of = {
    "exp2_of",
    "// 2 to the power of x, within 2 units in the last place; exact for whole numbers.\n"
    "__device__ __forceinline__ float exp2_of(float x) {\n"
    "  float y;\n"
    "  asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));\n"
    "  return y;\n}\n"};

static const PreludeText lanes_max = {
    "lanes_max",
    "// The largest of the lanes whose numbers differ in those bits alone.\n"
    "__device__ __forceinline__ float lanes_max(float x, int bits) {\n"
    "#pragma unroll\n"
    "  for (int bit = 1; bit < 32; bit *= 2)\n"
    "    if (bits & bit) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, bit));\n"
    "  return x;\n}\n"};

static const PreludeText lanes_sum = {
    "lanes_sum",
    "// The sum over the lanes whose numbers differ in those bits alone.\n"
    "__device__ __forceinline__ float lanes_sum(float x, int bits) {\n"
    "#pragma unroll\n"
    "  for (int bit = 1; bit < 32; bit *= 2)\n"
    "    if (bits & bit) x += __shfl_xor_sync(0xffffffffu, x, bit);\n"
    "  return x;\n}\n"};

// A compiler's code for `/` has a branch for operands near the ends of the range, with a call
// behind it: of 64 sums, 64 of each (nvcc 13.0, sm_90a). Here the steps are those of its fast path;
// a step that depends on the divisor alone runs once for all dividends.
static const PreludeText divided = {
    "divided",
    "// a / b in f32, for a b from 1 up to 2^60: a reciprocal and one step of Newton's for it, a\n"
    "// quotient and its remainder.\n"
    "__device__ __forceinline__ float divided(float a, float b) {\n"
    "  float r;\n"
    "  asm(\"rcp.approx.ftz.f32 %0, %1;\" : \"=f\"(r) : \"f\"(b));\n"
    "  r = fmaf(r, fmaf(-b, r, 1.0f), r);\n"
    "  const float q = a * r;\n"
    "  return fmaf(r, fmaf(-b, q, a), q);\n}\n"};

static const PreludeText ready = {
    "ready",
    "// x, computed here: the compiler moves it past no fence that follows.\n"
    "__device__ __forceinline__ float ready(float x) {\n"
    "  asm volatile(\"\" : \"+f\"(x));\n"
    "  return x;\n}\n"};
static const PreludeText round_f16x2 = {
    "round_f16x2",
    "// Two numbers as one register of two f16, the first one low.\n"
    "__device__ __forceinline__ unsigned round_f16x2(float low, float high) {\n"
    "  unsigned both;\n"
    "  asm(\"cvt.rn.f16x2.f32 %0, %1, %2;\" : \"=r\"(both) : \"f\"(high), \"f\"(low));\n"
    "  return both;\n}\n"};

static const PreludeText round_bf16x2 = {
    "round_bf16x2",
    "// Two numbers as one register of two bf16, the first one low.\n"
    "__device__ __forceinline__ unsigned round_bf16x2(float low, float high) {\n"
    "  unsigned both;\n"
    "  asm(\"cvt.rn.bf16x2.f32 %0, %1, %2;\" : \"=r\"(both) : \"f\"(high), \"f\"(low));\n"
    "  return both;\n}\n"};

static const PreludeText round_tf32 = {
    "round_tf32",
    "// The nearest tf32, as an f32 whose last 13 bits are 0.\n"
    "__device__ __forceinline__ float round_tf32(float x) {\n"
    "  unsigned bits;\n"
    "  asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(bits) : \"f\"(x));\n"
    "  return __uint_as_float(bits);\n}\n"};

static void emit_max(Emitter *emitter, const Op *op) {
  const char *to = emit_element(emitter, &op->dst);
  emitter_line(emitter, "%s = fmaxf(%s, %s);", to, to, emit_element(emitter, &op->src));
}

// Sums that wgmma adds to next have to be ready at the fence before it. The fence names no
// registers: ptxas may be handed a product behind it, as happened in rung overlap, where another
// wgmma stands between the two.
static void emit_mul(Emitter *emitter, const Op *op) {
  const char *to = emit_element(emitter, &op->dst), *by = emit_element(emitter, &op->src);
  const Atom *atom = program_atom(emitter->program);
  if (atom && atom_is_of_warpgroup(atom) && op->dst.buffer->role == ROLE_ACC)
    emitter_line(emitter, "%s = %s(%s * %s);", to, emit_given(emitter, &ready), to, by);
  else
    emitter_line(emitter, "%s *= %s;", to, by);
}

// A warp's own sums are divided by `/`: the reciprocals that `divided` has for all of them at once
// cost 24 B of spills where 32 rows fill the registers (rung tma, nvcc 13.0).
static void emit_div(Emitter *emitter, const Op *op) {
  const char *to = emit_element(emitter, &op->dst), *by = emit_element(emitter, &op->src);
  const Atom *atom = program_atom(emitter->program);
  if (atom && atom_is_of_warpgroup(atom))
    emitter_line(emitter, "%s = %s(%s, %s);", to, emit_given(emitter, &divided), to, by);
  else
    emitter_line(emitter, "%s /= %s;", to, by);
}

static void emit_exp2(Emitter *emitter, const Op *op) {
  emitter_line(emitter, "%s = %s(alpha * %s - %s);", emit_element(emitter, &op->dst),
               emit_given(emitter, &exp2_of), emit_element(emitter, &op->src),
               emit_element(emitter, &op->src2));
}

// Two at a time where a register holds two.
static bool rounds_pair(const Emitter *emitter, const Op *op) {
  const Buffer *to = op->dst.buffer;
  bool half = to->type == DTYPE_F16 || to->type == DTYPE_BF16;
  return op->width == 2 && half && emitter->packed[to->id] && op->src.buffer->type == DTYPE_F32;
}

static bool convert_is_split(const Emitter *emitter, const Op *op) {
  return !rounds_pair(emitter, op);
}

static void emit_convert(Emitter *emitter, const Op *op) {
  DType type = op->dst.buffer->type;
  if (type == DTYPE_TF32) {
    const char *rounded = arena_printf(emitter->arena, "%s(%s)", emit_given(emitter, &round_tf32),
                                       emit_number(emitter, &op->src));
    emitter_line(emitter, "%s", emit_assignment(emitter, &op->dst, rounded));
    return;
  }
  if (op->width == 1) {
    emitter_line(emitter, "%s",
                 emit_assignment(emitter, &op->dst, emit_converted(emitter, type, &op->src)));
    return;
  }
  const Access second = emit_neighbour(emitter->arena, &op->src, 1);
  const PreludeText *round = type == DTYPE_F16 ? &round_f16x2 : &round_bf16x2;
  emitter_line(emitter, "%s = %s(%s, %s);", emit_element(emitter, &op->dst),
               emit_given(emitter, round), emit_element(emitter, &op->src),
               emit_element(emitter, &second));
}

static void emit_lanes(Emitter *emitter, const Op *op, const PreludeText *combine) {
  const char *value = emit_element(emitter, &op->dst);
  emitter_line(emitter, "%s = %s(%s, %lld);", value, emit_given(emitter, combine), value,
               (long long)op->lane_bits);
}

static void emit_lanes_max(Emitter *emitter, const Op *op) { emit_lanes(emitter, op, &lanes_max); }
static void emit_lanes_sum(Emitter *emitter, const Op *op) { emit_lanes(emitter, op, &lanes_sum); }

static const char *const maxima[ROLE_COUNT] = {[ROLE_ROW_MAX] =
                                                   "the largest score of each row so far"};
static const char *const factors[ROLE_COUNT] = {
    [ROLE_ACC] = "earlier sums used a smaller maximum",
    [ROLE_ROW_SUM] = "earlier sums used a smaller maximum"};
static const char *const quotients[ROLE_COUNT] = {
    [ROLE_ACC] = "divide by the row's sum: its weights do not yet add up to 1"};
static const char *const powers[ROLE_COUNT] = {
    [ROLE_SCORE] = "scores become weights; the largest is 1",
    [ROLE_RESCALE] = "the factor that scales earlier sums to the new maximum"};
static const char *const converts[ROLE_COUNT] = {
    [ROLE_FRAG_P] =
        "the accumulators of one product are the operand of the next, in the same lanes"};
static const char *const across[ROLE_COUNT] = {
    [ROLE_ROW_MAX] = "the lanes that share a row agree on its maximum",
    [ROLE_ROW_SUM] = "the lanes that share a row add up its weights"};

const OpRules rules_MAX = {.text = {.write = emit_max, .purposes = maxima}, {.run = run_max}};
const OpRules rules_MUL = {.text = {.write = emit_mul, .purposes = factors}, {.run = run_mul}};
const OpRules rules_DIV = {.text = {.write = emit_div, .purposes = quotients}, {.run = run_div}};
const OpRules rules_EXP2 = {.text = {.write = emit_exp2, .purposes = powers}, {.run = run_exp2}};
const OpRules rules_CONVERT = {
    .text = {.write = emit_convert, .is_split = convert_is_split, .purposes = converts},
    {.run = run_convert}};
const OpRules rules_LANES_MAX = {.text = {.write = emit_lanes_max, .purposes = across},
                                 {.run = run_lanes_max, .fault = lanes_fault}};
const OpRules rules_LANES_SUM = {.text = {.write = emit_lanes_sum, .purposes = across},
                                 {.run = run_lanes_sum, .fault = lanes_fault}};
