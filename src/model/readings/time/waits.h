// Tells what the warps of a block wait for, read off its program: what overlaps with what.
//
//   const BlockWaits waits = derive_waits(arena, program);
//   waits.fetches, waits.depth
//     2, 0    K and V are each asked for and waited for, one after the other
//     0, 4    four slabs are under way while one is multiplied
#pragma once
#include "model/readings/model.h"

BlockWaits derive_waits(Arena *arena, const Program *program);
