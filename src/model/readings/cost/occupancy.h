// The blocks that an SM holds, by what each block takes: the rules of CUDA's occupancy calculation.
//
// Registers are given out to whole warps, in units, by each part of the SM; shared memory to
// blocks, in units, with the system's share added; warps and blocks are counted. All units and
// limits are of the GPU (words/target.def).
//
//   BlockNeeds needs = {.registers = 92, .threads = 224, .smem_bytes = 16384};
//   Occupancy o = occupancy_of(target, &needs);      a100: 2 blocks, limited by registers
#pragma once
#include <stdint.h>

#include "model/words/target.h"

typedef struct BlockNeeds {
  int registers;  // of a thread
  int threads;
  int64_t smem_bytes;  // static and dynamic
} BlockNeeds;

typedef enum OccupancyStep {
  OCCUPANCY_REGISTERS,
  OCCUPANCY_SMEM,
  OCCUPANCY_WARPS,
  OCCUPANCY_BLOCKS,
  OCCUPANCY_STEPS
} OccupancyStep;

typedef struct Occupancy {
  int64_t step[OCCUPANCY_STEPS];  // the blocks that each step allows
  int64_t blocks, warps;          // of an SM
  double share;                   // of the warps that an SM can hold
  const char *illegal;            // why no block of this kind can be launched; NULL
} Occupancy;

const char *occupancy_step_name(OccupancyStep step);  // "shared memory"
bool occupancy_limits(const Occupancy *occupancy, OccupancyStep step);

// The steps alone. `warp_registers` are those of a warp, in units.
int64_t occupancy_warp_registers(const Target *target, int registers);
int64_t occupancy_by_registers(const Target *target, int64_t warp_registers, int threads);
int64_t occupancy_by_smem(const Target *target, int64_t smem_bytes);
int64_t occupancy_by_warps(const Target *target, int threads);

Occupancy occupancy_of(const Target *target, const BlockNeeds *needs);

// The largest smaller value of one need with which more blocks fit, the others unchanged; -1: none
// helps. Of OCCUPANCY_WARPS it is the threads of a block; blocks themselves are never fewer.
int64_t occupancy_next(const Target *target, const BlockNeeds *needs, OccupancyStep step,
                       Occupancy *then);
