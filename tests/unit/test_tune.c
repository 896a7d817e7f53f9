// A search without a GPU: workers that answer by recorded times and a law of their own
// (worker_simulate.h), that die, hang or lie.
#include <check.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernels/worker/result_json.h"
#include "model/schedules/candidates.h"
#include "stress.h"
#include "tune_harness.h"

Suite *suite_tune(void);

// ---- the search ---------------------------------------------------------------------------------

// The best of 80 points is as good as the best of ladder fp32's rungs at that problem by the same
// law, though it began with none of them. One point at a time: then a loaded machine changes
// nothing.
START_TEST(it_comes_near_to_the_best_rung) {
  start_workers(HELLO MACHINE("NVIDIA H200") SIMULATED("0"), (ClientOptions){0}, 1);
  Diags diags = diags_new(arena);
  int n_seeds = 0;
  const Asked drawn = {"512,512,512", 1, 80, 60, NULL, 0, NULL};
  const Schedule base = problem(drawn.problem);
  const TuneField *alone = tune_field(search_in_turn(&drawn), 0);
  ck_assert_int_ge(settled(alone), 60);
  ck_assert_int_eq(alone->n_by_state[TUNE_TIMED], settled(alone));
  const Schedule *seeds = tune_seeds(arena, NULL, &base, &n_seeds, &diags);
  const Asked rungs = {"512,512,512", 1, 15, 60, seeds, n_seeds, NULL};
  const TuneField *seeded = tune_field(search(&rungs), 0);
  const TunePoint *found = tune_best(alone), *best = tune_best(seeded);
  ck_assert_int_eq(best->round, TUNE_FINAL);
  ck_assert(best->ratio > 0 && best->cublas_ns > 0);
  ck_assert_msg(found->time_ns <= 1.03 * best->time_ns, "%.0f ns by %s, seeded %.0f by %s",
                found->time_ns, schedule_text(arena, &found->schedule), best->time_ns,
                schedule_text(arena, &best->schedule));
  ck_assert_int_gt(alone->n_steps, 2);
  for (int i = 1; i < alone->n_steps; i++)
    ck_assert(alone->step[i].time_ns < alone->step[i - 1].time_ns);
}
END_TEST

// A search that begins anew every few points still ends as near to the best rung as one that does
// not, for in the end the best of all beginnings are parents.
START_TEST(beginnings_meet_in_the_end) {
  start_workers(HELLO MACHINE("NVIDIA H200") SIMULATED("0"), (ClientOptions){0}, 1);
  const int points = stress_part(120, 2);  // of the long CI all
  const Asked asked = {"512,512,512", 1, points, 60, NULL, 0, NULL};
  TuneOptions options = options_of(&asked);
  options.stale_points = 8;
  Tune *tune = tune_start(arena, &options);
  while (tune_step(tune, 50)) {
  }
  tune_end(tune);
  const TuneField *field = tune_field(tune, 0);
  ck_assert_int_ge(field->n_epochs, 3);
  ck_assert_int_ge(settled(field), points);
  Diags diags = diags_new(arena);
  int n_seeds = 0;
  const Schedule base = problem(asked.problem);
  const Schedule *seeds = tune_seeds(arena, NULL, &base, &n_seeds, &diags);
  const Asked rungs = {"512,512,512", 1, 15, 60, seeds, n_seeds, NULL};
  const TuneField *seeded = tune_field(search(&rungs), 0);
  ck_assert_int_eq(seeded->n_epochs, 1);
  ck_assert_msg(tune_best(field)->time_ns <= 1.1 * tune_best(seeded)->time_ns, "%.0f, seeded %.0f",
                tune_best(field)->time_ns, tune_best(seeded)->time_ns);
}
END_TEST

// The simulated law has factors of its own on the roofline's limits: with 60 points they are fitted
// well enough to put points in order that the fit had not seen. What one search has fitted ranks
// the points of the next one from its first on.
START_TEST(the_next_search_begins_with_the_fit_of_the_last) {
  start_workers(HELLO MACHINE("NVIDIA H200") SIMULATED("0"), (ClientOptions){0}, 1);
  Diags diags = diags_new(arena);
  History *history = history_open(arena, history_file, &diags);
  const Asked first = {"512,512,512", 1, 60, 60, NULL, 0, NULL};
  const TuneField *field = tune_field(search(&first), 0);
  const Calibration *c = &field->calibration;
  ck_assert_int_ge(c->n, CALIBRATION_POINTS_MIN);
  // A search that is soon where it wants to be has points that are all alike: then what the fit is
  // off by says more than their order.
  const bool good = c->error < 0.1 || (c->order > 0.8 && c->error < 0.25);
  ck_assert_msg(good, "%.3f, off by %.3f", c->order, c->error);
  ck_assert_int_eq(tune_keep_calibrations(field, history, &diags), 1);
  HistoryCalibration fit;
  ck_assert_int_eq(history_calibrations(history, arena, "NVIDIA H200", &fit, 1), 1);
  ck_assert_int_ge(fit.fit.n, 60);
  ck_assert_int_eq((int)fit.family, CALIBRATION_FAMILY_FMA);
  TuneOptions next = options_of(&(Asked){"256,512,256", 1, 1, 60, NULL, 0, NULL});
  for (int with = 0; with < 2; with++) {
    next.history = with ? history : NULL;
    Tune *tune = tune_start(arena, &next);
    while (tune_n_fields(tune) == 0 || tune_field(tune, 0)->n_points == 0) tune_step(tune, 50);
    const TunePoint *point = &tune_field(tune, 0)->point[0];
    const Calibration none = calibration_none();
    const double expected = calibration_ns(with ? &fit.fit : &none, &point->terms);
    // Nobody has measured anything like it: half of what is expected is promised.
    ck_assert_double_eq_tol(point->predicted_ns / expected, 2, 1e-6);
    tune_end(tune);
  }
  history_close(history);
}
END_TEST

// Every kernel of the simulated worker has 128 registers. Nobody has measured anything like the
// first point, so half of what is expected of it is promised, by the registers that it has.
START_TEST(what_a_compile_says_corrects_the_promise) {
  start_workers(HELLO MACHINE("NVIDIA H200") SIMULATED("0"), (ClientOptions){0}, 1);
  const Asked asked = {"512,512,512", 1, 12, 60, NULL, 0, NULL};
  const TuneField *field = tune_field(search(&asked), 0);
  const Calibration none = calibration_none();
  int n_changed = 0;
  for (int i = 0; i < field->n_points; i++) {
    const TunePoint *point = &field->point[i];
    const Model *model = candidate_model(arena, &field->targets, &point->schedule, NULL);
    const double said = calibration_ns(&none, &point->terms);
    const CalibrationTerms estimated = calibration_terms(model);
    CalibrationBasis counted = calibration_basis(model);
    calibration_count(&counted, &(CompiledKernel){.registers = 128});
    const CalibrationTerms terms = calibration_terms_of(&counted);
    ck_assert_int_eq(point->basis.resources.n_registers, 128);
    ck_assert_double_eq_tol(said / calibration_ns(&none, &terms), 1, 1e-12);
    n_changed += fabs(said / calibration_ns(&none, &estimated) - 1) > 0.01;
    if (i == 0) ck_assert_double_eq_tol(point->predicted_ns / said, 2, 1e-6);
  }
  ck_assert_int_gt(n_changed, 0);
}
END_TEST

// All that was played is in order by that; the prediction is the clock's.
START_TEST(the_clock_says_what_is_predicted) {
  start_workers(HELLO MACHINE("NVIDIA H200") "{\"on\":\"compile\",\"do\":\"simulate\",\"text\":\"clock\"}\n"
                                             "{\"on\":\"bench\",\"do\":\"simulate\"}\n",
                (ClientOptions){0}, 1);
  const Asked asked = {"512,512,512", 1, 12, 60, NULL, 0, NULL};
  const TuneField *field = tune_field(search(&asked), 0);
  ck_assert_int_ge(field->n_points, 12);
  for (int i = 0; i < field->n_points; i++) {
    const TunePoint *point = &field->point[i];
    if (point->state != TUNE_TIMED) continue;
    ck_assert_double_eq_tol(point->clock_ns / point->time_ns, 1, 1e-6);
    ck_assert_double_eq_tol(point->predicted_ns / point->clock_ns, 1, 1e-12);
  }
}
END_TEST

// Of several workers each has a slice of what is made together.
START_TEST(no_program_is_tried_twice) {
  const int workers = 1 + 2 * _i;
  start_workers(HELLO MACHINE("NVIDIA H200") SIMULATED("0"), (ClientOptions){0}, workers);
  const Asked asked = {"256,256,256,bf16", workers, 40, 60, NULL, 0, NULL};
  const TuneField *field = tune_field(search(&asked), 0);
  int n_of_worker[3] = {0};
  ck_assert_int_ge(field->n_points, 40);
  for (int i = 0; i < field->n_points; i++) {
    for (int j = 0; j < i; j++) ck_assert(field->point[i].program != field->point[j].program);
    n_of_worker[field->point[i].worker]++;
  }
  for (int i = 0; i < workers; i++) ck_assert_int_gt(n_of_worker[i], 0);
}
END_TEST

// One point at a time, so that each choice knows of the same times: then it is the same search,
// whatever the threads that make its candidates were kept from meanwhile.
START_TEST(a_seed_gives_the_same_search_again) {
  enum { POINTS = 30 };
  const int points = stress_part(POINTS, 2);
  uint64_t programs[POINTS];
  start_workers(HELLO MACHINE("NVIDIA H200") SIMULATED("0"), (ClientOptions){0}, 1);
  for (int run = 0; run < 3; run++) {
    TuneOptions options = options_of(&(Asked){"256,256,256", 1, points, 60, NULL, 0, NULL});
    options.at_a_time = 1;
    options.random = run < 2 ? 7 : 8;
    Tune *tune = tune_start(arena, &options);
    while (tune_step(tune, 50)) {
      if (run == 1) usleep(2000);
      ck_assert_int_le(tune_n_fields(tune) ? tune_field(tune, 0)->n_points : 0, points);
    }
    tune_end(tune);
    const TuneField *field = tune_field(tune, 0);
    int n_same = 0;
    ck_assert_int_eq(field->n_points, points);
    for (int i = 0; i < points; i++) {
      n_same += run > 0 && programs[i] == field->point[i].program;
      if (run == 0) programs[i] = field->point[i].program;
    }
    if (run == 1) ck_assert_int_eq(n_same, points);
    if (run == 2) ck_assert_int_lt(n_same, points / 2);
  }
}
END_TEST

// ---- many workers -------------------------------------------------------------------------------

// Points a second between the eighth time and the twenty-fourth: when workers start is not counted.
static double points_a_second(int workers) {
  enum { FROM = 7, TO = 23 };
  start_workers(HELLO MACHINE("NVIDIA H200") SIMULATED("300"), (ClientOptions){0}, workers);
  const TuneOptions options = options_of(&(Asked){"128,128,128", workers, 0, 120, NULL, 0, NULL});
  double at[TO + 1];
  n_told = 0;
  first_times = at;
  n_first_times = TO + 1;
  Tune *tune = tune_start(arena, &options);
  while (n_told <= TO && tune_step(tune, 50)) {
  }
  tune_end(tune);
  first_times = NULL;
  ck_assert_int_gt(n_told, TO);
  ck_assert_int_eq(tune_field(tune, 0)->n_workers, workers);
  client_stop(client);
  client = NULL;
  return (TO - FROM) / (at[TO] - at[FROM]);
}

// A busy machine makes either of them slower, so the best of a few runs of each is what counts: a
// search that gave its workers points by turns would never come above the one's.
START_TEST(workers_multiply_the_points) {
  enum { RUNS = 6 };
  const double one = points_a_second(1), alone = 1 / stress_crowd(),
               of_two = (1 + 0.8 * alone) * one, of_four = (1 + 2.4 * alone) * one;
  double two = 0, four = 0;
  for (int run = 0; run < RUNS && two < of_two; run++) two = fmax(two, points_a_second(2));
  for (int run = 0; run < RUNS && four < of_four; run++) four = fmax(four, points_a_second(4));
  ck_assert_msg(two >= of_two && four >= of_four,
                "points a second: %.2f by one, %.2f by two, %.2f by four", one, two, four);
}
END_TEST

static double cpu_seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Candidates, a dozen for each point, are the team's work. A busy machine may keep the team from
// it, and then the search helps: the best of a few runs counts.
START_TEST(the_search_itself_is_light) {
  enum { RUNS = 6 };
  double least = 1;
  start_workers(HELLO MACHINE("NVIDIA H200") SIMULATED("60"), (ClientOptions){0}, 1);
  for (int run = 0; run < RUNS && least > 0.5; run++) {
    const double own = cpu_seconds(CLOCK_THREAD_CPUTIME_ID),
                 all = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
    const Asked asked = {"128,128,128", 1, 30, 60, NULL, 0, NULL};
    ck_assert_int_ge(settled(tune_field(search(&asked), 0)), 30);
    least = fmin(least, (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - own) /
                            (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - all));
  }
  ck_assert_msg(least <= 0.5, "%.2f of the work is its own", least);
}
END_TEST

START_TEST(kinds_of_gpu_are_kept_apart) {
  start_workers(HELLO MACHINE("NVIDIA H200") SIMULATED("0"), (ClientOptions){0}, 1);
  char second[80];
  snprintf(second, sizeof second, "%s.b", script_path);
  FILE *file = fopen(second, "w");
  fputs(HELLO MACHINE("NVIDIA A100-SXM4-80GB") SIMULATED("0"), file);
  fclose(file);
  client_stop(client);
  const char *const a[] = {getenv("GEMMVIEW"), "worker", "--fake", script_path, NULL};
  const char *const b[] = {getenv("GEMMVIEW"), "worker", "--fake", second, NULL};
  const char *const *const both[] = {a, b};
  client = client_start(&(ClientOptions){.version = "test", .workers = both, .n_workers = 2});
  const Asked asked = {"256,256,256", 2, 10, 60, NULL, 0, NULL};
  const Tune *tune = search(&asked);
  unlink(second);
  ck_assert_int_eq(tune_n_fields(tune), 2);
  for (int i = 0; i < 2; i++) {
    const TuneField *field = tune_field(tune, i);
    const bool hopper = strstr(field->device.name, "H200") != NULL;
    ck_assert_int_ge(settled(field), 10);
    for (int p = 0; p < field->n_points; p++)
      ck_assert_str_eq(field->point[p].schedule.target, hopper ? "h200" : "a100");
  }
}
END_TEST

// ---- workers that fail --------------------------------------------------------------------------

// Each process dies at its fifth timing.
START_TEST(a_worker_that_dies_loses_one_point) {
  start_workers(
      HELLO MACHINE("NVIDIA H200") "{\"on\":\"bench\",\"nth\":5,\"do\":\"crash\"}\n" SIMULATED("0"),
      (ClientOptions){0}, 1);
  const Asked asked = {"256,256,256", 1, 12, 60, NULL, 0, NULL};
  const TuneField *field = tune_field(search(&asked), 0);
  const ClientStatus status = status_of(0);
  ck_assert_int_ge(settled(field), 12);
  ck_assert_int_ge(status.n_starts, 3);
  int n_lost = 0;
  for (int i = 0; i < field->n_points; i++)
    n_lost += field->point[i].state == TUNE_FAILED &&
              strstr(field->point[i].error, "ended by signal") != NULL;
  ck_assert_int_ge(n_lost, 2);
  ck_assert_int_le(n_lost, status.n_starts - 1);
  ck_assert_int_eq(field->n_by_state[TUNE_FAILED], n_lost);
}
END_TEST

// A GPU that has said no time yet: its cores compile on, and then wait.
START_TEST(cores_compile_on_while_the_gpu_begins) {
  start_workers(HELLO MACHINE("NVIDIA H200") "{\"on\":\"compile\",\"do\":\"simulate\"}\n"
                                             "{\"on\":\"bench\",\"do\":\"ignore\"}\n",
                (ClientOptions){0}, 1);
  const Asked asked = {"512,512,512", 1, 200, 60, NULL, 0, NULL};
  const TuneOptions options = options_of(&asked);
  Tune *tune = tune_start(arena, &options);
  const double until = clock_seconds() + stress_wall(20);
  int ready = 0, still = 0;
  while (clock_seconds() < until && still < 10) {
    tune_step(tune, 50);
    const int now = tune_n_fields(tune) ? tune_field(tune, 0)->n_by_state[TUNE_READY] : 0;
    still = now > 60 && now == ready ? still + 1 : 0;
    ready = now;
  }
  ck_assert_int_ge(ready, 60);
  ck_assert_int_le(ready, 70);
  tune_cancel(tune);
  tune_end(tune);
}
END_TEST

START_TEST(a_worker_that_hangs_loses_one_point) {
  start_workers(
      HELLO MACHINE("NVIDIA H200") "{\"on\":\"bench\",\"nth\":3,\"do\":\"hang\"}\n" SIMULATED("0"),
      (ClientOptions){.silence_ms = 600}, 1);
  const Asked asked = {"256,256,256", 1, 5, 60, NULL, 0, NULL};
  const TuneField *field = tune_field(search(&asked), 0);
  ck_assert_int_ge(settled(field), 5);
  ck_assert_int_ge(field->n_by_state[TUNE_FAILED], 1);
  ck_assert_int_le(field->n_by_state[TUNE_FAILED], status_of(0).n_starts - 1);
}
END_TEST

// A command that says nothing at all, beside one that works.
START_TEST(a_worker_that_never_comes_is_done_without) {
  start_workers(HELLO MACHINE("NVIDIA H200") SIMULATED("0"), (ClientOptions){0}, 1);
  client_stop(client);
  const char *const a[] = {getenv("GEMMVIEW"), "worker", "--fake", script_path, NULL};
  const char *const b[] = {"/bin/false", NULL};
  const char *const *const both[] = {b, a};
  client = client_start(&(ClientOptions){.version = "test", .workers = both, .n_workers = 2});
  const Asked asked = {"256,256,256", 2, 8, 60, NULL, 0, NULL};
  const Tune *tune = search(&asked);
  ck_assert_int_eq(tune_n_fields(tune), 1);
  ck_assert_int_ge(tune_field(tune, 0)->n_by_state[TUNE_TIMED], 8);
}
END_TEST

// ---- what is wrong, what is known ---------------------------------------------------------------

// Every timing says that C is wrong: all are reported, none is best.
START_TEST(a_wrong_kernel_is_never_ranked) {
  BenchResult wrong = {.n_entries = 1, .gpu = "NVIDIA H200", .method = "brief: none"};
  Str json = str_new(arena);
  wrong.entries[0] = (BenchEntry){.error = "3 of 9 cells wrong",
                                  .label = "",
                                  .verify = {.ran = true, .n_cells = 9, .n_wrong = 3}};
  bench_result_write_json(&json, &wrong);
  const char *script = arena_printf(
      arena,
      HELLO MACHINE("NVIDIA H200") "{\"on\":\"compile\",\"do\":\"simulate\"}\n{\"on\":\"bench\",\"do\":"
      "\"reply\",\"line\":{\"type\":\"result\",\"id\":0,\"what\":\"bench\",\"data\":%s}}\n", json.text);
  start_workers(script, (ClientOptions){0}, 1);
  const Asked asked = {"256,256,256", 1, 6, 60, NULL, 0, NULL};
  const TuneField *field = tune_field(search(&asked), 0);
  ck_assert_int_eq(field->n_by_state[TUNE_WRONG], settled(field));
  ck_assert_int_ge(n_told, 6);
  ck_assert_ptr_null(tune_best(field));
}
END_TEST

// What the first search has measured counts in the second, which times other points.
START_TEST(a_search_goes_on_from_the_history) {
  start_workers(HELLO MACHINE("NVIDIA H200") SIMULATED("0"),
                (ClientOptions){.history_path = history_file}, 1);
  const Asked first = {"256,256,256", 1, 12, 60, NULL, 0, NULL};
  const TuneField *before = tune_field(search(&first), 0);
  Diags diags = diags_new(arena);
  History *history = history_open(arena, history_file, &diags);
  const Asked more = {"256,256,256", 1, 20, 60, NULL, 0, history};
  const TuneField *after = tune_field(search(&more), 0);
  int n_known = 0;
  for (int i = 0; i < after->n_points; i++) n_known += after->point[i].known;
  ck_assert_int_ge(n_known, 12);
  ck_assert_int_ge(after->n_compiled, n_known);  // known ones were compiled before
  ck_assert_int_ge(settled(after), 20);
  for (int i = 0; i < after->n_points; i++)
    for (int j = 0; j < before->n_points; j++)
      if (before->point[j].state == TUNE_TIMED &&
          before->point[j].program == after->point[i].program)
        ck_assert(after->point[i].known);
  // Runs before took more than is asked for: nothing is left to do, and the best is known.
  HistoryRow row = {
      .gpu = "NVIDIA H200", .problem = after->problem, .state = "", .status = "failed"};
  for (int i = 0; i < 3; i++) {
    row.when_unix = 1000 + 30 * i;
    ck_assert(history_add(history, &row, &diags));
  }
  row.when_unix = 9000;  // of another day
  ck_assert(history_add(history, &row, &diags));
  TuneOptions spent = options_of(&more);
  spent.points_max = 0;
  spent.seconds = 60;
  spent.all_runs = true;
  Tune *tune = tune_start(arena, &spent);
  while (tune_step(tune, 50)) {
  }
  tune_end(tune);
  ck_assert(tune_field(tune, 0)->spent_s >= 60 && tune_field(tune, 0)->spent_s < 200);
  ck_assert_double_lt(tune_elapsed_s(tune), stress_wall(20));
  ck_assert_ptr_nonnull(tune_best(tune_field(tune, 0)));
  for (int i = 0; i < tune_field(tune, 0)->n_points; i++)
    ck_assert(tune_field(tune, 0)->point[i].known);
  HistoryRow rows[4];
  const int n_best = history_best(history, arena, rows, 4);
  ck_assert_int_eq(n_best, 1);
  ck_assert(strncmp(rows[0].method, "brief", 5) != 0);
  history_close(history);
}
END_TEST

static bool both_have_timed(const Tune *tune, int points) {
  for (int i = 0; i < 2; i++)
    if (tune_n_fields(tune) < 2 || tune_field(tune, i)->n_by_state[TUNE_TIMED] < points)
      return false;
  return tune_n_fields(tune) == 2;
}

// A kind of GPU that answers late, while the team draws for the first, takes what is known of it
// and joins in.
START_TEST(a_kind_of_gpu_that_comes_late_goes_on_from_the_history) {
  start_workers(HELLO MACHINE("NVIDIA H200") SIMULATED("5"),
                (ClientOptions){.history_path = history_file}, 1);
  const Asked first = {"256,256,256", 1, 12, 60, NULL, 0, NULL};
  const char *problem_name = tune_field(search(&first), 0)->problem;
  client_stop(client);
  const char *late = arena_printf(arena, "%s.late", script_path);
  FILE *file = fopen(late, "w");
  ck_assert_ptr_nonnull(file);
  fputs(HELLO
        "{\"on\":\"start\",\"delay_ms\":1500,\"do\":\"machine\",\"text\":\"NVIDIA "
        "A100-SXM4-80GB\"}\n" SIMULATED("5"),
        file);
  fclose(file);
  const char *const a[] = {getenv("GEMMVIEW"), "worker", "--fake", script_path, NULL};
  const char *const b[] = {getenv("GEMMVIEW"), "worker", "--fake", late, NULL};
  const char *const *const both[] = {a, b};
  client = client_start(&(ClientOptions){
      .version = "test", .workers = both, .n_workers = 2, .history_path = history_file});
  Diags diags = diags_new(arena);
  History *history = history_open(arena, history_file, &diags);
  const HistoryRow row = {.gpu = "NVIDIA A100-SXM4-80GB",
                          .problem = problem_name,
                          .state = "M=256,N=256,K=256",
                          .status = "ok",
                          .time_ns = 1e6};
  ck_assert(history_add(history, &row, &diags));
  const TuneOptions more = options_of(&(Asked){"256,256,256", 2, 0, 60, NULL, 0, history});
  Tune *tune = tune_start(arena, &more);
  while (!both_have_timed(tune, 12) && tune_step(tune, 50)) {
  }
  tune_cancel(tune);
  tune_end(tune);
  unlink(late);
  ck_assert(both_have_timed(tune, 12));
  ck_assert(tune_field(tune, 0)->point[0].known && tune_field(tune, 1)->point[0].known);
  history_close(history);
}
END_TEST

// A search from the screen begins with what the history has of the nearest problem, too.
START_TEST(a_search_on_a_thread_begins_with_what_is_near) {
  start_workers(HELLO MACHINE("NVIDIA H200") SIMULATED("20"), (ClientOptions){0}, 1);
  client_stop(client);
  const char *const words[] = {getenv("GEMMVIEW"), "worker", "--fake", script_path, NULL};
  const char *const *const argv = words;
  Diags diags = diags_new(arena);
  History *history = history_open(arena, history_file, &diags);
  const HistoryRow near = {.gpu = "NVIDIA H200",
                           .problem = "512x512x512 f32*f32+f32->f32 NN",
                           .state = "AUTO=0,M=512,N=512,K=512,DTYPE=f32,BM=8,BN=32,FM=26,FN=4",
                           .status = "ok",
                           .time_ns = 1e6};
  ck_assert(history_add(history, &near, &diags));
  TuneRun *run = tune_run_start(&(TuneRunOptions){
      .client = {.version = "test", .workers = &argv, .n_workers = 1, .history_path = history_file},
      .targets = &targets,
      .base = problem("640,512,512"),
      .seconds = 60});
  TuneSeen *seen = ARENA_NEW(arena, TuneSeen);
  for (int i = 0; i < 1000 && seen->n_timed < 4; i++) {
    usleep(20000);
    tune_run_seen(run, seen);
  }
  tune_run_end(run);
  HistoryRow rows[64];
  const int n = history_of_problem(history, arena, "NVIDIA H200", "640x512x512 f32*f32+f32->f32 NN",
                                   rows, 64);
  bool found = false;
  for (int i = 0; i < n; i++) found |= strstr(rows[i].state, "BM=8,BN=32,FM=26,FN=4") != NULL;
  ck_assert_int_gt(n, 0);
  ck_assert(found);
  history_close(history);
  client = client_start(&(ClientOptions){.version = "test", .workers = &argv, .n_workers = 1});
}
END_TEST

static const TunePoint *point_of(const TuneField *field, uint64_t program) {
  for (int i = 0; i < field->n_points; i++)
    if (field->point[i].program == program) return &field->point[i];
  return NULL;
}

static Calibration kept_of(const TuneField *field, History *history) {
  Diags diags = diags_new(arena);
  HistoryCalibration fit = {0};
  ck_assert_int_eq(tune_keep_calibrations(field, history, &diags), 1);
  ck_assert_int_eq(history_calibrations(history, arena, "NVIDIA H200", &fit, 1), 1);
  return fit.fit;
}

// The history has the registers and spills of what it has times of: its points have the terms that
// they had when they were measured, and so have those of other problems that a fit is made to.
START_TEST(what_is_known_has_the_registers_that_were_counted) {
  start_workers(HELLO MACHINE("NVIDIA H200") SIMULATED("0"),
                (ClientOptions){.history_path = history_file}, 1);
  const Asked first = {"256,512,256", 1, 50, 60, NULL, 0, NULL};
  const TuneField *live = tune_field(search(&first), 0);
  Diags diags = diags_new(arena);
  History *history = history_open(arena, history_file, &diags);
  const Asked again = {"256,512,256", 1, 51, 60, NULL, 0, history};
  const TuneField *known = tune_field(search(&again), 0);
  int n_same = 0;
  for (int i = 0; i < known->n_points; i++) {
    const TunePoint *now = &known->point[i], *then = point_of(live, now->program);
    if (!now->known || !then) continue;
    ck_assert_int_eq(now->compiled.registers, 128);
    ck_assert_int_eq(now->compiled.spill_bytes, 0);
    ck_assert(memcmp(now->terms.term, then->terms.term, sizeof now->terms.term) == 0);
    n_same++;
  }
  ck_assert_int_ge(n_same, 40);
  const Asked other = {"128,256,256", 1, 8, 60, NULL, 0, NULL};
  const TuneField *field = tune_field(search(&other), 0);
  const Calibration counted = kept_of(field, history);
  sqlite3 *db = NULL;
  ck_assert_int_eq(sqlite3_open(history_file, &db), SQLITE_OK);
  ck_assert_int_eq(
      sqlite3_exec(db, "UPDATE measurement SET registers = NULL, spill_bytes = NULL", 0, 0, 0),
      SQLITE_OK);
  sqlite3_close(db);
  const Calibration estimated = kept_of(field, history);
  ck_assert_int_eq(counted.n, estimated.n);
  ck_assert(memcmp(counted.factor, estimated.factor, sizeof counted.factor) != 0);
  history_close(history);
}
END_TEST

Suite *suite_tune(void) {
  Suite *suite = suite_create("tune");
  TCase *tests = tcase_create("tune");
  tcase_set_timeout(tests, 180);
  tcase_add_checked_fixture(tests, setup_tune, teardown_tune);
  tcase_add_test(tests, it_comes_near_to_the_best_rung);
  tcase_add_test(tests, beginnings_meet_in_the_end);
  tcase_add_test(tests, the_next_search_begins_with_the_fit_of_the_last);
  tcase_add_test(tests, what_a_compile_says_corrects_the_promise);
  tcase_add_test(tests, the_clock_says_what_is_predicted);
  tcase_add_test(tests, a_kind_of_gpu_that_comes_late_goes_on_from_the_history);
  tcase_add_test(tests, a_search_on_a_thread_begins_with_what_is_near);
  tcase_add_test(tests, what_is_known_has_the_registers_that_were_counted);
  stress_add_turns(tests, no_program_is_tried_twice, 2, 2);
  tcase_add_test(tests, a_seed_gives_the_same_search_again);
  tcase_add_test(tests, workers_multiply_the_points);
  tcase_add_test(tests, the_search_itself_is_light);
  tcase_add_test(tests, kinds_of_gpu_are_kept_apart);
  tcase_add_test(tests, a_worker_that_dies_loses_one_point);
  tcase_add_test(tests, cores_compile_on_while_the_gpu_begins);
  tcase_add_test(tests, a_worker_that_hangs_loses_one_point);
  tcase_add_test(tests, a_worker_that_never_comes_is_done_without);
  tcase_add_test(tests, a_wrong_kernel_is_never_ranked);
  tcase_add_test(tests, a_search_goes_on_from_the_history);
  suite_add_tcase(suite, tests);
  return suite;
}
