// Trials, rooflines and records → what is worth trying.
//
// A roofline knows nothing of latency, so a change that it praises may bring little: on an H200 the
// rung padded has 36.7 TFLOP/s of an estimated 48, and CELL_GROUP=4, estimated at 65, has 38.3. If
// both were timed, their times are said. If only the state was, it is assumed to reach the same
// share of its neighbour's roofline as of its own: 36.7 of 48 is 0.76, and 0.76 · 65 = 49.
#include "tui/session/knob_gain.h"

#include "base/str.h"

static const Timed *timed_ok(const Results *results, const Schedule *schedule) {
  const Timed *timed = results_find(results, schedule);
  return timed && timed->ok ? timed : NULL;
}

static bool comparable(const Timed *a, const Timed *b) {
  return a && b && a->origin == b->origin && (!a->gpu || !b->gpu || str_equal(a->gpu, b->gpu));
}

Promise promise_of(const Results *results, const Schedule *now, const Traffic *traffic,
                   const Trial *trial) {
  Schedule changed = *now;
  schedule_set(&changed, trial->knob, trial->value);
  const Timed *here = timed_ok(results, now), *there = timed_ok(results, &changed);
  if (comparable(here, there)) return (Promise){here->tflops, there->tflops, here->origin, 0};
  double estimate = trial->traffic.roofline_tflops, own = traffic->roofline_tflops;
  if (!here || !(own > 0)) return (Promise){own, estimate, ORIGIN_ESTIMATED, 0};
  double reached = here->tflops < own ? here->tflops / own : 1;
  return (Promise){here->tflops, reached * estimate, ORIGIN_ESTIMATED, reached};
}

const Trial *promise_best(const Results *results, const Advice *advice, const Traffic *traffic) {
  const Trial *best = NULL;
  double most = 1.01;
  for (int i = 0; advice_done(advice) && i < ADVICE_TRIALS; i++) {
    const Trial *trial = &advice->trial[i];
    if (!trial->exists || !trial->legal) continue;
    Promise promise = promise_of(results, &advice->schedule, traffic, trial);
    double gain = promise.to / promise.from * advice_weight(trial);
    if (!(gain > most)) continue;
    most = gain;
    best = trial;
  }
  return best;
}
