// tcgen05 in CUDA: a device function around each instruction, for one CTA and for a pair.
//
// Worked example,
//   sums[0, w * 256] += async tcgen05.m128n256k16.f16 A_s[…] * B_s[…]   cta_group 2
// becomes
//   tcgen05_mma_pair_f16(tensor_at(tensor_begin, 0, w * 256), tile_of(A_s, …), tile_of(B_s, …),
//       0x10400010u, 0 < k_o + k_i);
// Its text names cta_group::2 and the kind that the atom's instruction ends with. A word beside the
// mbarriers says where tensor memory begins; tile_operand.c makes the product's descriptors.
#include "model/ops/tcgen05_text.h"

#include <string.h>

#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/ops/tile_operand.h"

enum { ARCH = 100 };

// Each comes for one CTA and for a pair.
enum { GROUPS = 2 };

#define ALLOC_OF(name, group, whose)                                                            \
  {                                                                                             \
    name, "// n columns of tensor memory for " whose                                            \
          ", which a whole warp takes; *base gets their\n// address. It gives up the right to " \
          "have more, so that other blocks of the SM may have\n// theirs.\ntemplate <int n>\n"  \
          "__device__ __forceinline__ void " name                                               \
          "(unsigned long long *base) {\n"                                                      \
          "  asm volatile(\"tcgen05.alloc.cta_group::" group                                    \
          ".sync.aligned.shared::cta.b32 [%0], %1;\\n\"\n"                                      \
          "               \"tcgen05.relinquish_alloc_permit.cta_group::" group                  \
          ".sync.aligned;\"\n"                                                                  \
          "               :: \"r\"(static_cast<unsigned>(__cvta_generic_to_shared(base))), "    \
          "\"n\"(n)\n"                                                                          \
          "               : \"memory\");\n}\n"                                                  \
  }
#define FREE_OF(name, group)                                                          \
  {                                                                                   \
    name,                                                                             \
        "// Gives them back, as every block must before it ends.\ntemplate <int n>\n" \
        "__device__ __forceinline__ void " name                                       \
        "(unsigned begin) {\n"                                                        \
        "  asm volatile(\"tcgen05.dealloc.cta_group::" group                          \
        ".sync.aligned.b32 %0, %1;\"\n"                                               \
        "               :: \"r\"(begin), \"n\"(n) : \"memory\");\n}\n"                \
  }
static const PreludeText alloc[GROUPS] = {ALLOC_OF("tensor_alloc", "1", "this block"),
                                          ALLOC_OF("tensor_alloc_pair", "2", "each of a pair")};
static const PreludeText release[GROUPS] = {FREE_OF("tensor_free", "1"),
                                            FREE_OF("tensor_free_pair", "2")};
static const PreludeText place = {
    "tensor_at",
    "// An address in tensor memory: lane << 16 | column. A warp names the first lane of its "
    "quarter.\n"
    "__device__ __forceinline__ unsigned tensor_at(unsigned begin, int lane, int column) {\n"
    "  return begin + (lane / 32 << 21) + column;\n}\n"};
static const PreludeText commit = {
    "tcgen05_commit",
    "// One arrival at bars[i] when all products that this thread has issued are done.\n"
    "__device__ __forceinline__ void tcgen05_commit(unsigned long long *bars, int i) {\n"
    "  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;\n"
    "  asm volatile(\"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
    "[%0];\"\n"
    "               :: \"r\"(bar) : \"memory\");\n}\n"};
#define COMMIT_OF(name, group, about)                                                           \
  {                                                                                             \
    name, "// " about                                                                           \
          " at bars[i] of each block in the mask.\n"                                            \
          "__device__ __forceinline__ void " name                                               \
          "(unsigned long long *bars, int i, int mask) {\n"                                     \
          "  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * " \
          "i;\n"                                                                                \
          "  asm volatile(\"tcgen05.commit.cta_group::" group                                   \
          ".mbarrier::arrive::one.shared::cluster\"\n"                                          \
          "               \".multicast::cluster.b64 [%0], %1;\"\n"                              \
          "               :: \"r\"(bar), \"h\"(static_cast<short>(mask)) : \"memory\");\n}\n"   \
  }
static const PreludeText commit_to[GROUPS] = {
    COMMIT_OF("tcgen05_commit_to", "1", "The same"),
    COMMIT_OF("tcgen05_commit_pair", "2",
              "One arrival when all products issued to the pair are done,")};

#define ASM_OF(name, comment, instruction)                                  \
  {                                                                         \
    name, "// " comment "\n__device__ __forceinline__ void " name           \
          "() {\n  asm volatile(\"" instruction ";\" ::: \"memory\");\n}\n" \
  }
const PreludeText tcgen05_wait_ld = ASM_OF(
    "tcgen05_wait_ld", "Waits until this warp's loads from tensor memory are in its registers.",
    "tcgen05.wait::ld.sync.aligned");
const PreludeText tcgen05_wait_st =
    ASM_OF("tcgen05_wait_st", "Waits until this warp's stores are in tensor memory.",
           "tcgen05.wait::st.sync.aligned");
const PreludeText tcgen05_before = ASM_OF(
    "tcgen05_before", "Earlier accesses to tensor memory come before what this thread signals.",
    "tcgen05.fence::before_thread_sync");
const PreludeText tcgen05_after =
    ASM_OF("tcgen05_after", "Later accesses to tensor memory come after the event waited for.",
           "tcgen05.fence::after_thread_sync");

#define MMA_OF(name, kind, group)                                                            \
  {                                                                                          \
    name,                                                                                    \
        "// d += a * b, asynchronously: d in tensor memory, a and b descriptors of tiles; "  \
        "idesc has\n// types and shape. d = a * b where keep is 0.\n"                        \
        "__device__ __forceinline__ void " name                                              \
        "(unsigned d, unsigned long long a,\n    unsigned long long b, unsigned idesc, int " \
        "keep) {\n"                                                                          \
        "  asm volatile(\"{ .reg .pred keep;\\nsetp.ne.b32 keep, %4, 0;\\n\"\n"              \
        "               \"tcgen05.mma.cta_group::" group ".kind::" kind                      \
        " [%0], %1, %2, %3, keep; }\"\n"                                                     \
        "               :: \"r\"(d), \"l\"(a), \"l\"(b), \"r\"(idesc), \"r\"(keep) : "       \
        "\"memory\");\n}\n"                                                                  \
  }
#define MMAS_OF(kind)                                                                             \
  {                                                                                               \
    kind, { MMA_OF("tcgen05_mma_" kind, kind, "1"), MMA_OF("tcgen05_mma_pair_" kind, kind, "2") } \
  }

#define SCALED_OF(name, kind, group)                                                             \
  {                                                                                              \
    name,                                                                                        \
        "// d += (a * sfa) * (b * sfb), asynchronously: the same, with scale factors that "      \
        "begin at sfa and\n// sfb in tensor memory; bits 29 and 4 of idesc say at which byte "   \
        "of their words.\n"                                                                      \
        "__device__ __forceinline__ void " name                                                  \
        "(unsigned d, unsigned long long a,\n    unsigned long long b, unsigned idesc, "         \
        "unsigned sfa, unsigned sfb, int keep) {\n"                                              \
        "  asm volatile(\"{ .reg .pred keep;\\nsetp.ne.b32 keep, %6, 0;\\n\"\n"                  \
        "               \"tcgen05.mma.cta_group::" group ".kind::" kind                          \
        "\"\n               \" [%0], %1, %2, %3, [%4], [%5], keep; }\"\n"                        \
        "               :: \"r\"(d), \"l\"(a), \"l\"(b), \"r\"(idesc), \"r\"(sfa), \"r\"(sfb), " \
        "\"r\"(keep)\n               : \"memory\");\n}\n"                                        \
  }
#define SCALEDS_OF(kind, name)                                                                  \
  {                                                                                             \
    kind, {                                                                                     \
      SCALED_OF("tcgen05_mma_" name, kind, "1"), SCALED_OF("tcgen05_mma_pair_" name, kind, "2") \
    }                                                                                           \
  }

// The instruction of an atom ends with its kind.
static const PreludeText *mma_of(const Op *op) {
  static const struct {
    const char *kind;
    PreludeText text[GROUPS];
  } kinds[] = {MMAS_OF("f16"),
               MMAS_OF("tf32"),
               MMAS_OF("f8f6f4"),
               MMAS_OF("i8"),
               SCALEDS_OF("mxf8f6f4.block_scale.scale_vec::1X", "mxf8f6f4"),
               SCALEDS_OF("mxf4.block_scale.scale_vec::2X", "mxf4"),
               SCALEDS_OF("mxf4nvf4.block_scale.scale_vec::4X", "mxf4nvf4")};
  const char *kind = strstr(op->atom->pattern, ".kind::") + strlen(".kind::");
  size_t i = 0;
  while (strcmp(kinds[i].kind, kind) != 0) i++;
  return &kinds[i].text[tcgen05_group(op) - 1];
}

#define CP_OF(name, group, whose)                                                          \
  {                                                                                        \
    name,                                                                                  \
        "// 32 rows of 16 bytes that a descriptor finds, asynchronously, to four columns " \
        "of tensor memory,\n// into the lanes of each quarter" whose                       \
        ". Products that are issued later find them.\n"                                    \
        "__device__ __forceinline__ void " name                                            \
        "(unsigned to, unsigned long long from) {\n"                                       \
        "  asm volatile(\"tcgen05.cp.cta_group::" group                                    \
        ".32x128b.warpx4 [%0], %1;\"\n"                                                    \
        "               :: \"r\"(to), \"l\"(from) : \"memory\");\n}\n"                     \
  }
static const PreludeText cp[GROUPS] = {
    CP_OF("tcgen05_cp", "1", ""),
    CP_OF("tcgen05_cp_pair", "2", ", in each CTA of a pair from its own memory")};

// The register that every thread has read the address into, else the word in shared memory, which
// would be loaded for each product: behind a wait nothing keeps it.
static const char *emit_begin(Emitter *emitter) {
  const Buffer *base = program_buffer(emitter->program, ROLE_TENSOR_BASE);
  if (emitter->tensor_known || !base) return base ? "tensor_begin" : "0";
  return arena_printf(emitter->arena, "static_cast<unsigned>(*%s)", base->name);
}

// Behind the allocation, where all of the block have met: not inside a condition or a loop.
void tcgen05_emit_met(Emitter *emitter) {
  if (!emitter->tensor_allocated || emitter->tensor_known || emitter->depth != 1) return;
  emitter_line(emitter, "const unsigned tensor_begin = %s;", emit_begin(emitter));
  emitter->tensor_known = true;
}

// tensor_at(tensor_begin, 0, acc * 256)
static const char *emit_at(Emitter *emitter, const Access *access) {
  const Expr *column = ex_add_const(emitter->arena, access->idx[1], access->buffer->column);
  return arena_printf(emitter->arena, "%s(%s, %s, %s)", emit_given(emitter, &place),
                      emit_begin(emitter), emit_condition(emitter, access->idx[0]),
                      emit_condition(emitter, column));
}

void tcgen05_emit_alloc(Emitter *emitter, const Op *op) {
  emitter_line(emitter, "%s<%lld>(%s);", emit_given(emitter, &alloc[tcgen05_group(op) - 1]),
               (long long)op->columns, op->dst.buffer->name);
  emitter->tensor_allocated = true;
}

void tcgen05_emit_free(Emitter *emitter, const Op *op) {
  emitter_line(emitter, "%s<%lld>(%s);", emit_given(emitter, &release[tcgen05_group(op) - 1]),
               (long long)op->columns, emit_begin(emitter));
}

void tcgen05_emit_cp(Emitter *emitter, const Op *op) {
  const char *from = tile_emit(emitter, op, 0, ARCH);
  emitter_line(emitter, "%s(%s, %s);", emit_given(emitter, &cp[tcgen05_group(op) - 1]),
               emit_at(emitter, &op->dst), from);
}

// "0x10888010u | k_i % 4 << 29 | k_i % 4 << 4": the IDs say where in a word the factors begin.
static const char *emit_idesc(Emitter *emitter, const Op *op) {
  static const int first_bit[] = {[ATOM_A] = 29, [ATOM_B] = 4};
  Str out = str_new(emitter->arena);
  str_printf(&out, "0x%08xu", op->idesc);
  for (int i = ATOM_A; i <= ATOM_B; i++) {
    const Expr *id = op->scale[i].idx[2];
    if (!expr_is_const(id, 0))
      str_printf(&out, " | (%s) << %d", emit_condition(emitter, id), first_bit[i]);
  }
  return out.text;
}

static void emit_scaled(Emitter *emitter, const Op *op, const char *a, const char *b) {
  const char *keep = op->enable_input_d ? emit_condition(emitter, op->enable_input_d) : "1";
  const char *sums = emit_at(emitter, &op->dst), *sfa = emit_at(emitter, &op->scale[ATOM_A]);
  const char *sfb = emit_at(emitter, &op->scale[ATOM_B]), *idesc = emit_idesc(emitter, op);
  emitter_line(emitter, "%s(%s, %s, %s, %s, %s, %s, %s);", emit_given(emitter, mma_of(op)), sums, a,
               b, idesc, sfa, sfb, keep);
}

void tcgen05_emit_mma(Emitter *emitter, const Op *op) {
  const char *a = tile_emit(emitter, op, 0, ARCH), *b = tile_emit(emitter, op, 1, ARCH);
  if (op->scale[ATOM_A].buffer) {
    emit_scaled(emitter, op, a, b);
    return;
  }
  emitter_line(emitter, "%s(%s, %s, %s, 0x%08xu, %s);", emit_given(emitter, mma_of(op)),
               emit_at(emitter, &op->dst), a, b, op->idesc,
               op->enable_input_d ? emit_condition(emitter, op->enable_input_d) : "1");
}

void tcgen05_emit_commit(Emitter *emitter, const Op *op) {
  if (op->ranks)
    emitter_line(emitter, "%s(%s, %s);", emit_given(emitter, &commit_to[tcgen05_group(op) - 1]),
                 emit_place(emitter, &op->dst), emit_condition(emitter, op->ranks));
  else
    emitter_line(emitter, "%s(%s);", emit_given(emitter, &commit), emit_place(emitter, &op->dst));
}

void tcgen05_emit_ld(Emitter *emitter, const Op *op) {
  const char *name = emit_helper(
      emitter,
      (Prelude){.kind = PRELUDE_TENSOR_LD, .type = op->dst.buffer->type, .width = op->width});
  emitter_line(emitter, "%s(&%s, %s);", name, emit_element(emitter, &op->dst),
               emit_at(emitter, &op->src));
}

void tcgen05_emit_st(Emitter *emitter, const Op *op) {
  const char *name = emit_helper(
      emitter,
      (Prelude){.kind = PRELUDE_TENSOR_ST, .type = op->src.buffer->type, .width = op->width});
  emitter_line(emitter, "%s(%s, &%s);", name, emit_at(emitter, &op->dst),
               emit_element(emitter, &op->src));
}
