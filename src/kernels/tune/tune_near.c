// Tells the history's kernels for problems like this one: kernels to begin with.
//
// Worked example: for 64×8192×8192 of bf16, of a history that has 128×8192×8192 and 4096³ of bf16
// the former comes first: its extents are 1 binary order away, those of the latter 8.
#include <math.h>

#include "kernels/tune/tune.h"

enum { ROWS_MAX = 2000 };

static double orders_apart(const Schedule *a, const Schedule *b) {
  double apart = 0;
  for (int i = KNOB_M; i <= KNOB_K; i++)
    apart += fabs(log2((double)a->value[i] / (double)b->value[i]));
  return apart;
}

static bool same_kind(const Schedule *a, const Schedule *b) {
  for (int i = KNOB_K + 1; i < KNOB_COUNT; i++)
    if (knob_is_problem((KnobId)i) && i != KNOB_TARGET && schedule_differs(a, b, (KnobId)i))
      return false;
  return true;
}

// Puts `seed` among the nearest so far.
static void offer(Schedule *nearest, int *n, const Schedule *seed, const Schedule *problem) {
  int at = *n < TUNE_NEAR_MAX ? (*n)++ : TUNE_NEAR_MAX;
  if (at == TUNE_NEAR_MAX && orders_apart(seed, problem) >= orders_apart(&nearest[at - 1], problem))
    return;
  if (at == TUNE_NEAR_MAX) at--;
  for (; at > 0 && orders_apart(seed, problem) < orders_apart(&nearest[at - 1], problem); at--)
    nearest[at] = nearest[at - 1];
  nearest[at] = *seed;
}

int tune_near(Arena *arena, History *history, const Schedule *problem,
              Schedule out[TUNE_NEAR_MAX]) {
  HistoryRow *rows = ARENA_ARRAY(arena, HistoryRow, ROWS_MAX);
  const int n_rows = history_best(history, arena, rows, ROWS_MAX);
  int n = 0;
  for (int i = 0; i < n_rows; i++) {
    Diags diags = diags_new(arena);
    Schedule seed = schedule_plain();
    if (*rows[i].state && schedule_parse(&seed, rows[i].state, &diags) && same_kind(&seed, problem))
      offer(out, &n, &seed, problem);
  }
  return n;
}
