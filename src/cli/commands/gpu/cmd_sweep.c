// gemmview sweep: many schedules timed in one run, told as they come, the best one last.
//
//   gemmview sweep -k BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11 --knob FM=4,8,16 --knob PAD_SMEM
//   gemmview sweep -k … --knob SPLITK --predict         by the stand-in alone; needs no GPU
//   gemmview sweep -k … --knob SPLITK --compile         compiled, by the clock; needs no GPU either
//
// The search for the best kernel of a problem, wherever it is, is gemmview tune; --search says so.
//
// Illegal points are passed over, and the first is told with its reason. Each point is verified
// before it is timed; the best one is timed again at the end, since the luckiest of many
// measurements is too good to be true. Standard output is a table, CSV, or JSON Lines; each
// line is flushed.
#include <stdio.h>

#include "base/clock.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/documents.h"
#include "cli/common/tables/cli_timing.h"
#include "cli/common/tables/sweep.h"

typedef struct SweepGiven {
  const char *state;
  OptionList knobs, worker;
  const char *search;
  double seconds;
  int limit;
  bool json, csv, cold, predict, compile, no_reference;
} SweepGiven;

#define FLAG(key, field) \
  { .name = key, .kind = OPTION_KIND_FLAG, .offset = offsetof(SweepGiven, field) }

static const Option options[] = {
    OPTION_STATE(SweepGiven),
    OPTION_JSON(SweepGiven),
    OPTION_CSV(SweepGiven),
    OPTION_WORKER(SweepGiven),
    OPTION_TIMING_SECONDS(SweepGiven),
    {.name = "knob", .kind = OPTION_KIND_LIST, .offset = offsetof(SweepGiven, knobs)},
    {.name = "search", .kind = OPTION_KIND_TEXT, .offset = offsetof(SweepGiven, search)},
    {.name = "limit",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(SweepGiven, limit),
     .lo = 1,
     .hi = SWEEP_TRIALS_MAX},
    FLAG("cold", cold),
    FLAG("predict", predict),
    FLAG("compile", compile),
    FLAG("no-reference", no_reference),
};
enum { N_OPTIONS = sizeof options / sizeof options[0], BATCH = 16 };

enum { LIMIT = 500 };
static const double POINT_SECONDS = 0.3, LAST_SECONDS = 2;

typedef struct Sweep {
  Arena *arena;
  const SweepGiven *given;
  CliWorker *worker;  // NULL with --predict
  bool times;         // neither --predict nor --compile
  TargetTable targets;
  Schedule base;
  SweepAxes axes;
  int n_done, status;
  double started;
  bool has_best;
  Schedule best;
  double best_score;
} Sweep;

// ---- printing -----------------------------------------------------------------------------------

// The knobs in which a point differs from where the sweep began.
static const char *changes(Arena *arena, const Schedule *from, const Schedule *to) {
  Str out = str_new(arena);
  for (int i = 0; i < KNOB_COUNT; i++)
    if (from->value[i] != to->value[i])
      str_printf(&out, "%s%s=%s", out.length ? "," : "", knob_table[i].name,
                 knob_value_text(arena, to, (KnobId)i));
  return out.length ? out.text : "(the start)";
}

static void print_heading(const Sweep *s) {
  if (s->given->json) return;
  if (s->given->csv)
    cli_csv_heading();
  else
    printf("%5s   %11s %9s %9s %5s %6s %5s %9s  %s\n", "#", "median", "TFLOP/s",
           schedule_of_reference(s->arena, &s->base), "regs", "spills", "occ.", "predicted",
           "knobs");
}

static void print_cells(Arena *arena, const RecordedRow *row, const Estimate *estimate) {
  printf("%11s %9s %9s %5s %6s %5s %9s", cli_time_text(arena, row->time_ns),
         row->tflops > 0 ? arena_printf(arena, "%.2f", row->tflops) : "-",
         cli_ratio_text(arena, row->ratio), cli_count_text(arena, row->registers),
         cli_count_text(arena, row->spill_bytes), cli_share_text(arena, row->occupancy),
         cli_estimate_cell(arena, estimate));
}

static void print_row(const Sweep *s, Arena *arena, const Schedule *point, const CliTiming *timing,
                      bool best) {
  printf("%5d %c ", s->n_done, best ? '*' : ' ');
  if (timing->row.error && s->times)
    printf("%s  ", timing->row.error);
  else
    print_cells(arena, &timing->row, &timing->estimate);
  printf("  %s\n", changes(arena, &s->base, point));
}

// A line of --json.
typedef struct SweepLine {
  int number;
  double elapsed_s;
  bool best_so_far;
  const RecordedRow *point, *best;  // one of them; the other is NULL
  const Estimate *estimate;         // of it
} SweepLine;

#define FORM_FILE "cli/commands/forms/cmd_sweep.form"
#include "base/form_make.h"

static void print_json_row(const Sweep *s, Arena *arena, const SweepLine *line) {
  SweepLine shown = *line;
  shown.number = s->n_done;
  shown.elapsed_s = clock_seconds() - s->started;
  cli_print_document(arena, &sweep_form, &shown, NULL);
}

static void tell(Sweep *s, Arena *arena, const Schedule *point, const CliTiming *timing,
                 bool best) {
  const RecordedRow *row = &timing->row;
  if (s->given->json)
    print_json_row(s, arena,
                   &(SweepLine){.best_so_far = best, .point = row, .estimate = &timing->estimate});
  else if (s->given->csv)
    cli_csv_row(s->arena, row);
  else
    print_row(s, arena, point, timing, best);
  fflush(stdout);
}

// ---- timing -------------------------------------------------------------------------------------

// Against cuBLAS where it ran, since clocks drift from one job to the next.
static double score(const Sweep *s, const RecordedRow *row) {
  if (!s->times) return row->predicted_tflops;
  if (!row->verified || !(row->time_ns > 0)) return 0;
  return s->given->no_reference || !(row->ratio > 0) ? row->tflops : row->ratio;
}

static void file(Sweep *s, Arena *arena, const Schedule *point, const CliTiming *timing) {
  const double of_point = score(s, &timing->row);
  const bool best = of_point > 0 && (!s->has_best || of_point > s->best_score);
  s->n_done++;
  if (timing->status > s->status && timing->status < CLI_TIMEOUT) s->status = timing->status;
  if (best) {
    s->has_best = true;
    s->best = *point;
    s->best_score = of_point;
  }
  tell(s, arena, point, timing, best);
}

static CliTimingOptions how(const Sweep *s) {
  return (CliTimingOptions){.seconds = s->given->seconds > 0 ? s->given->seconds : POINT_SECONDS,
                            .cold = s->given->cold,
                            .no_reference = s->given->no_reference};
}

static CliTiming timing_of(const Sweep *s, Arena *arena, const Schedule *point) {
  return cli_timing(arena, model_build(arena, &s->targets, point), NULL);
}

static bool is_over(const Sweep *s) { return s->worker && cli_worker_interrupted(s->worker); }

static void ask(const Sweep *s, CliTiming *timing) {
  if (s->worker && s->times) cli_timing_compile(s->worker, timing);
  if (s->worker && !s->times) cli_timing_clock(s->worker, timing);
}

// All are compiled before the first is timed.
static void run_batch(Sweep *s, const Schedule *points, int n) {
  Arena *arena = arena_new("sweep batch");
  CliTiming *timing = ARENA_ARRAY(arena, CliTiming, n);
  const CliTimingOptions options_of_point = how(s);
  for (int i = 0; i < n; i++) {
    timing[i] = timing_of(s, arena, &points[i]);
    ask(s, &timing[i]);
  }
  for (int i = 0; s->worker && i < n; i++) cli_worker_wait(s->worker, timing[i].compile);
  for (int i = 0; i < n && !is_over(s); i++) {
    if (s->times) cli_timing_run(s->worker, &timing[i], NULL, &options_of_point);
    if (!s->times) cli_timing_predict(&timing[i]);
    if (!is_over(s) || !s->worker) file(s, arena, &points[i], &timing[i]);
  }
  if (s->worker) cli_worker_forget(s->worker);
  arena_free(arena);
}

// ---- the product ---------------------------------------------------------------------

static bool run_product(Sweep *s, Diags *diags) {
  SweepPoints points = sweep_points(s->arena, &s->axes, &s->base, &s->targets);
  if (points.n == 0)
    diag_add(diags, "sweep", "none of the %lld points is legal; of %s: %s",
             (long long)sweep_product(&s->axes), changes(s->arena, &s->base, &points.illegal),
             points.reason);
  const int limit = s->given->limit ? s->given->limit : LIMIT;
  if (points.n > limit)
    diag_add(diags, "sweep", "%d points are legal, at most %d are timed", points.n, limit)
        ->nearest = arena_printf(s->arena, "--limit %d", points.n);
  if (diags->count) return false;
  if (points.n_illegal)
    cli_error(0, "%d of %lld points are left out; the first, %s: %s", points.n_illegal,
              (long long)sweep_product(&s->axes), changes(s->arena, &s->base, &points.illegal),
              points.reason);
  print_heading(s);
  for (int i = 0; i < points.n && !is_over(s); i += BATCH)
    run_batch(s, &points.point[i], points.n - i < BATCH ? points.n - i : BATCH);
  return true;
}

static void print_last(const Sweep *s, const CliTiming *timing) {
  if (s->given->json) {
    print_json_row(
        s, s->arena,
        &(SweepLine){.best_so_far = true, .best = &timing->row, .estimate = &timing->estimate});
  } else if (s->given->csv) {
    cli_csv_row(s->arena, &timing->row);
  } else {
    printf("%-8s", "best");
    print_cells(s->arena, &timing->row, &timing->estimate);
    printf("  %s\n", timing->row.error && s->times ? timing->row.error : timing->state);
  }
}

// The winner once more, for longer.
static void tell_best(Sweep *s) {
  if (!s->has_best) return;
  CliTimingOptions longer = how(s);
  if (longer.seconds < LAST_SECONDS) longer.seconds = LAST_SECONDS;
  CliTiming best = timing_of(s, s->arena, &s->best);
  ask(s, &best);
  if (s->times && !cli_worker_interrupted(s->worker)) {
    cli_timing_run(s->worker, &best, NULL, &longer);
  } else {
    if (best.compile) cli_worker_wait(s->worker, best.compile);
    cli_timing_predict(&best);
  }
  if (!s->given->json && !s->given->csv)
    printf("\nbest of %d%s\n", s->n_done, s->times ? ", timed again:" : ":");
  print_last(s, &best);
}

// ---- the command --------------------------------------------------------------------------------

static bool read_given(Sweep *s, int argc, char **argv, Diags *diags) {
  const SweepGiven *given = s->given;
  if (argc > 1)
    diag_add(diags, "usage", "sweep takes no argument \"%s\"; give a state with -k",
             str_sanitise(s->arena, argv[1]));
  if (given->json && given->csv) diag_add(diags, "usage", "--json and --csv exclude each other");
  if (given->search)
    diag_add(diags, "usage", "another command searches for the best kernel")->nearest =
        arena_printf(s->arena, "gemmview tune 4096,4096,4096 --seconds %s",
                     str_sanitise(s->arena, given->search));
  else if (given->knobs.count == 0)
    diag_add(diags, "usage", "knobs to sweep are needed")->nearest = "--knob PAD_SMEM=0,4,8";
  if (given->predict && given->compile)
    diag_add(diags, "usage", "--predict and --compile exclude each other");
  if (given->predict && given->worker.count)
    diag_add(diags, "usage", "--predict needs no worker: leave out one of the two");
  if (!cli_schedule(given->state, &s->base, diags) || !cli_targets(s->arena, &s->targets, diags))
    return false;
  for (int i = 0; i < given->knobs.count; i++)
    sweep_add_axis(&s->axes, given->knobs.items[i], &s->base, diags);
  if (sweep_product(&s->axes) > SWEEP_TRIALS_MAX)
    diag_add(diags, "usage", "the product has %lld points, at most %d are allowed",
             (long long)sweep_product(&s->axes), (int)SWEEP_TRIALS_MAX);
  return diags->count == 0;
}

static int run(Sweep *s, Diags *diags) {
  if (s->times) {
    cli_worker_take_device(s->worker, &s->targets);
    cli_worker_set_target(s->worker, &s->targets, &s->base);
  }
  const int missing = s->times ? cli_worker_need_gpu(s->worker) : CLI_OK;
  if (missing) return missing;
  s->started = clock_seconds();
  if (!run_product(s, diags)) return cli_fail(diags);
  tell_best(s);
  if (s->worker && cli_worker_interrupted(s->worker))
    return cli_error(CLI_INTERRUPTED, "interrupted");
  return s->status;
}

int cmd_sweep(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  SweepGiven given = {0};
  Sweep *s = ARENA_NEW(arena, Sweep);
  s->arena = arena;
  s->given = &given;
  bool parsed = options_parse(options, N_OPTIONS, &given, &argc, argv, &diags);
  if (!read_given(s, argc, argv, &diags) || !parsed) return cli_fail(&diags);
  s->times = !given.predict && !given.compile;
  s->worker = given.predict ? NULL : cli_worker_open(arena, &given.worker, s->times, &diags);
  if (!s->worker && !given.predict) return cli_fail(&diags);
  const int status = run(s, &diags);
  if (s->worker) cli_worker_close(s->worker);
  return status;
}
