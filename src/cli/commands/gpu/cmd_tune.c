// gemmview tune: from a problem to its best kernel, on one GPU or on many.
//
//   gemmview tune 4096,4096,4096,bf16 --seconds 120
//   gemmview tune 64,8192,8192 --worker "ssh a gemmview worker" --worker "ssh b gemmview worker"
//   gemmview tune --file shapes.csv --seconds 60 --gpus all --json
//   gemmview tune 4096,4096,4096,bf16 --random 300 --json
//
// Standard output has a line for each point that is better than those before it, then the finalists
// and the state of the best; with --json a line for each point that is settled, one a second for
// the progress, and "best" for each kind of GPU. A line on stderr shows how far it is. Ctrl-C ends
// it and keeps what is known; --resume goes on from what the history has. --random is no search: so
// many schedules of each family are drawn blindly and timed once, the roofline is fitted to the
// first third and judged by the order in which it puts the others.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/documents.h"
#include "cli/common/tables/cli_factors.h"
#include "cli/common/tables/cli_timing.h"
#include "cli/common/tables/history_rows.h"
#include "cli/common/tune_input.h"
#include "kernels/tune/tune.h"
#include "model/schedules/ranking.h"

typedef struct TuneGiven {
  const char *file, *gpus;
  OptionList worker;
  double seconds;
  int limit, seed, random;
  bool json, no_seeds, resume;
} TuneGiven;

#define FLAG(key, field) \
  { .name = key, .kind = OPTION_KIND_FLAG, .offset = offsetof(TuneGiven, field) }

static const Option options[] = {
    OPTION_JSON(TuneGiven),
    OPTION_WORKER(TuneGiven),
    {.name = "file", .kind = OPTION_KIND_TEXT, .offset = offsetof(TuneGiven, file)},
    {.name = "gpus", .kind = OPTION_KIND_TEXT, .offset = offsetof(TuneGiven, gpus)},
    {.name = "seconds",
     .kind = OPTION_KIND_SECONDS,
     .offset = offsetof(TuneGiven, seconds),
     .lo = 1000,
     .hi = 86400000},
    {.name = "limit",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(TuneGiven, limit),
     .lo = 1,
     .hi = 1000000},
    {.name = "seed",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(TuneGiven, seed),
     .lo = 0,
     .hi = 2147483647},
    {.name = "random",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(TuneGiven, random),
     .lo = 3 * CALIBRATION_POINTS_MIN,
     .hi = 100000},
    FLAG("no-seeds", no_seeds),
    FLAG("resume", resume),
};
enum {
  SILENT_S = 20,
  N_OPTIONS = sizeof options / sizeof options[0],
  TICK_MS = 200,
  SECONDS = 60,
  RANDOM_SECONDS = 600
};

// One problem under way.
typedef struct Run {
  Arena *arena;
  const TuneGiven *given;
  const TargetTable *targets;
  CliWorker *worker;
  int n_workers;
  History *history;
  Schedule problem;
  const Schedule *seeds;
  int n_seeds;
  Tune *tune;
  double told_at, best_ns[TUNE_FIELDS_MAX];
  // For all problems: what was told of each worker [n_workers], that it is not at work, and whether
  // anything was told of the history.
  bool *told_of, *told_of_history, *told_of_waiting;
  bool shows_progress, progress_shown;
} Run;

// ---- printing -----------------------------------------------------------------------------------

static const char *name_of(Arena *arena, const TuneField *field) {
  return arena_printf(arena, "%s%s", str_sanitise(arena, field->device.name),
                      field->simulated ? ", simulated" : "");
}

static void clear_progress(Run *run) {
  if (run->progress_shown) fputs("\r\x1b[K", stderr);
  run->progress_shown = false;
}

// Against cuBLAS of the same run, or of the first point's.
static double ratio_of(const TuneField *field, const TunePoint *point) {
  if (point->ratio > 0) return point->ratio;
  return point->time_ns > 0 && field->cublas_ns > 0 ? field->cublas_ns / point->time_ns : 0;
}

// A line of --json.
typedef struct TuneLine {
  const char *kind;
  double elapsed_s, seconds;
  const TuneField *field;  // NULL: no worker has answered
  const TunePoint *point;  // that is told; of progress the best so far, or NULL
} TuneLine;

// The order of random schedules, as found.
typedef struct TuneOrders {
  double elapsed_s;
  const TuneField *field;
  const TuneOrder *order;
  int n;
} TuneOrders;

static const char *state_name(TuneState state) {
  static const char *const states[] = {
      [TUNE_TIMED] = "ok", [TUNE_WRONG] = "wrong", [TUNE_FAILED] = "failed"};
  return states[state];
}

#define FORM_FILE "cli/commands/forms/cmd_tune.form"
#include "base/form_make.h"

static double elapsed(const Run *run) { return run->tune ? tune_elapsed_s(run->tune) : 0; }

static void print_line(const Form *form, const void *it) {
  Arena *arena = arena_new("line");
  cli_print_document(arena, form, it, NULL);
  fflush(stdout);
  arena_free(arena);
}

static void print_point(Arena *arena, const TuneField *field, const TunePoint *point) {
  printf("%11s %9.2f %9s  %s\n", cli_time_text(arena, point->time_ns), point->tflops,
         cli_ratio_text(arena, ratio_of(field, point)),
         schedule_record_text(arena, &point->schedule));
}

static int field_index(const Run *run, const TuneField *field) {
  int i = 0;
  while (i + 1 < tune_n_fields(run->tune) && tune_field(run->tune, i) != field) i++;
  return i;
}

static void print_wrong(Run *run, const TunePoint *point) {
  Arena *arena = arena_new("line");
  clear_progress(run);
  cli_error(0, "a kernel is wrong: %s: %s", schedule_record_text(arena, &point->schedule),
            point->error);
  arena_free(arena);
}

// The better ones of the first round; the table behind the search has the others.
static void told(void *context, const TuneField *field, const TunePoint *point) {
  Run *run = context;
  if (run->given->json) {
    print_line(&tune_point_form, &(TuneLine){"point", elapsed(run), 0, field, point});
    return;
  }
  if (point->state == TUNE_WRONG) print_wrong(run, point);
  if (point->state != TUNE_TIMED || point->round != TUNE_BRIEF) return;
  double *best_ns = &run->best_ns[field_index(run, field)];
  if (*best_ns > 0 && point->time_ns >= *best_ns) return;
  Arena *arena = arena_new("line");
  *best_ns = point->time_ns;
  clear_progress(run);
  printf("%7.1f s", tune_elapsed_s(run->tune));
  print_point(arena, field, point);
  fflush(stdout);
  arena_free(arena);
}

// ---- progress -----------------------------------------------------------------------------------

static void show_line(Run *run, const TuneField *field) {
  const TunePoint *best = tune_best(field);
  Arena *arena = arena_new("line");
  const double left = run->given->seconds - field->spent_s - tune_elapsed_s(run->tune);
  clear_progress(run);
  fprintf(stderr, "%s, %d workers: %s round, %d tried, %d compiled, %d right, %d wrong, %d failed",
          name_of(arena, field), field->n_workers,
          field->round < TUNE_ROUNDS ? tune_round_name(field->round) : "last", field->n_points,
          field->n_compiled, field->n_by_state[TUNE_TIMED], field->n_by_state[TUNE_WRONG],
          field->n_by_state[TUNE_FAILED]);
  if (best)
    fprintf(stderr, "; best %s, %s %s", cli_time_text(arena, best->time_ns),
            cli_ratio_text(arena, ratio_of(field, best)),
            schedule_of_reference(arena, &best->schedule));
  fprintf(stderr, "; %.0f s left", left > 0 ? left : 0);
  fflush(stderr);
  run->progress_shown = true;
  arena_free(arena);
}

static void print_progress(Run *run, const TuneField *field) {
  const TuneLine line = {.kind = "progress",
                         .elapsed_s = elapsed(run),
                         .seconds = run->given->seconds,
                         .field = field,
                         .point = field ? tune_best(field) : NULL};
  print_line(&tune_progress_form, &line);
}

// Others go on: a user who gave several workers wants to know which of them does nothing.
static void tell_lost(Run *run) {
  for (int i = 0; i < run->n_workers && run->n_workers > 1; i++) {
    const char *why = tune_worker_error(run->tune, i);
    if (why && !run->told_of[i]) {
      clear_progress(run);
      cli_error(0, "worker %d of %d does not work: %s", i + 1, run->n_workers, why);
    }
    run->told_of[i] = why != NULL;
  }
}

// A search that is not kept cannot go on later. Once: a disk that is full stays so.
static void tell_history(Run *run) {
  char error[256];
  client_history_error(cli_worker_client(run->worker), error, sizeof error);
  if (!*error || *run->told_of_history) return;
  *run->told_of_history = true;
  clear_progress(run);
  cli_error(0, "%s", error);
}

static void print_waiting(Run *run) { print_progress(run, NULL); }

// Where nothing is rewritten, in a file for example: once.
static void tell_waiting(Run *run) {
  if (*run->told_of_waiting || tune_elapsed_s(run->tune) < SILENT_S) return;
  *run->told_of_waiting = true;
  cli_error(0,
            "no worker has answered for %.0f s; a worker in a queue has up to %.0f s; Ctrl-C "
            "ends the search",
            tune_elapsed_s(run->tune), tune_waits_s());
}

static void show_waiting(Run *run) {
  clear_progress(run);
  fprintf(stderr, "no worker has answered for %.0f s", tune_elapsed_s(run->tune));
  fflush(stderr);
  run->progress_shown = true;
}

static void tell_progress(Run *run) {
  if (tune_elapsed_s(run->tune) - run->told_at < (run->given->json ? 1 : 0.2)) return;
  run->told_at = tune_elapsed_s(run->tune);
  if (tune_n_fields(run->tune) == 0)
    (run->given->json ? print_waiting : run->shows_progress ? show_waiting : tell_waiting)(run);
  for (int i = 0; i < tune_n_fields(run->tune); i++) {
    const TuneField *field = tune_field(run->tune, i);
    if (field->error) continue;
    if (run->given->json)
      print_progress(run, field);
    else if (run->shows_progress)
      show_line(run, field);
  }
}

// ---- the end ------------------------------------------------------------------------------------

// Tells what the roofline's limits came to here, and how far to believe it.
static void print_calibration(const Calibration *c) {
  if (!c->n) return;
  printf("roofline fitted to %d times; the time of each limit, 1 = as in the data sheet:\n", c->n);
  cli_print_factors(c);
  printf("error on times left out of the fit: %.0f %% (median), rank correlation %.2f\n",
         100 * (exp(c->error) - 1), c->order);
}

// The finalists, fastest first, or what there is of the round before.
static void print_table(const TuneField *field, double seconds) {
  enum { LINES = 12 };
  Arena *arena = arena_new("table");
  const TunePoint *best = tune_best(field);
  printf("\n%s: %d kernels of %s, %d of them wrong, %d failed\n", name_of(arena, field),
         tune_n_settled(field), field->problem, field->n_by_state[TUNE_WRONG],
         field->n_by_state[TUNE_FAILED]);
  printf("%-6s %11s %9s %9s  %s\n", "round", "median", "TFLOP/s",
         schedule_of_reference(arena, &best->schedule), "state");
  for (int i = 0; i < field->n_order && i < LINES; i++) {
    const TunePoint *point = &field->point[field->order[i]];
    if (point->round != best->round) break;
    printf("%-6s ", tune_round_name(point->round));
    print_point(arena, field, point);
  }
  print_calibration(&field->calibration);
  if (field->spent_s > 0) printf("earlier runs took %.0f of the %.0f s\n", field->spent_s, seconds);
  printf("best   ");
  print_point(arena, field, best);
  arena_free(arena);
}

// ---- the order of random schedules --------------------------------------------------------------

static void print_orders_json(Run *run, const TuneField *field, const TuneOrder *orders, int n) {
  cli_print_document(run->arena, &tune_order_form, &(TuneOrders){elapsed(run), field, orders, n},
                     NULL);
}

static void print_orders(Run *run, const TuneField *field, const TuneOrder *orders, int n) {
  printf("%s: %d random kernels of %s, %d of them wrong, %d failed\n", name_of(run->arena, field),
         tune_n_settled(field), field->problem, field->n_by_state[TUNE_WRONG],
         field->n_by_state[TUNE_FAILED]);
  printf("%-20s %9s %9s %8s %10s %8s %7s %7s\n", "family", "fitted to", "predicted", "Spearman",
         "uncompiled", "roofline", "off by", "clock");
  for (int i = 0; i < n; i++)
    printf("%-20s %9d %9d %8.3f %10.3f %8.3f %5.0f %% %7s\n",
           calibration_family_name(orders[i].family), orders[i].fit.n, orders[i].n,
           orders[i].fitted, orders[i].uncompiled, orders[i].roofline,
           100 * (exp(orders[i].error) - 1),
           orders[i].n_clocked > 1 ? arena_printf(run->arena, "%.3f", orders[i].clock) : "-");
}

// A third of what was asked for is fitted to.
static int tell_orders(Run *run, const TuneField *field) {
  TuneOrder orders[CALIBRATION_FAMILIES];
  if (field->error) return cli_error(CLI_USAGE, "%s", field->error);
  const int n_fit = run->given->random / 3;
  const int n = tune_orders(run->arena, field, n_fit, orders);
  if (n == 0)
    return cli_error(CLI_BENCH, "%s: no family of kernels has more than %d times",
                     name_of(run->arena, field), n_fit);
  (run->given->json ? print_orders_json : print_orders)(run, field, orders, n);
  return CLI_OK;
}

// The first of many points that have failed says it for all.
static const char *why_none(const Run *run, const TuneField *field) {
  const char *why = tune_error(run->tune);
  for (int i = 0; i < field->n_points && !why; i++) why = field->point[i].error;
  return why ? arena_printf(run->arena, ": %s", why) : "";
}

static int tell_best(Run *run, const TuneField *field) {
  const TunePoint *best = tune_best(field);
  if (field->error) return cli_error(CLI_USAGE, "%s", field->error);
  if (!best)
    return cli_error(CLI_BENCH, "%s: no correct kernel was timed%s", name_of(run->arena, field),
                     why_none(run, field));
  if (run->given->json)
    print_line(&tune_best_form, &(TuneLine){"best", elapsed(run), 0, field, best});
  else
    print_table(field, run->given->seconds);
  return CLI_OK;
}

// Without a GPU: states ranked by the model alone, so that there is something to go on with.
static void tell_ranking(const Run *run) {
  enum { LINES = 8 };
  char error[ESTIMATE_SAID_BYTES];
  Ranking *ranking =
      ranking_new(run->arena, run->targets, NULL, &run->problem, run->seeds, run->n_seeds);
  while (ranking_step(ranking)) {
  }
  if (ranking->n)
    printf("ranked by the %s %s, not compiled and not timed: %d states tried, %d legal\n",
           estimate_word(&ranking->best[0].estimate),
           estimate_error_said(error, &ranking->best[0].estimate, false), ranking->n_tried,
           ranking->n_legal);
  for (int i = 0; i < ranking->n && i < LINES; i++)
    printf("%8.1f TFLOP/s  %s\n", ranking->best[i].estimate.tflops,
           schedule_text(run->arena, &ranking->best[i].schedule));
  printf("a worker compiles, verifies and times them: --worker \"ssh box gemmview worker\"\n");
  ranking_free(ranking);
}

static int finish(Run *run) {
  int status = CLI_OK;
  clear_progress(run);
  if (tune_n_fields(run->tune) == 0 && !run->given->json) tell_ranking(run);
  if (tune_n_fields(run->tune) == 0)
    return cli_error(CLI_MISSING, "%s",
                     run->n_workers > 1 ? "no worker runs" : tune_error(run->tune));
  for (int i = 0; i < tune_n_fields(run->tune); i++) {
    const TuneField *field = tune_field(run->tune, i);
    const int its = run->given->random ? tell_orders(run, field) : tell_best(run, field);
    if (its > status) status = its;
  }
  if (tune_error(run->tune) && status == CLI_OK)
    return cli_error(CLI_MISSING, "%s", tune_error(run->tune));
  return status;
}

// ---- the command --------------------------------------------------------------------------------

static void keep_calibrations(Run *run) {
  Diags diags = diags_new(run->arena);
  for (int i = 0; i < tune_n_fields(run->tune); i++)
    tune_keep_calibrations(tune_field(run->tune, i), run->history, &diags);
  if (diags.first) cli_error(0, "%s", diags.first->text);
}

static int run_problem(Run *run, const Schedule *problem, Diags *diags) {
  int n_seeds = 0;
  const Schedule *seeds = NULL;
  if (!run->given->no_seeds && !run->given->random) {
    seeds = tune_seeds(run->arena, run->history, problem, &n_seeds, diags);
    if (!seeds) return cli_fail(diags);
  }
  const TuneOptions how = {.client = cli_worker_client(run->worker),
                           .n_workers = run->n_workers,
                           .targets = run->targets,
                           .base = *problem,
                           .seeds = seeds,
                           .n_seeds = n_seeds,
                           .history = run->given->no_seeds ? NULL : run->history,
                           .resume = run->given->resume ? run->history : NULL,
                           .all_runs = run->given->resume,
                           .seconds = run->given->seconds,
                           .points_max = run->given->limit,
                           .blind_points = run->given->random,
                           .random = (uint64_t)run->given->seed,
                           .told = told,
                           .context = run};
  run->seeds = seeds;
  run->n_seeds = n_seeds;
  run->problem = *problem;
  run->tune = tune_start(run->arena, &how);
  while (tune_step(run->tune, TICK_MS)) {
    if (cli_worker_interrupted(run->worker)) tune_cancel(run->tune);
    tell_lost(run);
    tell_history(run);
    tell_progress(run);
  }
  tell_lost(run);
  tell_history(run);
  tune_end(run->tune);
  keep_calibrations(run);
  return finish(run);
}

static int run_all(Run *run, const Schedule *problems, int n, Diags *diags) {
  int status = CLI_OK;
  for (int i = 0; i < n && !cli_worker_interrupted(run->worker); i++) {
    Arena *arena = arena_new("tune");
    Run one = *run;
    one.arena = arena;
    const int its = run_problem(&one, &problems[i], diags);
    if (its > status) status = its;
    arena_free(arena);
  }
  if (cli_worker_interrupted(run->worker)) return cli_error(CLI_INTERRUPTED, "interrupted");
  return status;
}

static int read_problems(Arena *arena, const TuneGiven *given, int argc, char **argv,
                         const Schedule **out, Diags *diags) {
  Schedule *one = ARENA_NEW(arena, Schedule);
  *out = one;
  if (given->gpus && !str_equal(given->gpus, "all"))
    diag_add(diags, "usage", "--gpus takes \"all\"; one GPU is a worker with --gpu N");
  if (given->random && given->resume)
    diag_add(diags, "usage",
             "--random draws its points itself: leave out the options for known "
             "kernels");
  if ((argc == 2) == (given->file != NULL) || argc > 2)
    diag_add(diags, "usage", "give one problem, or a file of problems")->nearest =
        "4096,4096,4096,bf16";
  if (diags->count) return -1;
  if (given->file) return tune_read_file(arena, given->file, out, diags);
  return tune_read_problem(argv[1], one, diags) ? 1 : -1;
}

int cmd_tune(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  TuneGiven given = {.seed = 1};
  TargetTable targets;
  OptionList workers;
  const Schedule *problems = NULL;
  const bool parsed = options_parse(options, N_OPTIONS, &given, &argc, argv, &diags);
  if (!(given.seconds > 0)) given.seconds = given.random ? RANDOM_SECONDS : SECONDS;
  const int n = parsed ? read_problems(arena, &given, argc, argv, &problems, &diags) : -1;
  if (n < 0 || !cli_targets(arena, &targets, &diags) ||
      !tune_workers(arena, &given.worker, given.gpus != NULL, &workers, &diags))
    return cli_fail(&diags);
  Run run = {.arena = arena,
             .given = &given,
             .targets = &targets,
             .n_workers = workers.count ? workers.count : 1,
             .told_of = ARENA_ARRAY(arena, bool, CLIENT_WORKERS_MAX),
             .told_of_history = ARENA_NEW(arena, bool),
             .told_of_waiting = ARENA_NEW(arena, bool),
             .shows_progress = isatty(STDERR_FILENO) != 0,
             .worker = cli_worker_open_queued(arena, &workers, &diags)};
  if (!run.worker) return cli_fail(&diags);
  run.history = history_opened(arena);
  *run.told_of_history = !run.history;
  const int status = run_all(&run, problems, n, &diags);
  history_close(run.history);
  cli_worker_close(run.worker);
  return status;
}
