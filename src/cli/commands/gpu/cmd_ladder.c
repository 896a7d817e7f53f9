// gemmview ladder: every rung of a ladder timed in one run, with cuBLAS beside each.
//
//   $ gemmview ladder fp32 --size 4096
//    # rung               time    TFLOP/s  x prev  of cuBLAS  registers spills occupancy  predicted
//    0 naive          104.2 ms       1.32       -      0.026         32      0     100 %   l2
//   …
//    9 tma          3.387 ms      40.58   x1.33      0.797        124      0      25 %   ~shared
//
// "x prev" is what each rung of the main line brought over the one that it builds on.
//
// With --compile nothing is timed and no GPU is needed: each rung is compiled, and the clock says
// what its machine code takes.
//
// --size replaces M, N and K of every rung that does not name them itself; a rung that does (a side
// branch on its own problem) is timed once. Attention takes M queries and K keys, its head
// dimension stays. Everything is compiled before anything is timed. What is recorded is timed hot:
// the ratios that the program brings along are those of long runs. The exit status is that of the
// worst rung; rungs that are not built do not count.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/documents.h"
#include "cli/common/tables/cli_ladder.h"
#include "cli/common/tables/cli_timing.h"
#include "model/schedules/reduce.h"

typedef struct LadderGiven {
  const char *only, *record, *knobs;
  OptionList sizes, worker;
  bool json, csv, cold, hot, no_time, compile, main_line, asides;
  double seconds;
} LadderGiven;

#define FLAG(key, field) \
  { .name = key, .kind = OPTION_KIND_FLAG, .offset = offsetof(LadderGiven, field) }
#define TEXT(key, field) \
  { .name = key, .kind = OPTION_KIND_TEXT, .offset = offsetof(LadderGiven, field) }

static const Option options[] = {
    OPTION_JSON(LadderGiven),
    OPTION_CSV(LadderGiven),
    OPTION_WORKER(LadderGiven),
    TEXT("only", only),
    TEXT("record", record),
    {.name = "with",
     .letter = 'k',
     .kind = OPTION_KIND_TEXT,
     .offset = offsetof(LadderGiven, knobs)},
    {.name = "size", .kind = OPTION_KIND_LIST, .offset = offsetof(LadderGiven, sizes)},
    OPTION_TIMING_SECONDS(LadderGiven),
    FLAG("cold", cold),
    FLAG("hot", hot),
    FLAG("no-time", no_time),
    FLAG("compile", compile),
    FLAG("main", main_line),
    FLAG("asides", asides),
};
#undef TEXT
enum { N_OPTIONS = sizeof options / sizeof options[0], EXTENT_MAX = 1 << 20, SIZES_MAX = 64 };

typedef struct Size {
  int extent[3];
} Size;

// One line of the table: a rung at one size.
typedef struct Item {
  int number;
  const Rung *rung;
  bool runs;  // built and legal
  CliTiming timing;
  RecordedRow row;
} Item;

typedef struct Run {
  Arena *arena;
  const LadderGiven *given;
  const Ladder *ladder;
  bool *chosen;
  CliWorker *worker;
  TargetTable targets;
  int n_sizes;
  Size sizes[SIZES_MAX];
  int n_items;
  Item *items;
  Recorded record;
} Run;

// ---- the problem to run -------------------------------------------------------------------------

// "4096", "4096,4096,1024" or "128x128x16384".
static bool parse_size(const char *text, Size *size, Diags *diags) {
  int n = 0;
  long value = 0;
  for (const char *at = text; n < 3; n++) {
    char *end;
    value = strtol(at, &end, 10);
    if (end == at || *at == '-' || *at == '+' || value < 1 || value > EXTENT_MAX) break;
    size->extent[n] = (int)value;
    if (!*end && (n == 0 || n == 2)) {
      for (int i = n; i < 3; i++) size->extent[i] = (int)value;
      return true;
    }
    if (*end != ',' && *end != 'x') break;
    at = end + 1;
  }
  diag_add(diags, "usage", "--size: \"%s\" is not M,N,K or one number, each from 1 to %d",
           str_sanitise(diags->arena, text), (int)EXTENT_MAX)
      ->nearest = value > EXTENT_MAX ? "1048576" : "4096,4096,4096";
  return false;
}

// A rung that shows something on a problem of its own keeps it. The head dimension of attention is
// a part of the kernel, no matter of size.
static bool names_problem(const Schedule *schedule) {
  const Schedule plain = schedule_plain();
  const KnobId axis[] = {KNOB_M, KNOB_N, schedule_walked(schedule)};
  for (int i = 0; i < 3; i++)
    if (schedule->value[axis[i]] != plain.value[axis[i]]) return true;
  return false;
}

// The model of a rung at a size, for the target that the rung names; of its own size: NULL.
static const Model *model_at(const Run *run, const Rung *rung, const Size *size, Diags *diags) {
  Schedule schedule = rung->schedule;
  if (size) schedule_resize_mnk(&schedule, size->extent);
  if (run->given->knobs) schedule_parse(&schedule, run->given->knobs, diags);
  return cli_model_of(run->arena, &run->targets, &schedule, diags);
}

// A rung that is timed at every size; false for one that --with has spoilt already.
static bool judges_sizes(const Run *run, int i) {
  const Rung *rung = &run->ladder->rung[i];
  Diags diags = diags_new(run->arena);
  return run->chosen[i] && !rung->not_built && !names_problem(&rung->schedule) &&
         model_at(run, rung, NULL, &diags);
}

// A size that no rung takes is refused before a GPU is asked for. What some of them do not take is
// told in their lines, and so is what the GPU at hand does not.
static void judge_size(const Run *run, const Size *size, Diags *diags) {
  const Rung *first = NULL;
  Diags why = diags_new(run->arena);
  for (int i = 0; i < run->ladder->n_rungs; i++) {
    const Rung *rung = &run->ladder->rung[i];
    Diags its = diags_new(run->arena);
    if (!judges_sizes(run, i)) continue;
    if (model_at(run, rung, size, &its)) return;
    if (!first) diags_add_all(&why, &its);
    if (!first) first = rung;
  }
  for (const Diag *diag = why.first; diag; diag = diag->next)
    diag_add(diags, diag->rule,
             "--size %d,%d,%d: no rung of %s is legal with it; %s: "
             "%s",
             size->extent[0], size->extent[1], size->extent[2], run->ladder->name, first->name,
             diag->text)
        ->nearest = diag->nearest;
}

static void add_item(Run *run, int number, const Size *size) {
  const Rung *rung = &run->ladder->rung[number];
  Item *item = &run->items[run->n_items++];
  *item = (Item){.number = number, .rung = rung};
  Schedule schedule = rung->schedule;
  Diags diags = diags_new(run->arena);
  if (size && !names_problem(&schedule)) schedule_resize_mnk(&schedule, size->extent);
  cli_worker_set_target(run->worker, &run->targets, &schedule);
  if (run->given->knobs) schedule_parse(&schedule, run->given->knobs, &diags);
  const Model *model =
      rung->not_built ? NULL : cli_model_of(run->arena, &run->targets, &schedule, &diags);
  item->runs = model != NULL;
  if (model)
    item->timing = cli_timing(run->arena, model, rung->name);
  else
    item->row = cli_timing_no_row(run->arena, rung->name, &schedule,
                                  rung->not_built ? rung->not_built : diags.first->text);
}

static void add_items(Run *run) {
  const int n_sizes = run->n_sizes ? run->n_sizes : 1;
  run->items = ARENA_ARRAY(run->arena, Item, run->ladder->n_rungs * n_sizes);
  for (int s = 0; s < n_sizes; s++)
    for (int i = 0; i < run->ladder->n_rungs; i++) {
      const Rung *rung = &run->ladder->rung[i];
      bool again = s > 0 && (rung->not_built || names_problem(&rung->schedule));
      if (run->chosen[i] && !again) add_item(run, i, run->n_sizes ? &run->sizes[s] : NULL);
    }
}

// Records are hot unless they are to be cold.
static bool is_hot(const LadderGiven *given) {
  return given->hot || (given->record && !given->cold);
}

// ---- text ---------------------------------------------------------------------------------------

static void print_heading(const Run *run) {
  const char *of = schedule_of_reference(run->arena, &run->ladder->rung[0].schedule);
  printf("%s: %s\n%2s %-16s %-18s %11s %9s %7s %9s %5s %6s %5s %9s %s\n", run->ladder->name,
         run->ladder->title, "#", "rung", "M x N x K", "median", "TFLOP/s", "x prev", of, "regs",
         "spills", "occ.", "predicted",
         is_hot(run->given) ? arena_printf(run->arena, "limit  %s within a round", of) : "limit");
}

// "x1.32": of the rung that this one builds on, at the same size; "-" where that was not timed.
static const char *step_text(const Run *run, const Item *item) {
  const int before = ladder_rung_before(run->ladder, item->number);
  const RecordedRow *row = &item->row;
  for (const Item *other = run->items; other < item; other++) {
    const RecordedRow *then = &other->row;
    if (other->number == before && then->m == row->m && then->n == row->n && then->k == row->k &&
        then->time_ns > 0 && !then->error)
      return arena_printf(run->arena, "x%.2f", row->tflops / then->tflops);
  }
  return "-";
}

static const char *remark(Arena *arena, const RecordedRow *row) {
  const char *range = cli_ratio_range_text(arena, row);
  return arena_printf(arena, "%s%s%s", *range ? "  " : "", range,
                      cli_is_wide(row) ? "  wide spread" : "");
}

static void print_clocked_row(const Run *run, const Item *item) {
  const RecordedRow *row = &item->row;
  const char *dash = "-";
  printf("%11s %9s %7s %9s %5s %6s %5s %9s %-6s\n", dash, dash, dash, dash,
         cli_count_text(run->arena, row->registers), cli_count_text(run->arena, row->spill_bytes),
         cli_share_text(run->arena, row->occupancy),
         cli_estimate_cell(run->arena, &item->timing.estimate), row->limit ? row->limit : "-");
}

static void print_row(const Run *run, const Item *item) {
  const RecordedRow *row = &item->row;
  Arena *arena = run->arena;
  printf("%2d %-16s %-18s ", item->number, item->rung->name,
         arena_printf(arena, "%lldx%lldx%lld", (long long)row->m, (long long)row->n,
                      (long long)row->k));
  if (run->given->compile && item->runs)
    print_clocked_row(run, item);
  else if (row->error)
    printf("%s%s\n", item->rung->not_built ? "not built: " : "", row->error);
  else if (!(row->time_ns > 0))
    printf("right in every cell; not timed\n");
  else
    printf("%11s %9.2f %7s %9s %5s %6s %5s %9s %-6s%s\n", cli_time_text(arena, row->time_ns),
           row->tflops, step_text(run, item), cli_ratio_text(arena, row->ratio),
           cli_count_text(arena, row->registers), cli_count_text(arena, row->spill_bytes),
           cli_share_text(arena, row->occupancy), cli_estimate_cell(arena, &item->timing.estimate),
           row->limit ? row->limit : "-", remark(arena, row));
  fflush(stdout);
}

static void print_footing(const Run *run) {
  const Recorded *r = &run->record;
  if (!r->gpu) return;
  printf("\n%s, driver %s, CUDA %s, %s, %s\n", r->gpu, r->driver ? r->driver : "unknown",
         r->cuda ? r->cuda : "unknown",
         r->cublas ? r->cublas
                   : arena_printf(run->arena, "no %s",
                                  schedule_reference(&run->ladder->rung[0].schedule)),
         r->clocks ? r->clocks : "clocks unknown");
  if (r->method) printf("%s; predicted: ~ marks a stand-in for the clock\n", r->method);
}

// ---- documents ----------------------------------------------------------------------------------

#define FORM_FILE "cli/commands/forms/cmd_ladder.form"
#include "base/form_make.h"

static void print_clocked(const Run *run) {
  cli_print_document(run->arena, &ladder_clock_form, run, NULL);
}

// The first n rungs.
static char *document(Run *run, const char *kind, int n) {
  RecordedRow *rows = ARENA_ARRAY(run->arena, RecordedRow, n);
  for (int i = 0; i < n; i++) rows[i] = run->items[i].row;
  run->record.kind = kind;
  run->record.ladder = run->ladder->name;
  run->record.rows = rows;
  run->record.n_rows = n;
  return form_document(run->arena, &recorded_form, &run->record, NULL);
}

// Behind each rung, so that a run of minutes that is ended has recorded what it timed.
static int write_record(Run *run, int n) {
  return cli_write(run->arena, run->given->record, document(run, "recorded", n));
}

// ---- running ------------------------------------------------------------------------------------

static void print_item(const Run *run, const Item *item) {
  if (run->given->json) return;
  if (run->given->csv)
    cli_csv_row(run->arena, &item->row);
  else
    print_row(run, item);
}

static int time_items(Run *run) {
  int written = CLI_OK;
  const CliTimingOptions how = {.seconds = run->given->seconds,
                                .cold = run->given->cold,
                                .hot = is_hot(run->given),
                                .verify_only = run->given->no_time};
  for (int i = 0; i < run->n_items; i++)
    if (run->items[i].runs) cli_timing_compile(run->worker, &run->items[i].timing);
  for (int i = 0; i < run->n_items; i++)
    if (run->items[i].runs) cli_worker_wait(run->worker, run->items[i].timing.compile);
  for (int i = 0; i < run->n_items && !cli_worker_interrupted(run->worker); i++) {
    Item *item = &run->items[i];
    if (item->runs) {
      cli_timing_run(run->worker, &item->timing, NULL, &how);
      item->row = item->timing.row;
      const WorkerAnswer *bench = item->timing.bench;
      if (bench && bench->bench && bench->bench->gpu)
        recorded_add_header(run->arena, &run->record, bench->bench);
    }
    print_item(run, item);
    if (run->given->record) written = write_record(run, i + 1);
  }
  return written;
}

// Nothing is timed: what the clock says of the machine code of each rung.
static void clock_items(Run *run) {
  for (int i = 0; i < run->n_items; i++)
    if (run->items[i].runs) cli_timing_clock(run->worker, &run->items[i].timing);
  for (int i = 0; i < run->n_items && !cli_worker_interrupted(run->worker); i++) {
    Item *item = &run->items[i];
    if (item->runs) {
      cli_worker_wait(run->worker, item->timing.compile);
      cli_timing_predict(&item->timing);
      item->row = item->timing.row;
    }
    print_item(run, item);
  }
}

static int status_of(const Run *run) {
  int status = CLI_OK;
  for (int i = 0; i < run->n_items; i++) {
    const Item *item = &run->items[i];
    int of_item = item->runs ? item->timing.status : item->rung->not_built ? CLI_OK : CLI_USAGE;
    if (of_item > status) status = of_item;
  }
  return cli_worker_interrupted(run->worker) ? CLI_INTERRUPTED : status;
}

static int run_ladder(Run *run) {
  const bool times = !run->given->compile;
  int status = times ? cli_worker_need_gpu(run->worker) : CLI_OK;
  if (status) return status;
  cli_worker_take_device(run->worker, &run->targets);
  add_items(run);
  if (run->given->csv) cli_csv_heading();
  if (!run->given->csv && !run->given->json) print_heading(run);
  int written = CLI_OK;
  if (times)
    written = time_items(run);
  else
    clock_items(run);
  status = status_of(run);
  if (status == CLI_INTERRUPTED) return cli_error(status, "interrupted");
  if (run->given->json && !times)
    print_clocked(run);
  else if (run->given->json)
    fputs(document(run, "measured", run->n_items), stdout);
  else if (!run->given->csv)
    print_footing(run);
  return status ? status : written;
}

static bool read_given(Run *run, int argc, char **argv, Diags *diags) {
  const LadderGiven *given = run->given;
  Schedule unused = schedule_default();
  if (argc != 2)
    diag_add(diags, "usage", argc < 2 ? "a ladder is needed" : "one ladder is needed")->nearest =
        "fp32";
  if (given->main_line && given->asides)
    diag_add(diags, "usage", "--main and --asides exclude each other");
  if (given->compile && (given->record || given->hot || given->cold || given->no_time))
    diag_add(diags, "usage", "--compile times nothing: leave --record, --hot, --cold, --no-time");
  if (given->hot && given->cold) diag_add(diags, "usage", "--hot and --cold exclude each other");
  if (given->json && given->csv) diag_add(diags, "usage", "--json and --csv exclude each other");
  if (given->sizes.count > SIZES_MAX)
    diag_add(diags, "usage", "--size was given %d times, at most %d", given->sizes.count,
             (int)SIZES_MAX);
  for (int i = 0; i < given->sizes.count && i < SIZES_MAX; i++)
    run->n_sizes += parse_size(given->sizes.items[i], &run->sizes[run->n_sizes], diags);
  if (given->knobs) schedule_parse(&unused, given->knobs, diags);
  run->ladder = argc == 2 ? cli_ladder(run->arena, argv[1], diags) : NULL;
  if (!run->ladder || !cli_targets(run->arena, &run->targets, diags)) return false;
  run->chosen = ARENA_ARRAY(run->arena, bool, run->ladder->n_rungs);
  cli_choose_rungs(run->ladder, given->only, run->chosen, diags);
  for (int i = 0; i < run->ladder->n_rungs; i++)
    if (run->ladder->rung[i].aside ? given->main_line : given->asides) run->chosen[i] = false;
  for (int i = 0; i < run->n_sizes && diags->count == 0; i++)
    judge_size(run, &run->sizes[i], diags);
  return diags->count == 0;
}

int cmd_ladder(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  LadderGiven given = {0};
  Run *run = ARENA_NEW(arena, Run);
  run->arena = arena;
  run->given = &given;
  bool parsed = options_parse(options, N_OPTIONS, &given, &argc, argv, &diags);
  if (!read_given(run, argc, argv, &diags) || !parsed) return cli_fail(&diags);
  run->worker = cli_worker_open(arena, &given.worker, true, &diags);
  if (!run->worker) return cli_fail(&diags);
  int status = run_ladder(run);
  cli_worker_close(run->worker);
  return status;
}
