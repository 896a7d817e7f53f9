// Medians, spreads, and when two of them differ.
//
// A sample is the mean over a batch of launches, since an event pair costs a microsecond or so; the
// batch is sized to 0.3 ms. The median of the samples is the result: one interrupted sample does
// not move it, and unlike the minimum it does not reward the luckiest clock.
//
// Two medians differ when their distance exceeds what chance explains. For n samples with quartiles
// q1, q3 the median's standard error is about 1.25 σ/√n with σ = (q3 − q1)/1.35; four joint
// standard errors are asked for, and half a percent on top, because clocks drift more slowly than a
// batch and neighbouring samples are not independent. Worked example, n = 64, quartiles ± 1 %
// around 100 µs: σ = 1.48, error 0.23 µs, joint 0.33; 4 · 0.33 + 0.5 = 1.8 µs: 101 is "equal", 102
// is slower.
#include "kernels/device/timing.h"

#include <math.h>
#include <stdlib.h>

enum { BATCH_MAX = 400, ROUNDS_MIN = 5, ROUNDS_MIN_SLOW = 3 };
static const double batch_ns = 0.3e6;
static const double slow_round_ns = 0.5e9;

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double percentile(const double *sorted, int n, double fraction) {
  double at = fraction * (n - 1);
  int below = (int)at;
  int above = below + 1 < n ? below + 1 : below;
  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

Timing timing_of_samples(double *ns, int n, int launches_per_sample) {
  if (n <= 0) return (Timing){0};
  qsort(ns, (size_t)n, sizeof *ns, compare);
  return (Timing){.median_ns = percentile(ns, n, 0.5),
                  .min_ns = ns[0],
                  .p10_ns = percentile(ns, n, 0.1),
                  .p25_ns = percentile(ns, n, 0.25),
                  .p75_ns = percentile(ns, n, 0.75),
                  .p90_ns = percentile(ns, n, 0.9),
                  .n_samples = n,
                  .launches_per_sample = launches_per_sample};
}

int timing_batch(double ns_of_one) {
  if (!(ns_of_one > 0)) return BATCH_MAX;
  double batch = ceil(batch_ns / ns_of_one);
  return batch < 1 ? 1 : batch > BATCH_MAX ? BATCH_MAX : (int)batch;
}

int timing_rounds(double budget_s, double ns_of_round) {
  int least = ns_of_round > slow_round_ns ? ROUNDS_MIN_SLOW : ROUNDS_MIN;
  double rounds = ns_of_round > 0 ? budget_s * 1e9 / ns_of_round : TIMING_SAMPLES_MAX;
  if (rounds > TIMING_SAMPLES_MAX) return TIMING_SAMPLES_MAX;
  return rounds < least ? least : (int)rounds;
}

static double median_error(const Timing *t) {
  return 1.25 * (t->p75_ns - t->p25_ns) / 1.35 / sqrt((double)t->n_samples);
}

bool bench_differs(const Timing *a, const Timing *b) {
  if (a->n_samples < 3 || b->n_samples < 3) return false;
  double joint = hypot(median_error(a), median_error(b));
  double smaller = fmin(a->median_ns, b->median_ns);
  return fabs(a->median_ns - b->median_ns) > 4 * joint + 0.005 * smaller;
}
