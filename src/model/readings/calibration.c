// Descent by one factor at a time, each with a step of its own that grows where it helped: fourteen
// factors and a few hundred points take some milliseconds, and there is no derivative to be wrong.
//
// Spilled registers. What a thread needs beyond what launch bounds leave it lies in local memory
// and is written and read once in each step along K. Worked example, 8 warps that need 160
// registers where 2 · 256 threads leave 128: 32 · 2 · 8 = 512 lines of L1's pipe per step, beside
// the 128 clocks in which 16,384 sums take their products: 4 times as long.
#include "model/readings/calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/ir/rewrite.h"
#include "model/readings/derive.h"

const char *calibration_name(CalibrationFactor factor) {
#define X(id, name, preset, what) name,
  static const char *const names[] = {CALIBRATION_TABLE(X)};
#undef X
  return names[factor];
}

const char *calibration_what(CalibrationFactor factor) {
#define X(id, name, preset, what) what,
  static const char *const whats[] = {CALIBRATION_TABLE(X)};
#undef X
  return whats[factor];
}

const char *calibration_family_name(CalibrationFamily family) {
#define X(id, name) name,
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
#define X(id, name, preset, what) preset,
  return (Calibration){.factor = {CALIBRATION_TABLE(X)}};
#undef X
}

// ---- terms --------------------------------------------------------------------------------------

static CalibrationFactor pipe_of(const Atom *atom) {
  if (!atom) return CALIBRATION_FMA;
  return atom_is_of_warp(atom) ? CALIBRATION_MMA : CALIBRATION_WGMMA;
}

// Families of one product stand first, in the order of the pipes.
static CalibrationFamily family_of(const Model *model) {
  const int pipe = (int)pipe_of(program_atom(model->program)) - CALIBRATION_FMA;
  const bool one = model->program->n_products == 1;
  return (CalibrationFamily)(one ? pipe : CALIBRATION_FAMILY_ATTENTION_FMA + pipe);
}

// Warp instructions of a block and slab that move values, and those that multiply without an atom.
static double instructions(const Model *model, double slabs) {
  double per_warp = 0, of_block = 0;
  for (int i = 0; i < model->n_sites; i++) per_warp += model->site[i].executions;
  for (int i = 0; i < model->global.n; i++) of_block += model->global.site[i].requests;
  const double products = program_atom(model->program) ? 0 : model->traffic.slab_fma / LANES;
  return products + per_warp * (double)model->resources.n_warps + of_block / slabs;
}

static double steps_per_slab(const Program *program) {
  const Axis *k = program_product(program)->axis[AXIS_K];
  const double depth = (double)k->digit[k->n_digits - 1].weight;
  return slab_loop(program) ? (double)axis_tile(k) / depth : 1;
}

static double spilled_lines(const Model *model) {
  const Resources *r = &model->resources;
  const int64_t left = start_registers(r->n_threads, program_main(model->program)->min_blocks);
  const double beyond = fmax(0, (double)(r->n_needed - left));
  return r->consumer_registers ? 0
                               : 2 * beyond * (double)r->n_warps * steps_per_slab(model->program);
}

static double positive(double value) { return value > 0 ? value : 0; }

CalibrationTerms calibration_terms(const Model *model) {
  enum { SLAB_CLOCKS = 100, ISSUED_PER_CLOCK = 4 };
  const Traffic *t = &model->traffic;
  const Resources *r = &model->resources;
  const double blocks = (double)r->n_blocks;
  const double slabs = fmax(1, t->flop / 2 / t->slab_fma / blocks);
  const double rounds = ceil(blocks / model->target->sm_count);
  const double resident = fmax(1, fmin(rounds, r->blocks_per_sm));
  const double ns = slabs * rounds / model->target->boost_mhz * 1e3;  // of a clock per slab
  CalibrationTerms out = {.family = family_of(model)};
  out.term[pipe_of(program_atom(model->program))] = positive(t->fma_clocks) * ns;
  out.term[CALIBRATION_ISSUE] = instructions(model, slabs) / ISSUED_PER_CLOCK * ns;
  out.term[CALIBRATION_SHARED] = positive(t->shared_clocks) * ns;
  out.term[CALIBRATION_SPILL] = spilled_lines(model) * ns;
  out.term[CALIBRATION_GLOBAL] = positive(t->global_clocks) * ns;
  out.term[CALIBRATION_L2] = positive(t->l2_clocks) * ns;
  out.term[CALIBRATION_DRAM] = positive(t->dram_clocks) * ns;
  out.term[CALIBRATION_POWER] = t->power_tflops > 0 ? t->flop / t->power_tflops * 1e-3 : 0;
  out.term[CALIBRATION_WARPS] = 1 / (resident * (double)r->n_consumers);
  out.term[CALIBRATION_SLAB] = SLAB_CLOCKS * ns / resident;
  out.term[CALIBRATION_LAUNCH] = 1e3;
  out.term[CALIBRATION_BETWEEN] = positive(t->between_us) * 1e3;
  return out;
}

static double fourth(double x) { return x * x * x * x; }

double calibration_ns(const Calibration *calibration, const CalibrationTerms *terms) {
  double time[CALIBRATION_FACTORS], sum = 0;
  for (int i = 0; i < CALIBRATION_FACTORS; i++) time[i] = calibration->factor[i] * terms->term[i];
  time[CALIBRATION_SHARED] += time[CALIBRATION_SPILL];
  for (int i = 0; i < CALIBRATION_SPILL; i++) sum += fourth(time[i]);
  return sqrt(sqrt(sum)) * (1 + time[CALIBRATION_WARPS]) + time[CALIBRATION_SLAB] +
         time[CALIBRATION_LAUNCH] + time[CALIBRATION_BETWEEN];
}

// ---- fit ----------------------------------------------------------------------------------------

typedef struct Points {
  const CalibrationPoint *point;
  int first, n, step;  // every `step`-th of n from `first` on
} Points;

static double loss(const Calibration *c, const Points *points) {
  static const double robust_from = 0.2, pull = 0.01;
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

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
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
  qsort(off, (size_t)n, sizeof *off, by_value);
  out->error = off[n / 2];
  out->order = rank_correlation(arena, predicted, measured, n);
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
  qsort(order, (size_t)n, sizeof *order, by_value);
  for (int i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && !(order[end].value > order[i].value);) end++;
    for (int j = i; j < end; j++) rank[order[j].index] = (i + end - 1 - (n - 1)) / 2.0;
  }
  return rank;
}

double rank_correlation(Arena *arena, const double *a, const double *b, int n) {
  const double *x = ranks(arena, a, n), *y = ranks(arena, b, n);
  double xy = 0, xx = 0, yy = 0;
  for (int i = 0; i < n; i++) {
    xy += x[i] * y[i];
    xx += x[i] * x[i];
    yy += y[i] * y[i];
  }
  return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}
