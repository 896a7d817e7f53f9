// Every pair of accesses is asked once: which has more wavefronts, and which took longer?
//
// The clock knows ties: two medians closer than the halves of their p10..p90 ranges and 2 % are
// equal. A tie is no contradiction (a conflict-free load and a broadcast may both be bound by what
// feeds the pipe), an inversion is one. Where counts differ and the clock ties everything, nothing
// was seen, and that is no agreement either.
//
// Worked example, lds128 with 2, 4 and 8 wavefronts at 2.1, 4.0 and 8.0 clocks: three pairs, all
// with the model, slope 0.98. Had the last taken 3.0: one pair with it, two against, the worse one
// 4 wavefronts in 4.0 clocks before 8 in 3.0.
#include "kernels/device/probe_order.h"

#include <math.h>

#include "base/str.h"

static const double noise_share = 0.02;

// "clocks" by which two medians may differ without saying anything.
static double noise_of(const ProbeResult *a, const ProbeResult *b) {
  const double ranges = (a->p90_clocks - a->p10_clocks + b->p90_clocks - b->p10_clocks) / 2;
  return ranges + noise_share * fmin(a->clocks, b->clocks);
}

static bool counts(const ProbeResult *result, const char *op) {
  return result && result->ok && result->clocks > 0 && result->wavefronts > 0 &&
         str_equal(result->op, op);
}

static void widen(ProbeOrder *order, const ProbeResult *result) {
  const bool first = order->n++ == 0;
  if (first || result->wavefronts < order->wavefronts_lo) order->wavefronts_lo = result->wavefronts;
  if (first || result->wavefronts > order->wavefronts_hi) order->wavefronts_hi = result->wavefronts;
  if (first || result->clocks < order->clocks_lo) order->clocks_lo = result->clocks;
  if (first || result->clocks > order->clocks_hi) order->clocks_hi = result->clocks;
}

// With one count only there is no line to fit: its mean clocks per wavefront stand for it.
static double slope_of(const ProbeResult *const *results, int n, const char *op) {
  double w = 0, c = 0, ww = 0, wc = 0, k = 0;
  for (int i = 0; i < n; i++) {
    if (!counts(results[i], op)) continue;
    const double wavefronts = results[i]->wavefronts, clocks = results[i]->clocks;
    w += wavefronts, c += clocks, ww += wavefronts * wavefronts, wc += wavefronts * clocks, k++;
  }
  const double spread = k * ww - w * w;
  if (spread > 0) return (k * wc - w * c) / spread;
  return w > 0 ? c / w : 0;
}

// How far the access with more wavefronts is faster, beyond the noise.
static void judge(ProbeOrder *order, const ProbeResult *const *results, int few, int many,
                  double *worst) {
  const ProbeResult *a = results[few], *b = results[many];
  const double longer = b->clocks - a->clocks, noise = noise_of(a, b);
  order->n_pairs++;
  order->n_with += longer > noise;
  order->n_against += longer < -noise;
  order->n_tied += !(longer > noise) && !(longer < -noise);
  if (!(-longer - noise > *worst)) return;
  *worst = -longer - noise;
  order->few = few;
  order->many = many;
}

ProbeOrder probe_order(const ProbeResult *const *results, int n, const char *op) {
  ProbeOrder order = {.few = -1, .many = -1, .slope = slope_of(results, n, op)};
  double worst = 0;
  for (int i = 0; i < n; i++) {
    if (!counts(results[i], op)) continue;
    widen(&order, results[i]);
    for (int j = 0; j < i; j++) {
      if (!counts(results[j], op)) continue;
      const int more = results[i]->wavefronts - results[j]->wavefronts;
      const double apart = fabs(results[i]->clocks - results[j]->clocks);
      if (more != 0)
        judge(&order, results, more > 0 ? j : i, more > 0 ? i : j, &worst);
      else
        order.n_split += apart > noise_of(results[i], results[j]) && apart > fabs(order.slope) / 2;
    }
  }
  order.alike = order.n_against == 0 && (order.n_pairs == 0 || order.n_with > 0);
  return order;
}
