// The clock's answer as data.
#include "kernels/toolchain/machine/clock_form.h"

#include <math.h>

#include "base/str.h"

typedef struct ClockedInstruction {
  const ClockAnswer *answer;
  int at;
} ClockedInstruction;

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
static void write_lost(JsonWriter *w, const void *it, const void *in, Arena *arena) {
  const ClockedLoop *loop = it;
  (void)in, (void)arena;
  json_begin_object(w);
  for (int i = 0; i < CLOCK_CAUSE_COUNT; i++)
    if (loop->turn.lost_to[i] > 0) json_member_double(w, cause_name(i), loop->turn.lost_to[i]);
  json_end_object(w);
}

#define FORM_FILE "kernels/toolchain/machine/clock_form.form"
#include "base/form_make.h"
