// Reads that still wait for a bank, and a copy by TMA that overwrites what they read: what has to
// fence so that the reads come first? Asked of the GPU itself, since pass_tma relies on the answer.
//
//   for (int i = 0; i < LATE_N; i++)
//     if ((error = late_reads(arena, gpu, i, &counts[i]))) …
//
// The kernel: in each turn eight warps make reads of 32 wavefronts from one slot and arrive at an
// mbarrier, which says that the reads were issued; a producer waits for it, does what the row says,
// and has the slot filled with the next turn's number. A read that brings that number was late.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "kernels/device/driver.h"
#include "kernels/toolchain/plan.h"

typedef enum LateRow {
  LATE_NOBODY_FENCES,
  LATE_READERS_FENCE,
  LATE_ASKER_FENCES,
  LATE_ASKER_WAITS,  // the clocks that its fence took, and no more
  LATE_N
} LateRow;

typedef struct LateReads {
  int64_t n_reads, n_late;
  double clocks;  // that the producer spent between wait and copy, the mean of its turns
} LateReads;

const char *late_row_name(LateRow row);  // "the asking thread fences"
bool late_row_must_hold(LateRow row);    // not one read may be late
bool late_reads_on(int cc);              // has a GPU of this compute capability copies by TMA?

// One kernel, "late_reads": (const unsigned *from, unsigned long long *counts, int row, int
// clocks).
Plan *late_reads_plan(Arena *arena, const char *arch, int blocks);

// Counts the late reads of one row into counts[row]; LATE_ASKER_WAITS takes its clocks from
// counts[LATE_ASKER_FENCES]. NULL, or a sentence why it could not run.
const char *late_reads(Arena *arena, Gpu *gpu, LateRow row, LateReads counts[LATE_N]);
