// Tiles that descriptors find in shared memory, as wgmma and tcgen05.mma read them.
#pragma once
#include "banks/layouts/smem_descriptor.h"
#include "ptx/run/run.h"

// The largest operand: rows of M or N, and bytes of K, which a sparse product of tcgen05 has in B.
enum { PTX_TILE_ROWS = 256, PTX_TILE_BYTES = 64 };

// Elements that are no whole bytes (PTX ISA, "Packing formats used for matrices A and B"): 16 of 4
// bits in the first 8 bytes of each 16, 16 of 6 bits in the first 12, or two of 4 bits in a byte.
typedef enum PtxTilePacking {
  PTX_TILE_PLAIN,
  PTX_TILE_4_IN_16,
  PTX_TILE_6_IN_16,
  PTX_TILE_PAIRS,
} PtxTilePacking;

typedef struct PtxTile {
  SmemDescriptor descriptor;  // that has a swizzle of a name
  bool trans;                 // M or N runs fastest
  int first_row, rows, k;     // rows of M or N; k in elements
  int element_bytes;
  int rank;                // the block of the cluster that has it in its shared memory
  PtxTilePacking packing;  // of elements that have no bytes of their own; element_bytes is 1
  PtxType type;
} PtxTile;

// From one element to the same one of the next row, and of the next k.
typedef struct PtxTileSteps {
  int row, k;
} PtxTileSteps;
static inline PtxTileSteps ptx_tile_steps(const PtxTile *tile) {
  return tile->trans ? (PtxTileSteps){1, tile->rows} : (PtxTileSteps){tile->k, 1};
}

// Elements in the order of memory, as ptx_tile_steps() has it, touched by a lane in that way; false
// after a finding that ends the block.
bool ptx_tile_read(PtxMachine *m, PtxWarp *w, int lane, const PtxTile *tile, PtxTouchKind kind,
                   double *out);
