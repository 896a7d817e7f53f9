// Medians, spreads, and when two of them differ.
//
// A sample is the mean over a batch of launches, since an event pair costs a microsecond or so; the
// batch is sized to 0.3 ms, or to 300 ms where the card is to be hot. The median of the samples is
// the result: one interrupted sample does not move it, and unlike the minimum it does not reward
// the luckiest clock.
//
// Two medians differ when their distance exceeds what chance explains. For n samples with quartiles
// q1, q3 the median's standard error is about 1.25 σ/√n with σ = (q3 − q1)/1.35; four joint
// standard errors are asked for, and half a percent on top, because clocks drift more slowly than a
// batch and neighbouring samples are not independent. Worked example, n = 64, quartiles ± 1 %
// around 100 µs: σ = 1.48, error 0.23 µs, joint 0.33; 4 · 0.33 + 0.5 = 1.8 µs: 101 is "equal", 102
// is slower.
#include "kernels/device/timing.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/whole.h"

enum { ROUNDS_MIN_SLOW = 3, QUEUED_MAX = 1000, HEAD_START = 64 };
static const double launch_us = 4;  // what the host needs for one launch, generously

const TimingTurns timing_short = {.name = "short turns, cool",
                                  .batch_ns = 0.3e6,
                                  .launches_max = 400,
                                  .warm_up_ns = 0.1e9,
                                  .rounds_min = 5,
                                  .slow_round_ns = 0.5e9,
                                  .budget_s = 2};
const TimingTurns timing_hot = {.name = "hot",
                                .batch_ns = 300e6,
                                .launches_max = 1 << 16,
                                .warm_up_ns = 1e9,
                                .rounds_min = 8,
                                .slow_round_ns = 5e9,
                                .budget_s = 4};
const TimingTurns timing_brief = {.name = "brief",
                                  .batch_ns = 0.3e6,
                                  .launches_max = 400,
                                  .warm_up_ns = 5e6,
                                  .rounds_min = 3,
                                  .slow_round_ns = 5e6,
                                  .budget_s = 0.01};

const char *timing_turns_said(const char *method) {
  const TimingTurns *const all[] = {&timing_short, &timing_hot, &timing_brief};
  for (int i = 0; method && i < 3; i++) {
    const size_t n = strlen(all[i]->name);
    if (strncmp(method, all[i]->name, n) == 0 && method[n] == ':') return all[i]->name;
  }
  return NULL;
}

bool timing_is_simulated(const char *method) {
  return method && strstr(method, "simulated") != NULL;
}

static double percentile(const double *sorted, int n, double fraction) {
  double at = fraction * (n - 1);
  int below = (int)at;
  int above = below + 1 < n ? below + 1 : below;
  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

Timing timing_of_samples(double *ns, int n, int launches_per_sample) {
  if (n <= 0) return (Timing){0};
  qsort(ns, (size_t)n, sizeof *ns, by_double);
  return (Timing){.median_ns = percentile(ns, n, 0.5),
                  .min_ns = ns[0],
                  .p10_ns = percentile(ns, n, 0.1),
                  .p25_ns = percentile(ns, n, 0.25),
                  .p75_ns = percentile(ns, n, 0.75),
                  .p90_ns = percentile(ns, n, 0.9),
                  .n_samples = n,
                  .launches_per_sample = launches_per_sample};
}

double timing_median(double *values, int n) {
  qsort(values, (size_t)n, sizeof *values, by_double);
  return percentile(values, n, 0.5);
}

int timing_batch(const TimingTurns *turns, double ns_of_one, int n_launches) {
  const bool host_is_slower = ns_of_one < 1000 * launch_us * n_launches;
  const int covered = host_is_slower ? QUEUED_MAX / n_launches : INT_MAX;
  const int most = covered < turns->launches_max ? covered : turns->launches_max;
  if (!(ns_of_one > 0)) return most;
  double batch = ceil(turns->batch_ns / ns_of_one);
  return batch < 1 ? 1 : batch > most ? most : (int)batch;
}

double timing_spin_us(int n_launches) {
  return launch_us * ((n_launches > QUEUED_MAX ? HEAD_START : n_launches) + 2);
}

int timing_turn(int round, int i, int n) { return (round % 2 ? round + n - i : round + i) % n; }

int timing_rounds(const TimingTurns *turns, double budget_s, double ns_of_round) {
  int least = ns_of_round > turns->slow_round_ns ? ROUNDS_MIN_SLOW : turns->rounds_min;
  if (!(budget_s > 0)) budget_s = turns->budget_s;
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
