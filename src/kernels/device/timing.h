// From samples to a Timing.
#pragma once
#include "base/arena.h"
#include "kernels/device/bench_result.h"

enum { TIMING_SAMPLES_MAX = 400 };

// `ns` holds one product's time per sample and is sorted in place. Percentiles lie between samples:
// the p10 of 11 samples is the second smallest.
Timing timing_of_samples(double *ns, int n, int launches_per_sample);

// The median of n > 0 numbers, which are sorted in place.
double timing_median(double *values, int n);

// How long things are timed. Short turns answer while a user waits; the card stays cool and its
// clock high. Hot ones are long enough that clocks and power are where a long run has them.
typedef struct TimingTurns {
  const char *name;   // "short turns, cool" or "hot": the first words of BenchResult.method
  double batch_ns;    // of the products that are timed together, as one sample
  int launches_max;   // of a batch
  double warm_up_ns;  // of work before the first sample
  int rounds_min;
  double slow_round_ns;  // rounds that take longer than this are not rounds_min but 3
  double budget_s;       // unless another one is asked for
} TimingTurns;

// Brief turns rank many kernels: what takes longer than their budget has one sample.
extern const TimingTurns timing_short, timing_hot, timing_brief;

// The name of the turns by which a result says it was measured; NULL: it says nothing of them.
const char *timing_turns_said(const char *method);
// Whether a result says that no GPU was there: a worker of a script stood in for it.
bool timing_is_simulated(const char *method);

// The number of products in one sample, `n_launches` each: enough for turns->batch_ns, at least 1.
// A product that takes less than its launches take the host is launched no more often than the spin
// in front of the batch covers.
int timing_batch(const TimingTurns *turns, double ns_of_one, int n_launches);
// Microseconds to spin before a batch of `n_launches` launches, so that the GPU does not wait for
// the host: the host needs 4 µs for each of them. The driver's queue holds some 1000 launches and
// then makes the host wait; behind a batch that is longer a head start of 64 is enough.
double timing_spin_us(int n_launches);
// The participant with the i-th turn of a round among n: the order rotates and turns around.
int timing_turn(int round, int i, int n);
// Rounds that fit into the budget (0 = the turns' own), between turns->rounds_min (3 when even
// those take long) and TIMING_SAMPLES_MAX.
int timing_rounds(const TimingTurns *turns, double budget_s, double ns_of_round);

// Whether two measurements differ by more than their spread explains (see bench.c); otherwise they
// are shown as equal.
bool bench_differs(const Timing *a, const Timing *b);
