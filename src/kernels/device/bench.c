// The job: load, verify, choose the reference, time in turns, verify again.
//
//   1. every plan runs once on poisoned memory and every cell of C is checked; a plan that fails,
//      or crashes, has no speed
//   2. cuBLAS's fastest right row is found (once per problem)
//   3. warm-up in turns for some 100 ms, or a second, so that the clocks are where they will stay
//   4. rounds: each participant runs one batch, in an order that rotates and turns around (A B ref,
//      B A ref, ref A B, …), so that a drifting clock meets all alike and none always follows the
//      same neighbour
//   5. every timed plan is verified once more, since a race may spare the first run
//
// A batch is [spin, start event, launches, stop event]: the spin kernel keeps the GPU busy while
// the host queues the batch, so short kernels are not measured at the speed of the host. With the
// L2 flushed, a batch is one product after a memset of twice the L2's size.
//
// Worked example, f32 4096³ on an H200: batches of one launch (2.7 ms and 3.1 ms), a round of 5.8
// ms, 2 s hold 344 rounds. 128 × 128 × 128: 5 µs each, batches of 60, the limit of 400 rounds in
// 0.3 s.
//
// Turns are short (0.3 ms) or hot (300 ms, at least eight rounds; timing.h). On a card that is held
// at its power the clock follows the load, so what is hot is compared within a round: the ratio is
// the median of the rounds' ratios. Both batches of a round see nearly the same clock.
//
// Brief turns are for a search, whose best are timed again: 5 ms of warm-up, 10 ms of rounds, and
// no check behind them. A product that takes longer than that by itself is timed once.
//
// Clocks are read while the GPU works: "before" after the warm-up, "after" with the last round in
// flight.
#include "kernels/device/bench.h"

#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "kernels/device/driver.h"
#include "kernels/device/gpu.h"
#include "kernels/device/peer.h"
#include "kernels/device/timing.h"

enum { PARTICIPANTS_MAX = BENCH_MAX_PLANS + 1, REFERENCE_LAUNCHES = 2 };

typedef struct Participant {
  GpuProgram *program;  // NULL = the reference
  bool by_peer;         // which is in a process of its own: `waited_ns` is of its last batch
  double waited_ns;
  BenchEntry *entry;  // likewise
  Timing *time;
  double batch_ns;
  int batch;
  void *start, *stop;
  double samples[TIMING_SAMPLES_MAX];
  int n_samples;
} Participant;

typedef struct Bench {
  Arena *arena;
  Gpu *gpu;
  const BenchOptions *options;
  const TimingTurns *turns;
  const BenchInput *inputs;
  int n_inputs;
  BenchResult *result;
  GpuProgram programs[BENCH_MAX_PLANS];
  int peer_row;
  int n_participants;
  Participant *participants[PARTICIPANTS_MAX];
} Bench;

static const char *last_error(const Bench *bench) {
  return str_sanitise(bench->arena, gpu_error(bench->gpu));
}

// The whole job ends with this sentence; false for the caller to return.
static bool stop(Bench *bench, const char *sentence) {
  if (!bench->result->error) bench->result->error = sentence;
  return false;
}

// False when the job is to stop here.
static bool report(Bench *bench, const char *stage, double fraction) {
  const BenchOptions *options = bench->options;
  if (!options->progress || !options->progress(options->context, stage, fraction)) return true;
  bench->result->cancelled = true;
  return stop(bench, "cancelled");
}

// A cubin made for another architecture gives an error from the driver that names neither.
static const char *arch_mismatch(Bench *bench, const Plan *plan) {
  const GpuInfo *info = gpu_info(bench->gpu);
  int number = 0;
  const char *c = plan->arch + 3;
  for (; *c >= '0' && *c <= '9'; c++) number = number * 10 + *c - '0';
  int own = info->capability_major * 10 + info->capability_minor;
  bool fits = *c == 'a' ? number == own : number / 10 == info->capability_major && number <= own;
  if (fits) return NULL;
  return arena_printf(bench->arena, "compiled for %s, but the %s is sm_%d", plan->arch, info->name,
                      own);
}

static bool load(Bench *bench, int i) {
  BenchEntry *entry = &bench->result->entries[i];
  BenchInput input = bench->inputs[i];
  entry->error = arch_mismatch(bench, input.plan);
  if (entry->error) return false;
  if (!input.cubin && !input.ptx) {
    CompileResult *compiled = nvrtc_compile(bench->arena, input.plan, COMPILE_BOTH);
    if (!compiled->ok) {
      entry->error = compiled->error;
      return false;
    }
    input.cubin = compiled->cubin;
    input.ptx = compiled->ptx;
  }
  if (gpu_load(bench->gpu, &input, &bench->programs[i]) &&
      problem_reserve_workspaces(bench->gpu, input.plan)) {
    gpu_describe(bench->gpu, &bench->programs[i], entry);
    return true;
  }
  entry->error = last_error(bench);
  return false;
}

// Checks every cell of one run on poisoned memory. False when this plan is out.
static bool verify(Bench *bench, int i) {
  BenchEntry *entry = &bench->result->entries[i];
  Gpu *gpu = bench->gpu;
  if (!problem_poison(gpu) || !gpu_launch(gpu, &bench->programs[i]) || !gpu_wait(gpu) ||
      !problem_compare(bench->arena, gpu, bench->inputs[i].plan, &entry->verify)) {
    entry->error = last_error(bench);
    return false;
  }
  if (!entry->verify.ok) entry->error = verify_sentence(bench->arena, &entry->verify);
  return entry->verify.ok;
}

static bool add_participant(Bench *bench, GpuProgram *program, BenchEntry *entry) {
  Participant *participant = ARENA_NEW(bench->arena, Participant);
  const CudaApi *cuda = bench->gpu->cuda;
  participant->program = program;
  participant->entry = entry;
  participant->by_peer = !program && plan_is_attention(bench->inputs[0].plan);
  participant->time = entry ? &entry->time : &bench->result->reference.time;
  bench->participants[bench->n_participants++] = participant;
  return (gpu_check(bench->gpu, cuda->cuEventCreate(&participant->start, CU_EVENT_DEFAULT),
                    "cuEventCreate") &&
          gpu_check(bench->gpu, cuda->cuEventCreate(&participant->stop, CU_EVENT_DEFAULT),
                    "cuEventCreate")) ||
         stop(bench, last_error(bench));
}

static bool launch_one(Gpu *gpu, const Participant *participant) {
  return participant->program ? gpu_launch(gpu, participant->program) : reference_launch(gpu);
}

static bool flush_l2(Gpu *gpu) {
  const int64_t bytes =
      2 * (int64_t)(gpu->info.device.l2_bytes > 0 ? gpu->info.device.l2_bytes : 64 << 20);
  return gpu_alloc(gpu, &gpu->flush, bytes, "the L2 flush") &&
         gpu_fill_bytes(gpu, &gpu->flush, 0, false);
}

// A turn of the peer's begins when the ones before have ended, and is over when this returns.
static bool run_peer(Bench *bench, Participant *participant, int batch) {
  const BenchPeer *peer = bench->options->peer;
  if (!gpu_wait(bench->gpu)) return false;
  return peer->run(peer->context, bench->peer_row, batch, &participant->waited_ns) ||
         gpu_refuse(bench->gpu, "the reference ended while it was timed");
}

// Queues [flush] [spin] start, `batch` products, stop; does not wait.
static bool queue_batch(Bench *bench, Participant *participant, int batch) {
  Gpu *gpu = bench->gpu;
  const CudaApi *cuda = gpu->cuda;
  if (participant->by_peer) return run_peer(bench, participant, batch);
  if (bench->options->flush_l2 && !flush_l2(gpu)) return false;
  if (!gpu_spin(gpu, timing_spin_us(batch)) ||
      !gpu_check(gpu, cuda->cuEventRecord(participant->start, gpu->stream), "cuEventRecord"))
    return false;
  for (int i = 0; i < batch; i++)
    if (!launch_one(gpu, participant)) return false;
  return gpu_check(gpu, cuda->cuEventRecord(participant->stop, gpu->stream), "cuEventRecord");
}

static bool elapsed_ns(Gpu *gpu, const Participant *participant, double *ns) {
  float ms = 0;
  *ns = participant->waited_ns;
  if (participant->by_peer) return true;
  if (!gpu_check(gpu, gpu->cuda->cuEventSynchronize(participant->stop), "cuEventSynchronize") ||
      !gpu_check(gpu, gpu->cuda->cuEventElapsedTime(&ms, participant->start, participant->stop),
                 "cuEventElapsedTime"))
    return false;
  *ns = (double)ms * 1e6;
  return true;
}

static bool run_batch(Bench *bench, Participant *participant, int batch, double *ns) {
  return queue_batch(bench, participant, batch) && elapsed_ns(bench->gpu, participant, ns);
}

static double budget_s(const Bench *bench) {
  return bench->options->budget_s > 0 ? bench->options->budget_s : bench->turns->budget_s;
}

// Whether one run says all that brief turns want to know: the kernel is slow.
static bool is_enough(const Bench *bench, const Participant *participant) {
  return bench->options->brief && bench->n_participants == 1 &&
         participant->batch_ns > budget_s(bench) * 1e9;
}

// The second of two single runs sizes the batch: the first may still load something.
static bool estimate(Bench *bench, Participant *participant) {
  double ns = 0;
  if (!run_batch(bench, participant, 1, &ns)) return false;
  participant->batch_ns = ns;
  if (is_enough(bench, participant)) {
    participant->batch = 1;
    participant->samples[participant->n_samples++] = ns;
    return true;
  }
  if (!run_batch(bench, participant, 1, &ns)) return false;
  const int launches =
      participant->program ? participant->program->n_functions : REFERENCE_LAUNCHES;
  participant->batch = bench->options->flush_l2 ? 1 : timing_batch(bench->turns, ns, launches);
  return true;
}

static bool warm_up(Bench *bench) {
  double spent_ns = 0, ns = 0;
  do {
    for (int i = 0; i < bench->n_participants; i++) {
      Participant *participant = bench->participants[i];
      if (!run_batch(bench, participant, participant->batch, &ns)) return false;
      participant->batch_ns = ns;
      spent_ns += ns > 1000 ? ns : 1000;
    }
  } while (spent_ns < bench->turns->warm_up_ns);
  return true;
}

static bool run_round(Bench *bench, int round, bool last) {
  const int n = bench->n_participants;
  for (int i = 0; i < n; i++) {
    Participant *participant = bench->participants[timing_turn(round, i, n)];
    if (!queue_batch(bench, participant, participant->batch)) return false;
  }
  if (last) bench->result->after = gpu_state(bench->arena, bench->gpu);
  for (int i = 0; i < n; i++) {
    Participant *participant = bench->participants[i];
    double ns = 0;
    if (!elapsed_ns(bench->gpu, participant, &ns)) return false;
    participant->samples[participant->n_samples++] = ns / participant->batch;
  }
  return true;
}

static double round_ns(const Bench *bench) {
  double ns = 0;
  for (int i = 0; i < bench->n_participants; i++) {
    const Participant *participant = bench->participants[i];
    ns += participant->batch_ns + 1000 * timing_spin_us(participant->batch);
  }
  return ns;
}

static bool time_rounds(Bench *bench) {
  const TimingTurns *turns = bench->turns;
  const double started = clock_seconds();
  int rounds = timing_rounds(turns, budget_s(bench), round_ns(bench));
  for (int round = 0; round < rounds; round++) {
    // The estimate may have been too kind; the budget is a promise to the user who waits.
    if (round >= turns->rounds_min && round + 1 < rounds &&
        clock_seconds() - started > budget_s(bench))
      rounds = round + 1;
    if (!report(bench, "time", (double)round / rounds)) return false;
    if (!run_round(bench, round, round + 1 == rounds)) return stop(bench, last_error(bench));
  }
  return true;
}

static void destroy_events(Bench *bench) {
  Gpu *gpu = bench->gpu;
  for (int i = 0; i < bench->n_participants; i++) {
    void *const events[2] = {bench->participants[i]->start, bench->participants[i]->stop};
    for (int e = 0; e < 2; e++)
      if (events[e] && !gpu->poisoned)
        gpu_check(gpu, gpu->cuda->cuEventDestroy_v2(events[e]), "cuEventDestroy");
  }
}

// Before the samples are sorted: the i-th samples of all participants are of one round. A drift
// raises the ratio of one round and lowers the ratio of the next, where the order is turned around,
// so their number is even.
static void compare_rounds(Bench *bench) {
  const Participant *last = bench->participants[bench->n_participants - 1];
  if (!bench->result->hot || last->program) return;
  for (int p = 0; p + 1 < bench->n_participants; p++) {
    const Participant *participant = bench->participants[p];
    double ratios[TIMING_SAMPLES_MAX];
    const int n = participant->n_samples > 1 ? participant->n_samples / 2 * 2 : 1;
    for (int i = 0; i < n; i++) ratios[i] = last->samples[i] / participant->samples[i];
    participant->entry->ratio = timing_median(ratios, n);
    participant->entry->ratio_min = ratios[0];
    participant->entry->ratio_max = ratios[n - 1];
  }
}

static bool time_all(Bench *bench) {
  for (int i = 0; i < bench->n_participants; i++)
    if (!estimate(bench, bench->participants[i])) return stop(bench, last_error(bench));
  const bool enough = is_enough(bench, bench->participants[0]);
  if (!enough && !warm_up(bench)) return stop(bench, last_error(bench));
  bench->result->before = gpu_state(bench->arena, bench->gpu);
  if (!enough && !time_rounds(bench)) return false;
  compare_rounds(bench);
  for (int i = 0; i < bench->n_participants; i++) {
    Participant *participant = bench->participants[i];
    *participant->time =
        timing_of_samples(participant->samples, participant->n_samples, participant->batch);
  }
  return true;
}

static void verify_again(Bench *bench) {
  for (int i = 0; i < bench->n_inputs; i++) {
    BenchEntry *entry = &bench->result->entries[i];
    if (entry->error || entry->time.n_samples == 0) continue;
    entry->ok = bench->options->brief || verify(bench, i);
    if (entry->ok) continue;
    entry->time = (Timing){0};
    entry->ratio = entry->ratio_min = entry->ratio_max = 0;
    entry->error = arena_printf(bench->arena, "right at first, wrong after %d rounds of timing: %s",
                                bench->participants[0]->n_samples, entry->error);
  }
}

static double tflops(const Plan *plan, const Timing *time) {
  return time->n_samples ? plan_flops(plan) / time->median_ns * 1e-3 : 0;
}

static void derive(Bench *bench) {
  BenchResult *result = bench->result;
  BenchReference *reference = &result->reference;
  reference->tflops = tflops(bench->inputs[0].plan, &reference->time);
  result->ok = !result->error;
  for (int i = 0; i < bench->n_inputs; i++) {
    BenchEntry *entry = &result->entries[i];
    entry->tflops = tflops(bench->inputs[i].plan, &entry->time);
    if (!result->hot && entry->time.n_samples && reference->time.n_samples)
      entry->ratio = reference->time.median_ns / entry->time.median_ns;
    result->ok = result->ok && entry->ok;
  }
}

static bool verify_all(Bench *bench) {
  const double started = clock_seconds();
  const Plan *first = bench->inputs[0].plan;
  bool any = false;
  if (!report(bench, "verify", 0)) return false;
  if (!problem_is_ready(bench->gpu, first, bench->result->seed)) reference_release(bench->gpu);
  if (!problem_prepare(bench->gpu, first, bench->result->seed))
    return stop(bench, last_error(bench));
  for (int i = 0; i < bench->n_inputs; i++) {
    if (!report(bench, "verify", (double)(i + 1) / (bench->n_inputs + 1))) return false;
    bool right = load(bench, i) && verify(bench, i);
    any = any || right;
    if (right && bench->options->verify_only) bench->result->entries[i].ok = true;
    if (gpu_poisoned(bench->gpu)) return stop(bench, last_error(bench));
  }
  bench->result->verify_ms = (clock_seconds() - started) * 1e3;
  return any;
}

static bool add_participants(Bench *bench) {
  BenchResult *result = bench->result;
  for (int i = 0; i < bench->n_inputs; i++)
    if (!result->entries[i].error &&
        !add_participant(bench, &bench->programs[i], &result->entries[i]))
      return false;
  if (bench->options->no_reference) return true;
  if (!report(bench, "reference", 0)) return false;
  const Plan *plan = bench->inputs[0].plan;
  const BenchPeer *peer = plan_is_attention(plan) ? bench->options->peer : NULL;
  bool found =
      peer ? peer_choose(bench->arena, bench->gpu, plan, peer, &result->reference, &bench->peer_row)
           : reference_choose(bench->arena, bench->gpu, plan, result->hot, &result->reference);
  if (gpu_poisoned(bench->gpu)) return stop(bench, last_error(bench));
  return !found || add_participant(bench, NULL, NULL);
}

static const char *method_text(const Bench *bench) {
  const char *how =
      bench->options->hot
          ? "batches of 300 ms timed by events, in turns after a second of load; medians of "
            "times and of the ratios of a round; cuBLAS's row chosen the same way"
          : "median of interleaved batches timed by events";
  return arena_printf(
      bench->arena,
      "%s: %s, L2 %s, random %s data (seed %llu), every cell checked against "
      "float64 before%s",
      bench->turns->name, how, bench->options->flush_l2 ? "flushed before each product" : "warm",
      plan_data_names[bench->inputs[0].plan->data], (unsigned long long)bench->result->seed,
      bench->options->brief ? "" : " and after");
}

static void fill_header(Bench *bench) {
  BenchResult *result = bench->result;
  const GpuInfo *info = gpu_info(bench->gpu);
  const Plan *plan = bench->inputs[0].plan;
  const GpuState unknown = {.sm_mhz = -1, .memory_mhz = -1, .temperature_c = -1, .power_w = -1};
  result->before = result->after = unknown;
  result->n_entries = bench->n_inputs;
  result->seed = bench->options->seed ? bench->options->seed : 1;
  result->l2_flushed = bench->options->flush_l2;
  result->hot = bench->options->hot;
  result->m = plan->m;
  result->n = plan->n;
  result->k = plan->k;
  result->gpu = arena_strdup(bench->arena, info->name);
  result->gpu_uuid = arena_strdup(bench->arena, info->uuid);
  result->driver = arena_strdup(bench->arena, info->driver);
  result->cuda = arena_strdup(bench->arena, info->cuda);
  result->date = gpu_date_now(bench->arena);
  result->method = method_text(bench);
  for (int i = 0; i < bench->n_inputs; i++) {
    BenchEntry *entry = &result->entries[i];
    entry->label = bench->inputs[i].plan->label ? bench->inputs[i].plan->label : "";
    entry->blocks_per_sm = entry->registers = entry->local_bytes = -1;
    entry->verify.first_row = entry->verify.first_col = -1;
  }
}

static bool check_inputs(Bench *bench) {
  Diags diags = diags_new(bench->arena);
  if (bench->options->hot && bench->options->flush_l2)
    return stop(bench,
                "hot timing keeps operands in L2, cold timing flushes L2 before each product: "
                "choose one");
  if (bench->options->hot && bench->options->brief)
    return stop(bench, "choose hot or brief turns, not both");
  for (int i = 0; i < bench->n_inputs; i++) {
    if (!plan_check(bench->inputs[i].plan, &diags)) return stop(bench, diags.first->text);
    if (!plan_same_problem(bench->inputs[0].plan, bench->inputs[i].plan))
      return stop(bench, "the plans of one job must compute the same product");
  }
  return true;
}

BenchResult *bench_run(Arena *arena, Gpu *gpu, const BenchInput *inputs, int n_inputs,
                       const BenchOptions *options) {
  const double started = clock_seconds();
  Bench *bench = ARENA_NEW(arena, Bench);
  *bench = (Bench){.arena = arena,
                   .gpu = gpu,
                   .options = options,
                   .turns = options->hot     ? &timing_hot
                            : options->brief ? &timing_brief
                                             : &timing_short,
                   .inputs = inputs};
  bench->result = ARENA_NEW(arena, BenchResult);
  if (n_inputs < 1 || n_inputs > BENCH_MAX_PLANS) {
    stop(bench,
         arena_printf(arena, "%d plans; one job takes 1 to %d", n_inputs, (int)BENCH_MAX_PLANS));
    return bench->result;
  }
  bench->n_inputs = n_inputs;
  fill_header(bench);
  if (check_inputs(bench) && verify_all(bench) && !options->verify_only &&
      add_participants(bench) && time_all(bench))
    verify_again(bench);
  destroy_events(bench);
  for (int i = 0; i < n_inputs; i++) gpu_unload(gpu, &bench->programs[i]);
  derive(bench);
  bench->result->poisoned = gpu_poisoned(gpu);
  if (bench->result->poisoned && !bench->result->error) stop(bench, last_error(bench));
  bench->result->ok = bench->result->ok && !bench->result->poisoned;
  bench->result->total_ms = (clock_seconds() - started) * 1e3;
  return bench->result;
}
