// The chosen points and their results: points, their order, epochs, and the roofline that is fitted
// to them.
//
// A point's terms are those of its model until it is compiled, then those of the registers and
// spills that it has: the fit is to them. What is READY is in order by the clock, which has played
// its machine code, or by these: where it could not, and once they are fitted to this GPU. (Of 120
// random kernels each, H100, 2026-11-27, the rank correlation with the times was 0.84 to 0.89 by
// the clock and 0.93 to 0.97 by a fit to 40 of them; by the terms as they are shipped 0.80 for
// mma.sync.)
//
// Once 40 are timed, the roofline of each family is the one that is fitted to its points
// (calibration.h), and again whenever their number has doubled.
//
// A search that has found nothing better for a while is in a hollow that small moves do not lead
// out of: it begins anew, an epoch whose parents are its own points alone, and in the last part of
// the time the best of all epochs are parents together. Without epochs a search of fp32 4096³ on an
// H200 (2026-11-24, 300 s, no seeds) was at 0.90 of cuBLAS after 31 s and at 0.92 in the end,
// having bred tiles of 26 × 8 all the time.
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/tune/tune_inside.h"

enum { PROBLEM_DRAWS = 40, STALE_POINTS = 250, ROWS_MAX = 20000 };

// ---- known points -------------------------------------------------------------------------------

static bool remember(Tune *tune, Field *field, uint64_t program) {
  if (2 * field->n_programs >= field->n_programs_capacity) {
    const int before = field->n_programs_capacity;
    const uint64_t *old = field->programs;
    field->n_programs_capacity = before ? 2 * before : 1024;
    field->programs = ARENA_ARRAY(tune->arena, uint64_t, field->n_programs_capacity);
    field->n_programs = 0;
    for (int i = 0; i < before; i++)
      if (old[i]) remember(tune, field, old[i]);
  }
  const uint64_t mask = (uint64_t)field->n_programs_capacity - 1;
  program += !program;
  uint64_t at = program & mask;
  while (field->programs[at] && field->programs[at] != program) at = (at + 1) & mask;
  if (field->programs[at]) return false;
  field->programs[at] = program;
  field->n_programs++;
  return true;
}

bool tune_remember(Tune *tune, Field *field, const Pooled *pooled) {
  field->flop = pooled->flop;
  return remember(tune, field, pooled->program);
}

// Arrays by point grow together.
static void grow(Tune *tune, Field *field) {
  TuneField *told = &field->told;
  field->capacity = field->capacity ? 2 * field->capacity : TUNE_FIRST_POINTS;
  TunePoint *points = ARENA_ARRAY(tune->arena, TunePoint, field->capacity);
  int *order = ARENA_ARRAY(tune->arena, int, field->capacity);
  int *under_way = ARENA_ARRAY(tune->arena, int, field->capacity);
  if (told->n_points) {
    memcpy(points, told->point, sizeof *points * (size_t)told->n_points);
    memcpy(order, told->order, sizeof *order * (size_t)told->n_order);
    memcpy(under_way, field->under_way, sizeof *under_way * (size_t)field->n_under_way);
  }
  told->point = points;  // the team goes on reading the old ones
  told->order = order;
  field->under_way = under_way;
}

TunePoint *tune_add_point(Tune *tune, Field *field, Pooled *pooled) {
  TuneField *told = &field->told;
  if (told->n_points == field->capacity) grow(tune, field);
  TunePoint *point = &told->point[told->n_points];
  *point = (TunePoint){.schedule = pooled->schedule,
                       .program = pooled->program,
                       .model_ns = pooled->model_ns,
                       .basis = pooled->basis,
                       .uncompiled = pooled->terms,
                       .island = pooled->island,
                       .terms = pooled->terms,
                       .state = TUNE_WAITING,
                       .worker = -1,
                       .partner = -1,
                       .place = field->n_under_way,
                       .held = pooled->held,
                       .plan = pooled->plan};
  pooled->held = NULL;
  field->under_way[field->n_under_way++] = told->n_points++;
  told->n_by_state[TUNE_WAITING]++;
  field->n_of_family[pooled->terms.family]++;
  return point;
}

static void take_count(TunePoint *point, const CompiledKernel *compiled) {
  point->compiled = *compiled;
  calibration_count(&point->basis, compiled);
  point->terms = calibration_terms_of(&point->basis);
}

void tune_count(const Field *field, TunePoint *point, const CompileResult *result) {
  const int main_kernel = point->basis.main_kernel;
  if (!result->ok || main_kernel >= result->n_kernels) return;
  const KernelResources *said = &result->kernels[main_kernel];
  point->compile_ms = fmax(0, result->ptx_ms) + fmax(0, result->cubin_ms);
  const double expected = tune_expected_ns(field, &point->terms);
  take_count(point, &(CompiledKernel){said->registers, kernel_spill_bytes(said), said->code});
  point->predicted_ns *= tune_expected_ns(field, &point->terms) / expected;
}

void tune_clock(const Field *field, TunePoint *point, const ClockNumber *number) {
  if (number->why_not) return;
  point->clock_ns = field->flop / number->speed.tflops * 1e-3;
  const CalibrationFamily family = point->terms.family;
  if (!field->own[family].n && !field->kept[family].n) point->predicted_ns = point->clock_ns;
}

bool tune_is_settled(const TunePoint *point) {
  return point->state == TUNE_TIMED || point->state == TUNE_WRONG || point->state == TUNE_FAILED;
}

int tune_n_settled(const TuneField *field) {
  return field->n_by_state[TUNE_TIMED] + field->n_by_state[TUNE_WRONG] +
         field->n_by_state[TUNE_FAILED];
}

static void leave_under_way(Field *field, TunePoint *point) {
  const int last = field->under_way[--field->n_under_way];
  field->under_way[point->place] = last;
  field->told.point[last].place = point->place;
}

void tune_release_plan(TunePoint *point) {
  arena_free(point->held);
  point->held = NULL;
  point->plan = NULL;
}

void tune_set_state(Field *field, TunePoint *point, TuneState state) {
  const bool was_settled = tune_is_settled(point);
  field->told.n_by_state[point->state]--;
  field->told.n_by_state[state]++;
  point->state = state;
  if (tune_is_settled(point)) tune_release_plan(point);
  if (tune_is_settled(point) == was_settled) return;
  if (!was_settled) {
    leave_under_way(field, point);
    return;
  }
  point->place = field->n_under_way;
  field->under_way[field->n_under_way++] = (int)(point - field->told.point);
}

static bool is_faster(const TunePoint *a, const TunePoint *b) {
  if (a->round != b->round) return a->round > b->round;
  if (a->round == TUNE_FINAL && a->ratio > 0 && b->ratio > 0) return a->ratio > b->ratio;
  return a->time_ns < b->time_ns;
}

static void take_out(Field *field, int point) {
  int n = 0;
  for (int i = 0; i < field->told.n_order; i++)
    if (field->told.order[i] != point) field->told.order[n++] = field->told.order[i];
  field->told.n_order = n;
}

static void put_in(Field *field, int point) {
  const TunePoint *points = field->told.point;
  int at = field->told.n_order++;
  for (; at > 0 && is_faster(&points[point], &points[field->told.order[at - 1]]); at--)
    field->told.order[at] = field->told.order[at - 1];
  field->told.order[at] = point;
}

static void note_step(Tune *tune, Field *field, const TunePoint *point) {
  TuneField *told = &field->told;
  if (told->n_steps && point->time_ns >= told->step[told->n_steps - 1].time_ns) return;
  if (told->n_steps == field->steps_capacity) {
    field->steps_capacity = field->steps_capacity ? 2 * field->steps_capacity : 64;
    TuneStep *steps = ARENA_ARRAY(tune->arena, TuneStep, field->steps_capacity);
    if (told->n_steps) memcpy(steps, told->step, sizeof *steps * (size_t)told->n_steps);
    told->step = steps;
  }
  told->step[told->n_steps++] = (TuneStep){point->at_s, point->time_ns};
}

// The roofline of a family, fitted to its timed points, spread evenly over all of them.
static Calibration fit_family(Arena *scratch, const TuneField *told, CalibrationFamily family) {
  enum { FITTED_MAX = 400 };
  CalibrationPoint *points = ARENA_ARRAY(scratch, CalibrationPoint, told->n_order);
  int all = 0;
  for (int i = 0; i < told->n_order; i++) {
    const TunePoint *point = &told->point[told->order[i]];
    if (point->terms.family == family)
      points[all++] = (CalibrationPoint){point->terms, point->time_ns};
  }
  const int n = all < FITTED_MAX ? all : FITTED_MAX;
  for (int i = 0; i < n; i++) points[i] = points[(int64_t)i * all / n];
  return calibration_fit(scratch, points, n);
}

// Fits each time that the number of points has doubled. The best point's family is told.
static void calibrate(Field *field) {
  TuneField *told = &field->told;
  if (told->n_order < CALIBRATION_POINTS_MIN || told->n_order < field->next_fit) return;
  Arena *scratch = arena_new("calibrate");
  for (int i = 0; i < CALIBRATION_FAMILIES; i++)
    field->own[i] = fit_family(scratch, told, (CalibrationFamily)i);
  told->calibration = field->own[told->point[told->order[0]].terms.family];
  field->next_fit = 2 * told->n_order;
  arena_free(scratch);
}

// ---- epochs -------------------------------------------------------------------------------------

// Counts how long the epoch has had nothing better, and begins another one.
static void watch_epoch(const Tune *tune, Field *field, const TunePoint *point) {
  static const double hair = 0.99;
  if (point - field->told.point < field->epoch_from) return;
  field->epoch_stale++;
  const bool timed = point->state == TUNE_TIMED;
  if (timed && (field->epoch_ns == 0 || point->time_ns < hair * field->epoch_ns)) {
    field->epoch_stale = 0;
    field->epoch_ns = point->time_ns;
  }
  const int most = tune->options.stale_points;
  if (field->epoch_stale < (most ? most : STALE_POINTS)) return;
  field->told.n_epochs++;
  field->epoch_from = field->told.n_points;
  field->epoch_stale = 0;
  field->epoch_ns = 0;
  tune_clear_pool(field);
}

void tune_settle(Tune *tune, Field *field, TunePoint *point, TuneState state) {
  const int index = (int)(point - field->told.point);
  tune_set_state(field, point, state);
  take_out(field, index);
  if (state == TUNE_TIMED) {
    if (point->round == TUNE_BRIEF) {
      point->at_s = tune_now(tune);
      note_step(tune, field, point);
    }
    put_in(field, index);
    calibrate(field);
  }
  if (!field->loading && field->told.round == TUNE_BRIEF) watch_epoch(tune, field, point);
  if (tune->options.told && !field->loading)
    tune->options.told(tune->options.context, &field->told, point);
}

const TunePoint *tune_best(const TuneField *field) {
  return field->n_order ? &field->point[field->order[0]] : NULL;
}

// ---- a field ------------------------------------------------------------------------------------

// Holds what the history has of the problem, each row as a candidate where it still is one.
typedef struct KnownRows {
  const Field *field;
  const HistoryRow *rows;
  bool *good;
  Pooled *pooled;
} KnownRows;

static void read_known(void *context, int i) {
  KnownRows *known = context;
  const HistoryRow *row = &known->rows[i];
  Arena *scratch = arena_new("row");
  Diags diags = diags_new(scratch);
  Schedule read = schedule_plain(), schedule = read;
  known->good[i] = *row->state && schedule_parse(&read, row->state, &diags) &&
                   candidate_transfer(known->field->space, &read, &schedule) &&
                   tune_make_pooled(known->field, &schedule, false, scratch, &known->pooled[i]);
  arena_free(scratch);
}

static void row_point(Tune *tune, Field *field, const HistoryRow *row, Pooled *pooled) {
  if (!tune_remember(tune, field, pooled)) return;
  TunePoint *point = tune_add_point(tune, field, pooled);
  const bool right = str_equal(row->status, "ok") && row->time_ns > 0;
  point->known = true;
  field->told.n_compiled++;
  take_count(point, &row->compiled);
  point->predicted_ns = tune_expected_ns(field, &point->terms);
  point->time_ns = right ? row->time_ns : 0;
  point->error = right ? NULL : "wrong, or not run, in an earlier try";
  point->tflops = right ? field->flop / row->time_ns * 1e-3 : 0;
  if (field->told.cublas_ns == 0) field->told.cublas_ns = row->cublas_time_ns;
  const TuneState failed = str_equal(row->status, "wrong") ? TUNE_WRONG : TUNE_FAILED;
  tune_settle(tune, field, point, right ? TUNE_TIMED : failed);
}

// Newest first, so a kernel that was measured again has its newest time.
static void take_known(Tune *tune, Field *field) {
  Arena *arena = arena_new("known");
  HistoryRow *rows = ARENA_ARRAY(arena, HistoryRow, ROWS_MAX);
  const int n = history_of_problem(tune->options.resume, arena, field->told.device.name,
                                   field->told.problem, rows, ROWS_MAX);
  if (tune->options.all_runs)
    field->told.spent_s =
        history_seconds(tune->options.resume, field->told.device.name, field->told.problem);
  KnownRows known = {field, rows, ARENA_ARRAY(arena, bool, n), ARENA_ARRAY(arena, Pooled, n)};
  tune_finish_batch(tune);  // of another kind of GPU, which was there before
  team_run(tune->team, n, read_known, &known);
  field->loading = true;
  for (int i = 0; i < n; i++)
    if (known.good[i]) row_point(tune, field, &rows[i], &known.pooled[i]);
  field->loading = false;
  arena_free(arena);
}

// The problem's name comes from any plan of it.
static const char *problem_of(Tune *tune, Field *field) {
  Arena *scratch = arena_new("problem");
  const char *problem = NULL;
  for (int i = 0; i < PROBLEM_DRAWS && !problem; i++) {
    Schedule schedule;
    const Model *model = NULL;
    if (candidate_draw(field->space, &field->random, &schedule))
      model = candidate_model(scratch, &field->told.targets, &schedule, NULL);
    if (model) problem = history_problem(tune->arena, plan_from_model(scratch, model, NULL));
  }
  arena_free(scratch);
  return problem;
}

// Tells what a rule says of the problem as it was given, before any knob is drawn.
static const char *why_nothing(Tune *tune, const Field *field, const Schedule *base) {
  Arena *scratch = arena_new("why");
  const Model *model = model_build(scratch, &field->told.targets, base);
  const Diag *first = model->ok ? NULL : model->diags.first;
  const char *why = arena_printf(
      tune->arena, "no legal schedule was found for this problem on %s%s%s",
      str_sanitise(scratch, field->told.device.name), first ? ": " : "", first ? first->text : "");
  arena_free(scratch);
  return why;
}

static void take_calibrations(Tune *tune, Field *field) {
  HistoryCalibration rows[CALIBRATION_FAMILIES];
  Arena *scratch = arena_new("calibrations");
  const int n = history_calibrations(tune->options.history, scratch, field->told.device.name, rows,
                                     CALIBRATION_FAMILIES);
  for (int i = 0; i < CALIBRATION_FAMILIES; i++) field->kept[i] = calibration_none();
  for (int i = 0; i < n; i++) field->kept[rows[i].family] = rows[i].fit;
  arena_free(scratch);
}

// Machine code is of one generation: code for 10.0 does not load on 9.0.
static bool same_code(const Target *a, const Target *b) { return a->cc / 10 == b->cc / 10; }

Field *tune_field_new(Tune *tune, const Device *device) {
  Field *field = ARENA_NEW(tune->arena, Field);
  Schedule base = tune->options.base;
  field->told.device = *device;
  field->told.targets = *tune->options.targets;
  field->random = tune->options.random;
  field->told.n_epochs = 1;
  field->n_islands = tune->options.n_seeds || tune->options.resume ? 1 : TUNE_ISLANDS;
  for (int i = 0; i < field->n_islands; i++) field->island[i] = i;
  const Target *target = device_target(&field->told.targets, device);
  if (!target) {
    field->told.error = arena_printf(tune->arena, "the table has no row for the GPU \"%s\"",
                                     str_sanitise(tune->arena, device->name));
    return field;
  }
  device_take_target(&field->told.targets, target, &base);
  const Target *asked = target_find(&field->told.targets, base.target, NULL);
  if (asked && !same_code(asked, target)) {
    field->told.error = arena_printf(tune->arena, "TARGET=%s: its kernels do not run on %s",
                                     asked->id, str_sanitise(tune->arena, device->name));
    return field;
  }
  device_apply(tune->arena, device, &field->told.targets);
  field->space = search_space(tune->arena, &field->told.targets, &base);
  field->told.problem = problem_of(tune, field);
  take_calibrations(tune, field);
  if (!field->told.problem)
    field->told.error = why_nothing(tune, field, &base);
  else if (tune->options.resume)
    take_known(tune, field);
  const bool all_spent = field->told.n_order && field->told.spent_s >= tune->options.seconds;
  if (all_spent) field->told.round = TUNE_ROUNDS;
  return field;
}
