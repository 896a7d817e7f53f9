#include "tune_harness.h"

#include <check.h>
#include <stdio.h>
#include <unistd.h>

TargetTable targets;
char history_file[80];

void setup_tune(void) {
  Diags diags;
  setup();
  diags = diags_new(arena);
  const EmbeddedFile *file = embed_find(arena, "gpus.json");
  ck_assert(targets_parse(arena, file->text, file->size, &diags, &targets));
  snprintf(history_file, sizeof history_file, "%s.db", script_path);
}
void teardown_tune(void) {
  teardown();
  unlink(history_file);
}

Schedule problem(const char *text) {
  Diags diags = diags_new(arena);
  Schedule schedule;
  ck_assert_msg(tune_read_problem(text, &schedule, &diags), "%s", diags_text(arena, &diags));
  return schedule;
}

int n_told, n_first_times;
double *first_times;
static void count_told(void *context, const TuneField *field, const TunePoint *point) {
  (void)context, (void)field;
  ck_assert_int_ge((int)point->state, TUNE_TIMED);
  if (first_times && n_told < n_first_times) first_times[n_told] = clock_seconds();
  n_told++;
}

TuneOptions options_of(const Asked *asked) {
  return (TuneOptions){.client = client,
                       .n_workers = asked->workers,
                       .targets = &targets,
                       .base = problem(asked->problem),
                       .seeds = asked->seeds,
                       .n_seeds = asked->n_seeds,
                       .resume = asked->resume,
                       .seconds = asked->seconds,
                       .points_max = asked->points,
                       .random = 1,
                       .told = count_told};
}

Tune *search_by(const TuneOptions *how) {
  n_told = 0;
  Tune *tune = tune_start(arena, how);
  while (tune_step(tune, 50)) {
  }
  tune_end(tune);
  return tune;
}

Tune *search(const Asked *asked) {
  const TuneOptions options = options_of(asked);
  return search_by(&options);
}

Tune *search_in_turn(const Asked *asked) {
  TuneOptions options = options_of(asked);
  options.at_a_time = 1;
  return search_by(&options);
}

int settled(const TuneField *field) {
  return field->n_by_state[TUNE_TIMED] + field->n_by_state[TUNE_WRONG] +
         field->n_by_state[TUNE_FAILED];
}
