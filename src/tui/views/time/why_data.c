// The why view as data: the members of `gemmview why --json`, and the chart.
#include "kernels/toolchain/machine/clock_form.h"
#include "tui/views/time/why_frame.h"

typedef struct ClockRun {
  int clock, clocks;
  ClockCell cell;
} ClockRun;

typedef struct ClockLane {
  int warp, n;
  const ClockRun *run;
} ClockLane;

static const ClockTold *told_of(Arena *arena, const WhyFrame *frame) {
  ClockTold *told = ARENA_NEW(arena, ClockTold);
  *told = (ClockTold){frame->answer, frame->loop != NULL};
  return told;
}

static bool same_cell(ClockCell a, ClockCell b) { return a.pc == b.pc && a.cause == b.cause; }

static ClockLane lane_of(Arena *arena, const ClockWindow *window, int warp) {
  ClockRun *run = ARENA_ARRAY(arena, ClockRun, window->clocks + 1);
  int n = 0;
  for (int at = 0; at < window->clocks; at++) {
    const ClockCell cell = clock_window_at(window, warp, at);
    if (n && same_cell(run[n - 1].cell, cell))
      run[n - 1].clocks++;
    else
      run[n++] = (ClockRun){at, 1, cell};
  }
  return (ClockLane){window->warp[warp], n, run};
}

static const ClockLane *lanes_of(Arena *arena, const ClockWindow *window) {
  ClockLane *lane = ARENA_ARRAY(arena, ClockLane, window->n + 1);
  for (int i = 0; i < window->n; i++) lane[i] = lane_of(arena, window, i);
  return lane;
}

const void *why_data(Session *session) { return session->prepared; }

#define FORM_FILE "tui/views/time/view_why.form"
#include "base/form_make.h"
