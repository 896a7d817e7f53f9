// The thread steps the search and, after each step, writes down what a screen may want to know; the
// only thing that both sides touch is that, under a mutex. The history is opened on the thread too,
// since a file may hang: what it has of the problem counts as measured, so that a search that was
// cancelled goes on.
#include "kernels/tune/tune_run.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/team.h"

enum { STEP_MS = 50 };

struct TuneRun {
  Arena *arena;
  TuneRunOptions options;
  TargetTable targets;
  pthread_t thread;
  atomic_bool cancelled;
  pthread_mutex_t mutex;
  TuneSeen seen;  // guarded by `mutex`
};

// ---- the copy for the screen
// ---------------------------------------------------------------------

static void see_steps(TuneSeen *seen, const TuneField *field) {
  const int n = field->n_steps < TUNE_SEEN_STEPS ? field->n_steps : TUNE_SEEN_STEPS;
  seen->n_steps = n;
  if (n) memcpy(seen->step, &field->step[field->n_steps - n], sizeof *seen->step * (size_t)n);
}

static void see_points(TuneSeen *seen, const TuneField *field) {
  const int n = field->n_order < TUNE_SEEN_POINTS ? field->n_order : TUNE_SEEN_POINTS;
  seen->n_points = n;
  for (int i = 0; i < n; i++) {
    const TunePoint *point = &field->point[field->order[(int64_t)i * field->n_order / n]];
    seen->point[i].predicted_ns = point->predicted_ns;
    seen->point[i].time_ns = point->time_ns;
  }
}

static void see_best(TuneSeen *seen, const TuneField *field) {
  const TunePoint *best = tune_best(field);
  seen->has_best = best != NULL;
  if (!best) return;
  seen->best = best->schedule;
  seen->best_round = best->round;
  seen->best_ns = best->time_ns;
  seen->best_tflops = best->tflops;
  seen->best_ratio = best->ratio > 0        ? best->ratio
                     : field->cublas_ns > 0 ? field->cublas_ns / best->time_ns
                                            : 0;
  seen->best_predicted_ns = best->predicted_ns;
  seen->flop_per_ns = best->tflops * best->time_ns;
}

static void see_field(TuneSeen *seen, const TuneField *field) {
  snprintf(seen->gpu, sizeof seen->gpu, "%.80s%s", field->device.name,
           field->simulated ? ", simulated" : "");
  snprintf(seen->error, sizeof seen->error, "%.250s", field->error ? field->error : "");
  seen->n_workers = field->n_workers;
  seen->n_tried = field->n_points;
  seen->n_compiled = field->n_compiled;
  seen->n_timed = field->n_by_state[TUNE_TIMED];
  seen->n_wrong = field->n_by_state[TUNE_WRONG];
  seen->n_failed = field->n_by_state[TUNE_FAILED];
  seen->n_verified = seen->n_timed + seen->n_wrong;
  seen->round = (int)field->round;
  seen->cublas_ns = field->cublas_ns;
  seen->calibration = field->calibration;
  see_steps(seen, field);
  see_points(seen, field);
  see_best(seen, field);
}

static const TuneField *field_to_see(const TuneRun *run, const Tune *tune) {
  int at = 0;
  for (int i = 0; run->options.gpu && i < tune_n_fields(tune); i++)
    if (str_equal(tune_field(tune, i)->device.name, run->options.gpu)) at = i;
  return tune_field(tune, at);
}

static void publish(TuneRun *run, const Tune *tune, bool over) {
  pthread_mutex_lock(&run->mutex);
  TuneSeen *seen = &run->seen;
  seen->serial++;
  seen->over = over;
  seen->elapsed_s = tune_elapsed_s(tune);
  seen->n_all = run->options.client.n_workers;
  if (tune_n_fields(tune)) see_field(seen, field_to_see(run, tune));
  const char *error = over && !seen->has_best ? tune_error(tune) : NULL;
  if (error) snprintf(seen->error, sizeof seen->error, "%.250s", error);
  pthread_mutex_unlock(&run->mutex);
}

// ---- the thread ---------------------------------------------------------------------------------

static const Schedule *all_seeds(Arena *arena, const TuneRun *run, History *history, int *n) {
  const int n_given = run->options.n_seeds;
  Schedule *seeds = ARENA_ARRAY(arena, Schedule, TUNE_NEAR_MAX + n_given);
  *n = tune_near(arena, history, &run->options.base, seeds);
  if (n_given) memcpy(&seeds[*n], run->options.seeds, sizeof *seeds * (size_t)n_given);
  *n += n_given;
  return seeds;
}

static void search(TuneRun *run, Client *client, History *history) {
  Arena *arena = arena_new("tune run");
  Diags diags = diags_new(arena);
  int n_seeds = 0;
  const Schedule *seeds = all_seeds(arena, run, history, &n_seeds);
  Tune *tune = tune_start(
      arena,
      &(TuneOptions){.client = client,
                     .n_workers = run->options.client.n_workers ? run->options.client.n_workers : 1,
                     .targets = &run->targets,
                     .base = run->options.base,
                     .seeds = seeds,
                     .n_seeds = n_seeds,
                     .history = history,
                     .resume = history,
                     .seconds = run->options.seconds,
                     .random = 1});
  while (tune_step(tune, STEP_MS)) {
    if (atomic_load(&run->cancelled)) tune_cancel(tune);
    publish(run, tune, false);
  }
  tune_end(tune);
  for (int i = 0; i < tune_n_fields(tune); i++)
    tune_keep_calibrations(tune_field(tune, i), history, &diags);
  publish(run, tune, true);
  arena_free(arena);
}

static void *thread_main(void *argument) {
  TuneRun *run = argument;
  Arena *arena = arena_new("tune thread");
  Diags diags = diags_new(arena);
  Client *client = client_start(&run->options.client);
  const bool keeps = run->options.client.history || run->options.client.history_path;
  History *history =
      keeps ? history_open_until(arena, run->options.client.history_path, &run->cancelled, &diags)
            : NULL;
  if (client) search(run, client, history);
  history_close(history);
  if (client) client_stop(client);
  arena_free(arena);
  return NULL;
}

// Rows of the table are changed when a GPU is found at hand: the thread has its own.
static TargetTable own_targets(Arena *arena, const TargetTable *targets) {
  TargetTable own = *targets;
  Target *rows = ARENA_ARRAY(arena, Target, targets->count);
  memcpy(rows, targets->targets, sizeof *rows * (size_t)targets->count);
  own.targets = rows;
  return own;
}

TuneRun *tune_run_start(const TuneRunOptions *options) {
  Arena *arena = arena_new("tune run");
  TuneRun *run = ARENA_NEW(arena, TuneRun);
  Schedule *seeds = ARENA_ARRAY(arena, Schedule, options->n_seeds + 1);
  if (options->n_seeds) memcpy(seeds, options->seeds, sizeof *seeds * (size_t)options->n_seeds);
  run->arena = arena;
  run->options = *options;
  run->options.seeds = seeds;
  run->options.gpu = options->gpu ? arena_strdup(arena, options->gpu) : NULL;
  run->targets = own_targets(arena, options->targets);
  run->seen.seconds = options->seconds;
  pthread_mutex_init(&run->mutex, NULL);
  if (thread_start(&run->thread, thread_main, run)) return run;
  pthread_mutex_destroy(&run->mutex);
  arena_free(arena);
  return NULL;
}

void tune_run_seen(TuneRun *run, TuneSeen *out) {
  pthread_mutex_lock(&run->mutex);
  *out = run->seen;
  pthread_mutex_unlock(&run->mutex);
}

void tune_run_cancel(TuneRun *run) { atomic_store(&run->cancelled, true); }

void tune_run_end(TuneRun *run) {
  tune_run_cancel(run);
  pthread_join(run->thread, NULL);
  pthread_mutex_destroy(&run->mutex);
  arena_free(run->arena);
}
