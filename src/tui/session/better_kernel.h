// Whether the history has a faster kernel for the problem on the screen than the state on it.
//
//   BetterKernel better = better_kernel(arena, session);
//   if (better.row) …      better.gain = 1.23: takes 1 / 1.23 of the state's time
#pragma once
#include "tui/session/session.h"

typedef struct BetterKernel {
  const HistoryRow *row;  // measured on the GPU at hand; NULL: there is none that is better
  const Schedule *schedule;
  const Timed *own;  // what the state's time is from; NULL: it was never timed on this GPU
  double gain;       // own time over the row's; 0: not known
} BetterKernel;

BetterKernel better_kernel(Arena *arena, const Session *session);
// The knobs that it would change: "CELL_GROUP 0 → 4, FM 8 → 16".
const char *better_kernel_changes(Arena *arena, const Session *session, const Schedule *schedule);
// "CELL_GROUP 4, FM 16": the same without the values before.
const char *better_kernel_values(Arena *arena, const Session *session, const Schedule *schedule);
