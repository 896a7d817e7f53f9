// Tells what a candidate promises: the roofline's speed times the share of it that schedules like
// it have reached.
//
// Shares are averaged with weights that halve with every knob in which the two differ, so a child
// is judged by its parents and a stranger by all. Those that were measured last, and all of the
// best, stand for all. How like a candidate is to a point is found out once and kept with the
// candidate: the team does most of it when it makes one, and what was settled meanwhile is added
// here.
//
// Over 4,092 times that searches of six fp32 problems wrote down on an H200 (2026-11-23, by the
// factors of that day), promises made from the 256 times before each have a rank correlation of
// 0.60 with them, and of 0.41 without the fit (mean of the six).
//
// Worked example: the roofline gives 55 TFLOP/s; a parent one knob away reached 36 of 48 (0.75),
// another three away 20 of 50 (0.4): (0.5 · 0.75 + 0.125 · 0.4) / 0.625 = 0.68, so 37 are promised.
//
// All that is wrong, or does not compile or run, has reached nothing. Expected is what the text
// lets expect, of points as of candidates: what a compiler does to a kernel it does to those like
// it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/die.h"
#include "kernels/tune/tune_inside.h"

enum { WEIGHTS_MORE = 256 };

static const double stranger = 1.0 / 256;  // the weight of what is expected of whatever it is

double tune_expected_ns(const Field *field, const CalibrationTerms *terms) {
  const Calibration *own = &field->own[terms->family];
  return calibration_ns(own->n ? own : &field->kept[terms->family], terms);
}

static double share_of(const Field *field, const TunePoint *point) {
  if (point->state != TUNE_TIMED) return 0;
  return tune_expected_ns(field, &point->uncompiled) / point->time_ns;
}

static void add_near(const Field *field, Near *near, int point) {
  near->point[near->n] = point;
  const double ms = field->told.point[point].compile_ms;
  near->compile_ln[near->n] = ms > 0 ? log(ms) : NAN;
  near->share[near->n++] = share_of(field, &field->told.point[point]);
}

void tune_list_near(const Field *field, Near *near) {
  const TuneField *told = &field->told;
  near->n = 0;
  for (int i = told->n_points - 1; i >= 0 && near->n < TUNE_LIKE; i--)
    if (tune_is_settled(&told->point[i])) add_near(field, near, i);
  for (int i = 0; i < told->n_order && i < TUNE_ELITE; i++) add_near(field, near, told->order[i]);
}

static void grow_weights(Pooled *pooled, int n) {
  if (n <= pooled->n_weights) return;
  const int more = n + WEIGHTS_MORE;
  pooled->weight = realloc(pooled->weight, sizeof *pooled->weight * (size_t)more);
  if (!pooled->weight) die("out of memory: a candidate's weights");
  memset(pooled->weight + pooled->n_weights, 0,
         sizeof *pooled->weight * (size_t)(more - pooled->n_weights));
  pooled->n_weights = more;
}

void tune_weigh(Pooled *pooled, const TunePoint *point, int n_points, const int *index, int n) {
  grow_weights(pooled, n_points);
  for (int i = 0; i < n; i++) {
    float *weight = &pooled->weight[index[i]];
    if (*weight > 0) continue;
    *weight = (float)exp2(-schedule_distance(&pooled->schedule, &point[index[i]].schedule));
  }
}

double tune_promised_ns(const Field *field, const Near *near, Pooled *pooled) {
  double share = 0.5 * stranger, weight = stranger;
  tune_weigh(pooled, field->told.point, field->told.n_points, near->point, near->n);
  for (int i = 0; i < near->n; i++) {
    const double w = (double)pooled->weight[near->point[i]];
    share += w * near->share[i];
    weight += w;
  }
  return tune_expected_ns(field, &pooled->terms) * weight / fmax(share, 1e-6);
}

double tune_compile_ratio(const Near *near, const Pooled *pooled) {
  double all = 0, like = 0, weight = 0;
  int n = 0;
  for (int i = 0; i < near->n; i++) {
    if (isnan(near->compile_ln[i])) continue;
    const double w = (double)pooled->weight[near->point[i]];
    all += near->compile_ln[i];
    like += w * near->compile_ln[i];
    weight += w;
    n++;
  }
  if (n == 0) return 1;
  const double mean = all / n;
  return exp((like + stranger * mean) / (weight + stranger) - mean);
}
