// A kernel of anybody's, of which the launch and the turns of its loops are known: the blocks of
// the SM that has most of them, to be played as a schedule's are (kernel_play.h).
//
// launch_play(): all warps go the same way. Branches forwards are taken where nothing guards them,
// loops turn as often as is said, and an access is as cheap as its instruction allows.
// launch_play_run(): the kernel ran on the CPU (machine/mc_ways.h), which says where its warps went
// and which addresses they asked for.
#pragma once
#include "kernels/toolchain/machine/access_costs.h"
#include "kernels/toolchain/machine/kernel_play.h"

typedef struct LaunchGiven {
  int64_t blocks;  // of the grid
  int threads;     // of a block
  int registers;   // of a thread; 0: not known
  int64_t smem_bytes;
} LaunchGiven;

// `turns`: of each of the loops that sass_loops() finds, one behind the other, each time that a
// warp comes to it; 0: not known.
KernelPlay launch_play(Arena *arena, const SassCode *code, const Target *target,
                       const LaunchGiven *given, const int *turns);

// A run of some blocks of the launch.
typedef struct LaunchRun {
  int n_kinds;             // blocks that were run: the SM's blocks are of these kinds in turn
  const ClockBlock *kind;  // ways of each
  AccessCosts *costs;      // their accesses
  int stack_bytes;         // of a thread
  double data_bytes;       // of the memory that the launch was given
} LaunchRun;

KernelPlay launch_play_run(Arena *arena, const SassCode *code, const Target *target,
                           const LaunchGiven *given, const LaunchRun *run);
