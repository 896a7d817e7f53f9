#include "banks/layouts/tma_map.h"

#include <string.h>

// The codes of .elemtype. (PTX ISA, table of tensormap.replace.)
static const struct {
  const char *name;
  int bytes;
} types[] = {{"u8", 1},  {"u16", 2}, {"u32", 4}, {"s32", 4},  {"u64", 8},  {"s64", 8}, {"f16", 2},
             {"f32", 4}, {"f32", 4}, {"f64", 8}, {"bf16", 2}, {"tf32", 4}, {"tf32", 4}};
enum { TYPES = sizeof types / sizeof *types };

// Where a field begins, in bits. Of those with a number for each dimension the first.
enum {
  ADDRESS = 0,
  KIND = 64,
  RANK = 68,
  TYPE = 71,
  SWIZZLE = 77,
  STRIDE = 96,  // of the second dimension
  EXTENT = 256,
  STEP = 416,
  BOX = 440,
};
enum { ADDRESS_BITS = 64, KIND_BITS = 4, RANK_BITS = 3, TYPE_BITS = 4, SWIZZLE_BITS = 2 };
enum { WORD_BITS = 32, STEP_BITS = 3, BOX_BITS = 8 };
enum { TILED = 2, STRIDE_BYTES = 16 };

static uint64_t get(const unsigned char *bytes, int from, int n) {
  uint64_t value = 0;
  for (int i = 0; i < n; i++)
    value |= (uint64_t)(bytes[(from + i) / 8] >> ((from + i) % 8) & 1) << i;
  return value;
}

// False: the number has more bits.
static bool put(unsigned char *bytes, int from, int n, uint64_t value) {
  for (int i = 0; i < n; i++)
    bytes[(from + i) / 8] |= (unsigned char)((value >> i & 1) << ((from + i) % 8));
  return n == 64 || value >> n == 0;
}

bool tma_map_read(const unsigned char bytes[TMA_MAP_BYTES], TmaBox *box, uint64_t *address) {
  *box = (TmaBox){.rank = (int)get(bytes, RANK, RANK_BITS) + 1};
  const int type = (int)get(bytes, TYPE, TYPE_BITS);
  if (get(bytes, KIND, KIND_BITS) != TILED || box->rank > TMA_RANK_MAX || type >= TYPES)
    return false;
  *address = get(bytes, ADDRESS, ADDRESS_BITS);
  box->type = types[type].name;
  box->elem_bytes = types[type].bytes;
  box->swizzle = &tma_swizzle_table[get(bytes, SWIZZLE, SWIZZLE_BITS)];
  for (int d = 0; d < box->rank; d++) {
    box->shape[d] = (long long)get(bytes, EXTENT + WORD_BITS * d, WORD_BITS) + 1;
    box->step[d] = (long long)get(bytes, STEP + STEP_BITS * d, STEP_BITS) + 1;
    box->box[d] = (long long)get(bytes, BOX + BOX_BITS * d, BOX_BITS) + 1;
    if (d)
      box->stride[d] =
          (long long)get(bytes, STRIDE + WORD_BITS * (d - 1), WORD_BITS) * STRIDE_BYTES;
  }
  return true;
}

static int type_of(const TmaBox *box) {
  for (int i = 0; i < TYPES; i++)
    if (strcmp(types[i].name, box->type) == 0) return i;
  int i = 0;
  while (i < TYPES && types[i].bytes != box->elem_bytes) i++;
  return i;
}

bool tma_map_write(const TmaBox *box, uint64_t address, unsigned char bytes[TMA_MAP_BYTES]) {
  memset(bytes, 0, TMA_MAP_BYTES);
  if (box->packed) return false;  // how its extents are coded was not seen
  const int type = type_of(box);
  bool fits = type < TYPES && put(bytes, ADDRESS, ADDRESS_BITS, address) &&
              put(bytes, KIND, KIND_BITS, TILED) &&
              put(bytes, RANK, RANK_BITS, (uint64_t)(box->rank - 1)) &&
              put(bytes, TYPE, TYPE_BITS, (uint64_t)type) &&
              put(bytes, SWIZZLE, SWIZZLE_BITS, (uint64_t)(box->swizzle - tma_swizzle_table));
  for (int d = 0; d < box->rank && fits; d++) {
    fits = put(bytes, EXTENT + WORD_BITS * d, WORD_BITS, (uint64_t)(box->shape[d] - 1)) &&
           put(bytes, STEP + STEP_BITS * d, STEP_BITS, (uint64_t)(box->step[d] - 1)) &&
           put(bytes, BOX + BOX_BITS * d, BOX_BITS, (uint64_t)(box->box[d] - 1));
    if (d && fits)
      fits = put(bytes, STRIDE + WORD_BITS * (d - 1), WORD_BITS,
                 (uint64_t)(box->stride[d] / STRIDE_BYTES));
  }
  return fits;
}
