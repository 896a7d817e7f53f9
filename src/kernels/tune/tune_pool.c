// Tells the candidates to try, and their order.
//
// A pool of candidates is kept: drawn, made of the best ones by moving some knobs, or crossed from
// two of them. The one that promises most (tune_promise.c) is compiled next. One in eight of those
// chosen is drawn blindly, since a model that is wrong about a family would never look at it again.
//
// To make a candidate takes a model, a millisecond of work, and a dozen are made for each that is
// chosen. The thread that talks to the workers makes none: a batch is given to the team when the
// one before is first taken from, and taken when that one is empty. It has a slice of a dozen for
// each worker, since all of them choose one after the other. A candidate comes with its plan, so
// that what is chosen can be asked for at once.
//
//   choose point 7    takes slice 0 of batch 3 → pool → the best of it; begins batch 4
//   choose point 8    takes slice 1 of batch 3 …
//   … answers of the workers; the team makes batch 4 …
//   choose point 9    takes slice 0 of batch 4; begins batch 5 from the best by now
//
// The contents of a batch follow from the moment when it was begun, not from the moment when it was
// ready: threads change nothing but the time it takes. Worked example, four GPUs with 30 points a
// second each: 30 batches of 48 candidates, 1.5 s of the team's time and 0.1 s of the search's.
// Slice by slice, each would be waited for until its slowest candidate is made, at 130 points a
// second.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/str.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/tune/tune_inside.h"

enum { BLIND_ONE_IN = 8, BATCHES_MAX = 4, BLIND_BATCHES = 24, SEED_EDITS_MAX = 4 };

// ---- one candidate ------------------------------------------------------------------------------

static void drop(Pooled *pooled) {
  arena_free(pooled->held);
  free(pooled->weight);
  *pooled = (Pooled){.held = NULL};
}

static void hold_plan(Arena *scratch, const Model *model, Pooled *pooled) {
  const Plan *plan =
      plan_from_model(scratch, model, schedule_record_text(scratch, &pooled->schedule));
  pooled->held = arena_new("plan");
  pooled->plan = plan_copy(pooled->held, plan);
}

bool tune_make_pooled(const Field *field, const Schedule *schedule, bool with_plan, Arena *scratch,
                      Pooled *out) {
  *out = (Pooled){.schedule = *schedule};
  const Model *model = candidate_model(scratch, &field->told.targets, schedule, &out->program);
  if (model) {
    const double tflops = model->traffic.roofline_tflops;
    out->basis = calibration_basis(model);
    out->terms = calibration_terms_of(&out->basis);
    out->flop = model->traffic.flop;
    out->model_ns = out->flop / (tflops > 0 ? tflops : 1) * 1e-3;
    if (with_plan) hold_plan(scratch, model, out);
  }
  arena_reset(scratch);
  return model != NULL;
}

// ---- drawing ------------------------------------------------------------------------------------

// The share of the search that is over, by its time or by its points.
static double progress(const Tune *tune, const Field *field) {
  const int most = tune->options.points_max;
  const double by_time = (tune_now(tune) + field->told.spent_s) / tune_search_ends(tune, field);
  return most ? fmax(by_time, (double)field->told.n_points / most) : by_time;
}

// Whether it differs in one knob only from a better one, which will have its children too.
static bool is_like_one(const TunePoint *points, const int *elite, int n, int point) {
  for (int i = 0; i < n; i++)
    if (schedule_distance(&points[elite[i]].schedule, &points[point].schedule) < 2) return true;
  return false;
}

// The best points of the island and the epoch, or of all where the search comes to its end.
static int list_elite(const Tune *tune, const Field *field, int island, int elite[TUNE_ELITE]) {
  static const double own_share = 0.75;
  const TuneField *told = &field->told;
  const bool own = progress(tune, field) < own_share;
  int n = 0;
  for (int i = 0; i < told->n_order && n < TUNE_ELITE; i++) {
    const int point = told->order[i];
    const bool others = told->point[point].island != island && field->n_islands > 1;
    if (own && (point < field->epoch_from || others)) continue;
    if (!is_like_one(told->point, elite, n, point)) elite[n++] = point;
  }
  return n;
}

// One of the best, the first ones more often.
static const Schedule *draw_elite(const Batch *batch, const Parents *parents, uint64_t *random) {
  const int64_t a = random_between(random, 0, parents->n_elite - 1),
                b = random_between(random, 0, parents->n_elite - 1);
  return &batch->point[parents->elite[a < b ? a : b]].schedule;
}

static bool draw_schedule(const Batch *batch, const Parents *parents, uint64_t *random,
                          Schedule *out) {
  enum { FRESH = 3, CROSSED = 5, OF = 12 };
  const SearchSpace *space = batch->field->space;
  const int64_t kind = random_between(random, 0, OF - 1);
  if (parents->n_elite < 2 || kind < FRESH) return candidate_draw(space, random, out);
  const Schedule *a = draw_elite(batch, parents, random);
  if (kind < CROSSED)
    return candidate_cross(space, random, a, draw_elite(batch, parents, random), out);
  return candidate_change(space, random, a, out);
}

static bool draw_fresh(const Batch *batch, const Parents *parents, uint64_t *random,
                       Schedule *out) {
  (void)parents;
  return candidate_draw(batch->field->space, random, out);
}

// ---- batches ------------------------------------------------------------------------------------

static void make_candidate(void *context, int i) {
  Batch *batch = context;
  Pooled *pooled = &batch->pooled[i];
  const Parents *parents = &batch->parents[i / TUNE_DRAWS];
  Schedule schedule;
  batch->good[i] = batch->draw(batch, parents, &batch->random[i], &schedule) &&
                   tune_make_pooled(batch->field, &schedule, true, batch->scratch[i], pooled);
  pooled->island = parents->island;
  if (batch->good[i])
    tune_weigh(pooled, batch->point, batch->n_points, batch->near.point, batch->near.n);
}

// The team is at one batch at a time; another's is finished, and taken when it is asked for.
void tune_finish_batch(Tune *tune) {
  team_finish(tune->team);
  tune->drawing = NULL;
}

static Parents list_parents(const Tune *tune, Field *field) {
  Parents out = {.island = field->island[field->island_turn++ % field->n_islands]};
  out.n_elite = list_elite(tune, field, out.island, out.elite);
  return out;
}

// Begins the batch behind the one that is taken from, if it is not begun.
static void begin_batch(Tune *tune, Field *field, TuneDraw *draw) {
  Batch *batch = &field->batch[!field->taking];
  if (batch->n_slices) return;
  tune_finish_batch(tune);
  batch->n_slices = (int)fmax(1, fmin(TUNE_SLICES, field->told.n_workers));
  batch->n_taken = 0;
  batch->stale = false;
  batch->field = field;
  batch->draw = draw;
  batch->point = field->told.point;
  batch->n_points = field->told.n_points;
  for (int i = 0; i < batch->n_slices; i++) batch->parents[i] = list_parents(tune, field);
  tune_list_near(field, &batch->near);
  for (int i = 0; i < batch->n_slices * TUNE_DRAWS; i++) {
    batch->random[i] = random_next(&field->random);
    if (!batch->scratch[i]) batch->scratch[i] = arena_new("candidate");
  }
  tune->drawing = field;
  team_begin(tune->team, batch->n_slices * TUNE_DRAWS, make_candidate, batch);
}

bool tune_would_wait(const Tune *tune, const Field *field) {
  return field->batch[field->taking].n_slices == 0 && !team_is_done(tune->team);
}

// The batch that has a slice left, the older one first, made to its end; NULL: none has.
static Batch *made_batch(Tune *tune, Field *field) {
  if (field->batch[field->taking].n_slices == 0) field->taking = !field->taking;
  Batch *batch = &field->batch[field->taking];
  if (batch->n_slices == 0) return NULL;
  if (tune->drawing == field && batch->n_taken == 0) tune_finish_batch(tune);
  return batch;
}

// Candidates of its next slice that are legal and new go to `out`. Returns their number.
static int take_slice(Tune *tune, Field *field, Batch *batch, Pooled out[TUNE_DRAWS]) {
  int n = 0;
  const int first = TUNE_DRAWS * batch->n_taken;
  for (int i = first; i < first + TUNE_DRAWS; i++) {
    if (!batch->good[i]) continue;
    if (!batch->stale && tune_remember(tune, field, &batch->pooled[i]))
      out[n++] = batch->pooled[i];
    else
      drop(&batch->pooled[i]);
  }
  if (++batch->n_taken == batch->n_slices) batch->n_slices = 0;
  return n;
}

// Gives the slice that was begun ahead, or more batches until there is something new.
static int draw_slice(Tune *tune, Field *field, TuneDraw *draw, Pooled out[TUNE_DRAWS]) {
  int n = 0;
  for (int begun = 0; begun <= BATCHES_MAX && n == 0;) {
    Batch *batch = made_batch(tune, field);
    if (batch)
      n = take_slice(tune, field, batch, out);
    else if (begun++ < BATCHES_MAX)
      begin_batch(tune, field, draw);
  }
  return n;
}

// ---- the pool -----------------------------------------------------------------------------------

void tune_clear_pool(Field *field) {
  while (field->n_pool > 0) drop(&field->pool[--field->n_pool]);
  for (int i = 0; i < 2; i++) field->batch[i].stale = true;
}

static void end_batch(Batch *batch) {
  for (int i = TUNE_DRAWS * batch->n_taken; i < TUNE_DRAWS * batch->n_slices; i++)
    if (batch->good[i]) drop(&batch->pooled[i]);
  for (int i = 0; i < TUNE_DRAWS * TUNE_SLICES; i++) {
    arena_free(batch->scratch[i]);
    batch->scratch[i] = NULL;
  }
  batch->n_slices = 0;
}

void tune_field_end(Field *field) {
  tune_clear_pool(field);
  for (int i = 0; i < 2; i++) end_batch(&field->batch[i]);
  for (int i = 0; i < field->n_under_way; i++)
    tune_release_plan(&field->told.point[field->under_way[i]]);
}

static int fill_pool(Tune *tune, Field *field) {
  Pooled drawn[TUNE_DRAWS];
  const int n = draw_slice(tune, field, draw_schedule, drawn);
  for (int i = 0; i < n; i++) {
    const int at = field->n_pool < TUNE_POOL
                       ? field->n_pool++
                       : (int)random_between(&field->random, 0, TUNE_POOL - 1);
    drop(&field->pool[at]);
    field->pool[at] = drawn[i];
  }
  return n;
}

// The weight of its promise. While GPUs wait for compilers, ten times the time of most must
// promise a quarter more: a tenth of the kernels of fp32 takes four fifths of all compiling.
static double score_of(const Field *field, const Near *near, const Pooled *pooled, double promise) {
  static const double per_time = 0.1;
  if (field->told.n_by_state[TUNE_READY] >= field->told.n_workers) return promise;
  return promise * pow(tune_compile_ratio(near, pooled), per_time);
}

// Islands take turns, point by point.
static bool is_its_turn(const Field *field, const Pooled *pooled) {
  return pooled->island == field->island[field->told.n_points % field->n_islands];
}

// For the island with the turn, if it has a candidate.
static int most_promising(Field *field, double *promise) {
  Near near;
  bool any = false;
  for (int i = 0; i < field->n_pool; i++) any |= is_its_turn(field, &field->pool[i]);
  const bool blind = random_between(&field->random, 1, BLIND_ONE_IN) == 1;
  int best = (int)random_between(&field->random, 0, field->n_pool - 1);
  tune_list_near(field, &near);
  *promise = tune_promised_ns(field, &near, &field->pool[best]);
  double score = INFINITY;
  for (int i = 0; i < field->n_pool && !blind; i++) {
    if (any && !is_its_turn(field, &field->pool[i])) continue;
    const double its = tune_promised_ns(field, &near, &field->pool[i]),
                 its_score = score_of(field, &near, &field->pool[i], its);
    if (its_score >= score) continue;
    *promise = its;
    score = its_score;
    best = i;
  }
  return best;
}

// ---- choosing -----------------------------------------------------------------------------------

// The candidate is a point from now on.
static int take(Tune *tune, Field *field, Pooled *pooled, double promise, bool seed) {
  TunePoint *point = tune_add_point(tune, field, pooled);
  point->predicted_ns = promise;
  point->seed = seed;
  drop(pooled);
  return (int)(point - field->told.point);
}

// The last one of the pool takes the place of the one taken.
static int take_pooled(Tune *tune, Field *field, int index, double promise) {
  const int point = take(tune, field, &field->pool[index], promise, false);
  field->n_pool--;
  if (index == field->n_pool) return point;
  field->pool[index] = field->pool[field->n_pool];
  field->pool[field->n_pool] = (Pooled){.held = NULL};
  return point;
}

// A seed of another family would be bent out of shape to fit the problem.
static bool is_itself(const Schedule *seed, const Schedule *transferred) {
  int n = 0;
  for (int i = 0; i < KNOB_COUNT; i++)
    n += !knob_is_problem((KnobId)i) && schedule_differs(seed, transferred, (KnobId)i);
  return n <= SEED_EDITS_MAX;
}

static bool seed_candidate(Tune *tune, Field *field, const Schedule *seed, Pooled *out) {
  Schedule schedule;
  if (!candidate_transfer(field->space, seed, &schedule) || !is_itself(seed, &schedule))
    return false;
  Arena *scratch = arena_new("seed");
  const bool good = tune_make_pooled(field, &schedule, true, scratch, out);
  arena_free(scratch);
  if (good && tune_remember(tune, field, out)) return true;
  if (good) drop(out);
  return false;
}

// Seeds come first, as they are given.
static int choose_seed(Tune *tune, Field *field) {
  const TuneOptions *options = &tune->options;
  Pooled pooled;
  Near near;
  while (field->next_seed < options->n_seeds) {
    if (!seed_candidate(tune, field, &options->seeds[field->next_seed++], &pooled)) continue;
    tune_list_near(field, &near);
    return take(tune, field, &pooled, tune_promised_ns(field, &near, &pooled), true);
  }
  return -1;
}

// All that a lost worker had comes again before anything new, the first of it first.
static int choose_again(const Field *field) {
  int first = -1;
  for (int i = 0; i < field->n_under_way && field->told.n_by_state[TUNE_WAITING] > 0; i++) {
    const int point = field->under_way[i];
    if (field->told.point[point].state == TUNE_WAITING && (first < 0 || point < first))
      first = point;
  }
  return first;
}

// The next that is drawn, of whatever promise, of a family that has not all its points.
static int choose_blindly(Tune *tune, Field *field) {
  for (int i = 0; i < BLIND_BATCHES && !field->dry; i += field->n_pool == 0) {
    if (field->n_pool == 0) {
      field->n_pool = draw_slice(tune, field, draw_fresh, field->pool);
      begin_batch(tune, field, draw_fresh);
    }
    if (field->n_pool == 0) continue;
    const int last = field->n_pool - 1;
    const Pooled *pooled = &field->pool[last];
    if (field->n_of_family[pooled->terms.family] < tune->options.blind_points)
      return take_pooled(tune, field, last, tune_expected_ns(field, &pooled->terms));
    drop(&field->pool[--field->n_pool]);
  }
  field->dry = true;
  return -1;
}

// Beginnings are halved as points are: a fifth of the search has four of them, another fifth the
// best two, the rest the best. Worked example, fp32 4096^3 for 120 s: of single beginnings one in
// three ended in tiles that nothing but several knobs at once lead out of.
static void halve_islands(const Tune *tune, Field *field) {
  static const double share_of_round = 0.2;
  const TuneField *told = &field->told;
  const int wanted = TUNE_ISLANDS >> (int)fmin(8, progress(tune, field) / share_of_round);
  int kept = 0, best[TUNE_ISLANDS];
  if (field->n_islands == 1 || wanted >= field->n_islands) return;
  for (int i = 0; i < told->n_order && kept < (wanted > 1 ? wanted : 1); i++) {
    const int island = told->point[told->order[i]].island;
    bool known = false;
    for (int k = 0; k < kept; k++) known |= best[k] == island;
    if (!known) best[kept++] = island;
  }
  if (kept == 0) return;
  memcpy(field->island, best, sizeof *best * (size_t)kept);
  field->n_islands = kept;
}

int tune_choose(Tune *tune, Field *field) {
  double promise = 0;
  halve_islands(tune, field);
  const int again = choose_again(field);
  if (again >= 0) return again;
  if (tune->options.blind_points) return choose_blindly(tune, field);
  const int seed = choose_seed(tune, field);
  if (seed >= 0) return seed;
  field->dry = fill_pool(tune, field) == 0 && field->n_pool == 0;
  if (field->dry) return -1;
  const int chosen = most_promising(field, &promise),
            point = take_pooled(tune, field, chosen, promise);
  begin_batch(tune, field, draw_schedule);
  return point;
}
