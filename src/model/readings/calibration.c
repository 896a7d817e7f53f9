// Descent by one factor at a time, each with a step of its own that grows where it helped: two
// dozen factors and a few hundred points take some milliseconds, and there is no derivative to be
// wrong.
//
// Spilled registers lie in local memory and are written and read once in each step along K, 128
// bytes for a warp. Worked example, 12 warps that lack 180 registers: 2 · 180 · 12 = 4,320 lines of
// L1's pipe per step. They are 276 KB, where slabs of 64 KB leave L1 164 of 228: the 70 % that
// half of it has no room for go to L2 and back.
#include "model/readings/calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/ir/rewrite.h"
#include "model/readings/derive.h"

const char *calibration_name(CalibrationFactor factor) {
#define X(id, name, preset, part, what) name,
  static const char *const names[] = {CALIBRATION_TABLE(X)};
#undef X
  return names[factor];
}

const char *calibration_what(CalibrationFactor factor) {
#define X(id, name, preset, part, what) what,
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
#define X(id, name, preset, part, what) preset,
  return (Calibration){.factor = {CALIBRATION_TABLE(X)}};
#undef X
}

// ---- terms --------------------------------------------------------------------------------------

static CalibrationFactor pipe_of(const Atom *atom) {
  if (!atom) return CALIBRATION_FMA;
  return atom_is_of_warp(atom) ? CALIBRATION_MMA : CALIBRATION_WGMMA;
}

// Families of one product stand first, in the order of the pipes.
static CalibrationFamily family_of(const Model *model, CalibrationFactor pipe) {
  const int at = (int)pipe - CALIBRATION_FMA;
  const bool one = model->program->n_products == 1;
  return (CalibrationFamily)(one ? at : CALIBRATION_FAMILY_ATTENTION_FMA + at);
}

static void add_sites(const Model *model, CalibrationBasis *out) {
  for (int i = 0; i < model->n_sites; i++) {
    out->warp_accesses += model->site[i].executions;
    if (!model->site[i].op->counted) out->copied += model->site[i].profiled;
  }
}

static void add_global(const Model *model, CalibrationBasis *out) {
  for (int i = 0; i < model->global.n; i++) {
    const GlobalSite *site = &model->global.site[i];
    out->requests += site->requests;
    out->stored_sectors += site->is_store ? site->sectors : 0;
  }
}

CalibrationBasis calibration_basis(const Model *model) {
  const CalibrationFactor pipe = pipe_of(program_atom(model->program));
  CalibrationBasis out = {.target = model->target,
                          .resources = model->resources,
                          .traffic = model->traffic,
                          .waits = model->waits,
                          .family = family_of(model, pipe),
                          .pipe = pipe,
                          .main_kernel = model->program->main_kernel,
                          .staged = slab_loop(model->program) != NULL};
  add_sites(model, &out);
  add_global(model, &out);
  return out;
}

void calibration_count(CalibrationBasis *basis, int registers, int spill_bytes) {
  if (registers >= 0)
    basis->resources =
        resources_with_registers(&basis->resources, basis->target, registers, spill_bytes);
}

typedef struct Launched {
  double ns;      // of a clock
  double rounds;  // blocks that one SM has, one after the other or together
  double turns;   // the same in those that are resident together
  double resident;
  double slabs;  // of a block
} Launched;

static double positive(double value) { return value > 0 ? value : 0; }

static Launched launched(const CalibrationBasis *b) {
  const Traffic *t = &b->traffic;
  const double blocks = (double)b->resources.n_blocks;
  const double rounds = ceil(blocks / b->target->sm_count);
  const double resident = fmax(1, fmin(rounds, b->resources.blocks_per_sm));
  return (Launched){.ns = 1e3 / b->target->boost_mhz,
                    .rounds = rounds,
                    .turns = ceil(rounds / resident),
                    .resident = resident,
                    .slabs = fmax(1, t->flop / 2 / t->slab_fma / blocks)};
}

// ---- limits -------------------------------------------------------------------------------------

// Warp instructions of a block that move values, and those that multiply without an atom. An
// address of global memory is of 64 bits and takes two of its own.
static double instructions(const CalibrationBasis *b, double slabs) {
  enum { OF_REQUEST = 3 };
  const double products = b->pipe == CALIBRATION_FMA ? b->traffic.slab_fma / LANES : 0;
  return slabs * (products + b->warp_accesses * (double)b->resources.n_warps) +
         OF_REQUEST * b->requests;
}

// Lines of a block, and the part of them that L1 has no room for: of what shared memory leaves of
// it, other reads have half.
static double spilled_lines(const CalibrationBasis *b, double resident, double *beyond_l1) {
  static const double least = 8192;
  const Resources *r = &b->resources;
  const Target *gpu = b->target;
  const double own = (double)(r->n_spilled * r->n_warps), bytes = own * BANK_LINE_BYTES * resident;
  const double slabs = (double)(r->smem_bytes + gpu->smem_reserved_per_block) * resident;
  const double room = fmax(least, (gpu->smem_per_sm - slabs) / 2);
  *beyond_l1 = bytes > room ? 1 - room / bytes : 0;
  return 2 * own * fmax(1, b->waits.steps);
}

static void limit_terms(const CalibrationBasis *b, const Launched *l,
                        double term[CALIBRATION_FACTORS]) {
  enum { ISSUED_PER_CLOCK = 4, L2_BYTES_PER_CLOCK = 32, L2_CLOCKS_PER_LINE = 4 };
  const Traffic *t = &b->traffic;
  const double block = l->rounds * l->ns, slab = l->slabs * block;
  double beyond_l1;
  const double lines = spilled_lines(b, l->resident, &beyond_l1);
  const double l2_clocks = t->l2_bytes / (b->target->sm_count * L2_BYTES_PER_CLOCK);
  term[b->pipe] = positive(t->fma_clocks) * slab;
  term[CALIBRATION_SOFTMAX] = (positive(t->fp32_clocks) + positive(t->sfu_clocks)) * slab;
  term[CALIBRATION_ISSUE] = instructions(b, l->slabs) / ISSUED_PER_CLOCK * block;
  term[CALIBRATION_COPY] = b->copied * slab;
  term[CALIBRATION_GLOBAL] = positive(t->global_clocks) * slab;
  term[CALIBRATION_L2] = l2_clocks * l->ns + lines * beyond_l1 * L2_CLOCKS_PER_LINE * block;
  term[CALIBRATION_DRAM] = positive(t->dram_clocks) * slab;
  term[CALIBRATION_TMA] = b->waits.box_rows * block;
  term[CALIBRATION_POWER] = t->power_tflops > 0 ? t->flop / t->power_tflops * 1e-3 : 0;
  term[CALIBRATION_SHARED] = positive(t->shared_clocks) * slab;
  term[CALIBRATION_SPILL] = lines * block;
}

// ---- latency ------------------------------------------------------------------------------------

// Of a block alone: what resident blocks hide of each other.
static void latency_terms(const CalibrationBasis *b, const Launched *l,
                          double term[CALIBRATION_FACTORS]) {
  enum { FETCH = 600, READ = 300, STEP = 20, PHASE = 30, BOX_ROW = 2, L2_BYTES_PER_CLOCK = 64 };
  const Traffic *t = &b->traffic;
  const BlockWaits *w = &b->waits;
  const double turn = l->turns * l->ns, slabs = b->staged ? l->slabs : 1;
  const double own = t->l2_bytes / (double)b->resources.n_blocks / L2_BYTES_PER_CLOCK;
  const double moved = w->fetches > 0 ? BOX_ROW * w->box_rows + own : 0;
  const double fetches = w->fetches + (w->depth > 0 ? 1 / w->depth : 0);
  const double softmax = positive(t->fp32_clocks) + positive(t->sfu_clocks);
  term[CALIBRATION_ALONE] = l->slabs * (positive(t->fma_clocks) + softmax) * turn;
  term[CALIBRATION_WARP] = w->instructions * turn;
  term[CALIBRATION_FETCH] = (slabs * fetches * FETCH + moved + w->reads * READ) * turn;
  term[CALIBRATION_STEP] = w->steps * STEP * turn;
  term[CALIBRATION_PHASE] = slabs * w->phases * PHASE * turn;
}

CalibrationTerms calibration_terms_of(const CalibrationBasis *b) {
  enum { BLOCK_CLOCKS = 750 };
  const Launched l = launched(b);
  CalibrationTerms out = {.family = b->family};
  limit_terms(b, &l, out.term);
  latency_terms(b, &l, out.term);
  out.term[CALIBRATION_LAUNCH] = 1e3;
  out.term[CALIBRATION_BLOCK] = BLOCK_CLOCKS * l.turns * l.ns;
  out.term[CALIBRATION_STORE] = b->stored_sectors * l.rounds * l.ns;
  out.term[CALIBRATION_BETWEEN] = positive(b->traffic.between_us) * 1e3;
  return out;
}

CalibrationTerms calibration_terms(const Model *model) {
  const CalibrationBasis basis = calibration_basis(model);
  return calibration_terms_of(&basis);
}

static double fourth(double x) { return x * x * x * x; }

double calibration_ns(const Calibration *calibration, const CalibrationTerms *terms) {
#define X(id, name, preset, part, what) part,
  static const CalibrationPart part_of[] = {CALIBRATION_TABLE(X)};
#undef X
  double part[CALIBRATION_PARTS] = {0}, limits = 0;
  for (int i = 0; i < CALIBRATION_FACTORS; i++) {
    const double time = calibration->factor[i] * terms->term[i];
    if (part_of[i] == CALIBRATION_LIMIT)
      limits += fourth(time);
    else
      part[part_of[i]] += time;
  }
  limits += fourth(part[CALIBRATION_PIPE]) + fourth(part[CALIBRATION_LATENCY]);
  return sqrt(sqrt(limits)) + part[CALIBRATION_REST];
}

// ---- fit ----------------------------------------------------------------------------------------

typedef struct Points {
  const CalibrationPoint *point;
  int first, n, step;  // every `step`-th of n from `first` on
} Points;

static double loss(const Calibration *c, const Points *points) {
  static const double robust_from = 0.2, pull = 0.03;
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
