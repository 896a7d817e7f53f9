// Whether what the clock measured orders accesses as the bank model does, within one operation.
//
//   ProbeOrder order = probe_order(results, n, "lds128");
//   order.verdict, order.n_against, order.slope
#pragma once
#include "kernels/device/probe/probe.h"

typedef enum ProbeVerdict {
  PROBE_UNJUDGED,  // there was nothing to see: no two counts differ, or the floor hides all that do
  PROBE_ALIKE,     // no pair is against, at least one is with
  PROBE_NOT_ALIKE  // a pair is against, or those that the clock could tell apart all tie
} ProbeVerdict;

typedef struct ProbeOrder {
  int n;  // accesses of the operation that were measured and have a count
  int wavefronts_lo, wavefronts_hi;
  double clocks_lo, clocks_hi;  // the lower one is the operation's floor
  double slope;                 // clocks per wavefront, by least squares; 0 = not known
  int n_pairs;                  // pairs with different counts, of which …
  int n_with;                   // … the one with more wavefronts took longer
  int n_tied;                   // … neither did: no further apart than the noise
  int n_hidden;  // … neither did, nor could: both counts lie under the floor, a clock a wavefront
  int n_against;  // … it was faster
  int n_split;    // pairs with the same count, further apart than half a wavefront and the noise
  // Indices of the pair that is most against (first the one with fewer wavefronts); −1 = none.
  int few, many;
  ProbeVerdict verdict;
} ProbeOrder;

// Results that are not ok, of other operations or without a count are passed over; they may be
// NULL.
ProbeOrder probe_order(const ProbeResult *const *results, int n, const char *op);
// Joins the verdicts of several operations: one that is not alike counts for all, one that could
// not be judged for nothing.
ProbeVerdict probe_verdict(const ProbeOrder *orders, int n);
