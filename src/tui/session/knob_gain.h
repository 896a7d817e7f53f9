// The gain of a change of one knob in TFLOP/s: measured if known, else estimated.
#pragma once
#include "tui/session/knob_trials.h"
#include "tui/session/result_store.h"

typedef struct Promise {
  double from, to;  // TFLOP/s
  // RECORDED or MEASURED: both were timed, on one GPU. ESTIMATED: by the model; where the state has
  // a record, both are scaled by the share of its own estimate that it reached.
  Origin origin;
  double reached;          // that share, 0 < reached <= 1; 0: no record of the state
  const Calibration *fit;  // of an estimate: what it goes by; NULL: the data sheet's roofline
} Promise;

// `trial` is legal; `now` is the schedule that it was made of, and `own` its estimate.
Promise promise_of(const Results *results, const Schedule *now, const Estimate *own,
                   const Trial *trial);

// The trial that promises most, if it is more than 1 %; NULL otherwise, and until all are made.
const Trial *promise_best(const Results *results, const Advice *advice, const Estimate *own);
