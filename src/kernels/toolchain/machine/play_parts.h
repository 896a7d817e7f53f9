// All that a play of blocks needs beside ways and costs, alike for a schedule's kernel
// (kernel_play.h) and for anybody's (launch_play.h).
#pragma once
#include "base/arena.h"
#include "clock/clock_kernel.h"

// The input of a play, to be played again with another machine or another question.
typedef struct KernelPlay {
  const char *why_not;  // a sentence where it cannot be; NULL: it can
  bool has_loops;       // and where the launch alone is what cannot be played
  bool differ;          // its blocks go ways of other lengths
  bool dependent;       // launched while the kernel in front of it still runs
  SassCode code;
  int n_loops;
  SassLoop loop[CLOCK_MARKS_MAX];
  ClockKernel in;
  ClockMissed empty, again;  // where L2 has nothing at the launch; where the kernel has just run
  const double *executed;    // of each instruction: times that warps of the whole grid come by
  double data_bytes;  // of the launch's memory, as far as its blocks ask for it; 0: not known
} KernelPlay;

// The room that the resident blocks of an SM take.
typedef struct PlayRoom {
  int64_t resident, threads, smem_bytes;  // blocks; of a block
  int stack_bytes;                        // of a thread
} PlayRoom;

// The share of loads of spilled values that wait for L2, 0 to 1.
double play_spilled_share(const KernelPlay *play, const PlayRoom *at);
// The bytes of each copy of a box, by instruction: an mbarrier expects what its copies bring, each
// of them an equal part. `row_bytes`: of a row of a box in shared memory.
const ClockBox *play_boxes(Arena *arena, const SassCode *code, const SassWay *way, int warps,
                           double row_bytes);
// Loads and boxes on the way of a block that ask for something new.
double play_new_loads(const SassCode *code, const double *new_share, const SassWay *way, int warps);
