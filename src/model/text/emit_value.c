// Registers that hold several values, and elements as numbers.
//
// A register buffer of a 16- or 8-bit type is packed as soon as one operation moves 32 bits of it
// at once, or is done by the tensor core; else every value has a variable of its own. Worked
// example, fragment A of m16n8k16.f16, dimensions [4][8]:
//   declared                    unsigned a[4][4];
//   load of 2 at [m_r][v_a·2]   load2(&a[m_r][v_a], …)
//   load of 1 at [m_r][v]       insert_f16(&a[m_r][v / 2], v % 2, …)
// An index that a width above 1 goes with is a multiple of what shares a register, so dividing it
// is exact.
//
// The types f16, bf16, e4m3 and e5m2 are structures of bits: C does not compute with them by
// accident. to_float() makes numbers of them, to_f16() rounds back.
#include "model/text/emit_value.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/text/emit_parts.h"

enum { REGISTER_BYTES = 4 };

// ---- which buffers are packed -------------------------------------------------------------------

typedef struct Collect {
  bool *packed;
} Collect;

static void collect_access(Collect *collect, const Access *access, bool whole) {
  const Buffer *buffer = access->buffer;
  if (!buffer || buffer->space != SPACE_REGISTER || dtype_bytes(buffer->type) >= REGISTER_BYTES)
    return;
  if (whole) collect->packed[buffer->id] = true;
}

static void collect_stmt(Stmt *stmt, int depth, void *context) {
  (void)depth;
  const Op *op = &stmt->op;
  if (stmt->kind != STMT_OP) return;
  Access *operands[OP_ACCESSES];
  op_accesses(&stmt->op, operands);
  for (int i = 0; i < OP_ACCESSES; i++) {
    const Buffer *buffer = operands[i]->buffer;
    bool collective = op_is_collective(op->kind);
    bool whole = buffer && op->width * dtype_bytes(buffer->type) >= REGISTER_BYTES;
    collect_access(context, operands[i], collective || whole);
  }
}

void emit_values_collect(Emitter *emitter) {
  Collect collect = {emitter->packed};
  for (int i = 0; i < emitter->program->n_kernels; i++)
    stmt_walk(emitter->program->kernel[i].body, collect_stmt, &collect);
}

int emit_values_per_register(const Emitter *emitter, const Buffer *buffer) {
  return emitter->packed[buffer->id] ? REGISTER_BYTES / dtype_bytes(buffer->type) : 1;
}

int64_t emit_dim(const Emitter *emitter, const Buffer *buffer, int d) {
  if (d + 1 < buffer->rank) return buffer->dim[d];
  int per = emit_values_per_register(emitter, buffer);
  assert(buffer->dim[d] % per == 0);
  return buffer->dim[d] / per;
}

const char *emit_register_type(Emitter *emitter, const Buffer *buffer) {
  return emitter->packed[buffer->id] ? "unsigned" : emit_type_name(emitter, buffer->type);
}

// ---- names --------------------------------------------------------------------------------------

const char *emit_helper(Emitter *emitter, Prelude helper) {
  int at = 0, order = 1;
  while (at < emitter->n_helpers && (order = prelude_compare(&helper, &emitter->helper[at])) > 0)
    at++;
  if (at == emitter->n_helpers || order != 0) {
    assert(emitter->n_helpers < EMIT_HELPERS_MAX);
    memmove(&emitter->helper[at + 1], &emitter->helper[at],
            sizeof helper * (size_t)(emitter->n_helpers++ - at));
    emitter->helper[at] = helper;
  }
  return prelude_name(emitter->arena, &helper);
}

const char *emit_type_name(Emitter *emitter, DType type) {
  if (prelude_type_is_struct(type))
    return emit_helper(emitter, (Prelude){.kind = PRELUDE_TYPE, .type = type});
  return prelude_type_name(type);
}

ExprText emit_expr_text(Emitter *emitter, Str *out) {
  return (ExprText){emitter->arena, out, &emitter->symbols, emitter->names, emitter->n_threads};
}

static void print_register_index(Emitter *emitter, ExprText *text, const Access *access) {
  const Buffer *buffer = access->buffer;
  for (int d = 0; d < buffer->rank; d++) {
    if (emit_dim(emitter, buffer, d) == 1) continue;
    bool last = d + 1 == buffer->rank;
    int per = last ? emit_values_per_register(emitter, buffer) : 1;
    str_add_char(text->out, '[');
    emit_expr(text, ex_div(emitter->arena, access->idx[d], per));
    str_add_char(text->out, ']');
  }
}

static const PreludeText of_rank = {
    "of_rank",
    "// The same place in the shared memory of another block of the cluster.\n"
    "template <typename T>\n"
    "__device__ __forceinline__ T *of_rank(T *here, int rank) {\n"
    "  T *there;\n"
    "  asm volatile(\"mapa.u64 %0, %1, %2;\" : \"=l\"(there) : \"l\"(here), \"r\"(rank));\n"
    "  return there;\n}\n"};

// "A_s", "of_rank(A_s, 1 - m_c)"
static void print_base(Emitter *emitter, Str *out, const Access *access, const EmitBase *base) {
  ExprText text = emit_expr_text(emitter, out);
  if (!access->rank) {
    str_add(out, base ? base->name : access->buffer->name);
    return;
  }
  const Prelude map = {.kind = PRELUDE_GIVEN, .given = &of_rank};
  str_printf(out, "%s(%s, ", emit_helper(emitter, map), access->buffer->name);
  emit_expr(&text, access->rank);
  str_add_char(out, ')');
}

// Base, `between`, and how far from it in elements.
static void print_memory_place(Emitter *emitter, Str *out, const Access *access,
                               const char *between) {
  ExprText text = emit_expr_text(emitter, out);
  const Expr *rest;
  const EmitBase *base = emit_base_of(emitter, access, &rest);
  print_base(emitter, out, access, base);
  str_add(out, between);
  if (base)
    emit_sum(&text, emitter->program, access->buffer, rest);
  else
    emit_offset(&text, emitter->program, access);
}

const char *emit_element(Emitter *emitter, const Access *access) {
  Str out = str_new(emitter->arena);
  ExprText text = emit_expr_text(emitter, &out);
  if (access->buffer->space == SPACE_REGISTER) {
    str_add(&out, access->buffer->name);
    print_register_index(emitter, &text, access);
    return out.text;
  }
  print_memory_place(emitter, &out, access, "[");
  str_add_char(&out, ']');
  return out.text;
}

const char *emit_place(Emitter *emitter, const Access *access) {
  Str out = str_new(emitter->arena);
  print_memory_place(emitter, &out, access, ", ");
  return out.text;
}

Access emit_neighbour(Arena *arena, const Access *access, int j) {
  Access next = *access;
  if (!next.buffer) return next;
  int fast = buffer_fast_dimension(next.buffer);
  next.idx[fast] = ex_add_const(arena, next.idx[fast], j);
  return next;
}

// ---- elements as numbers ------------------------------------------------------------------------

static bool is_packed(const Emitter *emitter, const Buffer *buffer) {
  return buffer->space == SPACE_REGISTER && emitter->packed[buffer->id];
}

// Which of the values in its register an access means.
const char *emit_part(Emitter *emitter, const Access *access) {
  Str out = str_new(emitter->arena);
  ExprText text = emit_expr_text(emitter, &out);
  int per = emit_values_per_register(emitter, access->buffer);
  emit_expr(&text, ex_mod(emitter->arena, access->idx[access->buffer->rank - 1], per));
  return out.text;
}

static const char *read_element(Emitter *emitter, const Access *access) {
  const char *element = emit_element(emitter, access);
  if (!is_packed(emitter, access->buffer)) return element;
  emit_type_name(emitter, access->buffer->type);
  const char *extract =
      emit_helper(emitter, (Prelude){.kind = PRELUDE_EXTRACT, .type = access->buffer->type});
  return arena_printf(emitter->arena, "%s(%s, %s)", extract, element, emit_part(emitter, access));
}

const char *emit_number(Emitter *emitter, const Access *access) {
  DType type = access->buffer->type;
  const char *value = read_element(emitter, access);
  if (!prelude_type_is_struct(type)) return value;
  const char *convert = emit_helper(emitter, (Prelude){.kind = PRELUDE_TO_FLOAT, .type = type});
  return arena_printf(emitter->arena, "%s(%s)", convert, value);
}

const char *emit_rounded(Emitter *emitter, DType type, const char *number) {
  if (!prelude_type_is_struct(type)) return number;
  emit_type_name(emitter, type);
  const char *convert = emit_helper(emitter, (Prelude){.kind = PRELUDE_FROM_FLOAT, .type = type});
  return arena_printf(emitter->arena, "%s(%s)", convert, number);
}

const char *emit_converted(Emitter *emitter, DType type, const Access *src) {
  if (src->buffer->type == type) return read_element(emitter, src);
  return emit_rounded(emitter, type, emit_number(emitter, src));
}

const char *emit_assignment(Emitter *emitter, const Access *access, const char *value) {
  const char *element = emit_element(emitter, access);
  if (!is_packed(emitter, access->buffer))
    return arena_printf(emitter->arena, "%s = %s;", element, value);
  emit_type_name(emitter, access->buffer->type);
  const char *insert =
      emit_helper(emitter, (Prelude){.kind = PRELUDE_INSERT, .type = access->buffer->type});
  return arena_printf(emitter->arena, "%s(&%s, %s, %s);", insert, element,
                      emit_part(emitter, access), value);
}

// ---- constants ----------------------------------------------------------------------------------

// The bits of the float that is `bits` long, has `fraction` fraction bits and is nearest to value.
static unsigned float_bits(double value, int bits, int fraction) {
  int exponent_bits = bits - 1 - fraction, bias = (1 << (exponent_bits - 1)) - 1, exponent;
  unsigned sign = signbit(value) ? 1u << (bits - 1) : 0;
  unsigned infinity = ((1u << exponent_bits) - 1) << fraction;
  if (value == 0) return sign;
  if (isinf(value)) return sign | infinity;
  frexp(value, &exponent);  // |value| = 0.1… · 2^exponent
  int least = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
  double scaled = nearbyint(ldexp(fabs(value), fraction - least));
  unsigned whole = (unsigned)scaled, hidden = 1u << fraction;
  if (whole < hidden) return sign | whole;  // subnormal
  unsigned result = ((unsigned)(least + bias) << fraction) + (whole - hidden);
  return sign | (result < infinity ? result : infinity);
}

static unsigned element_bits(DType type, double value) {
  static const int fractions[DTYPE_COUNT] = {
      [DTYPE_F16] = 10, [DTYPE_BF16] = 7, [DTYPE_E4M3] = 3,
      [DTYPE_E5M2] = 2, [DTYPE_MXF8] = 3, [DTYPE_MXF8E5M2] = 2};
  if (type == DTYPE_S8) return (unsigned)(int)value & 0xff;
  return float_bits(value, 8 * dtype_bytes(type), fractions[type]);
}

static const char *print_floating(Emitter *emitter, double value, int digits, const char *suffix) {
  if (isinf(value))  // as CUDART_INF_F is defined
    return arena_printf(emitter->arena, "__int_as_float(0x%s)",
                        value < 0 ? "ff800000" : "7f800000");
  const char *text = arena_printf(emitter->arena, "%.*g", digits, value);
  bool has_point = strpbrk(text, ".e") != NULL;
  return arena_printf(emitter->arena, "%s%s%s", text, has_point ? "" : ".0", suffix);
}

const char *emit_constant(Emitter *emitter, DType type, double value) {
  if (type == DTYPE_F32 || type == DTYPE_TF32) return print_floating(emitter, value, 9, "f");
  if (type == DTYPE_F64) return print_floating(emitter, value, 17, "");
  if (type == DTYPE_S32 || type == DTYPE_S8)
    return arena_printf(emitter->arena, "%lld", (long long)value);
  const char *name = emit_type_name(emitter, type);
  if (value == 0) return arena_printf(emitter->arena, "%s{}", name);
  return arena_printf(emitter->arena, "%s{0x%x}", name, element_bits(type, value));
}

const char *emit_packed_constant(Emitter *emitter, DType type, double value) {
  unsigned bits = element_bits(type, value);
  if (dtype_bytes(type) == 1) bits |= bits << 8;
  bits |= bits << 16;
  return arena_printf(emitter->arena, bits ? "0x%08xu" : "%uu", bits);
}
