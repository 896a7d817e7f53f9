// One choice: the fit of the kernel's family, or the roofline itself.
//
// Worked example: the roofline has 64.9 TFLOP/s for 4096³ in fp32, so 2.12 ms; with shared memory
// 1.4 times as slow as stated and few warps the fit says 3.1 ms, 44.3 TFLOP/s. Half of the points
// that it had not seen were off by less than ln(time/time) = 0.157, which is 17 %.
#include "model/readings/estimate.h"

#include <math.h>
#include <stdio.h>

Estimate estimate_of(const Calibration *fits, const Model *model) {
  const Traffic *t = &model->traffic;
  const Estimate roofline = {t->roofline_tflops, NULL};
  if (!fits || !(t->roofline_tflops > 0)) return roofline;
  const CalibrationTerms terms = calibration_terms(model);
  const Calibration *fit = &fits[terms.family];
  if (!fit->n) return roofline;
  return (Estimate){t->flop / calibration_ns(fit, &terms) * 1e-3, fit};
}

char *estimate_said(char out[ESTIMATE_SAID_BYTES], const Estimate *estimate) {
  if (estimate->fit)
    snprintf(out, ESTIMATE_SAID_BYTES, "±%.0f %% on %d points",
             100 * (exp(estimate->fit->error) - 1), estimate->fit->n);
  else
    snprintf(out, ESTIMATE_SAID_BYTES, "unchecked on this GPU");
  return out;
}
