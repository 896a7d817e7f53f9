// What there is to try, and in which order.
//
// A pool of candidates is kept: drawn, made of the best ones by moving some knobs, or crossed from
// two of them. The one that promises most is compiled next. A promise is the roofline's speed times
// the share of it that schedules like it have reached: shares are averaged with weights that halve
// with every knob in which the two differ, so a child is judged by its parents and a stranger by
// all. Once 40 are timed, the roofline of each family is the one that is fitted to its points
// (calibration.h), and again whenever there are twice as many. Over 4,092 times that searches of
// six fp32 problems wrote down on an H200 (2026-11-23, by the factors of that day), promises made
// from the 256 times before each have a rank correlation of 0.60 with them, and of 0.41 without the
// fit (mean of the six).
//
// Worked example: the roofline gives 55 TFLOP/s; a parent one knob away reached 36 of 48 (0.75),
// another three away 20 of 50 (0.4): (0.5 · 0.75 + 0.125 · 0.4) / 0.625 = 0.68, so 37 are promised.
//
// A search that has found nothing better for a while is in a hollow that small moves do not lead
// out of: it begins anew, an epoch whose parents are its own points alone, and in the last part of
// the time the best of all epochs are parents together. Without epochs a search of fp32 4096³ on an
// H200 (2026-11-24, 300 s, no seeds) was at 0.90 of cuBLAS after 31 s and at 0.92 in the end,
// having bred tiles of 26 × 8 all the time.
//
// What is wrong, or does not compile or run, has reached nothing. One in eight of those chosen is
// drawn blindly, since a model that is wrong about a family would never look at it again.
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/str.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/tune/tune_inside.h"

enum {
  DRAWS = 12,
  ELITE = 24,
  LIKE_MAX = 256,
  BLIND_ONE_IN = 8,
  BATCHES_MAX = 4,
  BLIND_BATCHES = 24,
  PROBLEM_DRAWS = 40,
  SEED_EDITS_MAX = 4,
  STALE_POINTS = 250,
  ROWS_MAX = 20000
};

// ---- what is known ------------------------------------------------------------------------------

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

static TunePoint *add_point(Tune *tune, Field *field, const Pooled *pooled) {
  TuneField *told = &field->told;
  if (told->n_points == field->capacity) {
    field->capacity = field->capacity ? 2 * field->capacity : TUNE_FIRST_POINTS;
    TunePoint *points = ARENA_ARRAY(tune->arena, TunePoint, field->capacity);
    int *order = ARENA_ARRAY(tune->arena, int, field->capacity);
    if (told->n_points) {
      memcpy(points, told->point, sizeof *points * (size_t)told->n_points);
      memcpy(order, field->told.order, sizeof *order * (size_t)field->told.n_order);
    }
    told->point = points;
    field->told.order = order;
  }
  TunePoint *point = &told->point[told->n_points++];
  *point = (TunePoint){.schedule = pooled->schedule,
                       .program = pooled->program,
                       .model_ns = pooled->model_ns,
                       .terms = pooled->terms,
                       .state = TUNE_WAITING,
                       .worker = -1,
                       .partner = -1};
  told->n_by_state[TUNE_WAITING]++;
  field->n_of_family[pooled->terms.family]++;
  return point;
}

void tune_set_state(Field *field, TunePoint *point, TuneState state) {
  field->told.n_by_state[point->state]--;
  field->told.n_by_state[state]++;
  point->state = state;
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

// The roofline of a family, fitted to what is timed of it, spread evenly over all of it.
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

// Each time that there is twice as much. What is told is the best point's family.
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
  field->epoch_stale = field->n_pool = 0;
  field->epoch_ns = 0;
}

// The best points of the epoch, or of all where the search comes to its end.
static int list_elite(const Tune *tune, const Field *field, int elite[ELITE]) {
  static const double own_share = 0.75;  // of the time for searching
  const TuneField *told = &field->told;
  const bool own = tune_now(tune) + told->spent_s < own_share * tune->search_ends;
  int n = 0;
  for (int i = 0; i < told->n_order && n < ELITE; i++)
    if (!own || told->order[i] >= field->epoch_from) elite[n++] = told->order[i];
  return n;
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

const Model *tune_model(Arena *arena, const Field *field, const TunePoint *point) {
  return candidate_model(arena, &field->told.targets, &point->schedule, NULL);
}

// ---- promises -----------------------------------------------------------------------------------

// By the roofline as it was fitted here, or in searches before, or as it is by default.
static double expected_ns(const Field *field, const CalibrationTerms *terms) {
  const Calibration *own = &field->own[terms->family];
  return calibration_ns(own->n ? own : &field->kept[terms->family], terms);
}

static double share_of(const Field *field, const TunePoint *point) {
  if (point->state != TUNE_TIMED) return 0;
  return expected_ns(field, &point->terms) / point->time_ns;
}

static bool is_settled(const TunePoint *point) {
  return point->state == TUNE_TIMED || point->state == TUNE_WRONG || point->state == TUNE_FAILED;
}

int tune_n_settled(const TuneField *field) {
  return field->n_by_state[TUNE_TIMED] + field->n_by_state[TUNE_WRONG] +
         field->n_by_state[TUNE_FAILED];
}

// Those that were measured last, and all of the best, stand for all.
static double promised_ns(const Field *field, const Pooled *pooled) {
  static const double alone = 1.0 / 256;  // the weight of what a stranger is expected to reach
  const TuneField *told = &field->told;
  double share = 0.5 * alone, weight = alone;
  int n = 0;
  for (int i = told->n_points - 1; i >= 0 && n < LIKE_MAX; i--) {
    if (!is_settled(&told->point[i])) continue;
    const double w = exp2(-schedule_distance(&pooled->schedule, &told->point[i].schedule));
    share += w * share_of(field, &told->point[i]);
    weight += w;
    n++;
  }
  for (int i = 0; i < field->told.n_order && i < ELITE; i++) {
    const TunePoint *point = &told->point[field->told.order[i]];
    const double w = exp2(-schedule_distance(&pooled->schedule, &point->schedule));
    share += w * share_of(field, point);
    weight += w;
  }
  return expected_ns(field, &pooled->terms) * weight / fmax(share, 1e-6);
}

// ---- candidates ---------------------------------------------------------------------------------

// One of the best, the first ones more often.
static const Schedule *draw_elite(const Field *field, uint64_t *random, const int elite[ELITE],
                                  int n) {
  const int64_t a = random_between(random, 0, n - 1), b = random_between(random, 0, n - 1);
  return &field->told.point[elite[a < b ? a : b]].schedule;
}

static bool draw_schedule(const Tune *tune, const Field *field, uint64_t *random, Schedule *out) {
  enum { FRESH = 3, CROSSED = 5, OF = 12 };
  int elite[ELITE];
  const int n = list_elite(tune, field, elite);
  const int64_t kind = random_between(random, 0, OF - 1);
  if (n < 2 || kind < FRESH) return candidate_draw(field->space, random, out);
  const Schedule *a = draw_elite(field, random, elite, n);
  if (kind < CROSSED)
    return candidate_cross(field->space, random, a, draw_elite(field, random, elite, n), out);
  return candidate_change(field->space, random, a, out);
}

static bool draw_fresh(const Tune *tune, const Field *field, uint64_t *random, Schedule *out) {
  (void)tune;
  return candidate_draw(field->space, random, out);
}

// The schedule as a candidate; false where it is not legal. Reads the field alone: the team does
// this for many at once.
static bool make_pooled(const Field *field, const Schedule *schedule, Pooled *out) {
  Arena *scratch = arena_new("candidate");
  const Model *model = candidate_model(scratch, &field->told.targets, schedule, &out->program);
  if (model) {
    const double tflops = model->traffic.roofline_tflops;
    out->schedule = *schedule;
    out->terms = calibration_terms(model);
    out->flop = model->traffic.flop;
    out->model_ns = out->flop / (tflops > 0 ? tflops : 1) * 1e-3;
  }
  arena_free(scratch);
  return model != NULL;
}

static bool is_new(Tune *tune, Field *field, const Pooled *pooled) {
  field->flop = pooled->flop;
  return remember(tune, field, pooled->program);
}

static bool look_at(Tune *tune, Field *field, const Schedule *schedule, Pooled *out) {
  return make_pooled(field, schedule, out) && is_new(tune, field, out);
}

typedef bool Draw(const Tune *tune, const Field *field, uint64_t *random, Schedule *out);

// Candidates that are drawn together, each with random numbers of its own, so that it is the same
// candidate whichever thread makes it.
typedef struct Batch {
  const Tune *tune;
  const Field *field;
  Draw *draw;
  uint64_t random[DRAWS];
  bool good[DRAWS];
  Pooled pooled[DRAWS];
} Batch;

static void make_candidate(void *context, int i) {
  Batch *batch = context;
  Schedule schedule;
  batch->good[i] = batch->draw(batch->tune, batch->field, &batch->random[i], &schedule) &&
                   make_pooled(batch->field, &schedule, &batch->pooled[i]);
}

// Draws DRAWS candidates, of which some are legal and new; those go to `out`. Returns their number.
static int draw_batch(Tune *tune, Field *field, Draw *draw, Pooled out[DRAWS]) {
  Batch batch = {.tune = tune, .field = field, .draw = draw};
  int n = 0;
  for (int i = 0; i < DRAWS; i++) batch.random[i] = random_next(&field->random);
  team_run(tune->team, DRAWS, make_candidate, &batch);
  for (int i = 0; i < DRAWS; i++)
    if (batch.good[i] && is_new(tune, field, &batch.pooled[i])) out[n++] = batch.pooled[i];
  return n;
}

static int fill_pool(Tune *tune, Field *field) {
  Pooled drawn[DRAWS];
  int n = 0;
  for (int i = 0; i < BATCHES_MAX && n == 0; i++) n = draw_batch(tune, field, draw_schedule, drawn);
  for (int i = 0; i < n; i++) {
    const int at = field->n_pool < TUNE_POOL
                       ? field->n_pool++
                       : (int)random_between(&field->random, 0, TUNE_POOL - 1);
    field->pool[at] = drawn[i];
  }
  return n;
}

static int most_promising(Field *field, double *promise) {
  const bool blind = random_between(&field->random, 1, BLIND_ONE_IN) == 1;
  int best = (int)random_between(&field->random, 0, field->n_pool - 1);
  *promise = promised_ns(field, &field->pool[best]);
  for (int i = 0; i < field->n_pool && !blind; i++) {
    const double its = promised_ns(field, &field->pool[i]);
    if (its >= *promise) continue;
    *promise = its;
    best = i;
  }
  return best;
}

// A seed of another family would be bent out of shape to fit the problem.
static bool is_itself(const Schedule *seed, const Schedule *transferred) {
  int n = 0;
  for (int i = 0; i < KNOB_COUNT; i++)
    n += !knob_is_problem((KnobId)i) && schedule_differs(seed, transferred, (KnobId)i);
  return n <= SEED_EDITS_MAX;
}

// Seeds come first, as they are given.
static int choose_seed(Tune *tune, Field *field) {
  const TuneOptions *options = &tune->options;
  while (field->next_seed < options->n_seeds) {
    const Schedule *seed = &options->seeds[field->next_seed++];
    Schedule schedule;
    Pooled pooled;
    if (!candidate_transfer(field->space, seed, &schedule) || !is_itself(seed, &schedule) ||
        !look_at(tune, field, &schedule, &pooled))
      continue;
    TunePoint *point = add_point(tune, field, &pooled);
    point->seed = true;
    point->predicted_ns = promised_ns(field, &pooled);
    return (int)(point - field->told.point);
  }
  return -1;
}

// What a lost worker had comes again before anything new.
static int choose_again(const Field *field) {
  if (field->told.n_by_state[TUNE_WAITING] == 0) return -1;
  for (int i = 0; i < field->told.n_points; i++)
    if (field->told.point[i].state == TUNE_WAITING) return i;
  return -1;
}

// The next that is drawn, of whatever promise, of a family that has not all its points.
static int choose_blindly(Tune *tune, Field *field) {
  for (int i = 0; i < BLIND_BATCHES && !field->dry; i += field->n_pool == 0) {
    if (field->n_pool == 0) field->n_pool = draw_batch(tune, field, draw_fresh, field->pool);
    if (field->n_pool == 0) continue;
    const Pooled *pooled = &field->pool[--field->n_pool];
    if (field->n_of_family[pooled->terms.family] >= tune->options.blind_points) continue;
    TunePoint *point = add_point(tune, field, pooled);
    point->predicted_ns = expected_ns(field, &pooled->terms);
    return (int)(point - field->told.point);
  }
  field->dry = true;
  return -1;
}

int tune_choose(Tune *tune, Field *field) {
  double promise = 0;
  const int again = choose_again(field);
  if (again >= 0) return again;
  if (tune->options.blind_points) return choose_blindly(tune, field);
  const int seed = choose_seed(tune, field);
  if (seed >= 0) return seed;
  field->dry = fill_pool(tune, field) == 0 && field->n_pool == 0;
  if (field->dry) return -1;
  const int chosen = most_promising(field, &promise);
  TunePoint *point = add_point(tune, field, &field->pool[chosen]);
  point->predicted_ns = promise;
  field->pool[chosen] = field->pool[--field->n_pool];
  return (int)(point - field->told.point);
}

// ---- a field ------------------------------------------------------------------------------------

static bool row_point(Tune *tune, Field *field, const HistoryRow *row) {
  Arena *scratch = arena_new("row");
  Diags diags = diags_new(scratch);
  Pooled pooled;
  Schedule read = schedule_plain(), schedule = read;
  bool good = *row->state && schedule_parse(&read, row->state, &diags) &&
              candidate_transfer(field->space, &read, &schedule) &&
              look_at(tune, field, &schedule, &pooled);
  arena_free(scratch);
  if (!good) return false;
  TunePoint *point = add_point(tune, field, &pooled);
  const bool right = str_equal(row->status, "ok") && row->time_ns > 0;
  point->known = true;
  point->predicted_ns = promised_ns(field, &pooled);
  point->time_ns = right ? row->time_ns : 0;
  point->error = right ? NULL : "not right, or not run, when it was tried before";
  point->tflops = right ? field->flop / row->time_ns * 1e-3 : 0;
  const TuneState failed = str_equal(row->status, "wrong") ? TUNE_WRONG : TUNE_FAILED;
  tune_settle(tune, field, point, right ? TUNE_TIMED : failed);
  return true;
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
  field->loading = true;
  for (int i = 0; i < n; i++) row_point(tune, field, &rows[i]);
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

static void take_calibrations(Tune *tune, Field *field) {
  HistoryCalibration rows[CALIBRATION_FAMILIES];
  Arena *scratch = arena_new("calibrations");
  const int n = history_calibrations(tune->options.history, scratch, field->told.device.name, rows,
                                     CALIBRATION_FAMILIES);
  for (int i = 0; i < CALIBRATION_FAMILIES; i++) field->kept[i] = calibration_none();
  for (int i = 0; i < n; i++) field->kept[rows[i].family] = rows[i].fit;
  arena_free(scratch);
}

Field *tune_field_new(Tune *tune, const Device *device) {
  Field *field = ARENA_NEW(tune->arena, Field);
  Schedule base = tune->options.base;
  field->told.device = *device;
  field->told.targets = *tune->options.targets;
  field->random = tune->options.random;
  field->told.n_epochs = 1;
  const Target *target = device_target(&field->told.targets, device);
  if (!target) {
    field->told.error = arena_printf(tune->arena, "no row of the table stands for the GPU \"%s\"",
                                     str_sanitise(tune->arena, device->name));
    return field;
  }
  device_take_target(&field->told.targets, target, &base);
  device_apply(tune->arena, device, &field->told.targets);
  field->space = search_space(tune->arena, &field->told.targets, &base);
  field->told.problem = problem_of(tune, field);
  take_calibrations(tune, field);
  if (!field->told.problem)
    field->told.error = "no legal schedule was found for this problem on this GPU";
  else if (tune->options.resume)
    take_known(tune, field);
  const bool all_spent = field->told.n_order && field->told.spent_s >= tune->options.seconds;
  if (all_spent) field->told.round = TUNE_ROUNDS;
  return field;
}
