// The shared memory of a block, piece by piece: what a stage of the ring takes, what stands beside
// the ring, and the number of stages that would fit.
//
//   SmemBudget budget = smem_budget(program, target);
//   budget.stage_bytes, budget.stages, budget.most_stages        32 KiB, 2, 6
//
// Worked example, 128 x 128 x 64 of f16 on a B200, which gives a block 227 KiB: A and B of a stage
// are 2 * 16 KiB; with a slab of 8 KiB for C and a few mbarriers, 6 stages are 200 KiB and a
// seventh would be too much.
#pragma once
#include "model/ir/names.h"
#include "model/words/target.h"

typedef struct SmemPart {
  const Buffer *buffer;
  int64_t bytes, slots;  // all of it; the slots of its ring, else 1
  bool in_ring;          // a stage more is a slot of it more
  bool lies_over;        // it begins where an earlier one lies: they take turns
} SmemPart;

typedef struct SmemBudget {
  int n;
  SmemPart part[BUFFERS_MAX];     // by where they begin
  int64_t bytes;                  // that the block asks for
  int64_t stage_bytes, stages;    // A and B of one slab; 0: nothing is staged
  int64_t most_stages;            // that a block has room for, all else as it is
  int64_t reserved_bytes;         // that the system takes beside it, for each block
  int64_t block_bytes, sm_bytes;  // the most a block may ask for; what an SM has
} SmemBudget;

SmemBudget smem_budget(const Program *program, const Target *target);
