// 32 bits ↔ named fields, and what the ISA's tables allow of them.
//
// Kinds of one format have their fields at the same bits; what a code stands for is the kind's. All
// of it is in tables: fields by format, codes by kind, shapes by kind and use.
//
// Worked example, f16, 0x08400490: bits 4-5 are 1, D is f32; bits 7-9 and 10-12 are 1, A and B are
// bf16; bits 17-22 are 32, N = 256; bits 24-28 are 8, M = 128.
#include "banks/layouts/instruction_descriptor.h"

#include <stdlib.h>
#include <string.h>

#include "banks/layouts/notation_scan.h"
#include "base/nearest.h"
#include "base/str.h"
#include "base/whole.h"

enum { K_SPARSE_ROOM = 2, K_LONG = 96 };

// ---- kinds --------------------------------------------------------------------------------------

// Id, name, format, K.
#define KIND_TABLE(X)                               \
  X(TF32, "tf32", INSTRUCTION_PLAIN, 8)             \
  X(F16, "f16", INSTRUCTION_PLAIN, 16)              \
  X(F8F6F4, "f8f6f4", INSTRUCTION_PLAIN, 32)        \
  X(I8, "i8", INSTRUCTION_PLAIN, 32)                \
  X(MXF8F6F4, "mxf8f6f4", INSTRUCTION_SCALED_8, 32) \
  X(MXF4, "mxf4", INSTRUCTION_SCALED_4, 64)         \
  X(MXF4NVF4, "mxf4nvf4", INSTRUCTION_SCALED_4, 64)

typedef enum KindId {
#define X(id, name, format, k) id,
  KIND_TABLE(X)
#undef X
      N_KINDS
} KindId;

static const InstructionKind KINDS[N_KINDS] = {
#define X(id, name, format, k) {name, format, k},
    KIND_TABLE(X)
#undef X
};
static const char *const KIND_NAMES[N_KINDS] = {
#define X(id, name, format, k) name,
    KIND_TABLE(X)
#undef X
};

static unsigned bit_of(const InstructionKind *kind) { return 1u << (kind - KINDS); }
static bool is_one_of(const InstructionKind *kind, unsigned kinds) { return bit_of(kind) & kinds; }
#define ONLY(id) (1u << (id))

int instruction_kind_names(const char *const **names) {
  *names = KIND_NAMES;
  return N_KINDS;
}

const InstructionKind *instruction_kind_find(const char *name) {
  for (int i = 0; i < N_KINDS; i++)
    if (str_equal(KINDS[i].name, name)) return &KINDS[i];
  return NULL;
}

// ---- fields -------------------------------------------------------------------------------------

#define RESERVED(first, bits) \
  { "", first, bits, 1, CODES_ZERO, "reserved" }
#define OPERANDS(bits_of_b) \
  {"a", 7, 3, 1, CODES_OPERAND, "type of A"}, { "b", 10, bits_of_b, 1, CODES_OPERAND, "type of B" }
#define SIGNS                                            \
  {"nega", 13, 1, 1, CODES_SWITCH, "1: A is negated"}, { \
    "negb", 14, 1, 1, CODES_SWITCH, "1: B is negated"    \
  }
#define MAJORS                                                         \
  {"ta", 15, 1, 1, CODES_MAJOR, "dimension of A that runs fastest"}, { \
    "tb", 16, 1, 1, CODES_MAJOR, "dimension of B that runs fastest"    \
  }
#define COLUMNS \
  { "n", 17, 6, 8, CODES_NUMBER, "N, the columns of B and D, stored as N / 8" }
#define SCALES_FROM(first, name, of) \
  { name, first, 2, 1, CODES_NUMBER, "ID of the scale factors of " of }
#define SCALED_HEAD                                                                    \
  RESERVED(0, 2), {"sparse", 2, 1, 1, CODES_SWITCH, "1: A is sparse"}, RESERVED(3, 1), \
      SCALES_FROM(4, "sfb", "B"), RESERVED(6, 1)
#define SCALED_TAIL                                                                        \
  COLUMNS, {"scale", 23, 1, 1, CODES_SCALE, "type of the scale factors"}, RESERVED(24, 3), \
      {"m", 27, 2, 128, CODES_NUMBER, "M, the rows of A and D, stored as M / 128"},        \
      SCALES_FROM(29, "sfa", "A")

static const InstructionField FIELDS[INSTRUCTION_FORMATS][INSTRUCTION_FIELDS_MAX] = {
    [INSTRUCTION_PLAIN] = {{"sel", 0, 2, 1, CODES_NUMBER, "sparsity selector, where A is sparse"},
                           {"sparse", 2, 1, 1, CODES_SWITCH, "1: A is sparse"},
                           {"sat", 3, 1, 1, CODES_SWITCH, "1: integer sums saturate"},
                           {"d", 4, 2, 1, CODES_SUM, "type of D"},
                           RESERVED(6, 1),
                           OPERANDS(3),
                           SIGNS,
                           MAJORS,
                           COLUMNS,
                           RESERVED(23, 1),
                           {"m", 24, 5, 16, CODES_NUMBER,
                            "M, the rows of A and D, stored as M / 16"},
                           RESERVED(29, 1),
                           {"shift", 30, 2, 1, CODES_SHIFT, "maximum shift of B in .ws"}},
    [INSTRUCTION_SCALED_8] = {SCALED_HEAD, OPERANDS(3), SIGNS, MAJORS, SCALED_TAIL,
                              RESERVED(31, 1)},
    [INSTRUCTION_SCALED_4] = {SCALED_HEAD,
                              OPERANDS(2),
                              RESERVED(12, 1),
                              SIGNS,
                              RESERVED(15, 2),
                              SCALED_TAIL,
                              {"k96", 31, 1, 1, CODES_SWITCH,
                               "1: K is 96 instead of 64 (sm_103a)"}},
};

int instruction_field_count(const InstructionKind *kind) {
  int n = 0;
  while (n < INSTRUCTION_FIELDS_MAX && FIELDS[kind->format][n].name) n++;
  return n;
}

const InstructionField *instruction_field_at(const InstructionKind *kind, int index) {
  return &FIELDS[kind->format][index];
}

static const InstructionField *field_of(const InstructionKind *kind, const char *name) {
  for (int i = 0; i < instruction_field_count(kind); i++)
    if (str_equal(FIELDS[kind->format][i].name, name)) return &FIELDS[kind->format][i];
  return NULL;
}

static uint32_t most(const InstructionField *field) { return (1u << field->bits) - 1; }

static int code_of(const InstructionDescriptor *d, const InstructionField *field) {
  return (int)(d->word >> field->first & most(field));
}

static void put(InstructionDescriptor *d, const InstructionField *field, int code) {
  d->word = (d->word & ~(most(field) << field->first)) | (uint32_t)code << field->first;
}

int instruction_value(const InstructionDescriptor *d, const char *name) {
  const InstructionField *field = field_of(d->kind, name);
  return field ? code_of(d, field) * field->unit : -1;
}

// A field that the format has, and of which the kind knows nothing but 0: integers alone saturate,
// and they are never negated.
static bool is_zero(const InstructionKind *kind, const InstructionField *field) {
  bool sat = str_equal(field->name, "sat"), sign = str_starts(field->name, "neg");
  bool i8 = kind == &KINDS[I8];
  return field->codes == CODES_ZERO || (sat && !i8) || (sign && i8);
}

// ---- codes --------------------------------------------------------------------------------------

static const struct Code {
  unsigned kinds;
  InstructionCodes codes;
  int code;
  const char *name;
} CODES[] = {
    {ONLY(F16) | ONLY(F8F6F4), CODES_SUM, 0, "f16"},
    {ONLY(F16) | ONLY(F8F6F4) | ONLY(TF32), CODES_SUM, 1, "f32"},
    {ONLY(I8), CODES_SUM, 2, "s32"},
    {ONLY(TF32), CODES_OPERAND, 2, "tf32"},
    {ONLY(F16), CODES_OPERAND, 0, "f16"},
    {ONLY(F16), CODES_OPERAND, 1, "bf16"},
    {ONLY(I8), CODES_OPERAND, 0, "u8"},
    {ONLY(I8), CODES_OPERAND, 1, "s8"},
    {ONLY(F8F6F4) | ONLY(MXF8F6F4), CODES_OPERAND, 0, "e4m3"},
    {ONLY(F8F6F4) | ONLY(MXF8F6F4), CODES_OPERAND, 1, "e5m2"},
    {ONLY(F8F6F4) | ONLY(MXF8F6F4), CODES_OPERAND, 3, "e2m3"},
    {ONLY(F8F6F4) | ONLY(MXF8F6F4), CODES_OPERAND, 4, "e3m2"},
    {ONLY(F8F6F4) | ONLY(MXF8F6F4), CODES_OPERAND, 5, "e2m1"},
    {ONLY(MXF4) | ONLY(MXF4NVF4), CODES_OPERAND, 1, "e2m1"},
    {ONLY(MXF8F6F4) | ONLY(MXF4) | ONLY(MXF4NVF4), CODES_SCALE, 1, "ue8m0"},
    {ONLY(MXF4NVF4), CODES_SCALE, 0, "ue4m3"},
    {ONLY(N_KINDS) - 1, CODES_MAJOR, 0, "k"},
    {ONLY(N_KINDS) - 1, CODES_MAJOR, 1, "mn"},
    {ONLY(N_KINDS) - 1, CODES_SHIFT, 0, "0"},
    {ONLY(N_KINDS) - 1, CODES_SHIFT, 1, "8"},
    {ONLY(N_KINDS) - 1, CODES_SHIFT, 2, "16"},
    {ONLY(N_KINDS) - 1, CODES_SHIFT, 3, "32"},
};
enum { N_CODES = sizeof CODES / sizeof CODES[0] };

static bool means(const struct Code *code, const InstructionKind *kind,
                  const InstructionField *field) {
  return code->codes == field->codes && is_one_of(kind, code->kinds);
}

static const char *name_of(const InstructionDescriptor *d, const InstructionField *field) {
  for (int i = 0; i < N_CODES; i++)
    if (means(&CODES[i], d->kind, field) && CODES[i].code == code_of(d, field))
      return CODES[i].name;
  return NULL;
}

// The names that the kind has for a field, in the order of their codes; 0: it has a number.
static int names_of(const InstructionKind *kind, const InstructionField *field,
                    const char *names[N_CODES]) {
  int n = 0;
  for (int i = 0; i < N_CODES; i++)
    if (means(&CODES[i], kind, field)) names[n++] = CODES[i].name;
  return n;
}

const char *instruction_field_text(Arena *arena, const InstructionDescriptor *d,
                                   const InstructionField *field) {
  const char *name = name_of(d, field), *names[N_CODES];
  if (name) return name;
  bool named = names_of(d->kind, field, names) > 0;
  return arena_printf(arena, named ? "code %d" : "%d", code_of(d, field) * field->unit);
}

// ---- shapes -------------------------------------------------------------------------------------

// PTX ISA, "Matrix Shape". N goes from n_from to n_to in steps; step 0: it doubles.
typedef struct Shape {
  unsigned kinds;
  int group;
  bool ws;
  enum { DENSE = 1, SPARSE = 2, EITHER = 3 } a;
  int m[3];
  int n_from, n_to, n_step;
} Shape;

enum {
  FLOATS = ONLY(TF32) | ONLY(F16) | ONLY(F8F6F4),
  PLAIN = FLOATS | ONLY(I8),
  SCALED = ONLY(MXF8F6F4) | ONLY(MXF4) | ONLY(MXF4NVF4),
};

static const Shape SHAPES[] = {
    {FLOATS, 1, false, EITHER, {64, 128}, 8, 256, 8},
    {FLOATS, 2, false, EITHER, {128, 256}, 16, 256, 16},
    {ONLY(I8), 1, false, EITHER, {64, 128}, 8, 32, 8},
    {ONLY(I8), 1, false, EITHER, {64, 128}, 48, 256, 16},
    {ONLY(I8), 2, false, EITHER, {128, 256}, 32, 256, 32},
    {PLAIN, 1, true, DENSE, {32, 64, 128}, 64, 256, 0},
    {PLAIN, 1, true, SPARSE, {32, 64, 128}, 64, 128, 0},
    {SCALED, 1, false, EITHER, {128}, 8, 256, 8},
    {SCALED, 2, false, DENSE, {128, 256}, 16, 256, 16},
    {SCALED, 2, false, SPARSE, {256}, 16, 256, 16},
};
enum { N_SHAPES = sizeof SHAPES / sizeof SHAPES[0] };

// ---- input --------------------------------------------------------------------------------------

// Names of shifts are numbers.
static const char *read_name(Scan *scan, const InstructionField *field) {
  long long number;
  if (field->codes != CODES_SHIFT) return scan_word(scan);
  return scan_number(scan, "a number", &number) ? arena_printf(scan->arena, "%lld", number) : NULL;
}

// The largest shape of this kind; the field itself may have room for more.
static int largest(const InstructionKind *kind, const InstructionField *field) {
  const bool is_m = str_equal(field->name, "m"), is_n = str_equal(field->name, "n");
  int most_of_shapes = 0;
  for (int i = 0; i < N_SHAPES; i++) {
    const Shape *shape = &SHAPES[i];
    if (!is_one_of(kind, shape->kinds)) continue;
    for (int k = 0; is_m && k < 3; k++) most_of_shapes = max_int(most_of_shapes, shape->m[k]);
    if (is_n) most_of_shapes = max_int(most_of_shapes, shape->n_to);
  }
  return is_m || is_n ? most_of_shapes : (int)most(field) * field->unit;
}

static bool read_code(Scan *scan, const InstructionKind *kind, const InstructionField *field,
                      int *code) {
  const char *names[N_CODES];
  const int n = names_of(kind, field, names);
  long long number;
  if (n > 0) {
    const char *word = read_name(scan, field);
    for (int i = 0; word && i < N_CODES; i++)
      if (means(&CODES[i], kind, field) && str_equal(CODES[i].name, word))
        return *code = CODES[i].code, true;
    if (!scan->failed)
      diag_add_unknown(scan->diags, "idesc", field->what, word ? word : "", names, n);
    return scan->failed = true, false;
  }
  if (!scan_number(scan, "a number", &number)) return false;
  if (number % field->unit || number / field->unit > (long long)most(field))
    return scan_refuse(
        scan, arena_printf(scan->arena, "%s is a multiple of %d, at most %lld", field->name,
                           field->unit, (long long)largest(kind, field)));
  *code = (int)(number / field->unit);
  return true;
}

static bool read_field(Scan *scan, InstructionDescriptor *out) {
  const char *names[INSTRUCTION_FIELDS_MAX];
  int n = 0, code = 0;
  for (int i = 0; i < instruction_field_count(out->kind); i++)
    if (FIELDS[out->kind->format][i].name[0]) names[n++] = FIELDS[out->kind->format][i].name;
  const char *word = scan_word(scan);
  const InstructionField *field = word && word[0] ? field_of(out->kind, word) : NULL;
  if (!field) {
    diag_add_unknown(scan->diags, "idesc", "field", word ? word : "", names, n);
    return scan->failed = true, false;
  }
  if (!scan_expect(scan, "=") || !read_code(scan, out->kind, field, &code)) return false;
  put(out, field, code);
  return true;
}

// Tells what a text that does not name it leaves as it is: sums of 32 bits, the only types there
// are, and scale factors without a mantissa.
static void put_defaults(InstructionDescriptor *d) {
  for (int i = 0; i < instruction_field_count(d->kind); i++) {
    const InstructionField *field = instruction_field_at(d->kind, i);
    for (int k = N_CODES - 1; k >= 0; k--) {
      const bool type = field->codes == CODES_OPERAND && !name_of(d, field);
      const bool sum = field->codes == CODES_SUM && CODES[k].code > 0;
      const bool scale = field->codes == CODES_SCALE && CODES[k].code > 0;
      if (means(&CODES[k], d->kind, field) && (type || sum || scale)) put(d, field, CODES[k].code);
    }
  }
}

bool instruction_descriptor_parse(Arena *arena, const char *kind, const char *text,
                                  InstructionDescriptor *out, Diags *diags) {
  const char *const *names;
  const int n = instruction_kind_names(&names);
  long long word;
  *out = (InstructionDescriptor){.kind = instruction_kind_find(kind)};
  if (!out->kind) {
    diag_add_unknown(diags, "idesc", "kind", str_sanitise(arena, kind), names, n);
    return false;
  }
  Scan scan = scan_new(arena, text, diags);
  if (scan_peek(&scan) >= '0' && scan_peek(&scan) <= '9') {
    if (!scan_number(&scan, "32 bits", &word)) return false;
    if (word > UINT32_MAX) return scan_refuse(&scan, "the number has more than 32 bits");
    out->word = (uint32_t)word;
    return scan_end(&scan);
  }
  put_defaults(out);
  do
    if (!read_field(&scan, out)) return false;
  while (scan_take(&scan, ","));
  return scan_end(&scan);
}

// ---- which of them are legal --------------------------------------------------------------------

static bool is_sparse(const InstructionDescriptor *d) { return instruction_value(d, "sparse") > 0; }

static bool is_meant(const Shape *shape, const InstructionDescriptor *d, InstructionUse use) {
  return is_one_of(d->kind, shape->kinds) && shape->group == use.cta_group &&
         shape->ws == use.weight_stationary && shape->a & (is_sparse(d) ? SPARSE : DENSE);
}

static bool has_m(const Shape *shape, int m) {
  return m > 0 && (shape->m[0] == m || shape->m[1] == m || shape->m[2] == m);
}

static bool has_n(const Shape *shape, int n) {
  if (n < shape->n_from || n > shape->n_to) return false;
  return shape->n_step ? (n - shape->n_from) % shape->n_step == 0 : is_power_of_two(n);
}

// The legal value next to `value`, the larger of two that are equally near.
static int near_m(const Shape *shape, int value) {
  int best = shape->m[0];
  for (int i = 1; i < 3 && shape->m[i]; i++)
    if (abs(shape->m[i] - value) <= abs(best - value)) best = shape->m[i];
  return best;
}
static int near_n(const Shape *shape, int value) {
  int best = shape->n_from;
  for (int n = shape->n_from; n <= shape->n_to; n += 8)
    if (has_n(shape, n) && abs(n - value) <= abs(best - value)) best = n;
  return best;
}

static const char *shape_text(Arena *arena, const Shape *shape) {
  Str out = str_new(arena);
  str_printf(&out, "M of %d", shape->m[0]);
  for (int i = 1; i < 3 && shape->m[i]; i++) str_printf(&out, " or %d", shape->m[i]);
  str_printf(&out, ", N from %d to %d", shape->n_from, shape->n_to);
  if (shape->n_step)
    str_printf(&out, " in steps of %d", shape->n_step);
  else
    str_add(&out, ", doubled each time");
  return out.text;
}

static void check_shape(Arena *arena, const InstructionDescriptor *d, InstructionUse use,
                        Diags *diags) {
  const int m = instruction_value(d, "m"), n = instruction_value(d, "n");
  const char *issued = arena_printf(arena, ".kind::%s%s, cta_group::%d, %s", d->kind->name,
                                    use.weight_stationary ? ", .ws" : "", use.cta_group,
                                    is_sparse(d) ? "sparse" : "dense");
  const Shape *near = NULL;
  Str all = str_new(arena);
  for (int i = 0; i < N_SHAPES; i++) {
    if (!is_meant(&SHAPES[i], d, use)) continue;
    if (has_m(&SHAPES[i], m) && has_n(&SHAPES[i], n)) return;
    if (!near || abs(near_n(&SHAPES[i], n) - n) <= abs(near_n(near, n) - n)) near = &SHAPES[i];
    str_printf(&all, "%s%s", all.text[0] ? "; or " : "", shape_text(arena, &SHAPES[i]));
  }
  if (!near) {
    diag_add(diags, "idesc", "%s: this instruction does not exist", issued);
    return;
  }
  diag_add(diags, "idesc", "M = %d, N = %d: %s has %s", m, n, issued, all.text)->nearest =
      arena_printf(arena, "m=%d,n=%d", near_m(near, m), near_n(near, n));
}

int instruction_k(const InstructionDescriptor *d) {
  if (instruction_value(d, "k96") == 1) return K_LONG;
  return d->kind->k * (is_sparse(d) ? K_SPARSE_ROOM : 1);
}

// CUTLASS asserts coarser steps than the ISA's table has (cute/arch/mma_sm100_umma.hpp, 4.x).
static const struct {
  unsigned kinds;
  int group, m, step;  // m 0: any
} BUILT[] = {{FLOATS, 1, 128, 16}, {ONLY(F8F6F4), 2, 0, 32}};

const char *instruction_shape_note(Arena *arena, const InstructionDescriptor *d,
                                   InstructionUse use) {
  const int m = instruction_value(d, "m"), n = instruction_value(d, "n");
  for (size_t i = 0; i < sizeof BUILT / sizeof BUILT[0]; i++) {
    const bool meant = is_one_of(d->kind, BUILT[i].kinds) && BUILT[i].group == use.cta_group &&
                       (!BUILT[i].m || BUILT[i].m == m) && !use.weight_stationary;
    if (meant && n % BUILT[i].step)
      return arena_printf(arena,
                          "N = %d is in the ISA's table, but CUTLASS uses steps of %d for "
                          ".kind::%s with M = %d and cta_group::%d",
                          n, BUILT[i].step, d->kind->name, m, use.cta_group);
  }
  return NULL;
}

// ---- checks -------------------------------------------------------------------------------------

static const char *bits_text(Arena *arena, const InstructionField *field) {
  if (field->bits == 1) return arena_printf(arena, "bit %d", field->first);
  return arena_printf(arena, "bits %d-%d", field->first, field->first + field->bits - 1);
}

static void check_field(Arena *arena, const InstructionDescriptor *d, const InstructionField *field,
                        Diags *diags) {
  const char *names[N_CODES];
  const int code = code_of(d, field), n = names_of(d->kind, field, names);
  const char *bits = bits_text(arena, field);
  if (is_zero(d->kind, field)) {
    if (code)
      diag_add(diags, "idesc", "%s: %d, but .kind::%s needs 0 there", bits, code, d->kind->name);
  } else if (n > 0 && !name_of(d, field)) {
    Str all = str_new(arena);
    for (int i = 0; i < n; i++) str_printf(&all, "%s%s", i ? ", " : "", names[i]);
    diag_add(diags, "idesc", "%s, %s: %d is not defined for .kind::%s, which has %s", bits,
             field->what, code, d->kind->name, all.text)
        ->nearest = arena_printf(arena, "%s=%s", field->name, names[0]);
  }
}

static bool says(const InstructionDescriptor *d, const char *field, const char *name) {
  const char *is = name_of(d, field_of(d->kind, field));
  return is && str_equal(is, name);
}

// Tells what two fields may not say together.
static void check_together(const InstructionDescriptor *d, InstructionUse use, Diags *diags) {
  if (d->kind == &KINDS[F16] && says(d, "d", "f16") &&
      (says(d, "a", "bf16") || says(d, "b", "bf16")))
    diag_add(diags, "idesc", "bf16 is summed only in f32")->nearest = "d=f32";
  if (d->kind->format == INSTRUCTION_SCALED_4 &&
      (instruction_value(d, "sfa") % 2 || instruction_value(d, "sfb") % 2))
    diag_add(diags, "idesc", "sfa and sfb are 0 or 2: scale factors of 4-bit values come in pairs");
  if (instruction_value(d, "k96") == 1 &&
      (is_sparse(d) || use.cta_group != 2 || instruction_value(d, "m") != 256))
    diag_add(diags, "idesc", "K = 96 exists only for dense A, M = 256 and cta_group::2");
}

bool instruction_descriptor_check(Arena *arena, const InstructionDescriptor *d, InstructionUse use,
                                  Diags *diags) {
  const int before = diags->count;
  for (int i = 0; i < instruction_field_count(d->kind); i++)
    check_field(arena, d, instruction_field_at(d->kind, i), diags);
  check_together(d, use, diags);
  check_shape(arena, d, use, diags);
  return diags->count == before;
}

// ---- where D lies -------------------------------------------------------------------------------

static const struct DataPath {
  int m, group;
  bool ws;
  int a;
  const char *letter, *text;
} PATHS[] = {
    {256, 2, false, EITHER, "A", "4x1, row i in lane i % 128 of CTA i / 128, N columns"},
    {128, 2, false, DENSE, "B", "2x2"},
    {128, 2, false, SPARSE, "C", "4x1, half of the lanes"},
    {128, 1, false, EITHER, "D", "4x1, row i in lane i, N columns"},
    {128, 1, true, EITHER, "D", "4x1, row i in lane i, N columns"},
    {64, 1, true, EITHER, "E", "2x3"},
    {64, 1, false, EITHER, "F", "4x1, half of the lanes"},
    {32, 1, true, EITHER, "G", "1x4"},
};

const char *instruction_data_path(const InstructionDescriptor *d, InstructionUse use,
                                  const char **letter) {
  const int m = instruction_value(d, "m");
  for (size_t i = 0; i < sizeof PATHS / sizeof PATHS[0]; i++) {
    const struct DataPath *path = &PATHS[i];
    if (path->m != m || path->group != use.cta_group || path->ws != use.weight_stationary ||
        !(path->a & (is_sparse(d) ? SPARSE : DENSE)))
      continue;
    *letter = path->letter;
    return path->text;
  }
  return NULL;
}
