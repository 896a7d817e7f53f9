// Tells what the warps of a block wait for, read off its program: what overlaps with what.
//
//   const BlockWaits waits = derive_waits(arena, program);
//   waits.fetches, waits.depth
//     2, 0    K and V are each asked for and waited for, one after the other
//     0, 4    four slabs are under way while one is multiplied
#pragma once
#include "model/ir/names.h"

// For one block; of a persistent kernel, of one tile.
typedef struct BlockWaits {
  // Per slab: fetches of global memory between which, and the wait for them, nothing is multiplied.
  double fetches;
  double depth;         // slabs on their way together where there are none of those; 0: nothing is
  double phases;        // per slab: turns of copy, wait, read and multiply (rows of Steps)
  double steps;         // k-steps that a warp makes, one after the other
  double turns;         // of the loop that makes all products, as it is unrolled
  double reads;         // times that a warp waits for fragments from global memory, beyond L1
  double near_reads;    // the same of sectors that L1 has
  double instructions;  // of the warp that has the most, as written
  // The loads that it waits for so, and those of sectors that L1 has: a wait is for as many as the
  // compiler puts together.
  double loads, near_loads;
  double box_rows;   // that TMA fetches, of all boxes
  double box_waste;  // bytes of their sectors beyond the boxes
} BlockWaits;

BlockWaits derive_waits(Arena *arena, const Program *program);
