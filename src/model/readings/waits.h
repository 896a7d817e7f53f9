// What the warps of a block wait for, read off its program: what overlaps with what.
//
//   const BlockWaits waits = derive_waits(arena, program);
//   waits.fetches, waits.depth
//     2, 0    K and V are each asked for and waited for, one after the other
//     0, 4    four slabs are under way while one is multiplied
#pragma once
#include "model/ir/program.h"

// Of one block; of a persistent kernel, of one tile.
typedef struct BlockWaits {
  // Per slab: fetches of global memory between which, and the wait for them, nothing is multiplied.
  double fetches;
  double depth;         // slabs on their way together where there are none of those; 0: nothing is
  double phases;        // per slab: turns of copy, wait, read and multiply (rows of Steps)
  double steps;         // k-steps that a warp makes, one after the other
  double reads;         // times that a warp waits for fragments from global memory
  double instructions;  // of the warp that has the most, as written
  double box_rows;      // that TMA fetches, of all boxes
} BlockWaits;

BlockWaits derive_waits(Arena *arena, const Program *program);
