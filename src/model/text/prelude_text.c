// The texts of the device wrappers, written to be read and copied: names, types, and copies.
// prelude_math.c has the wrappers that compute; texts that depend on nothing come from the families
// of operations (PRELUDE_GIVEN).
//
// A number counts elements: load4 of floats moves 16 bytes by one instruction (LDG.128 or LDS.128,
// whichever the pointer asks for once it is inlined), load8 of f16 does too and leaves its eight
// values in four registers, low half first. The copies take the path past L1 (.cg) where the
// instruction has it, which is for 16 bytes only. "or_zero" takes the guard as its last argument; a
// copy expresses it by the source size (PTX ISA, cp.async: bytes that the source does not cover are
// written as zeros, and nothing is read for size 0).
//
// Worked example, width 4 (the vector type has one component for each register moved):
//   float   load4(float *to, const float *from)      float4   to[0] = v.x, … to[3] = v.w
//   f16     load4(unsigned *to, const f16 *from)     uint2    to[0] = v.x, to[1] = v.y
//   double  load2(double *to, const double *from)    double2  to[0] = v.x, to[1] = v.y
#include "model/text/prelude.h"

#include <assert.h>
#include <string.h>

#include "base/str.h"
#include "model/text/prelude_parts.h"

static const struct {
  const char *name, *vector;  // the vector type is followed by its length
  const char *zero;
  bool is_struct;
} type_rows[DTYPE_COUNT] = {
    [DTYPE_F32] = {"float", "float", "0.0f", false},
    [DTYPE_TF32] = {"float", "float", "0.0f", false},
    [DTYPE_F64] = {"double", "double", "0.0", false},
    [DTYPE_S32] = {"int", "int", "0", false},
    [DTYPE_S8] = {"signed char", "char", "0", false},
    [DTYPE_F16] = {"f16", NULL, "f16{}", true},
    [DTYPE_BF16] = {"bf16", NULL, "bf16{}", true},
    [DTYPE_E4M3] = {"e4m3", NULL, "e4m3{}", true},
    [DTYPE_E5M2] = {"e5m2", NULL, "e5m2{}", true},
    [DTYPE_MXF8] = {"mxf8", NULL, "mxf8{}", true},
    [DTYPE_MXF8E5M2] = {"mxf8e5m2", NULL, "mxf8e5m2{}", true},
    [DTYPE_MXF4] = {"mxf4", NULL, "mxf4{}", true},
    [DTYPE_NVFP4] = {"nvfp4", NULL, "nvfp4{}", true},
    [DTYPE_UE8M0] = {"ue8m0", NULL, "ue8m0{}", true},
    [DTYPE_UE4M3] = {"ue4m3", NULL, "ue4m3{}", true},
};

const char *prelude_type_name(DType type) { return type_rows[type].name; }
bool prelude_type_is_struct(DType type) { return type_rows[type].is_struct; }

// ---- names --------------------------------------------------------------------------------------

typedef struct KindRow {
  const char *name;
  void (*write)(Str *out, const Prelude *prelude);
} KindRow;

static const KindRow kind_rows[PRELUDE_KINDS];

const char *prelude_name(Arena *arena, const Prelude *prelude) {
  if (prelude->kind == PRELUDE_GIVEN) return prelude->given->name;
  const char *name = kind_rows[prelude->kind].name, *type = dtype_name(prelude->type);
  if (prelude->kind == PRELUDE_MMA) return prelude_mma_name(arena, prelude->atom);
  if (prelude->kind == PRELUDE_WGMMA) return prelude_wgmma_name(arena, prelude);
  if (strstr(name, "%s")) return arena_printf(arena, name, type);
  const char *numbered = strstr(name, "%d") ? arena_printf(arena, name, prelude->width) : name;
  return prelude->trans ? arena_printf(arena, "%s_trans", numbered) : numbered;
}

int prelude_compare(const Prelude *a, const Prelude *b) {
  const int left[] = {(int)a->kind,      a->width,  a->trans,  (int)a->type,
                      (int)a->registers, a->packed, a->by_one, a->by_registers};
  const int right[] = {(int)b->kind,      b->width,  b->trans,  (int)b->type,
                       (int)b->registers, b->packed, b->by_one, b->by_registers};
  for (size_t i = 0; i < sizeof left / sizeof *left; i++)
    if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
  if (a->given) return strcmp(a->given->name, b->given->name);
  return a->atom == b->atom ? 0 : strcmp(a->atom->name, b->atom->name);
}

// ---- moving data --------------------------------------------------------------------------------

// Holds what the registers of a move are.
typedef struct Moved {
  const char *type;    // "unsigned"
  const char *vector;  // "uint4"; "unsigned" where there is but one
  const char *zero;    // "0u"
  int n;               // registers
} Moved;

static Moved moved(Arena *arena, DType type, bool packed, int width) {
  const char *vector = packed ? "uint" : type_rows[type].vector;
  Moved m = {packed ? "unsigned" : type_rows[type].name, NULL, packed ? "0u" : type_rows[type].zero,
             packed ? width * dtype_bytes(type) / 4 : width};
  assert(m.n == 1 || m.n == 2 || m.n == 4);
  m.vector = m.n == 1 ? m.type : arena_printf(arena, "%s%d", vector, m.n);
  return m;
}

static const char components[] = "xyzw";

static void take_apart(Str *out, const Moved *m) {
  for (int i = 0; i < m->n; i++) {
    str_printf(out, "%sto[%d] = v", i ? ", " : "  ", i);
    if (m->n > 1) str_printf(out, ".%c", components[i]);
  }
  str_add(out, ";\n}\n");
}

static void begin(Str *out, const Prelude *prelude) {
  str_printf(out, "__device__ __forceinline__ void %s(", prelude_name(out->arena, prelude));
}

static void write_load(Str *out, const Prelude *prelude) {
  Moved m = moved(out->arena, prelude->type, prelude->packed, prelude->width);
  begin(out, prelude);
  str_printf(out, "%s *to, const %s *from) {\n", m.type, prelude_type_name(prelude->type));
  str_printf(out, "  const %s v = *reinterpret_cast<const %s *>(from);\n", m.vector, m.vector);
  take_apart(out, &m);
}

static void write_load_or_zero(Str *out, const Prelude *prelude) {
  Moved m = moved(out->arena, prelude->type, prelude->packed, prelude->width);
  begin(out, prelude);
  str_printf(out, "%s *to, const %s *from, bool inside) {\n  %s v = ", m.type,
             prelude_type_name(prelude->type), m.vector);
  for (int i = 0; i < m.n && m.n > 1; i++) str_printf(out, "%s%s", i ? ", " : "{", m.zero);
  str_add(out, m.n > 1 ? "}" : m.zero);
  str_printf(out, ";\n  if (inside) v = *reinterpret_cast<const %s *>(from);\n", m.vector);
  take_apart(out, &m);
}

static void write_plain_store(Str *out, const Prelude *prelude) {
  Moved m = moved(out->arena, prelude->type, prelude->packed, prelude->width);
  begin(out, prelude);
  str_printf(out, "%s *to, const %s *from) {\n", prelude_type_name(prelude->type), m.type);
  str_printf(out, "  *reinterpret_cast<%s *>(to) = ", m.vector);
  if (m.n > 1) str_printf(out, "%s{", m.vector);
  for (int i = 0; i < m.n; i++) str_printf(out, "%sfrom[%d]", i ? ", " : "", i);
  str_add(out, m.n > 1 ? "};\n}\n" : ";\n}\n");
}

static void write_store(Str *out, const Prelude *prelude) {
  if (prelude->registers == prelude->type)
    write_plain_store(out, prelude);
  else
    prelude_write_rounding_store(out, prelude);
}

static void write_fill(Str *out, const Prelude *prelude) {
  Moved m = moved(out->arena, prelude->type, prelude->packed, prelude->width);
  if (prelude->packed)
    str_printf(out, "// A register holds %d values, and so does the constant.\n",
               4 / dtype_bytes(prelude->type));
  begin(out, prelude);
  str_printf(out, "%s *to, %s value) {\n", m.type, m.type);
  for (int i = 0; i < m.n; i++) str_printf(out, "%sto[%d] = value", i ? ", " : "  ", i);
  str_add(out, ";\n}\n");
}

// ---- asynchronous copies ------------------------------------------------------------------------

// The predicate is set inside the asm, so that no branch stands around the copy.
static void write_copy(Str *out, const Prelude *prelude) {
  const char *type = prelude_type_name(prelude->type), *name = prelude_name(out->arena, prelude);
  int bytes = prelude->width * dtype_bytes(prelude->type);
  int indent = (int)(strlen("__device__ __forceinline__ void (") + strlen(name));
  bool wished = prelude->kind >= PRELUDE_CP_ASYNC_IF;
  bool guarded =
      prelude->kind == PRELUDE_CP_ASYNC_OR_ZERO || prelude->kind == PRELUDE_CP_ASYNC_IF_OR_ZERO;
  begin(out, prelude);
  str_printf(out, "%s *slab, int at,\n%*sconst %s *from_global%s%s) {\n", type, indent, "", type,
             guarded ? ", bool inside" : "", wished ? ", bool wanted" : "");
  prelude_write_address(out, "to", dtype_bytes(prelude->type));
  if (guarded) str_printf(out, "  const int n_bytes = inside ? %d : 0;\n", bytes);
  str_add(out, "  asm volatile(\"");
  if (wished)
    str_printf(out, "{ .reg .pred p; setp.ne.b32 p, %%%d, 0;\"\n               \" @p ",
               guarded ? 3 : 2);
  const char *hint =
      prelude->l2_bytes ? arena_printf(out->arena, ".L2::%dB", prelude->l2_bytes) : "";
  str_printf(out, "cp.async.%s.shared.global%s [%%0], [%%1], %d%s;%s\"\n",
             bytes == 16 ? "cg" : "ca", hint, bytes, guarded ? ", %2" : "", wished ? " }" : "");
  str_printf(out, "               :: \"r\"(to), \"l\"(from_global)%s%s : \"memory\");\n}\n",
             guarded ? ", \"r\"(n_bytes)" : "", wished ? ", \"r\"(static_cast<int>(wanted))" : "");
}

// ---- the table ----------------------------------------------------------------------------------

static void write_given(Str *out, const Prelude *prelude) { str_add(out, prelude->given->text); }

static void write_type(Str *out, const Prelude *prelude) {
  static const char *const what[DTYPE_COUNT] = {
      [DTYPE_F16] = "An IEEE half (1 sign, 5 exponent, 10 fraction bits) as it lies in memory.",
      [DTYPE_BF16] = "A bfloat16 (1 sign, 8 exponent, 7 fraction bits) as it lies in memory.",
      [DTYPE_E4M3] = "An 8-bit float (1 sign, 4 exponent, 3 fraction bits) as it lies in memory.",
      [DTYPE_E5M2] = "An 8-bit float (1 sign, 5 exponent, 2 fraction bits) as it lies in memory.",
      [DTYPE_MXF8] = "An e4m3 as it lies in memory; each 32 along K share a factor.",
      [DTYPE_MXF8E5M2] = "An e5m2 as it lies in memory; each 32 along K share a factor.",
      [DTYPE_MXF4] =
          "Two e2m1, neighbours along K, the first in the low half; each 32 share a factor.",
      [DTYPE_NVFP4] =
          "Two e2m1, neighbours along K, the first in the low half; each 16 share a factor.",
      [DTYPE_UE8M0] = "A factor: 2 to the power of bits - 127.",
      [DTYPE_UE4M3] = "A factor: an e4m3 without a sign.",
  };
  const char *bits = dtype_bytes(prelude->type) == 2 ? "unsigned short" : "unsigned char";
  str_printf(out, "// %s\nstruct %s {\n  %s bits;\n};\n", what[prelude->type],
             prelude_type_name(prelude->type), bits);
}

static const KindRow kind_rows[PRELUDE_KINDS] = {
    [PRELUDE_TYPE] = {"%s", write_type},
    [PRELUDE_LOAD] = {"load%d", write_load},
    [PRELUDE_LOAD_OR_ZERO] = {"load%d_or_zero", write_load_or_zero},
    [PRELUDE_STORE] = {"store%d", write_store},
    [PRELUDE_FILL] = {"fill%d", write_fill},
    [PRELUDE_CP_ASYNC] = {"cp_async%d", write_copy},
    [PRELUDE_CP_ASYNC_OR_ZERO] = {"cp_async%d_or_zero", write_copy},
    [PRELUDE_CP_ASYNC_IF] = {"cp_async%d_if", write_copy},
    [PRELUDE_CP_ASYNC_IF_OR_ZERO] = {"cp_async%d_or_zero_if", write_copy},
    [PRELUDE_TENSOR_MAP] = {"tensor_map", prelude_write_tensor_map},
    [PRELUDE_MBARRIER_INIT] = {"mbarrier_init", prelude_write_mbarrier_init},
    [PRELUDE_MBARRIER_EXPECT] = {"mbarrier_expect", prelude_write_mbarrier_expect},
    [PRELUDE_MBARRIER_ARRIVE] = {"mbarrier_arrive", prelude_write_mbarrier_arrive},
    [PRELUDE_MBARRIER_WAIT] = {"mbarrier_wait", prelude_write_mbarrier_wait},
    [PRELUDE_TMA_LOAD] = {"tma_load", prelude_write_tma_load},
    [PRELUDE_TMA_MULTICAST] = {"tma_multicast", prelude_write_tma_multicast},
    [PRELUDE_TMA_PAIR] = {"tma_pair", prelude_write_tma_pair},
    [PRELUDE_TMA_STORE] = {"tma_store", prelude_write_tma_store},
    [PRELUDE_TMA_ADD] = {"tma_add", prelude_write_tma_store},
    [PRELUDE_GIVEN] = {NULL, write_given},
    [PRELUDE_LOAD_SHARED] = {"load_shared", prelude_write_load_shared},
    [PRELUDE_LDMATRIX] = {"ldmatrix_x%d", prelude_write_ldmatrix},
    [PRELUDE_STMATRIX] = {"stmatrix_x%d", prelude_write_stmatrix},
    [PRELUDE_MMA] = {"mma", prelude_write_mma},
    [PRELUDE_TILE] = {"tile_of", prelude_write_tile},
    [PRELUDE_WGMMA] = {"wgmma", prelude_write_wgmma},
    [PRELUDE_TENSOR_LD] = {"tcgen05_ld_x%d", prelude_write_tensor_ld},
    [PRELUDE_TENSOR_ST] = {"tcgen05_st_x%d", prelude_write_tensor_st},
    [PRELUDE_TO_FLOAT] = {"to_float", prelude_write_to_float},
    [PRELUDE_FROM_FLOAT] = {"to_%s", prelude_write_from_float},
    [PRELUDE_EXTRACT] = {"extract_%s", prelude_write_extract},
    [PRELUDE_INSERT] = {"insert_%s", prelude_write_insert},
    [PRELUDE_ATOMIC_ADD] = {"atomic_add", prelude_write_atomic_add},
};

const char *prelude_text(Arena *arena, const Prelude *prelude) {
  Str out = str_new(arena);
  kind_rows[prelude->kind].write(&out, prelude);
  return out.text;
}
