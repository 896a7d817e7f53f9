// Descent by one factor at a time, each with a step of its own that grows where it helped: two
// dozen factors and a few hundred points take some milliseconds, and there is no derivative to be
// wrong.
#include "model/readings/cost/calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"

#define FORM_FILE "model/readings/cost/calibration.form"
#include "base/form_make.h"

const char *calibration_name(CalibrationFactor factor) {
#define X(id, name, title, preset, part, what) #name,
  static const char *const names[] = {CALIBRATION_TABLE(X)};
#undef X
  return names[factor];
}

const char *calibration_what(CalibrationFactor factor) {
#define X(id, name, title, preset, part, what) what,
  static const char *const whats[] = {CALIBRATION_TABLE(X)};
#undef X
  return whats[factor];
}

double calibration_shipped_error(CalibrationFamily family) {
#define X(id, name, error, staged, direct) error,
  static const double errors[] = {CALIBRATION_FAMILIES_TABLE(X)};
#undef X
  return errors[family];
}

double calibration_shipped_range(CalibrationFamily family, bool staged) {
#define X(id, name, error, staged, direct) {direct, staged},
  static const double ranges[][2] = {CALIBRATION_FAMILIES_TABLE(X)};
#undef X
  return ranges[family][staged];
}

const char *calibration_family_name(CalibrationFamily family) {
#define X(id, name, error, staged, direct) name,
  static const char *const names[] = {CALIBRATION_FAMILIES_TABLE(X)};
#undef X
  return names[family];
}

CalibrationFamily calibration_family_find(const char *name) {
  int family = 0;
  while (family < CALIBRATION_FAMILIES &&
         !str_equal(name, calibration_family_name((CalibrationFamily)family)))
    family++;
  return (CalibrationFamily)family;
}

char *calibration_text(Arena *arena, const Calibration *calibration) {
  Str out = str_new(arena);
  for (int i = 0; i < CALIBRATION_FACTORS; i++)
    str_printf(&out, "%s%s=%.17g", i ? " " : "", calibration_name((CalibrationFactor)i),
               calibration->factor[i]);
  return out.text;
}

bool calibration_read(const char *text, Calibration *out) {
  for (int i = 0; i < CALIBRATION_FACTORS; i++) {
    const char *name = calibration_name((CalibrationFactor)i);
    const size_t n = strlen(name);
    char *end = NULL;
    if (strncmp(text, name, n) != 0 || text[n] != '=') return false;
    out->factor[i] = strtod(text + n + 1, &end);
    if (!(out->factor[i] > 0) || !isfinite(out->factor[i])) return false;
    text = *end == ' ' ? end + 1 : end;
  }
  return *text == '\0';
}

Calibration calibration_none(void) {
#define X(id, name, title, preset, part, what) preset,
  return (Calibration){.factor = {CALIBRATION_TABLE(X)}};
#undef X
}

// ---- the law ----------------------------------------------------------------------------------

static double cube(double x) { return x * x * x; }

double calibration_ns(const Calibration *calibration, const CalibrationTerms *terms) {
#define X(id, name, title, preset, part, what) part,
  static const CalibrationPart part_of[] = {CALIBRATION_TABLE(X)};
#undef X
  double part[CALIBRATION_PARTS] = {0}, limits = 0;
  for (int i = 0; i < CALIBRATION_FACTORS; i++) {
    const double time = calibration->factor[i] * terms->term[i];
    if (part_of[i] == CALIBRATION_LIMIT)
      limits += cube(time);
    else
      part[part_of[i]] += time;
  }
  limits += cube(part[CALIBRATION_PIPE]) + cube(part[CALIBRATION_LATENCY]);
  return cbrt(limits) + part[CALIBRATION_REST];
}

static int by_time(const void *a, const void *b) {
  const CalibrationLimit *x = a, *y = b;
  return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : strcmp(x->title, y->title);
}

int calibration_limits(const Calibration *calibration, const CalibrationTerms *terms,
                       CalibrationLimit out[CALIBRATION_FACTORS]) {
#define X(id, name, title, preset, part, what) {title, part},
  static const struct {
    const char *title;
    CalibrationPart part;
  } row[] = {CALIBRATION_TABLE(X)};
#undef X
  int n = 0;
  for (int i = 0; i < CALIBRATION_FACTORS; i++) {
    int at = 0;
    if (row[i].part == CALIBRATION_REST || !(terms->term[i] > 0)) continue;
    while (at < n && !str_equal(out[at].title, row[i].title)) at++;
    if (at == n) out[n++] = (CalibrationLimit){.title = row[i].title};
    out[at].ns += calibration->factor[i] * terms->term[i];
  }
  qsort(out, (size_t)n, sizeof *out, by_time);
  return n;
}

// ---- fit ----------------------------------------------------------------------------------------

typedef struct Points {
  const CalibrationPoint *point;
  int first, n, step;  // every `step`-th of n from `first` on
} Points;

static double loss(const Calibration *c, const Points *points) {
  static const double robust_from = 0.2, pull = 0.05;
  double sum = 0;
  for (int i = points->first; i < points->n; i += points->step) {
    const CalibrationPoint *point = &points->point[i];
    const double off = fabs(log(calibration_ns(c, &point->terms) / point->time_ns));
    sum += off < robust_from ? off * off / 2 : robust_from * (off - robust_from / 2);
  }
  const Calibration none = calibration_none();
  for (int i = 0; i < CALIBRATION_FACTORS; i++) {
    const double away = log(c->factor[i] / none.factor[i]);
    sum += pull * away * away;
  }
  return sum;
}

// Tries a step up, then one down, and keeps the first that is better.
static bool move_factor(Calibration *c, int factor, double step, double *best,
                        const Points *points) {
  for (int way = 0; way < 2; way++) {
    Calibration moved = *c;
    moved.factor[factor] *= exp(way ? -step : step);
    const double its = loss(&moved, points);
    if (its >= *best) continue;
    *best = its;
    *c = moved;
    return true;
  }
  return false;
}

static Calibration descend(const Points *points) {
  enum { SWEEPS = 30 };
  static const double first_step = 0.4, longer = 1.3, shorter = 0.6;
  Calibration c = calibration_none();
  double step[CALIBRATION_FACTORS], best = loss(&c, points);
  for (int i = 0; i < CALIBRATION_FACTORS; i++) step[i] = first_step;
  for (int sweep = 0; sweep < SWEEPS; sweep++)
    for (int i = 0; i < CALIBRATION_FACTORS; i++)
      step[i] *= move_factor(&c, i, step[i], &best, points) ? longer : shorter;
  return c;
}

// Each half by a fit on the other one.
static void judge(Arena *arena, const CalibrationPoint *points, int n, Calibration *out) {
  double *predicted = ARENA_ARRAY(arena, double, n), *measured = ARENA_ARRAY(arena, double, n),
         *off = ARENA_ARRAY(arena, double, n);
  for (int half = 0; half < 2; half++) {
    const Calibration other = descend(&(Points){points, 1 - half, n, 2});
    for (int i = half; i < n; i += 2) predicted[i] = calibration_ns(&other, &points[i].terms);
  }
  for (int i = 0; i < n; i++) {
    measured[i] = points[i].time_ns;
    off[i] = fabs(log(predicted[i] / measured[i]));
  }
  qsort(off, (size_t)n, sizeof *off, by_double);
  out->error = off[n / 2];
  out->order = calibration_rank_correlation(arena, predicted, measured, n);
}

Calibration calibration_fit(Arena *arena, const CalibrationPoint *points, int n) {
  if (n < CALIBRATION_POINTS_MIN) return calibration_none();
  Calibration out = descend(&(Points){points, 0, n, 1});
  out.n = n;
  judge(arena, points, n, &out);
  return out;
}

// ---- ranks --------------------------------------------------------------------------------------

typedef struct Ranked {
  double value;  // first, as by_value wants it
  int index;
} Ranked;

// Ranks from 0, less their mean.
static double *ranks(Arena *arena, const double *value, int n) {
  Ranked *order = ARENA_ARRAY(arena, Ranked, n);
  double *rank = ARENA_ARRAY(arena, double, n);
  for (int i = 0; i < n; i++) order[i] = (Ranked){value[i], i};
  qsort(order, (size_t)n, sizeof *order, by_double);
  for (int i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && !(order[end].value > order[i].value);) end++;
    for (int j = i; j < end; j++) rank[order[j].index] = (i + end - 1 - (n - 1)) / 2.0;
  }
  return rank;
}

double calibration_rank_correlation(Arena *arena, const double *a, const double *b, int n) {
  const double *x = ranks(arena, a, n), *y = ranks(arena, b, n);
  double xy = 0, xx = 0, yy = 0;
  for (int i = 0; i < n; i++) {
    xy += x[i] * y[i];
    xx += x[i] * x[i];
    yy += y[i] * y[i];
  }
  return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}
