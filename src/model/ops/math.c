// Arithmetic of single lanes.
//
//   FMA    acc[m_r][n_r] += a[m_r] * b[n_r];    contracted to one fma.rn by the compiler
//
// On f32 registers, nearly all there is, the interpreter computes 32 lanes at once; every other
// type goes lane by lane through a double, rounded to the type of the destination. Worked example,
// acc of f16, 2048 + 1: the sum 2049 does not fit 11 bits, the register keeps 2048.
#include "model/ops/ops.h"

// ---- run ----------------------------------------------------------------------------------------

static inline bool is_single(DType type) { return type != DTYPE_F64 && type != DTYPE_S32; }

// The destination of fma and add must hold a sum already.
static void run_fma(Machine *m, Warp *w, const Code *code) {
  Registers a = read_registers(m, w, code, &code->src), b = read_registers(m, w, code, &code->src2);
  Registers acc = read_registers(m, w, code, &code->dst);
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

static void run_add(Machine *m, Warp *w, const Code *code) {
  Registers a = read_registers(m, w, code, &code->src);
  Registers sum = read_registers(m, w, code, &code->dst);
  if (!a.row || !sum.row) return;
  for (int j = 0; j < code->dst.width; j++) {
    const Row *term = &a.row[j * a.rows];
    Row *row = &sum.row[j * sum.rows];
    EACH_LANE(lane, w->active)
    row_put(row, sum.type, lane, row_get(row, sum.type, lane) + row_get(term, a.type, lane));
  }
}

static void run_scale(Machine *m, Warp *w, const Code *code) {
  const double alpha = (double)interp_alpha(m->options);
  Registers to = read_registers(m, w, code, &code->dst);
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

static void emit_fma(Emitter *emitter, const Op *op) {
  const char *a = emit_number(emitter, &op->src), *b = emit_number(emitter, &op->src2);
  emit_update(emitter, &op->dst, '+', arena_printf(emitter->arena, "%s * %s", a, b));
}

static void emit_add(Emitter *emitter, const Op *op) {
  emit_update(emitter, &op->dst, '+', emit_number(emitter, &op->src));
}

static void emit_scale(Emitter *emitter, const Op *op) {
  emit_update(emitter, &op->dst, '*', "alpha");
}

static const char *const products[ROLE_COUNT] = {[ROLE_ACC] = "add the outer product of a and b"};
static const char *const factors[ROLE_COUNT] = {
    [ROLE_ACC] = "the BLAS factor; stores no longer say where the sums live"};

const OpRules rules_FMA = {.text = {emit_fma, NULL, products}, {.run = run_fma}};
const OpRules rules_ADD = {.text = {.write = emit_add}, {.run = run_add}};
const OpRules rules_SCALE = {.text = {emit_scale, NULL, factors}, {.run = run_scale}};
