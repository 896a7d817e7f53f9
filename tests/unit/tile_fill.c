#include "tile_fill.h"

#include "ptx/module/float_format.h"

uint32_t tile_hash(TileCode code, uint32_t x) {
  x = x * 2654435761u + 12345;
  x ^= x >> 15;
  return code == HALF_F16    ? (x & 0x83c083c0) | 0x3c003c00
         : code == CODE_E4M3 ? (x & 0x8f8f8f8f) | 0x30303030
         : code == CODE_E5M2 ? (x & 0x87878787) | 0x38383838
                             : x;
}

static double code_value(TileCode code, uint32_t bits) {
  static const PtxFormatId formats[] = {PTX_FORMAT_F16,  PTX_FORMAT_E4M3, PTX_FORMAT_E5M2,
                                        PTX_FORMAT_E2M3, PTX_FORMAT_E3M2, PTX_FORMAT_E2M1};
  return ptx_float_value(&ptx_formats[formats[code]], bits);
}

double tile_element(TileCode code, uint32_t base, int k) {
  static const int widths[] = {16, 8, 8, 6, 6, 4};
  const int of_16 = code == HALF_F16 ? 8 : 16, bits = widths[code], at = k % of_16 * bits;
  uint32_t value = 0;
  for (int bit = 0; bit < bits; bit++) {
    const uint32_t word = tile_hash(code, base + (uint32_t)(k / of_16 * 4 + (at + bit) / 32));
    value |= (word >> (at + bit) % 32 & 1) << bit;
  }
  return code_value(code, value);
}

double tile_product(TileCode a, uint32_t a_base, TileCode b, uint32_t b_base, const int *columns,
                    int n) {
  double sum = 0;
  for (int e = 0; e < n; e++)
    sum += tile_element(a, a_base, e) * tile_element(b, b_base, columns ? columns[e] : e);
  return sum;
}

static const char *hash_text(Arena *arena, TileCode code, const char *to, const char *from) {
  const char *mask = code == HALF_F16    ? "0x83c083c0"
                     : code == CODE_E4M3 ? "0x8f8f8f8f"
                     : code == CODE_E5M2 ? "0x87878787"
                                         : "0xffffffff";
  const char *bits = code == HALF_F16    ? "0x3c003c00"
                     : code == CODE_E4M3 ? "0x30303030"
                     : code == CODE_E5M2 ? "0x38383838"
                                         : "0";
  return arena_printf(arena,
                      "mad.lo.u32 %s, %s, 2654435761, 12345;\nshr.u32 %%r30, %s, 15;\nxor.b32 %s, "
                      "%s, %%r30;\nand.b32 %s, %s, %s;\nor.b32 %s, %s, %s;\n",
                      to, from, to, to, to, to, to, mask, to, to, bits);
}

const char *tile_fill(Arena *arena, TileCode code, int at, int chunks, int base) {
  const char *text = arena_printf(
      arena,
      "shr.u32 %%r20, %%t, 3;\nand.b32 %%r21, %%t, 7;\nmul.lo.u32 %%r20, %%r20, %d;\n"
      "mad.lo.u32 %%r20, %%r21, 16, %%r20;\nmov.u32 %%r21, s;\nadd.u32 %%r20, %%r20, %%r21;\n"
      "mad.lo.u32 %%r22, %%t, 16, %d;\n",
      chunks * 128, base);
  for (int word = 0; word < chunks * 4; word++)
    text = arena_printf(arena, "%sadd.u32 %%r23, %%r22, %d;\n%sst.shared.u32 [%%r20+%d], %%r24;\n",
                        text, word, hash_text(arena, code, "%r24", "%r23"),
                        at + word / 4 * 128 + word % 4 * 4);
  return text;
}
