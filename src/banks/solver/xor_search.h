// The XOR layout of least cost, found by branch and bound over maps that are linear over bits.
//
// A map sends the bits of a chunk's number to the bits of the column it lies in: one parity mask
// over the chunk's bits for each of the column bits. Three families, each inside the next:
//   rows     a chunk stays in its row
//   line     a chunk stays in its line of 128 bytes
//   any      every map, except that chunks stay whole
#pragma once
#include "banks/solver/slab_pattern.h"

enum { XOR_COLUMN_BITS_MAX = 5 };

typedef enum XorFamily { XOR_ROWS, XOR_LINE, XOR_ANY } XorFamily;

typedef struct XorResult {
  bool found;                            // a map that costs less than the ceiling
  bool exact;                            // the whole family was tried or excluded
  int64_t total;                         // weighted wavefronts
  uint32_t parity[XOR_COLUMN_BITS_MAX];  // of column bit k: the chunk bits that are XORed
} XorResult;

// The highest bit of a mask that is not 0.
static inline int leading_bit(uint32_t mask) { return 31 - __builtin_clz(mask); }

// `row_bits`: log2 of the chunks of one row, for XOR_ROWS. Only maps that cost less than `ceiling`
// count. `budget` bounds the work: the looks at a pattern, about 30 ns each.
XorResult xor_search(Arena *scratch, const SlabPatterns *patterns, XorFamily family, int row_bits,
                     int64_t ceiling, int64_t budget);
