// The law, for a slab of a block: units overlap, but not wholly, so the clocks c of fma, shared,
// global, L2 and DRAM, each times what that unit loses, add up as a norm of the order 4; warps that
// are few leave latency in the open, 1 + 3 / warps of an SM; a spread of up to 6 % comes of the
// state's hash.
//
//   128 × 128, BK = 16, on an H200: fma 2048 · 1.06, shared 1856 · 1.25, L2 702 · 1.6
//   → (2171⁴ + 2320⁴ + 1123⁴)^¼ = 2694 clocks; 8 warps: · 1.375; 2.2 times what the roofline says
#include "kernels/worker/worker_simulate.h"

#include <math.h>
#include <string.h>

#include "base/embed.h"
#include "base/hash.h"
#include "base/str.h"
#include "kernels/device/history/recorded.h"
#include "model/readings/model.h"

typedef struct Recording {
  uint64_t identity;
  double time_ns;
} Recording;

struct Simulation {
  TargetTable targets;
  int n;
  Recording *recorded;
};

static int count_rows(const Recorded *recorded) { return recorded ? recorded->n_rows : 0; }

static void add_rows(Simulation *simulation, const Recorded *recorded, Diags *diags) {
  for (int i = 0; i < count_rows(recorded); i++) {
    const RecordedRow *row = &recorded->rows[i];
    Schedule schedule = schedule_plain();
    if (row->time_ns > 0 && schedule_parse(&schedule, row->state, diags))
      simulation->recorded[simulation->n++] =
          (Recording){schedule_identity(&schedule), row->time_ns};
  }
}

static void read_recorded(Arena *arena, Simulation *simulation, Diags *diags) {
  const EmbeddedList files = embed_list(arena, "results/");
  const Recorded **recorded = ARENA_ARRAY(arena, const Recorded *, files.count);
  int n = 0;
  for (int i = 0; i < files.count; i++) {
    const EmbeddedFile *file = embed_find(arena, files.paths[i]);
    recorded[i] = recorded_read_json(arena, file->text, file->size, file->path, diags);
    n += count_rows(recorded[i]);
  }
  simulation->recorded = ARENA_ARRAY(arena, Recording, n);
  for (int i = 0; i < files.count; i++) add_rows(simulation, recorded[i], diags);
}

Simulation *simulation_new(Arena *arena) {
  Simulation *simulation = ARENA_NEW(arena, Simulation);
  Diags diags = diags_new(arena);
  const EmbeddedFile *file = embed_find(arena, "gpus.json");
  if (!file || !targets_parse(arena, file->text, file->size, &diags, &simulation->targets))
    return NULL;
  read_recorded(arena, simulation, &diags);
  return simulation;
}

static double loss(const Traffic *t) {
  static const double factor[TRAFFIC_UNITS] = {1.06, 1.25, 1.3, 1.6, 1.3, 1.3, 1.3};
  TrafficUnit unit[TRAFFIC_UNITS];
  double sum = 0, most = 0;
  const int n = traffic_units(t, false, unit);
  for (int i = 0; i < n; i++) {
    if (!(unit[i].clocks > 0)) continue;
    sum += pow(factor[i] * unit[i].clocks, 4);
    most = fmax(most, unit[i].clocks);
  }
  return most > 0 ? pow(sum, 0.25) / most : 1;
}

static double law_ns(const Model *model, uint64_t hash) {
  const Traffic *t = &model->traffic;
  const double warps = fmax(1, (double)(model->resources.blocks_per_sm * model->resources.n_warps));
  const double spread = 1 + 0.06 * (double)(hash % 1000) / 1000;
  return t->flop / t->roofline_tflops * 1e-3 * loss(t) * (1 + 3 / warps) * spread;
}

static double recorded_ns(const Simulation *simulation, uint64_t identity) {
  for (int i = 0; i < simulation->n; i++)
    if (simulation->recorded[i].identity == identity) return simulation->recorded[i].time_ns;
  return 0;
}

double simulation_ns(const Simulation *simulation, const Plan *plan, double speed) {
  Arena *arena = arena_new("simulate");
  Diags diags = diags_new(arena);
  Schedule schedule = schedule_plain();
  double ns = 0;
  if (plan->label && schedule_parse(&schedule, plan->label, &diags)) {
    const uint64_t identity = schedule_identity(&schedule);
    const Model *model = model_build(arena, &simulation->targets, &schedule);
    ns = recorded_ns(simulation, identity);
    if (ns == 0 && model->ok && model->traffic.roofline_tflops > 0)
      ns = law_ns(model, hash_bytes(HASH_START, &identity, sizeof identity));
  }
  arena_free(arena);
  return ns / speed;
}

// The time of cuBLAS: at three quarters of the peak of the problem's type.
static double simulation_cublas_ns(const Simulation *simulation, const Plan *plan, double speed) {
  const Target *target = target_find(&simulation->targets, plan->arch, NULL);
  const double tflops = !target                           ? 1
                        : plan->operand_type == PLAN_F32  ? target->fp32_tflops
                        : plan->operand_type == PLAN_TF32 ? target->tf32_tflops
                                                          : target->bf16_tflops;
  return plan_flops(plan) / (0.75 * tflops * speed) * 1e-3;
}

CompileResult *simulation_compile(Arena *arena, const Plan *plan) {
  CompileResult *result = ARENA_NEW(arena, CompileResult);
  *result = (CompileResult){.ok = true,
                            .log = "",
                            .cubin_bytes = 4096,
                            .ptx_ms = 1,
                            .cubin_ms = 1,
                            .n_kernels = plan->n_kernels,
                            .compiler = "NVRTC fake"};
  for (int i = 0; i < plan->n_kernels; i++)
    result->kernels[i] =
        (KernelResources){.name = plan->kernels[i].name, .registers = 128, .instructions = -1};
  return result;
}

static Timing timing_of(double ns) {
  return (Timing){.median_ns = ns,
                  .min_ns = ns,
                  .p10_ns = ns,
                  .p25_ns = ns,
                  .p75_ns = ns,
                  .p90_ns = ns,
                  .n_samples = 10,
                  .launches_per_sample = 1};
}

static BenchEntry entry_of(const Plan *plan, double ns, double cublas_ns) {
  return (BenchEntry){.label = plan->label,
                      .ok = true,
                      .verify = {.ran = true, .ok = true, .first_row = -1, .first_col = -1},
                      .time = timing_of(ns),
                      .tflops = plan_flops(plan) / ns * 1e-3,
                      .ratio = cublas_ns > 0 ? cublas_ns / ns : 0,
                      .blocks_per_sm = 1,
                      .registers = 128,
                      .local_bytes = 0};
}

BenchResult *simulation_bench(Arena *arena, const Simulation *simulation, const Plan *const *plans,
                              int n, bool reference, const char *gpu, double speed) {
  const GpuState unknown = {.sm_mhz = -1, .memory_mhz = -1, .temperature_c = -1, .power_w = -1};
  const double cublas_ns = reference ? simulation_cublas_ns(simulation, plans[0], speed) : 0;
  BenchResult *result = ARENA_NEW(arena, BenchResult);
  *result = (BenchResult){.ok = true,
                          .n_entries = n,
                          .before = unknown,
                          .after = unknown,
                          .seed = 1,
                          .m = plans[0]->m,
                          .n = plans[0]->n,
                          .k = plans[0]->k,
                          .gpu = gpu,
                          .gpu_uuid = "GPU-fake",
                          .driver = "fake",
                          .cuda = "fake",
                          .date = "2026-01-01T00:00:00Z",
                          .method = "brief: simulated, L2 warm"};
  for (int i = 0; i < n; i++) {
    const double ns = simulation_ns(simulation, plans[i], speed);
    if (!(ns > 0)) return NULL;
    result->entries[i] = entry_of(plans[i], ns, cublas_ns);
  }
  if (!reference) return result;
  result->method = "hot: simulated, L2 warm";
  result->reference = (BenchReference){.ok = true,
                                       .name = "simulated",
                                       .library = "simulated",
                                       .n_candidates = 1,
                                       .verify = {.ran = true, .ok = true},
                                       .time = timing_of(cublas_ns),
                                       .tflops = plan_flops(plans[0]) / cublas_ns * 1e-3};
  return result;
}
