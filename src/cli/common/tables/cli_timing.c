// Model → plan → compile → verify and time → one row.
//
// Two requests for each schedule: the compile tells registers and spills, and its binary lies in
// the cache when the timing asks for it, so that nothing compiles while something is timed.
#include "cli/common/tables/cli_timing.h"

#include "base/str.h"
#include "cli/common/cli.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/ir/program.h"

static void add_problem(RecordedRow *row, const Schedule *schedule) {
  row->m = schedule->value[KNOB_M];
  row->n = schedule->value[KNOB_N];
  row->k = schedule->value[KNOB_K];
}

RecordedRow cli_timing_no_row(Arena *arena, const char *rung, const Schedule *schedule,
                              const char *why) {
  RecordedRow row = {.rung = rung,
                     .state = schedule_record_text(arena, schedule),
                     .error = why,
                     .error_this = -1,
                     .error_cublas = -1,
                     .rms_this = -1,
                     .rms_cublas = -1,
                     .spread = -1,
                     .registers = -1,
                     .spill_bytes = -1,
                     .local_bytes = -1,
                     .blocks_per_sm = -1,
                     .occupancy = -1};
  add_problem(&row, schedule);
  return row;
}

CliTiming cli_timing(Arena *arena, const Model *model, const char *rung) {
  CliTiming timing = {.rung = rung, .model = model, .status = CLI_OK};
  timing.state = schedule_text(arena, &model->schedule);
  timing.record = schedule_record_text(arena, &model->schedule);
  timing.plan = plan_from_model(arena, model, rung ? rung : timing.state);
  timing.estimate = estimate_of(NULL, model);
  timing.row = cli_timing_no_row(arena, rung, &model->schedule, "not timed");
  return timing;
}

static const char *label_of(const CliTiming *timing) {
  if (timing->rung) return timing->rung;
  return *timing->state ? timing->state : "the default schedule";
}

void cli_timing_compile(CliWorker *worker, CliTiming *timing) {
  const ClientRequest request = {
      .kind = MESSAGE_COMPILE, .plan = timing->plan, .want = "cubin", .keep = true};
  timing->compile = cli_worker_submit(worker, &request, label_of(timing));
}

void cli_timing_clock(CliWorker *worker, CliTiming *timing) {
  Arena *arena = timing->model->program->arena;
  timing->compile = cli_clock_submit(worker, arena, timing->model, timing->plan, label_of(timing));
}

// Bytes of local memory that the kernels' registers spill to; −1 when the compiler did not say.
static int spill_bytes(const CompileResult *cubin) {
  int most = -1;
  for (int i = 0; cubin && i < cubin->n_kernels; i++)
    if (cubin->kernels[i].spill_store_bytes > most) most = cubin->kernels[i].spill_store_bytes;
  return most;
}

static int registers(const CompileResult *cubin) {
  int most = -1;
  for (int i = 0; cubin && i < cubin->n_kernels; i++)
    if (cubin->kernels[i].registers > most) most = cubin->kernels[i].registers;
  return most;
}

static const char *note(const CompileResult *cubin) {
  for (int i = 0; cubin && i < cubin->n_kernels; i++)
    if (cubin->kernels[i].note) return cubin->kernels[i].note;
  return NULL;
}

static void add_model(CliTiming *timing) {
  RecordedRow *row = &timing->row;
  const Model *model = timing->model;
  row->rung = timing->rung;
  row->state = timing->record;
  timing->estimate = cli_clock_estimate(NULL, model, timing->compile);
  row->predicted_tflops = timing->estimate.tflops;
  row->limit = model->traffic.limit;
  const CompileResult *cubin = timing->compile ? timing->compile->cubin : NULL;
  row->spill_bytes = spill_bytes(cubin);
  timing->note = note(cubin);
  if (row->registers < 0) row->registers = registers(cubin);
  if (row->blocks_per_sm >= 0)
    row->occupancy = (double)(row->blocks_per_sm * model->resources.n_threads) /
                     model->target->max_threads_per_sm;
}

void cli_timing_predict(CliTiming *timing) {
  add_model(timing);
  timing->row.occupancy = timing->model->resources.occupancy;
  if (timing->row.registers < 0) timing->row.registers = timing->model->resources.n_registers;
}

static void fail(CliTiming *timing, int status, const char *why) {
  timing->status = status;
  timing->row =
      cli_timing_no_row(timing->model->program->arena, timing->rung, &timing->model->schedule, why);
}

// A request that ended well without a result is the worker's fault.
static void take_answer(CliTiming *timing, int entry) {
  const WorkerAnswer *answer = timing->bench;
  const BenchResult *result = answer->bench;
  if (!result || entry >= result->n_entries) {
    fail(timing, answer->status ? answer->status : CLI_MISSING,
         answer->error ? answer->error : "the worker ended the request without a result");
  } else {
    const bool timed_well = result->entries[entry].ok && answer->status == CLI_BENCH;
    timing->row = recorded_row(result, entry);
    timing->status = timed_well ? CLI_OK : answer->status;
  }
  add_model(timing);
}

static bool compiled(CliWorker *worker, CliTiming *timing) {
  if (!timing->compile || cli_worker_wait(worker, timing->compile)) return true;
  fail(timing, timing->compile->status, timing->compile->error);
  add_model(timing);
  return false;
}

void cli_timing_run(CliWorker *worker, CliTiming *timing, CliTiming *other,
                    const CliTimingOptions *options) {
  bool ready = compiled(worker, timing);
  if (other && !compiled(worker, other)) ready = false;
  if (!ready) return;
  const int budget_ms = (int)(options->seconds * 1000);
  const int spare_ms = options->hot ? 240000 : 60000;  // to verify and to choose the reference
  const ClientRequest request = {
      .kind = MESSAGE_BENCH,
      .plan = timing->plan,
      .plan_b = other ? other->plan : NULL,
      .state = timing->record,
      .state_b = other ? other->record : NULL,
      .budget_ms = budget_ms,
      .deadline_ms = budget_ms || options->hot ? budget_ms + spare_ms : 0,
      .flush_l2 = options->cold,
      .hot = options->hot,
      .no_reference = options->no_reference,
      .verify_only = options->verify_only,
  };
  timing->bench = cli_worker_submit(worker, &request, label_of(timing));
  cli_worker_wait(worker, timing->bench);
  take_answer(timing, 0);
  if (!other) return;
  other->bench = timing->bench;
  take_answer(other, 1);
}

void cli_timing_run_here(Gpu *gpu, CliTiming *timing, CliTiming *other,
                         const CliTimingOptions *options) {
  Arena *arena = timing->model->program->arena;
  const BenchInput inputs[] = {{.plan = timing->plan}, {.plan = other ? other->plan : NULL}};
  const BenchOptions how = {.budget_s = options->seconds,
                            .flush_l2 = options->cold,
                            .hot = options->hot,
                            .no_reference = options->no_reference,
                            .verify_only = options->verify_only};
  WorkerAnswer *answer = ARENA_NEW(arena, WorkerAnswer);
  cli_answer_bench(answer, bench_run(arena, gpu, inputs, other ? 2 : 1, &how));
  timing->bench = answer;
  take_answer(timing, 0);
  if (!other) return;
  other->bench = answer;
  take_answer(other, 1);
}
