// Scale factors as block-scaled products want them: where the factor of row m and factor s lies.
//
//   sf:128x4      a matrix of factors, one byte each: tiles of 128 rows and 4 factors, 512 bytes
//   sf:128x4,16   a matrix of elements, 16 along a row sharing a factor
//   sf:linear     row after row, as quantizers often write them; sf:linear,32
//
// Within a tile row m begins at byte (m % 32) * 16 + m / 32 * 4; tiles follow each other along the
// row first, and unfinished ones are filled up. (cuBLAS, "1D Block Scaling Factors Layout"; CUTLASS
// has the tile as ((32,4),(16,4)):((16,4),(0,1)) where 16 elements share a factor.)
//
// Worked example, m = 40, s = 5 of 128 x 8: tile 1, byte 512 + 8 * 16 + 1 * 4 + 1 = 645.
#include <string.h>

#include "banks/layouts/notation_table.h"
#include "base/whole.h"

enum { TILE_ROWS = 128, TILE_FACTORS = 4, QUARTER = 32, ROW_BYTES = 16, SHARED_MAX = 1024 };

bool scale_is(const char *text) { return str_starts(text, "sf:"); }

static int64_t tiled_byte(int64_t row, int64_t factor, int64_t factors) {
  const int64_t tile = row / TILE_ROWS * ceil_div(factors, TILE_FACTORS) + factor / TILE_FACTORS;
  const int64_t in_tile = row % TILE_ROWS;
  return tile * TILE_ROWS * TILE_FACTORS + in_tile % QUARTER * ROW_BYTES +
         in_tile / QUARTER * TILE_FACTORS + factor % TILE_FACTORS;
}

const Layout *notation_read_scale(Arena *arena, const LayoutSlab *known, const char *text,
                                  Diags *diags) {
  Scan scan = scan_new(arena, text, diags);
  LayoutSlab slab;
  long long shared = 1;
  scan_expect(&scan, "sf:");
  const bool tiled = scan_take(&scan, "128x4");
  if (!tiled && !scan_take(&scan, "linear")) {
    scan_fail(&scan, "128x4 or linear");
    return NULL;
  }
  if (scan_take(&scan, ",") && !scan_number(&scan, "elements that share a factor", &shared))
    return NULL;
  if (!scan_end(&scan)) return NULL;
  if (shared < 1 || shared > SHARED_MAX) {
    scan_refuse(&scan, "from 1 to 1024 elements share a factor");
    return NULL;
  }
  if (!notation_slab(text, known, (Extents){.elem_bytes = 1}, &slab, diags)) return NULL;
  const int64_t factors = ceil_div(slab.row_bytes, shared);
  int64_t *offset = ARENA_ARRAY(arena, int64_t, slab.rows * slab.row_bytes);
  for (int row = 0; row < slab.rows; row++)
    for (int col = 0; col < slab.row_bytes; col++)
      offset[row * slab.row_bytes + col] =
          tiled ? tiled_byte(row, col / shared, factors) : row * factors + col / shared;
  const Layout *read = notation_layout(arena, text, &slab, offset, diags);
  if (!read) return NULL;
  Layout *out = ARENA_NEW(arena, Layout);
  *out = *read;
  out->shared = (int)shared;
  if (tiled)
    out->storage_bytes = (int)(ceil_div(slab.rows, TILE_ROWS) * ceil_div(factors, TILE_FACTORS)) *
                         TILE_ROWS * TILE_FACTORS;
  return out;
}
