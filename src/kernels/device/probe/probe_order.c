// Every pair of accesses is asked once: which has more wavefronts, and which took longer?
//
// The clock knows ties: two medians closer than the halves of their p10..p90 ranges and 2 % are
// equal. A tie is no contradiction, an inversion is one. Where counts differ and the clock ties all
// that it could have told apart, that is no agreement either.
//
// The instructions that feed the pipe take time too: no access of an operation is faster than the
// fastest that was measured, its floor. A wavefront takes a clock, so two counts below the floor
// are expected to tie, and a pair of them that ties says nothing: the floor hides it.
//
// Worked example, lds128 with 2, 4 and 8 wavefronts at 2.1, 4.0 and 8.0 clocks: three pairs, all
// with the model, slope 0.98. Had the last taken 3.0: one pair with it, two against, the worse one
// 4 wavefronts in 4.0 clocks before 8 in 3.0. And cpasync4 with 1 and 2 wavefronts, both at 4.33
// clocks: one pair, hidden, no verdict. With 8 wavefronts at 4.34 besides, which the floor does not
// cover: two pairs tied, none with the model, not alike.
#include "kernels/device/probe/probe_order.h"

#include <math.h>

#include "base/str.h"

static const double noise_share = 0.02;
static const double clocks_per_wavefront = 1;  // of the pipe, when nothing else holds it up

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

// A single count gives no line to fit: its mean clocks per wavefront stand for the slope.
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

// Whether the model expects a tie: both counts lie under the operation's floor.
static bool under_floor(const ProbeOrder *order, const ProbeResult *many) {
  return many->wavefronts * clocks_per_wavefront < order->clocks_lo;
}

// How far the access with more wavefronts is faster, beyond the noise. Needs the whole range of
// clocks: its low end is the floor.
static void judge(ProbeOrder *order, const ProbeResult *const *results, int few, int many,
                  double *worst) {
  const ProbeResult *a = results[few], *b = results[many];
  const double longer = b->clocks - a->clocks, noise = noise_of(a, b);
  const bool ties = !(longer > noise) && !(longer < -noise), hides = under_floor(order, b);
  order->n_pairs++;
  order->n_with += longer > noise;
  order->n_against += longer < -noise;
  order->n_hidden += ties && hides;
  order->n_tied += ties && !hides;
  if (!(-longer - noise > *worst)) return;
  *worst = -longer - noise;
  order->few = few;
  order->many = many;
}

static ProbeVerdict verdict_of(const ProbeOrder *order) {
  if (order->n_against || (order->n_tied && !order->n_with)) return PROBE_NOT_ALIKE;
  return order->n_with ? PROBE_ALIKE : PROBE_UNJUDGED;
}

ProbeOrder probe_order(const ProbeResult *const *results, int n, const char *op) {
  ProbeOrder order = {.few = -1, .many = -1, .slope = slope_of(results, n, op)};
  double worst = 0;
  for (int i = 0; i < n; i++)
    if (counts(results[i], op)) widen(&order, results[i]);
  for (int i = 0; i < n; i++) {
    if (!counts(results[i], op)) continue;
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
  order.verdict = verdict_of(&order);
  return order;
}

ProbeVerdict probe_verdict(const ProbeOrder *orders, int n) {
  ProbeVerdict all = PROBE_UNJUDGED;
  for (int i = 0; i < n; i++) {
    if (orders[i].verdict == PROBE_NOT_ALIKE) return PROBE_NOT_ALIKE;
    if (orders[i].verdict == PROBE_ALIKE) all = PROBE_ALIKE;
  }
  return all;
}
