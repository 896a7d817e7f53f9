// The inside of a record.
#pragma once
#include "ptx/record/record.h"

struct PtxRecord {
  Arena *arena;
  const PtxModule *module;
  const PtxFunction *kernel;
  PtxLaunch launch;
  int n_blocks, n_patterns, n_steps;
  int rank;  // in its cluster, of the block with the steps kept; −1: none yet
  // By instruction.
  PtxSite **site;
  struct Slots **slots;
  RecordedPattern **last;
  PtxStep **last_step;
  int *n_steps_of;
  int64_t **turns;  // [PTX_WARPS_MAX]
};
