// Wrappers of the tensor memory accelerator: mbarriers and boxes.
//
// All of them take a place in shared memory as base and number, like the copies of prelude_text.c,
// and make a 32-bit address of it. Worked example, slot 2 of a ring:
//   mbarrier_expect(full, 2, 49152);
//   tma_load(A_s, 16384, &A_map, k, m, full, 2);    element 16384 of A_s; column k, row m of A
//   mbarrier_wait(full, 2, phase);
#include "model/text/prelude_parts.h"

static const char address_of_bar[] =
    "  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;\n";

static void begin_bar(Str *out, const char *about, const char *signature) {
  str_printf(out, "// %s\n__device__ __forceinline__ void %s {\n%s", about, signature,
             address_of_bar);
}

// The host fills it by cuTensorMapEncodeTiled; the kernel gets it by value.
void prelude_write_tensor_map(Str *out, const Prelude *prelude) {
  (void)prelude;
  str_add(out,
          "// A matrix and the box that is copied of it at a time, as the driver encodes them.\n"
          "struct alignas(64) tensor_map {\n"
          "  unsigned long long word[16];\n"
          "};\n");
}

void prelude_write_mbarrier_init(Str *out, const Prelude *prelude) {
  (void)prelude;
  begin_bar(out, "Phase 0 begins; a phase ends after so many arrivals and all expected bytes.",
            "mbarrier_init(unsigned long long *bars, int i, int arrivals)");
  str_add(out,
          "  asm volatile(\"mbarrier.init.shared::cta.b64 [%0], %1;\"\n"
          "               :: \"r\"(bar), \"r\"(arrivals) : \"memory\");\n}\n");
}

void prelude_write_mbarrier_expect(Str *out, const Prelude *prelude) {
  (void)prelude;
  begin_bar(out, "Arrives, and lets the phase wait for so many bytes.",
            "mbarrier_expect(unsigned long long *bars, int i, int bytes)");
  str_add(out,
          "  asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\"\n"
          "               :: \"r\"(bar), \"r\"(bytes) : \"memory\");\n}\n");
}

void prelude_write_mbarrier_arrive(Str *out, const Prelude *prelude) {
  (void)prelude;
  begin_bar(out, "One arrival for the whole warp.",
            "mbarrier_arrive(unsigned long long *bars, int i)");
  str_add(out,
          "  __syncwarp();\n"
          "  if (threadIdx.x % 32 == 0)\n"
          "    asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0];\" :: \"r\"(bar) : "
          "\"memory\");\n}\n");
}

void prelude_write_mbarrier_wait(Str *out, const Prelude *prelude) {
  (void)prelude;
  begin_bar(out, "Goes on when the phase with this bit, 0 or 1, has ended.",
            "mbarrier_wait(unsigned long long *bars, int i, int phase)");
  str_add(
      out,
      "  asm volatile(\"{ .reg .pred ended;\\n\"\n"
      "               \"again%=: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\\n\"\n"
      "               \"@!ended bra again%=; }\" :: \"r\"(bar), \"r\"(phase) : \"memory\");\n}\n");
}

// A map of two dimensions, or of three: several matrices one behind the other.
static bool of_several(const Prelude *prelude) { return prelude->width > 2; }

static const char *corner_parameters(const Prelude *prelude) {
  return of_several(prelude) ? "int column, int row, int matrix" : "int column, int row";
}

// "2d": what the instruction is called after.
static const char *dimensions(const Prelude *prelude) { return of_several(prelude) ? "3d" : "2d"; }

// {%2, %3}, operands counted from `first` on; and what they are.
static const char *corner_places(Arena *arena, const Prelude *prelude, int first) {
  return of_several(prelude)
             ? arena_printf(arena, "{%%%d, %%%d, %%%d}", first, first + 1, first + 2)
             : arena_printf(arena, "{%%%d, %%%d}", first, first + 1);
}

static const char *corner_operands(const Prelude *prelude) {
  return of_several(prelude) ? "\"r\"(column), \"r\"(row), \"r\"(matrix)"
                             : "\"r\"(column), \"r\"(row)";
}

static void begin_tma(Str *out, const Prelude *prelude, const char *about, const char *name,
                      const char *more) {
  str_printf(out,
             "// %s\n__device__ __forceinline__ void %s(%s *slab, int at, const tensor_map *map,\n"
             "    %s, unsigned long long *bars, int i%s) {\n",
             about, name, prelude_type_name(prelude->type), corner_parameters(prelude), more);
  prelude_write_address(out, "to", dtype_bytes(prelude->type));
  str_add(out, address_of_bar);
}

void prelude_write_tma_load(Str *out, const Prelude *prelude) {
  begin_tma(out, prelude,
            "The map's box, from this column and row on, goes to element `at` of the slab.",
            "tma_load", "");
  str_printf(out,
             "  asm volatile(\"cp.async.bulk.tensor.%s.shared::cluster.global.tile\"\n"
             "               \".mbarrier::complete_tx::bytes [%%0], [%%1, %s], [%%%d];\"\n"
             "               :: \"r\"(to), \"l\"(map), %s, \"r\"(bar) : "
             "\"memory\");\n}\n",
             dimensions(prelude), corner_places(out->arena, prelude, 2), 2 + prelude->width,
             corner_operands(prelude));
}

void prelude_write_tma_multicast(Str *out, const Prelude *prelude) {
  begin_tma(out, prelude,
            "The same to each block of the cluster in the mask, where its bytes count at bars[i].",
            "tma_multicast", ", int mask");
  str_printf(out,
             "  asm volatile(\"cp.async.bulk.tensor.%s.shared::cluster.global.tile\"\n"
             "               \".mbarrier::complete_tx::bytes.multicast::cluster\"\n"
             "               \" [%%0], [%%1, %s], [%%%d], %%%d;\"\n"
             "               :: \"r\"(to), \"l\"(map), %s, \"r\"(bar),\n"
             "               \"h\"(static_cast<unsigned short>(mask)) : \"memory\");\n}\n",
             dimensions(prelude), corner_places(out->arena, prelude, 2), 2 + prelude->width,
             3 + prelude->width, corner_operands(prelude));
}

// Bit 24 of an address of shared memory says which of a pair has it (CUTLASS clears it by
// Sm100MmaPeerBitMask).
void prelude_write_tma_pair(Str *out, const Prelude *prelude) {
  begin_tma(out, prelude, "The same, its bytes counted at bars[i] of the even CTA of a pair.",
            "tma_pair", "");
  str_printf(out,
             "  asm volatile(\"cp.async.bulk.tensor.%s.shared::cluster.global.tile\"\n"
             "               \".mbarrier::complete_tx::bytes.cta_group::2 [%%0], [%%1, %s], "
             "[%%%d];\"\n"
             "               :: \"r\"(to), \"l\"(map), %s, \"r\"(bar & 0xfeffffffu)%s : "
             "\"memory\");\n}\n",
             dimensions(prelude), corner_places(out->arena, prelude, 2), 2 + prelude->width,
             corner_operands(prelude), prelude->width > 2 ? "\n              " : "");
}

void prelude_write_tma_store(Str *out, const Prelude *prelude) {
  bool adds = prelude->kind == PRELUDE_TMA_ADD;
  str_printf(out,
             "// The map's box, %s element `at` of the slab on, %s from this column and row on.\n"
             "__device__ __forceinline__ void %s(const tensor_map *map, %s,\n"
             "    %s *slab, int at) {\n",
             adds ? "which lies from" : "from",
             adds ? "is added to the matrix" : "goes to the matrix", adds ? "tma_add" : "tma_store",
             corner_parameters(prelude), prelude_type_name(prelude->type));
  prelude_write_address(out, "from", dtype_bytes(prelude->type));
  str_printf(out,
             "  asm volatile(\"cp%s.async.bulk.tensor.%s.global.shared::cta%s.tile.bulk_group\"\n"
             "               \" [%%0, %s], [%%%d];\"\n"
             "               :: \"l\"(map), %s, \"r\"(from) : "
             "\"memory\");\n}\n",
             adds ? ".reduce" : "", dimensions(prelude), adds ? ".add" : "",
             corner_places(out->arena, prelude, 1), 1 + prelude->width, corner_operands(prelude));
}
