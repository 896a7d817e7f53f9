// Trials, the one number of each and records → changes worth trying.
//
// A state is compared with its neighbour on one scale: both by the clock once both were compiled,
// else both by the stand-in. What was timed stands beside it and decides: on an H200 the rung
// padded has 36.7 TFLOP/s and with CELL_GROUP=4 it has 38.3, so that 1.04 is the gain, whatever is
// expected. A neighbour that alone was timed promises no more than its time has shown, and one that
// was not is no gain where the state was timed to be faster than what is expected of it. Of two
// with the same estimate the timed one goes first: LANES_M=8 has that of CELL_GROUP=4, and no time.
#include "tui/session/knob_gain.h"

#include <math.h>

#include "base/str.h"

static const double worth_trying = 1.01;

static const Timed *timed_ok(const Results *results, const Schedule *schedule) {
  const Timed *timed = results_find(results, schedule);
  return timed && timed->ok ? timed : NULL;
}

static bool comparable(const Timed *a, const Timed *b) {
  return a && b && a->origin == b->origin && (!a->gpu || !b->gpu || str_equal(a->gpu, b->gpu));
}

Promise promise_of(const Results *results, const Schedule *now, const Estimate *stand_in,
                   const Trial *trial) {
  Schedule changed = *now;
  schedule_set(&changed, trial->knob, trial->value);
  Promise out = {.from = results_estimate(results, schedule_identity(now), stand_in),
                 .to = results_estimate(results, trial->key, &trial->stand_in),
                 .here = timed_ok(results, now),
                 .there = timed_ok(results, &changed)};
  if (out.from.by != out.to.by) {
    out.from = *stand_in;
    out.to = trial->stand_in;
  }
  out.comparable = comparable(out.here, out.there);
  return out;
}

double promise_gain(const Promise *promise) {
  if (promise->comparable) return promise->there->tflops / promise->here->tflops;
  const double timed = promise->here ? promise->here->tflops : 0,
               from = fmax(promise->from.tflops, timed), gain = promise->to.tflops / from;
  return promise->there ? fmin(gain, promise->there->tflops / from) : gain;
}

// The promise of a trial; `gain` 0: none.
typedef struct Weighed {
  double gain, to;  // to: TFLOP/s that are expected of it
  bool comparable;
} Weighed;

static Weighed weigh(const Results *results, const Advice *advice, const Estimate *stand_in,
                     const Trial *trial) {
  if (!trial->exists || !trial->legal) return (Weighed){0};
  const Promise promise = promise_of(results, &advice->schedule, stand_in, trial);
  return (Weighed){promise_gain(&promise) * advice_weight(trial), promise.to.tflops,
                   promise.comparable};
}

// An estimate equal to a timed neighbour's promises no more than that neighbour has shown.
static void cap(Weighed weighed[ADVICE_TRIALS]) {
  static const double alike = 0.01, below = 0.999;
  for (int i = 0; i < ADVICE_TRIALS; i++)
    for (int j = 0; !weighed[i].comparable && weighed[i].gain > 0 && j < ADVICE_TRIALS; j++)
      if (weighed[j].comparable && fabs(weighed[i].to - weighed[j].to) < alike * weighed[j].to)
        weighed[i].gain = fmin(weighed[i].gain, below * weighed[j].gain);
}

int promise_order(const Results *results, const Advice *advice, const Estimate *stand_in,
                  const Trial **out, int max) {
  Weighed weighed[ADVICE_TRIALS];
  double gains[ADVICE_TRIALS];
  int n = 0;
  if (!advice_done(advice)) return 0;
  for (int i = 0; i < ADVICE_TRIALS; i++)
    weighed[i] = weigh(results, advice, stand_in, &advice->trial[i]);
  cap(weighed);
  for (int i = 0; i < ADVICE_TRIALS; i++) {
    const double gain = weighed[i].gain;
    if (!(gain > worth_trying) || (n == max && !(gain > gains[n - 1]))) continue;
    int at = n < max ? n++ : n - 1;
    for (; at > 0 && gain > gains[at - 1]; at--) {
      out[at] = out[at - 1];
      gains[at] = gains[at - 1];
    }
    out[at] = &advice->trial[i];
    gains[at] = gain;
  }
  return n;
}

const Trial *promise_best(const Results *results, const Advice *advice, const Estimate *stand_in) {
  const Trial *best = NULL;
  return promise_order(results, advice, stand_in, &best, 1) ? best : NULL;
}
