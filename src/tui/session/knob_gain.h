// The gain of a change of one knob in TFLOP/s: the expected numbers of both, and their times.
#pragma once
#include "tui/session/knob_trials.h"
#include "tui/session/result_store.h"

typedef struct Promise {
  Estimate from, to;          // on one scale: both by the clock, or both stand-ins
  const Timed *here, *there;  // what was timed of the state and of its neighbour; NULL: nothing
  bool comparable;            // both were timed, in one way and on one GPU
} Promise;

// `trial` is legal; `now` is the schedule that it was made of, and `stand_in` that one's.
Promise promise_of(const Results *results, const Schedule *now, const Estimate *stand_in,
                   const Trial *trial);
// The speed of the neighbour as a factor: as timed where both were, else as expected, but no more
// than a timing of one of them allows.
double promise_gain(const Promise *promise);

// The trial that promises most, if it is more than 1 %; NULL otherwise, and until all are made.
const Trial *promise_best(const Results *results, const Advice *advice, const Estimate *stand_in);
// The trials that promise more than 1 %, the best first, at most `max` of them.
int promise_order(const Results *results, const Advice *advice, const Estimate *stand_in,
                  const Trial **out, int max);
