// Tiles that threads of a PTX kernel fill with bits of a hash, and the same elements for a test.
#pragma once
#include "base/arena.h"

typedef enum TileCode { HALF_F16, CODE_E4M3, CODE_E5M2, CODE_E2M3, CODE_E3M2, CODE_E2M1 } TileCode;

// A word of a row. Codes of 8 and 16 bits are made moderate, so that sums of products are exact.
uint32_t tile_hash(TileCode code, uint32_t x);
// Element k of the row whose words are tile_hash(code, base), tile_hash(code, base + 1), …: 16
// bytes hold 8 halves, or 16 elements, of 4 bits in the first 8 of them, of 6 bits in the first 12.
double tile_element(TileCode code, uint32_t base, int k);
// A row of A times one of B, over the `n` elements of A that are stored; `columns`: of B, that each
// belongs to; NULL: its own.
double tile_product(TileCode a, uint32_t a_base, TileCode b, uint32_t b_base, const int *columns,
                    int n);
// Text by which thread %t fills row %t of a tile `at` bytes behind s, with base 16 · %t + base:
// chunk c of 16 bytes lies 128 · c + chunks · 128 · (%t / 8) + 16 · (%t % 8) behind. Uses %r20 to
// %r24 and %r30.
const char *tile_fill(Arena *arena, TileCode code, int at, int chunks, int base);
