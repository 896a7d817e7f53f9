// Tiles that descriptors find in shared memory, as wgmma and tcgen05.mma read them.
#pragma once
#include "banks/layouts/smem_descriptor.h"
#include "ptx/run/run.h"

typedef struct PtxTile {
  SmemDescriptor descriptor;  // that has a swizzle of a name
  bool trans;                 // M or N runs fastest
  int first_row, rows, k;     // rows of M or N
  int element_bytes;
  int rank;  // the block of the cluster whose shared memory has it
  PtxType type;
} PtxTile;

// Elements as [k][row], touched by a lane in that way; false after a finding that ends the block.
bool ptx_tile_read(PtxMachine *m, PtxWarp *w, int lane, const PtxTile *tile, PtxTouchKind kind,
                   double *out);
