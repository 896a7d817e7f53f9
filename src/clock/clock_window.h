// A turn of a loop, clock by clock: the work of each warp of one scheduler.
//
// The kernel is played from its launch to turns in which its pipes are full, and no further. Of a
// few such turns the one with clocks nearest to the mean is kept. The scheduler is the one with the
// first warp that comes so far.
//
//   clock   0    1    2    3    4         warp 0 issues at 0 and 3, where another operand of its
//   warp 0  F    .    .    F    r         bank keeps it at 4; warp 4 issues at 1 and 2
//   warp 4  .    F    L    s    s
#pragma once
#include "clock/clock_kernel.h"

enum {
  CLOCK_WINDOW_MAX = 16384,     // clocks that are kept
  CLOCK_WINDOW_NOWHERE = -1,    // a warp that has ended, or has not begun
  CLOCK_WINDOW_WARPS_MAX = 16,  // of a scheduler
};

// A warp in a clock: the instruction where it stands, and what it waits for there; CLOCK_SELECTED:
// it issues it.
typedef struct ClockCell {
  int pc;
  ClockCause cause;
} ClockCell;

typedef struct ClockWindow {
  int clocks;        // 0: the loop was not gone round
  bool is_cut;       // the turn has more of them
  int64_t begin;     // clocks after the launch
  int scheduler, n;  // its warps
  int leader;        // among them: the one with the turn
  int warp[CLOCK_WINDOW_WARPS_MAX];
  const ClockCell *cell;  // [n][clocks]
} ClockWindow;

// `loop`: its number among the kernel's loops; `mean`: clocks of its turns.
ClockWindow clock_watch(Arena *arena, const ClockKernel *kernel, int loop, double mean);
static inline ClockCell clock_window_at(const ClockWindow *window, int warp, int clock) {
  return window->cell[warp * window->clocks + clock];
}
