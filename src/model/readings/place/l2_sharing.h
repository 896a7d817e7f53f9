// How much of what blocks ask L2 for others ask for in the same moment.
//
//   L2Sharing sharing = l2_sharing(scratch, model, 2);   two blocks an SM
//   sharing.sent 0.48: blocks of one place that are in step send for half of their panels
//   sharing.distinct 0.08: so much of what all that run at once ask for differs
//
// Blocks that begin together walk along K side by side. Of those in one place (chip_map.h), one on
// each SM, requests for one line are merged in front of L2: counted on an H200, six
// kernels of one block an SM read 0.39 to 0.59 of the sectors that they ask for, where this says
// 0.36 to 0.59 (tests/data/h200_cycles.jsonl, h200_cycles_random.jsonl). Neighbours on one SM are
// not in step: the oldest goes ahead.
#pragma once
#include "model/readings/cost/l2_replay.h"
#include "model/readings/model.h"

typedef struct L2Sharing {
  double read_bytes;  // by the whole grid, each panel once
  double sent;      // by the blocks of a place, of what they ask for, one block an SM; 1: all of it
  double distinct;  // bytes that differ, of those that all resident blocks ask for
  L2Replay replay;  // what DRAM is asked for
} L2Sharing;

// `sent` and `distinct` are 1 where no source knows the places of the target.
L2Sharing l2_sharing(Arena *scratch, const Model *model, int resident);
