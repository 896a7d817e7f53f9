// From samples to a Timing.
#pragma once
#include "base/arena.h"
#include "kernels/device/bench.h"

enum { TIMING_SAMPLES_MAX = 400 };

// `ns` holds one product's time per sample and is sorted in place. Percentiles lie between samples:
// the p10 of 11 samples is the second smallest.
Timing timing_of_samples(double *ns, int n, int launches_per_sample);

// How many products one sample takes: enough for 0.3 ms, at least 1, at most 400.
int timing_batch(double ns_of_one);
// Rounds that fit into the budget, between 5 (3 when even those take long) and TIMING_SAMPLES_MAX.
int timing_rounds(double budget_s, double ns_of_round);
