// gemmview bench: a schedule verified, then timed on the GPU with cuBLAS beside it.
//
//   $ gemmview bench -k BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11
//   NVIDIA H200, driver 580.95.05, CUDA 13.0, SM 1980 MHz
//   4096 x 4096 x 4096, …
//
//                   median         p10         p90   TFLOP/s  of cuBLAS  registers  spills  …
//   this          4.512 ms    4.508 ms    4.519 ms     30.46      0.602        128       0
//   cuBLAS        2.716 ms    2.713 ms    2.720 ms     50.60      1.000  cublasGemmEx, …
//
// Hot, the ratio is the median of those within a round, and a line says how far they spread.
//
// Exit status 5 when C is wrong (the error map is shown) or the timing cannot be trusted, 1 when
// the schedule is slower than the one of --against.
#include <stdio.h>
#include <stdlib.h>

#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/documents.h"
#include "cli/common/tables/cli_timing.h"
#include "kernels/device/driver.h"
#include "kernels/device/timing.h"
#include "kernels/worker/result_json.h"

typedef struct BenchGiven {
  const char *state, *against, *data;
  bool json, cold, hot, no_reference, no_time, in_process;
  double seconds;
  OptionList worker;
} BenchGiven;

#define FLAG(key, field) \
  { .name = key, .kind = OPTION_KIND_FLAG, .offset = offsetof(BenchGiven, field) }

static const Option options[] = {
    OPTION_STATE(BenchGiven),
    OPTION_JSON(BenchGiven),
    OPTION_WORKER(BenchGiven),
    {.name = "against", .kind = OPTION_KIND_TEXT, .offset = offsetof(BenchGiven, against)},
    {.name = "data", .kind = OPTION_KIND_TEXT, .offset = offsetof(BenchGiven, data)},
    OPTION_TIMING_SECONDS(BenchGiven),
    FLAG("cold", cold),
    FLAG("hot", hot),
    FLAG("no-reference", no_reference),
    FLAG("no-time", no_time),
    FLAG("in-process", in_process),
};
enum { N_OPTIONS = sizeof options / sizeof options[0] };

// The states to time: the one given, and the one it is compared with, if any.
typedef struct Subject {
  Arena *arena;
  const BenchGiven *given;
  CliWorker *worker;  // NULL with --in-process
  Gpu *gpu;           // NULL without
  int n;
  CliTiming side[2];
} Subject;

static const BenchResult *result_of(const Subject *s) {
  return s->side[0].bench ? s->side[0].bench->bench : NULL;
}

// ---- text ---------------------------------------------------------------------------------------

static void print_machine(const Subject *s, const BenchResult *result) {
  Recorded heading = {0};
  recorded_add_header(s->arena, &heading, result);
  printf("%s, driver %s, CUDA %s%s%s\n", result->gpu, result->driver ? result->driver : "unknown",
         result->cuda ? result->cuda : "unknown", heading.clocks ? ", " : "",
         heading.clocks ? heading.clocks : "");
  printf("%lld x %lld x %lld, %s\n\n", (long long)result->m, (long long)result->n,
         (long long)result->k, result->method);
}

static void print_row(Arena *arena, const char *name, const RecordedRow *row) {
  if (row->error) {
    printf("%-10s %s\n", name, row->error);
    return;
  }
  if (!(row->time_ns > 0)) {
    printf("%-10s right in every cell; not timed\n", name);
    return;
  }
  printf("%-10s %11s %11s %11s %9.2f %10s %10s %7s %10s\n", name,
         cli_time_text(arena, row->time_ns), cli_time_text(arena, row->p10_ns),
         cli_time_text(arena, row->p90_ns), row->tflops, cli_ratio_text(arena, row->ratio),
         cli_count_text(arena, row->registers), cli_count_text(arena, row->spill_bytes),
         cli_share_text(arena, row->occupancy));
}

static void print_reference(const Subject *s, const BenchReference *reference) {
  Arena *arena = s->arena;
  const char *who = schedule_reference(&s->side[0].model->schedule);
  if (!(reference->time.median_ns > 0)) {
    if (reference->error) printf("%-10s %s\n", who, reference->error);
    return;
  }
  printf("%-10s %11s %11s %11s %9.2f %10.3f  %s, %s\n", who,
         cli_time_text(arena, reference->time.median_ns),
         cli_time_text(arena, reference->time.p10_ns), cli_time_text(arena, reference->time.p90_ns),
         reference->tflops, 1.0, reference->name ? reference->name : "",
         reference->library ? reference->library : "");
}

// One character a rectangle of C: '.' right, '+' wrong in some cells, '#' in all of a full one.
static void print_error_map(const VerifyResult *verify) {
  if (!verify->n_map) return;
  const int64_t full = verify->map_tile_m * verify->map_tile_n;
  printf("\nC in rectangles of %lld x %lld: '#' wrong everywhere, '+' somewhere, '.' nowhere\n",
         (long long)verify->map_tile_m, (long long)verify->map_tile_n);
  for (int row = 0; row < verify->map_rows; row++) {
    fputs("  ", stdout);
    for (int col = 0; col < verify->map_cols; col++) {
      uint32_t wrong = verify->map[row * verify->map_cols + col];
      putchar(!wrong ? '.' : wrong >= full ? '#' : '+');
    }
    putchar('\n');
  }
}

static const char *of_reference(const Subject *s) {
  return schedule_of_reference(s->arena, &s->side[0].model->schedule);
}

// Largest error and root of the mean square, both over |A|·|B|, of f32 products: for other types
// the errors are as large as their roundings.
static void print_errors(const Subject *s) {
  const RecordedRow *row = &s->side[0].row;
  const Plan *plan = s->side[0].plan;
  if (plan->operand_type != PLAN_F32 || row->error_this < 0) return;
  printf("\nerror over |A| |B|     largest    mean square, its root\n");
  printf("%-20s %9.2e    %9.2e\n", "this", row->error_this, row->rms_this);
  if (row->error_cublas >= 0)
    printf("%-20s %9.2e    %9.2e\n", schedule_reference(&s->side[0].model->schedule),
           row->error_cublas, row->rms_cublas);
}

static void print_range(const Subject *s, const char *name, const RecordedRow *row) {
  if (!(row->ratio_min > 0)) return;
  printf("%-10s %s %s, %s within a round\n", name, cli_ratio_text(s->arena, row->ratio),
         of_reference(s), cli_ratio_range_text(s->arena, row));
}

static void print_ranges(const Subject *s) {
  const BenchResult *result = result_of(s);
  if (!result || !result->hot) return;
  printf("\nhot, %d rounds:\n", s->side[0].row.samples);
  print_range(s, "this", &s->side[0].row);
  if (s->n > 1) print_range(s, "against", &s->side[1].row);
}

static void print_comparison(const Subject *s) {
  const RecordedRow *a = &s->side[0].row, *b = &s->side[1].row;
  if (s->n < 2 || !(a->time_ns > 0) || !(b->time_ns > 0)) return;
  const BenchResult *result = result_of(s);
  if (!bench_differs(&result->entries[0].time, &result->entries[1].time))
    printf("\nno difference beyond the spread of the times\n");
  else if (a->time_ns < b->time_ns)
    printf("\n%.1f %% faster than the other\n", 100 * (b->time_ns / a->time_ns - 1));
  else
    printf("\n%.1f %% slower than the other\n", 100 * (a->time_ns / b->time_ns - 1));
}

static void print_text(const Subject *s) {
  const BenchResult *result = result_of(s);
  if (result && result->gpu) print_machine(s, result);
  printf("%-10s %11s %11s %11s %9s %10s %10s %7s %10s\n", "", "median", "p10", "p90", "TFLOP/s",
         of_reference(s), "registers", "spills", "occupancy");
  print_row(s->arena, "this", &s->side[0].row);
  if (s->n > 1) print_row(s->arena, "against", &s->side[1].row);
  for (int i = 0; i < s->n; i++)
    if (s->side[i].note) printf("%-10s %s\n", i ? "against" : "this", s->side[i].note);
  if (result) print_reference(s, &result->reference);
  print_ranges(s);
  print_errors(s);
  for (int i = 0; result && i < result->n_entries; i++) print_error_map(&result->entries[i].verify);
  print_comparison(s);
}

// ---- JSON ---------------------------------------------------------------------------------------

// The document: the states that were timed, and how that ended.
typedef struct BenchShown {
  const Subject *s;
  int status;
  const BenchResult *result;   // NULL: there is none
  const VerifyResult *verify;  // with an error map; NULL: nothing is wrong
} BenchShown;

#define FORM_FILE "cli/commands/forms/cmd_bench.form"
#include "base/form_make.h"

static void print_json(const Subject *s, int status) {
  const BenchResult *result = result_of(s);
  const bool wrong = result && result->n_entries && result->entries[0].verify.n_map;
  const BenchShown shown = {s, status, result, wrong ? &result->entries[0].verify : NULL};
  cli_print_document(s->arena, &bench_form, &shown, NULL);
}

// ---- running ------------------------------------------------------------------------------------

static Device device_of(const Subject *s) {
  return s->gpu ? gpu_info(s->gpu)->device : cli_worker_machine(s->worker).device;
}

static const Model *model_of(const Subject *s, const TargetTable *targets, const Device *device,
                             const char *state, Diags *diags) {
  Schedule schedule;
  if (!cli_schedule(state, &schedule, diags)) return NULL;
  cli_set_target(targets, device, &schedule);
  return cli_model_of(s->arena, targets, &schedule, diags);
}

// PLAN_N_DATA: there is no such kind.
static PlanData data_of(const BenchGiven *given) {
  int data = 0;
  if (!given->data) return PLAN_NORMAL;
  while (data < PLAN_N_DATA && !str_equal(plan_data_names[data], given->data)) data++;
  return (PlanData)data;
}

static const Plan *plan_with_data(Arena *arena, const Plan *plan, PlanData data) {
  Plan *copy = ARENA_NEW(arena, Plan);
  *copy = *plan;
  copy->data = data;
  return copy;
}

static bool prepare(Subject *s, Diags *diags) {
  TargetTable *targets = ARENA_NEW(s->arena, TargetTable);
  const char *states[] = {s->given->state, s->given->against};
  if (!cli_targets(s->arena, targets, diags)) return false;
  const Device device = device_of(s);
  cli_take_device(s->arena, &device, targets);
  s->n = s->given->against ? 2 : 1;
  for (int i = 0; i < s->n; i++) {
    const Model *model = model_of(s, targets, &device, states[i], diags);
    if (model) s->side[i] = cli_timing(s->arena, model, NULL);
    if (model) s->side[i].plan = plan_with_data(s->arena, s->side[i].plan, data_of(s->given));
  }
  if (diags->count) return false;
  if (s->n < 2 || plan_same_problem(s->side[0].plan, s->side[1].plan)) return true;
  diag_add(diags, "usage", "--against computes another product: give both states the same M, N, K")
      ->nearest = arena_printf(s->arena, "M=%lld,N=%lld,K=%lld", (long long)s->side[0].row.m,
                               (long long)s->side[0].row.n, (long long)s->side[0].row.k);
  return false;
}

static int status_of(const Subject *s) {
  for (int i = 0; i < s->n; i++)
    if (s->side[i].status != CLI_OK) return s->side[i].status;
  for (int i = 0; i < s->n; i++)
    if (cli_is_wide(&s->side[i].row)) return CLI_BENCH;
  const BenchResult *result = result_of(s);
  if (s->n < 2 || !bench_differs(&result->entries[0].time, &result->entries[1].time)) return CLI_OK;
  return s->side[0].row.time_ns > s->side[1].row.time_ns ? CLI_NO : CLI_OK;
}

static void tell(const Subject *s) {
  for (int i = 0; i < s->n; i++) {
    const CliTiming *side = &s->side[i];
    const WorkerAnswer *compile = side->compile;
    if (side->row.error) cli_error(0, "%s", side->row.error);
    if (compile && compile->cubin && !compile->cubin->ok && *compile->cubin->log)
      fprintf(stderr, "%s\n", compile->cubin->log);
    if (cli_is_wide(&side->row))
      cli_error(0, "the quartiles are %.0f %% apart: this time cannot be trusted",
                100 * side->row.spread);
  }
}

static void time_sides(Subject *s) {
  const CliTimingOptions how = {.seconds = s->given->seconds,
                                .cold = s->given->cold,
                                .hot = s->given->hot,
                                .no_reference = s->given->no_reference,
                                .verify_only = s->given->no_time};
  CliTiming *other = s->n > 1 ? &s->side[1] : NULL;
  for (int i = 0; i < s->n && s->worker; i++) cli_timing_compile(s->worker, &s->side[i]);
  if (s->worker)
    cli_timing_run(s->worker, &s->side[0], other, &how);
  else
    cli_timing_run_here(s->gpu, &s->side[0], other, &how);
}

static int run(Subject *s, Diags *diags) {
  if (!prepare(s, diags)) return cli_fail(diags);
  const int missing = s->worker ? cli_worker_need_gpu(s->worker) : CLI_OK;
  if (missing) return missing;
  time_sides(s);
  const int status = status_of(s);
  if (s->given->json)
    print_json(s, status);
  else
    print_text(s);
  tell(s);
  return status;
}

static int run_here(Subject *s, Diags *diags) {
  const char *why = NULL;
  s->gpu = gpu_open(s->arena, 0, &why);
  if (!s->gpu) return cli_error(CLI_MISSING, "no GPU to time on: %s", why);
  const int status = run(s, diags);
  gpu_close(s->gpu);
  return status;
}

int cmd_bench(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  BenchGiven given = {0};
  if (options_parse(options, N_OPTIONS, &given, &argc, argv, &diags) && argc > 1)
    diag_add(&diags, "usage", "bench takes no argument \"%s\"; give a state with -k",
             str_sanitise(arena, argv[1]));
  if (given.hot && given.cold) diag_add(&diags, "usage", "--hot and --cold exclude each other");
  if (given.in_process && given.worker.count)
    diag_add(&diags, "usage", "--in-process and --worker exclude each other");
  if (data_of(&given) == PLAN_N_DATA)
    diag_add(&diags, "usage", "--data %s: choose normal, positive, scaled or cancelling",
             str_sanitise(arena, given.data));
  Schedule unused;
  cli_schedule(given.state, &unused, &diags);
  if (given.against) cli_schedule(given.against, &unused, &diags);
  if (diags.count) return cli_fail(&diags);
  Subject subject = {.arena = arena, .given = &given};
  if (given.in_process) return run_here(&subject, &diags);
  subject.worker = cli_worker_open(arena, &given.worker, true, &diags);
  if (!subject.worker) return cli_fail(&diags);
  int status = run(&subject, &diags);
  cli_worker_close(subject.worker);
  return status;
}
