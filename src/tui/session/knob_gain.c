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

Promise promise_of(const Results *results, const Schedule *now, const Estimate *own,
                   const Trial *trial) {
  Schedule changed = *now;
  schedule_set(&changed, trial->knob, trial->value);
  const Timed *here = timed_ok(results, now), *there = timed_ok(results, &changed);
  if (comparable(here, there)) return (Promise){here->tflops, there->tflops, here->origin, 0, NULL};
  const double to = trial->estimate.tflops, from = own->tflops;
  if (!here || !(from > 0)) return (Promise){from, to, ORIGIN_ESTIMATED, 0, own->fit};
  const double reached = here->tflops < from ? here->tflops / from : 1;
  return (Promise){here->tflops, reached * to, ORIGIN_ESTIMATED, reached, own->fit};
}

const Trial *promise_best(const Results *results, const Advice *advice, const Estimate *own) {
  const Trial *best = NULL;
  double most = 1.01;
  for (int i = 0; advice_done(advice) && i < ADVICE_TRIALS; i++) {
    const Trial *trial = &advice->trial[i];
    if (!trial->exists || !trial->legal) continue;
    Promise promise = promise_of(results, &advice->schedule, own, trial);
    double gain = promise.to / promise.from * advice_weight(trial);
    if (!(gain > most)) continue;
    most = gain;
    best = trial;
  }
  return best;
}
