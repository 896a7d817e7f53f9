// A kernel of anybody's, of which the launch and the turns of its loops are known: the blocks of
// the SM that has most of them, to be played as a schedule's are (kernel_play.h).
//
// All warps go the same way: branches forwards are taken where nothing guards them, loops turn as
// often as is said. Of accesses nothing is known but the instruction: they are as cheap as may be.
#pragma once
#include "kernels/toolchain/machine/kernel_play.h"

typedef struct LaunchGiven {
  int64_t blocks;  // of the grid
  int threads;     // of a block
  int registers;   // of a thread; 0: not known
  int64_t smem_bytes;
} LaunchGiven;

// `turns`: of each of the loops that sass_loops() finds, one behind the other, each time that a
// warp comes to it; 0: nobody has said.
KernelPlay launch_play(Arena *arena, const SassCode *code, const Target *target,
                       const LaunchGiven *given, const int *turns);
