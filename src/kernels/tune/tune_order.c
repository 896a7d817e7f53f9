// Points that were drawn blindly → how well a fit to the first of them orders the others.
//
// A search's own points say little of that: it chose them because they were alike and promising.
// Worked example, 300 of a family drawn and 4 of them failed: the first 100 with a time are fitted
// to, the other 196 predicted, and both orders compared.
#include <math.h>
#include <stdlib.h>

#include "base/whole.h"
#include "kernels/tune/tune.h"

static double median_off(Arena *arena, const double *predicted, const double *measured, int n) {
  double *off = ARENA_ARRAY(arena, double, n);
  for (int i = 0; i < n; i++) off[i] = fabs(log(predicted[i] / measured[i]));
  qsort(off, (size_t)n, sizeof *off, by_double);
  return off[n / 2];
}

// Points of a family that have a time, in the order in which they were drawn.
static int timed_of(const TuneField *field, CalibrationFamily family, const TunePoint **out) {
  int n = 0;
  for (int i = 0; i < field->n_points; i++) {
    const TunePoint *point = &field->point[i];
    if (point->state == TUNE_TIMED && point->terms.family == family) out[n++] = point;
  }
  return n;
}

static TuneOrder order_of(Arena *arena, const TunePoint *const *points, int n_fit, int n) {
  CalibrationPoint *fitted_to = ARENA_ARRAY(arena, CalibrationPoint, n_fit);
  double *fitted = ARENA_ARRAY(arena, double, n), *uncompiled = ARENA_ARRAY(arena, double, n),
         *roofline = ARENA_ARRAY(arena, double, n), *measured = ARENA_ARRAY(arena, double, n);
  for (int i = 0; i < n_fit; i++)
    fitted_to[i] = (CalibrationPoint){points[i]->terms, points[i]->time_ns};
  const Calibration fit = calibration_fit(arena, fitted_to, n_fit);
  for (int i = 0; i < n; i++) {
    const TunePoint *point = points[n_fit + i];
    fitted[i] = calibration_ns(&fit, &point->terms);
    uncompiled[i] = calibration_ns(&fit, &point->uncompiled);
    roofline[i] = point->model_ns;
    measured[i] = point->time_ns;
  }
  return (TuneOrder){.family = points[0]->terms.family,
                     .n = n,
                     .fitted = calibration_rank_correlation(arena, fitted, measured, n),
                     .uncompiled = calibration_rank_correlation(arena, uncompiled, measured, n),
                     .roofline = calibration_rank_correlation(arena, roofline, measured, n),
                     .error = median_off(arena, fitted, measured, n),
                     .fit = fit};
}

// Only those behind the first that were played.
static void add_clock(Arena *arena, const TunePoint *const *points, int n_fit, TuneOrder *out) {
  double *clock = ARENA_ARRAY(arena, double, out->n),
         *measured = ARENA_ARRAY(arena, double, out->n);
  for (int i = 0; i < out->n; i++) {
    const TunePoint *point = points[n_fit + i];
    if (!(point->clock_ns > 0)) continue;
    clock[out->n_clocked] = point->clock_ns;
    measured[out->n_clocked++] = point->time_ns;
  }
  if (out->n_clocked > 1)
    out->clock = calibration_rank_correlation(arena, clock, measured, out->n_clocked);
}

int tune_orders(Arena *arena, const TuneField *field, int n_fit,
                TuneOrder out[CALIBRATION_FAMILIES]) {
  const TunePoint **points = ARENA_ARRAY(arena, const TunePoint *, field->n_points + 1);
  int n = 0;
  for (int family = 0; family < CALIBRATION_FAMILIES; family++) {
    const int n_timed = timed_of(field, (CalibrationFamily)family, points);
    if (n_timed <= n_fit) continue;
    out[n] = order_of(arena, points, n_fit, n_timed - n_fit);
    add_clock(arena, points, n_fit, &out[n++]);
  }
  return n;
}
