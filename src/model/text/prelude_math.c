// The texts of the wrappers that compute: the tensor core, its loads, and roundings.
//
// An mma wrapper is written from the atom's row: the instruction as it stands there, and the number
// of registers that fragment_packing() gives. Worked example, m16n8k16.f16 with f32 accumulators:
//   C 4 values in 4 registers   "+f"   %0 … %3, which are D, too
//   A 8 values in 4 registers   "r"    %4 … %7
//   B 4 values in 2 registers   "r"    %8, %9
//   mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, …}, {%4, …}, {%8, %9}, {%0, …};
//
// Operands of tf32 are the bits of floats as they are: the unit reads sign, exponent and the upper
// ten fraction bits; the bits below are cut off, not rounded.
//
// All of these are volatile: the whole warp must take part (.sync.aligned), so the compiler may not
// move one into a branch, for example the branch of a guarded store that alone reads its sums.
// ldmatrix names memory as clobbered, too: it reads stores of other threads, so no load or store
// may move across it.
#include "model/text/prelude_parts.h"

#include <assert.h>
#include <string.h>

// ---- mma ----------------------------------------------------------------------------------------

static DType type_of(const char *name) {
  DType type = DTYPE_F32;
  bool found = dtype_find(name, &type);
  assert(found);
  (void)found;
  return type;
}

const char *prelude_mma_name(Arena *arena, const Atom *atom) {
  return arena_printf(arena, "mma_m%dn%dk%d_%s_%s", atom->m, atom->n, atom->k * atom->unit,
                      atom->acc, atom->type);
}

typedef struct MmaOperand {
  const char *name, *type;  // "a", "unsigned"
  const char *constraint;   // "r"
  bool cast;                // float bits go into an integer register
  int n;                    // registers
} MmaOperand;

static MmaOperand mma_operand(const Atom *atom, AtomOperand which) {
  static const char *const names[] = {[ATOM_A] = "a", [ATOM_B] = "b", [ATOM_C] = "c"};
  FragmentPacking packing = fragment_packing(atom, which);
  DType type = type_of(which == ATOM_C ? atom->acc : atom->type);
  MmaOperand operand = {names[which], prelude_type_name(type), "r", false, packing.n_registers};
  if (packing.per_register > 1) operand.type = "unsigned";
  if (type == DTYPE_F64) operand.constraint = "d";
  if (type == DTYPE_F32) operand.constraint = "f";
  operand.cast = type == DTYPE_TF32;
  return operand;
}

static void add_places(Str *out, int first, int n) {
  str_add_char(out, '{');
  for (int i = 0; i < n; i++) str_printf(out, "%s%%%d", i ? ", " : "", first + i);
  str_add_char(out, '}');
}

// "r"(a[0]), "r"(a[1]), two or four in a line
static void add_registers(Str *out, const MmaOperand *operand, const char *prefix) {
  int in_line = operand->cast ? 2 : 4;
  for (int i = 0; i < operand->n; i++) {
    if (i > 0) str_add(out, i % in_line ? ", " : ",\n                 ");
    str_printf(out, operand->cast ? "\"%s%s\"(__float_as_uint(%s[%d]))" : "\"%s%s\"(%s[%d])",
               prefix, operand->constraint, operand->name, i);
  }
}

static void add_mma_text(Str *out, const Atom *atom, int n_c, int n_a, int n_b) {
  const char *ptx = atom_ptx(out->arena, atom);
  const char *shape = atom_scales(atom) ? strstr(ptx, ".m16") : ptx;
  if (shape > ptx)  // its line would be too long
    str_printf(out, "  asm volatile(\"%.*s\"\n               \"%s \"\n               \"",
               (int)(shape - ptx), ptx, shape);
  else
    str_printf(out, "  asm volatile(\"%s \"\n               \"", ptx);
  add_places(out, 0, n_c);
  str_add(out, ", ");
  add_places(out, n_c, n_a);
  str_add(out, ", ");
  add_places(out, n_c + n_a, n_b);
  str_add(out, ", ");
  add_places(out, 0, n_c);
  if (atom_scales(atom)) {
    const int at = n_c + n_a + n_b;  // a factor's register and its byte-id, of either
    str_printf(out, ",\"\n               \" {%%%d}, {%%%d, 0}, {%%%d}, {%%%d, 0}", at, at + 1,
               at + 2, at + 3);
  }
  str_add(out, ";\"\n");
}

static const char scale_parameters[] =
    ",\n    unsigned sfa, unsigned short byte_a, unsigned sfb, unsigned short byte_b";
static const char scale_operands[] =
    ",\n                 \"r\"(sfa), \"h\"(byte_a), \"r\"(sfb), \"h\"(byte_b)";

static void add_scale_remark(Str *out, const Atom *atom) {
  const DTypeScale scale = dtype_scale(type_of(atom->type));
  str_printf(
      out,
      "// Each %d elements along K are scaled by a %s: of a row of A by one of lane 4 * (row %% "
      "8) +\n// row / 8, of a column of B by one of lane 4 * column, in %d byte%s of sfa and "
      "sfb from byte_a and\n// byte_b on (thread-id 0: the first lanes of each four).\n",
      scale.elements, dtype_name(scale.type), atom_scales(atom), atom_scales(atom) > 1 ? "s" : "");
}

void prelude_write_mma(Str *out, const Prelude *prelude) {
  const Atom *atom = prelude->atom;
  MmaOperand a = mma_operand(atom, ATOM_A), b = mma_operand(atom, ATOM_B),
             c = mma_operand(atom, ATOM_C);
  str_printf(
      out,
      "// c += a * b, %d x %d x %d, by a warp; PTX ISA, section %.*s says which lane holds what.\n",
      atom->m, atom->n, atom->k * atom->unit, (int)strcspn(atom->section, " "), atom->section);
  const bool scaled = atom_scales(atom) > 0;
  if (scaled) add_scale_remark(out, atom);
  if (a.cast)
    str_add(out, "// The unit reads the upper 19 bits of a and b: fractions are cut to 10 bits.\n");
  str_printf(out, "__device__ __forceinline__ void %s(%s *c, const %s *a,\n    const %s *b%s) {\n",
             prelude_mma_name(out->arena, atom), c.type, a.type, b.type,
             scaled ? scale_parameters : "");
  add_mma_text(out, atom, c.n, a.n, b.n);
  str_add(out, "               : ");
  add_registers(out, &c, "+");
  str_add(out, "\n               : ");
  add_registers(out, &a, "");
  str_add(out, a.n > 2 || a.cast ? ",\n                 " : ", ");
  add_registers(out, &b, "");
  str_printf(out, "%s);\n}\n", scaled ? scale_operands : "");
}

// ---- shared memory ------------------------------------------------------------------------------

// Base and offset come apart, because only then the sum is made in 32 bits: NVRTC (13.0) keeps
// pointers to shared memory in 64, which doubles the registers that hold slots and rows. A tf32
// kernel of 128 x 256 x 32 spills 1,304 bytes with pointers and none with offsets.
void prelude_write_address(Str *out, const char *name, int element_bytes) {
  str_printf(out, "  const unsigned %s = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + ",
             name);
  str_printf(out, element_bytes > 1 ? "%d * at;\n" : "at;\n", element_bytes);
}

// Ordered among barriers and copies by its clobber, as ldmatrix is.
void prelude_write_load_shared(Str *out, const Prelude *prelude) {
  int bytes = dtype_bytes(prelude->type);
  assert(bytes == 4);
  str_printf(out, "__device__ __forceinline__ float %s(const float *slab, int at) {\n",
             prelude_name(out->arena, prelude));
  prelude_write_address(out, "from", bytes);
  str_add(
      out,
      "  float value;\n"
      "  asm volatile(\"ld.shared.f32 %0, [%1];\" : \"=f\"(value) : \"r\"(from) : \"memory\");\n"
      "  return value;\n}\n");
}

// ---- ldmatrix -----------------------------------------------------------------------------------

void prelude_write_ldmatrix(Str *out, const Prelude *prelude) {
  static const char *const counts[] = {
      [1] = "One matrix", [2] = "Two matrices", [4] = "Four matrices"};
  int bytes = dtype_bytes(prelude->type), n = prelude->width;
  bool is_float = bytes == 4;
  str_printf(out,
             "// %s of eight 16-byte rows: lane l has the address of row l %% 8 of matrix l / 8.\n"
             "__device__ __forceinline__ void %s(%s *to, const %s *slab, int at) {\n",
             counts[n], prelude_name(out->arena, prelude), is_float ? "float" : "unsigned",
             prelude_type_name(prelude->type));
  prelude_write_address(out, "from", bytes);
  if (is_float) str_printf(out, "  unsigned bits[%d];\n", n);
  str_printf(out, "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 ", n,
             prelude->trans ? ".trans" : "");
  add_places(out, 0, n);
  str_printf(out, ", [%%%d];\"\n               : ", n);
  for (int i = 0; i < n; i++)
    str_printf(out, "%s\"=r\"(%s[%d])", i ? ", " : "", is_float ? "bits" : "to", i);
  str_add(out, "\n               : \"r\"(from) : \"memory\");\n");
  for (int i = 0; is_float && i < n; i++)
    str_printf(out, "  to[%d] = __uint_as_float(bits[%d]);\n", i, i);
  str_add(out, "}\n");
}

// ---- roundings ----------------------------------------------------------------------------------

// cvt takes the upper half's value first. Of two at once it came with sm_80 (PTX ISA, cvt).
static const char *rounding_of_two(Arena *arena, const Prelude *prelude, int i) {
  const char *type = dtype_name(prelude->type);
  if (!prelude->by_one)
    return arena_printf(
        arena,
        "  asm(\"cvt.rn.%sx2.f32 %%0, %%1, %%2;\" : \"=r\"(v[%d]) : \"f\"(from[%d]), "
        "\"f\"(from[%d]));\n",
        type, i, 2 * i + 1, 2 * i);
  return arena_printf(arena,
                      "  asm(\"{\\n\"\n"
                      "      \".reg .b16 low, high;\\n\"\n"
                      "      \"cvt.rn.%s.f32 low, %%1;\\n\"\n"
                      "      \"cvt.rn.%s.f32 high, %%2;\\n\"\n"
                      "      \"mov.b32 %%0, {low, high};\\n\"\n"
                      "      \"}\" : \"=r\"(v[%d]) : \"f\"(from[%d]), \"f\"(from[%d]));\n",
                      type, type, i, 2 * i, 2 * i + 1);
}

// One register of each lane is a row's 32 bits: two values, rounded where registers hold floats.
void prelude_write_stmatrix(Str *out, const Prelude *prelude) {
  static const char *const counts[] = {
      [1] = "One matrix", [2] = "Two matrices", [4] = "Four matrices"};
  int n = prelude->width;
  bool rounds = prelude->registers != prelude->type;
  str_printf(out,
             "// %s of eight 16-byte rows: lane l has the address of row l %% 8 of matrix l / 8.\n"
             "__device__ __forceinline__ void %s(%s *slab, int at, const %s *from) {\n",
             counts[n], prelude_name(out->arena, prelude), prelude_type_name(prelude->type),
             rounds ? "float" : "unsigned");
  prelude_write_address(out, "to", dtype_bytes(prelude->type));
  if (rounds) str_printf(out, "  unsigned v[%d];\n", n);
  for (int i = 0; rounds && i < n; i++) str_add(out, rounding_of_two(out->arena, prelude, i));
  str_printf(out, "  asm volatile(\"stmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%%0], ", n,
             prelude->trans ? ".trans" : "");
  add_places(out, 1, n);
  str_add(out, ";\"\n               :: \"r\"(to)");
  for (int i = 0; i < n; i++) str_printf(out, ", \"r\"(%s[%d])", rounds ? "v" : "from", i);
  str_add(out, " : \"memory\");\n}\n");
}

void prelude_write_rounding_store(Str *out, const Prelude *prelude) {
  int n = prelude->width / 2;
  assert(prelude->registers == DTYPE_F32 && dtype_bytes(prelude->type) == 2);
  assert(prelude->width % 2 == 0 && n <= 4);
  str_printf(out,
             "__device__ __forceinline__ void %s(%s *to, const float *from) {\n  unsigned v[%d];\n",
             prelude_name(out->arena, prelude), prelude_type_name(prelude->type), n);
  for (int i = 0; i < n; i++) str_add(out, rounding_of_two(out->arena, prelude, i));
  if (n == 1)
    str_add(out, "  *reinterpret_cast<unsigned *>(to) = v[0];\n}\n");
  else
    str_printf(out, "  *reinterpret_cast<uint%d *>(to) = uint%d{v[0], v[1]%s};\n}\n", n, n,
               n == 4 ? ", v[2], v[3]" : "");
}

static const char *const to_float_bodies[DTYPE_COUNT] = {
    [DTYPE_F16] =
        "  float to;\n"
        "  asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(to) : \"h\"(from.bits));\n"
        "  return to;\n",
    [DTYPE_BF16] = "  return __uint_as_float(static_cast<unsigned>(from.bits) << 16);\n",
    [DTYPE_UE8M0] =
        "  return __uint_as_float(from.bits ? static_cast<unsigned>(from.bits) << 23 : 1u << "
        "22);\n",
};

// Tells what a byte of each type is called in cvt, where it has one element.
static const char *const cvt_names[DTYPE_COUNT] = {[DTYPE_E4M3] = "e4m3",
                                                   [DTYPE_E5M2] = "e5m2",
                                                   [DTYPE_MXF8] = "e4m3",
                                                   [DTYPE_MXF8E5M2] = "e5m2",
                                                   [DTYPE_UE4M3] = "e4m3"};

// The 8-bit floats are converted in pairs, by way of f16, which holds them exactly.
static const char eight_bit_body[] =
    "  float to;\n"
    "  asm(\"{\\n\"\n"
    "      \".reg .b16 low, high;\\n\"\n"
    "      \".reg .b32 pair;\\n\"\n"
    "      \"cvt.rn.f16x2.%sx2 pair, %%1;\\n\"\n"
    "      \"mov.b32 {low, high}, pair;\\n\"\n"
    "      \"cvt.f32.f16 %%0, low;\\n\"\n"
    "      \"}\" : \"=f\"(to) : \"h\"(static_cast<unsigned short>(from.bits)));\n"
    "  return to;\n";

void prelude_write_to_float(Str *out, const Prelude *prelude) {
  str_printf(out, "__device__ __forceinline__ float to_float(%s from) {\n",
             prelude_type_name(prelude->type));
  if (cvt_names[prelude->type])
    str_printf(out, eight_bit_body, cvt_names[prelude->type]);
  else
    str_add(out, to_float_bodies[prelude->type]);
  str_add(out, "}\n");
}

void prelude_write_from_float(Str *out, const Prelude *prelude) {
  const char *type = prelude_type_name(prelude->type);
  assert(dtype_bytes(prelude->type) == 2);
  str_printf(out,
             "__device__ __forceinline__ %s to_%s(float from) {\n"
             "  %s to;\n"
             "  asm(\"cvt.rn.%s.f32 %%0, %%1;\" : \"=h\"(to.bits) : \"f\"(from));\n"
             "  return to;\n"
             "}\n",
             type, type, type, type);
}

// ---- values that share a register ---------------------------------------------------------------

void prelude_write_extract(Str *out, const Prelude *prelude) {
  int bits = 8 * dtype_bytes(prelude->type);
  const char *type = prelude_type_name(prelude->type);
  const char *whole = bits == 16 ? "unsigned short" : "unsigned char";
  str_printf(out, "// Value i of a register that holds %d.\n", 32 / bits);
  str_printf(out, "__device__ __forceinline__ %s %s(unsigned from, int i) {\n", type,
             prelude_name(out->arena, prelude));
  if (prelude_type_is_struct(prelude->type))
    str_printf(out, "  return %s{static_cast<%s>(from >> %d * i)};\n}\n", type, whole, bits);
  else
    str_printf(out, "  return static_cast<%s>(from >> %d * i);\n}\n", type, bits);
}

void prelude_write_insert(Str *out, const Prelude *prelude) {
  int bits = 8 * dtype_bytes(prelude->type);
  const char *whole = bits == 16 ? "unsigned short" : "unsigned char";
  bool is_struct = prelude_type_is_struct(prelude->type);
  str_printf(out, "// Value i of a register that holds %d; the others stay.\n", 32 / bits);
  str_printf(out, "__device__ __forceinline__ void %s(unsigned *to, int i, %s value) {\n",
             prelude_name(out->arena, prelude), prelude_type_name(prelude->type));
  if (is_struct)
    str_add(out, "  const unsigned bits = value.bits;\n");
  else
    str_printf(out, "  const unsigned bits = static_cast<%s>(value);\n", whole);
  str_printf(out, "  *to = (*to & ~(0x%xu << %d * i)) | bits << %d * i;\n}\n",
             bits == 16 ? 0xffffu : 0xffu, bits, bits);
}

void prelude_write_atomic_add(Str *out, const Prelude *prelude) {
  const char *type = prelude_type_name(prelude->type);
  assert(dtype_bytes(prelude->type) == 2);
  str_printf(out,
             "__device__ __forceinline__ void atomic_add(%s *to, %s value) {\n"
             "  asm volatile(\"red.global.add.noftz.%s [%%0], %%1;\" :: \"l\"(to), "
             "\"h\"(value.bits) : \"memory\");\n"
             "}\n",
             type, type, type);
}

void prelude_write_places(Str *out, int first, int n, int in_line) {
  str_add(out, "{");
  for (int i = 0; i < n; i++) {
    if (i) str_add(out, i % in_line ? ", " : ",\"\n      \" ");
    str_printf(out, "%%%d", first + i);
  }
  str_add(out, "}");
}
