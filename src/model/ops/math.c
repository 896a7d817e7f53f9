// Arithmetic of single lanes.
//
//   FMA    acc[m_r][n_r] += a[m_r] * b[n_r];    contracted to one fma.rn by the compiler
//
// On f32 registers, nearly all there is, the interpreter computes 32 lanes at once; every other
// type goes lane by lane through a double, rounded to the type of the destination. Worked example,
// acc of f16, 2048 + 1: the sum 2049 does not fit 11 bits, the register keeps 2048.
#include "model/ir/stmt.h"
#include "model/ops/ops.h"

// ---- run ----------------------------------------------------------------------------------------

static inline bool is_single(DType type) { return type != DTYPE_F64 && type != DTYPE_S32; }

// Block-scaled: the product of two units, times the factors of both.
static void run_scaled(Machine *m, Warp *w, const Code *code) {
  const Registers a = interp_read_registers(m, w, code, &code->src);
  const Registers b = interp_read_registers(m, w, code, &code->src2);
  const Registers of_a = interp_read_registers(m, w, code, &code->scale[0]);
  const Registers of_b = interp_read_registers(m, w, code, &code->scale[1]);
  const Registers acc = interp_read_registers(m, w, code, &code->dst);
  if (!a.row || !b.row || !of_a.row || !of_b.row || !acc.row) return;
  EACH_LANE(lane, w->active) {
    const double factor = row_get(of_a.row, of_a.type, lane) * row_get(of_b.row, of_b.type, lane);
    const double product =
        number_product(a.type, row_get(a.row, a.type, lane), row_get(b.row, b.type, lane));
    row_put(acc.row, acc.type, lane, row_get(acc.row, acc.type, lane) + product * factor);
  }
}

// The destination of fma and add must hold a sum already.
static void run_fma(Machine *m, Warp *w, const Code *code) {
  if (code->scale[0].buffer) {
    run_scaled(m, w, code);
    return;
  }
  Registers a = interp_read_registers(m, w, code, &code->src),
            b = interp_read_registers(m, w, code, &code->src2);
  Registers acc = interp_read_registers(m, w, code, &code->dst);
  if (!a.row || !b.row || !acc.row) return;
  bool single = acc.type == DTYPE_F32 && is_single(a.type) && is_single(b.type);
  if (single && w->active == UINT32_MAX) {
    acc.row->all += a.row->all * b.row->all;
    return;
  }
  EACH_LANE(lane, w->active) {
    double product = row_get(a.row, a.type, lane) * row_get(b.row, b.type, lane);
    row_put(acc.row, acc.type, lane, row_get(acc.row, acc.type, lane) + product);
  }
}

static void run_sum(Machine *m, Warp *w, const Code *code, double sign) {
  Registers a = interp_read_registers(m, w, code, &code->src);
  Registers sum = interp_read_registers(m, w, code, &code->dst);
  if (!a.row || !sum.row) return;
  for (int j = 0; j < code->dst.width; j++) {
    const Row *term = &a.row[j * a.rows];
    Row *row = &sum.row[j * sum.rows];
    EACH_LANE(lane, w->active)
    row_put(row, sum.type, lane, row_get(row, sum.type, lane) + sign * row_get(term, a.type, lane));
  }
}

static void run_add(Machine *m, Warp *w, const Code *code) { run_sum(m, w, code, 1); }
static void run_sub(Machine *m, Warp *w, const Code *code) { run_sum(m, w, code, -1); }

static void run_scale(Machine *m, Warp *w, const Code *code) {
  const double alpha = (double)interp_alpha(m->options);
  Registers to = interp_read_registers(m, w, code, &code->dst);
  for (int j = 0; to.row && j < code->dst.width; j++) {
    Row *row = &to.row[j * to.rows];
    EACH_LANE(lane, w->active) row_put(row, to.type, lane, row_get(row, to.type, lane) * alpha);
  }
}

// ---- emit ---------------------------------------------------------------------------------------

// dst `sign`= number, rounded where dst is a type that C does not compute with.
static void emit_update(Emitter *emitter, const Access *dst, char sign, const char *number) {
  DType type = dst->buffer->type;
  if (!prelude_type_is_struct(type)) {
    emitter_line(emitter, "%s %c= %s;", emit_element(emitter, dst), sign, number);
    return;
  }
  const char *sum =
      arena_printf(emitter->arena, "%s %c %s", emit_number(emitter, dst), sign, number);
  emitter_line(emitter, "%s", emit_assignment(emitter, dst, emit_rounded(emitter, type, sum)));
}

// Bytes of two e2m1, which are converted to two f16 at once.
static const PreludeText dot = {
    "dot",
    "// The sum of both products of two bytes of e2m1.\n"
    "template <typename T>\n"
    "__device__ __forceinline__ float dot(T a, T b) {\n"
    "  float to;\n"
    "  asm(\"{\\n\"\n"
    "      \".reg .b8 left, right, rest;\\n\"\n"
    "      \".reg .b16 low, high;\\n\"\n"
    "      \".reg .b32 a, b;\\n\"\n"
    "      \".reg .f32 first, second;\\n\"\n"
    "      \"mov.b16 {left, rest}, %1;\\n\"\n"
    "      \"mov.b16 {right, rest}, %2;\\n\"\n"
    "      \"cvt.rn.f16x2.e2m1x2 a, left;\\n\"\n"
    "      \"cvt.rn.f16x2.e2m1x2 b, right;\\n\"\n"
    "      \"mul.rn.f16x2 a, a, b;\\n\"\n"
    "      \"mov.b32 {low, high}, a;\\n\"\n"
    "      \"cvt.f32.f16 first, low;\\n\"\n"
    "      \"cvt.f32.f16 second, high;\\n\"\n"
    "      \"add.rn.f32 %0, first, second;\\n\"\n"
    "      \"}\" : \"=f\"(to) : \"h\"(static_cast<unsigned short>(a.bits)),\n"
    "      \"h\"(static_cast<unsigned short>(b.bits)));\n"
    "  return to;\n}\n"};

// a * b, or of block-scaled types that times both factors.
static const char *product_text(Emitter *emitter, const Op *op) {
  Arena *arena = emitter->arena;
  const DType type = op->src.buffer->type;
  if (!op->scale[0].buffer)
    return arena_printf(arena, "%s * %s", emit_number(emitter, &op->src),
                        emit_number(emitter, &op->src2));
  const char *product =
      dtype_elements(type) > 1
          ? arena_printf(arena, "%s(%s, %s)",
                         emit_helper(emitter, (Prelude){.kind = PRELUDE_GIVEN, .given = &dot}),
                         emit_element(emitter, &op->src), emit_element(emitter, &op->src2))
          : arena_printf(arena, "%s * %s", emit_number(emitter, &op->src),
                         emit_number(emitter, &op->src2));
  return arena_printf(arena, "%s * (%s * %s)", product, emit_number(emitter, &op->scale[0]),
                      emit_number(emitter, &op->scale[1]));
}

static void emit_fma(Emitter *emitter, const Op *op) {
  emit_update(emitter, &op->dst, '+', product_text(emitter, op));
}

static void emit_add(Emitter *emitter, const Op *op) {
  emit_update(emitter, &op->dst, '+', emit_number(emitter, &op->src));
}

static void emit_sub(Emitter *emitter, const Op *op) {
  emit_update(emitter, &op->dst, '-', emit_number(emitter, &op->src));
}

static void emit_scale(Emitter *emitter, const Op *op) {
  emit_update(emitter, &op->dst, '*', "alpha");
}

static const char *const products[ROLE_COUNT] = {[ROLE_ACC] = "add the outer product of a and b"};
static const char *const factors[ROLE_COUNT] = {
    [ROLE_ACC] = "the BLAS factor; stores no longer say where the sums live"};

const OpRules rules_FMA = {.text = {.write = emit_fma, .purposes = products}, {.run = run_fma}};
const OpRules rules_ADD = {.text = {.write = emit_add}, {.run = run_add}};
const OpRules rules_SUB = {.text = {.write = emit_sub}, {.run = run_sub}};
const OpRules rules_SCALE = {.text = {.write = emit_scale, .purposes = factors},
                             {.run = run_scale}};
