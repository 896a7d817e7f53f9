// The clock's answer as data.
#include "kernels/toolchain/machine/clock_form.h"

#include <math.h>

#include "base/str.h"

typedef struct ClockedInstruction {
  const ClockAnswer *answer;
  int at;
} ClockedInstruction;

typedef struct ClockRun {
  int clock, clocks;
  ClockCell cell;
} ClockRun;

typedef struct ClockLane {
  int warp, n;
  const ClockRun *run;
} ClockLane;

static const char *cause_name(int cause) { return clock_cause_name((ClockCause)cause); }

static double clocks_if(const ClockIf *what_if, ClockIfName name) {
  return what_if[name].clocks > 0 ? what_if[name].clocks : NAN;
}

// Where there are several kernels, their clocks are one after the other's.
static const ClockSpan *clocks_of_all(Arena *arena, const ClockAnswer *answer) {
  ClockSpan *all = ARENA_NEW(arena, ClockSpan);
  const double others = answer->others;
  *all = answer->clocks;
  if (all->value >= 0)
    *all = (ClockSpan){all->value + others, all->low + others, all->high + others};
  return all;
}

static const ClockedInstruction *instructions_of(Arena *arena, const ClockAnswer *answer) {
  ClockedInstruction *all = ARENA_ARRAY(arena, ClockedInstruction, answer->code.n + 1);
  for (int i = 0; i < answer->code.n; i++) all[i] = (ClockedInstruction){answer, i};
  return all;
}

// NULL for those that were not played.
static const ClockedLoop **loops_of(Arena *arena, const ClockAnswer *answer) {
  const ClockedLoop **all = ARENA_ARRAY(arena, const ClockedLoop *, answer->n_loops + 1);
  for (int i = 0; i < answer->n_loops; i++)
    all[i] = answer->loop[i].clocks.value > 0 ? &answer->loop[i] : NULL;
  return all;
}

// Reasons that cost nothing are left out.
static void write_causes(JsonWriter *w, const double lost_to[CLOCK_CAUSE_COUNT]) {
  json_begin_object(w);
  for (int i = 0; i < CLOCK_CAUSE_COUNT; i++)
    if (lost_to[i] > 0) json_member_double(w, cause_name(i), lost_to[i]);
  json_end_object(w);
}

static void write_lost(JsonWriter *w, const void *it, const void *in, Arena *arena) {
  (void)in, (void)arena;
  write_causes(w, ((const ClockedLoop *)it)->turn.lost_to);
}

static void write_kernel_lost(JsonWriter *w, const void *it, const void *in, Arena *arena) {
  (void)in, (void)arena;
  write_causes(w, ((const ClockTold *)it)->answer->lost_to);
}

// ---- a turn -------------------------------------------------------------------------------------

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

// ---- the whole answer ---------------------------------------------------------------------------

// A loop that was played, by the instructions of it alone.
typedef struct ClockedTurn {
  int at, n;
  const double *lost;
  const int *cause, *blame;
} ClockedTurn;

static int played_loops(const ClockAnswer *answer) {
  int n = 0;
  for (int i = 0; i < answer->n_loops; i++) n += answer->loop[i].clocks.value > 0;
  return n;
}

static int main_of(const ClockAnswer *answer) {
  int at = 0;
  if (answer->main < 0 || !(answer->loop[answer->main].clocks.value > 0)) return -1;
  for (int i = 0; i < answer->main; i++) at += answer->loop[i].clocks.value > 0;
  return at;
}

static ClockedTurn turn_of(Arena *arena, const ClockedLoop *loop, int at) {
  const int first = loop->loop.first, n = loop->loop.last - first + 1;
  int *cause = ARENA_ARRAY(arena, int, n);
  for (int i = 0; i < n; i++) cause[i] = (int)loop->turn.cause[first + i];
  return (ClockedTurn){at, n, loop->turn.lost + first, cause, loop->turn.blame + first};
}

static const ClockedTurn *turns_of(Arena *arena, const ClockAnswer *answer) {
  ClockedTurn *all = ARENA_ARRAY(arena, ClockedTurn, answer->n_loops + 1);
  int n = 0;
  for (int i = 0; i < answer->n_loops; i++)
    if (answer->loop[i].clocks.value > 0) all[n] = turn_of(arena, &answer->loop[i], n), n++;
  return all;
}

static const char **encodings_of(Arena *arena, const ClockAnswer *answer) {
  const char **all = ARENA_ARRAY(arena, const char *, answer->code.n + 1);
  for (int i = 0; i < answer->code.n; i++) {
    const SassInst *inst = &answer->code.inst[i];
    all[i] = arena_printf(arena, "%016llx%016llx", (unsigned long long)inst->high,
                          (unsigned long long)inst->low);
  }
  return all;
}

#define FORM_FILE "kernels/toolchain/machine/clock_form.form"
#include "base/form_make.h"
