// The blocks of one SM, from their first instruction to their last: clocks, and the waits of each
// warp.
//
// Every warp goes its own way (sass/sass_run.h); a block starts as soon as another one has ended.
// Work beside the warps is played too: copies by cp.async and TMA, mbarriers, wgmma. A launch that
// is too long is played in part: the middle turns of a loop that all warps go round are left out,
// and the middle blocks of many. The parts left out count like the parts that were played.
//
// Blocks that are left for a last wave go to the SMs that have a place free first, so that the one
// that ends last may have more of them than there are for each (clock_blocks.c).
//
//   ClockTurn covers the whole stay: `clocks` from the first block's begin to the last one's end.
#pragma once
#include "clock/clock_loop.h"
#include "sass/sass_run.h"

enum { CLOCK_MARKS_MAX = 64 };

typedef struct ClockBlock {
  const SassWay *way;  // of each warp
} ClockBlock;

// The bytes of a copy by TMA.
typedef struct ClockBox {
  double bytes, rows;
} ClockBox;

// The share of loads and boxes that L2 has not, where they ask for what no warp of the block has
// fetched: of the first `loads`, which are those of the first blocks, and of the others.
typedef struct ClockMissed {
  double loads, first, later;
} ClockMissed;

typedef struct ClockKernel {
  const ClockMachine *machine;
  const SassCode *code;
  const double *wavefronts;   // of each instruction of the code that goes to shared memory
  const double *lines;        // of 128 bytes that a warp's instruction asks L1 for
  const double *far_bytes;    // that a warp's instruction moves between L1 and L2
  const double *far_share;    // of its executions, that have to go there
  const double *first_share;  // of those, that no warp of the block went for before; NULL: all
  const double *new_share;    // of its executions, that ask for what the warp never fetched
  const ClockBox *box;        // of each UTMALDG; NULL: there are none
  int warps;                  // of a block
  int n_kinds;
  const ClockBlock *kind;  // block i of the SM is of kind i % n_kinds
  int blocks, resident;    // that the SM runs in all, at most; at once
  int64_t grid, sms;       // blocks of all SMs together
  // The blocks that it runs whatever other SMs do; and the blocks for each SM that are left when
  // all SMs have had as many. Both 0: it runs `blocks`.
  int sure;
  double left;
  ClockMissed missed;
  bool cold;     // the code comes from far, too
  double alone;  // times what an SM gets of L2 where all ask alike; 0: as where all do
  // Blocks that begin together on all SMs ask for the same at the same time, and what they ask for
  // is merged in front of L2: the share of it that goes on. 0: all of it.
  double sent_share;
  double dram_bytes;  // that DRAM gives this SM in a clock, of what it asks for; 0: no matter
  int n_loops;
  const SassLoop *loop;
  // Turns of each warp that its way leaves out of a loop, and those that it keeps; cut_loop -1:
  // none.
  int cut_loop;
  double cut_turns, kept_turns;
  bool banks_are_free, loads_are_near;
} ClockKernel;

// For one loop: times that warps went round it, and the mean clocks of a turn.
typedef struct ClockRounds {
  double turns, clocks;
} ClockRounds;

typedef struct ClockStay {
  ClockTurn turn;                       // counted over the whole stay
  ClockRounds rounds[CLOCK_MARKS_MAX];  // of each loop
  double blocks;                        // that the SM ran, those left out too
  bool gave_up;                         // nothing could go on any more
} ClockStay;

// The blocks of the SM that ends last: sets blocks, sure, left and alone by grid, sms and resident.
// `known`: it runs so many; 0: blocks are alike, and go wherever there is room.
void clock_kernel_blocks(ClockKernel *kernel, int known);

// Blocks of the SM that are played one after the other; those behind take as long.
int clock_blocks_played(const ClockKernel *kernel);

ClockStay clock_play_kernel(Arena *arena, const ClockKernel *kernel);
