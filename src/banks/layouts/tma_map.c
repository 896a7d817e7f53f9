#include "banks/layouts/tma_map.h"

#include <string.h>

// The codes of .elemtype. (PTX ISA, table of tensormap.replace.)
static const struct {
  const char *name;
  int bytes;
} types[] = {{"u8", 1},  {"u16", 2}, {"u32", 4}, {"s32", 4},  {"u64", 8},  {"s64", 8}, {"f16", 2},
             {"f32", 4}, {"f32", 4}, {"f64", 8}, {"bf16", 2}, {"tf32", 4}, {"tf32", 4}};
enum { TYPES = sizeof types / sizeof *types };

static uint64_t bits(const unsigned char *bytes, int from, int n) {
  uint64_t value = 0;
  for (int i = 0; i < n; i++)
    value |= (uint64_t)(bytes[(from + i) / 8] >> ((from + i) % 8) & 1) << i;
  return value;
}

bool tma_map_read(const unsigned char bytes[TMA_MAP_BYTES], TmaBox *box, uint64_t *address) {
  *box = (TmaBox){.rank = (int)bits(bytes, 68, 3) + 1};
  const int type = (int)bits(bytes, 71, 4), swizzle = (int)bits(bytes, 77, 2);
  if (bits(bytes, 64, 4) != 2 || box->rank > TMA_RANK_MAX || type >= TYPES) return false;
  *address = bits(bytes, 0, 64);
  box->type = types[type].name;
  box->elem_bytes = types[type].bytes;
  box->swizzle = &tma_swizzle_table[swizzle];
  for (int d = 0; d < box->rank; d++) {
    box->shape[d] = (long long)bits(bytes, 256 + 32 * d, 32) + 1;
    box->step[d] = (long long)bits(bytes, 416 + 3 * d, 3) + 1;
    box->box[d] = (long long)bits(bytes, 440 + 8 * d, 8) + 1;
    if (d) box->stride[d] = (long long)bits(bytes, 96 + 32 * (d - 1), 32) * 16;
  }
  return true;
}
