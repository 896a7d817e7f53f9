// Three parts, a table each.
//
//   check     every kind of kernel, right and wrong, on shapes that divide and that do not, in all
//             layouts and types: what each should be called is written beside it
//   time      the simple and the tiled kernel in one job with cuBLAS, at the sizes asked for; then
//             the same plan twice, twenty times: a pair that is called different is a false alarm
//   crash     last, since it costs the context: the store through a null pointer must poison it
#include "kernels/device/gpu_selftest.h"
#include "kernels/device/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "kernels/device/bench.h"
#include "kernels/device/driver.h"
#include "kernels/device/gpu_selftest_text.h"
#include "kernels/device/timing.h"

enum { PAIRS = 20, SIZES_MAX = 8 };

typedef enum Verdict { RIGHT, WRONG, UNWRITTEN, OUTSIDE, CRASHED } Verdict;
static const char *const verdict_names[] = {"right", "wrong", "unwritten", "outside", "crashed"};

typedef struct Case {
  const char *name;
  SelftestKind kind;
  Verdict expected;
  int64_t m, n, k;
  PlanType operand, accumulate, output;
  bool a_col_major, b_col_major;
} Case;

static const Case cases[] = {
    {"simple", SELFTEST_SIMPLE, RIGHT, 256, 256, 256, 0, 0, 0, false, false},
    {"simple, odd sizes", SELFTEST_SIMPLE, RIGHT, 301, 77, 133, 0, 0, 0, false, false},
    {"simple, one cell", SELFTEST_SIMPLE, RIGHT, 1, 1, 1, 0, 0, 0, false, false},
    {"simple, A by columns", SELFTEST_SIMPLE, RIGHT, 130, 70, 90, 0, 0, 0, true, false},
    {"simple, B by columns", SELFTEST_SIMPLE, RIGHT, 130, 70, 90, 0, 0, 0, false, true},
    {"simple, both by columns", SELFTEST_SIMPLE, RIGHT, 130, 70, 90, 0, 0, 0, true, true},
    {"simple, long K", SELFTEST_SIMPLE, RIGHT, 128, 128, 16384, 0, 0, 0, false, false},
    {"f16, f32 sum, f16 out", SELFTEST_SIMPLE, RIGHT, 256, 128, 512, PLAN_F16, PLAN_F32, PLAN_F16,
     false, false},
    {"bf16, f32 sum, f32 out", SELFTEST_SIMPLE, RIGHT, 256, 128, 512, PLAN_BF16, PLAN_F32, PLAN_F32,
     false, true},
    {"bf16, f32 sum, bf16 out", SELFTEST_SIMPLE, RIGHT, 64, 64, 64, PLAN_BF16, PLAN_F32, PLAN_BF16,
     false, false},
    {"f16, f16 sum, f16 out", SELFTEST_SIMPLE, RIGHT, 256, 128, 512, PLAN_F16, PLAN_F16, PLAN_F16,
     false, false},
    {"tf32, f32 sum, f32 out", SELFTEST_SIMPLE, RIGHT, 256, 128, 512, PLAN_TF32, PLAN_F32, PLAN_F32,
     false, false},
    {"f64", SELFTEST_SIMPLE, RIGHT, 128, 64, 256, PLAN_F64, PLAN_F64, PLAN_F64, false, false},
    {"tiled", SELFTEST_TILED, RIGHT, 512, 384, 256, 0, 0, 0, false, false},
    {"split K, atomics", SELFTEST_SPLIT_K, RIGHT, 200, 120, 1000, 0, 0, 0, false, false},
    {"split K, partials", SELFTEST_PARTIALS, RIGHT, 200, 120, 1000, 0, 0, 0, false, false},
    {"one product left out", SELFTEST_SHORT_K, WRONG, 256, 256, 4096, 0, 0, 0, false, false},
    {"last row not written", SELFTEST_UNWRITTEN, UNWRITTEN, 130, 70, 90, 0, 0, 0, false, false},
    {"atomics without zero", SELFTEST_UNZEROED, WRONG, 130, 70, 90, 0, 0, 0, false, false},
    {"store before C", SELFTEST_OUTSIDE, OUTSIDE, 64, 64, 64, 0, 0, 0, false, false},
    {"load behind A", SELFTEST_STRAY_READ, WRONG, 64, 64, 64, 0, 0, 0, false, false},
};

static Plan shape_of(const Gpu *gpu, Arena *arena, const Case *c) {
  return (Plan){.arch = gpu_arch(arena, gpu),
                .label = c->name,
                .operand_type = c->operand,
                .accumulate_type = c->accumulate,
                .output_type = c->output,
                .m = c->m,
                .n = c->n,
                .k = c->k,
                .a_col_major = c->a_col_major,
                .b_col_major = c->b_col_major};
}

static Verdict judge(const BenchResult *result) {
  const VerifyResult *verify = &result->entries[0].verify;
  if (result->poisoned || !verify->ran) return CRASHED;
  if (verify->ok) return RIGHT;
  if (verify->n_outside) return OUTSIDE;
  return verify->n_unwritten == verify->n_wrong ? UNWRITTEN : WRONG;
}

static bool run_case(Gpu *gpu, const Case *c) {
  Arena *arena = arena_new("self test case");
  Plan shape = shape_of(gpu, arena, c);
  const BenchInput input = {selftest_plan(arena, c->kind, &shape), NULL, 0, NULL};
  const BenchOptions options = {.budget_s = 0.05};
  BenchResult *result = bench_run(arena, gpu, &input, 1, &options);
  const BenchEntry *entry = &result->entries[0];
  const BenchReference *reference = &result->reference;
  Verdict got = judge(result);
  // A sum added to the poison may keep the poison's very bits.
  bool fits = got == c->expected || (c->expected == WRONG && got == UNWRITTEN);
  // If the plan is right, cuBLAS must agree with the float64 product too.
  bool reference_fits = got != RIGHT || (reference->ok && reference->verify.ok);
  printf("%-26s %-10s %-10s %-8s %s\n", c->name, verdict_names[c->expected], verdict_names[got],
         !fits            ? "NO"
         : reference_fits ? "yes"
                          : "cuBLAS!",
         !reference_fits && reference->error ? reference->error
         : entry->error                      ? entry->error
         : result->error                     ? result->error
                                             : verify_sentence(arena, &entry->verify));
  fflush(stdout);
  arena_free(arena);
  return fits && reference_fits;
}

static bool run_checks(Gpu *gpu) {
  int failed = 0;
  printf("%-26s %-10s %-10s %-8s\n", "kernel", "expected", "found", "agree");
  for (size_t i = 0; i < sizeof cases / sizeof *cases && !gpu_poisoned(gpu); i++)
    failed += !run_case(gpu, &cases[i]);
  return failed == 0 && !gpu_poisoned(gpu);
}

static void print_row(const char *name, const Timing *time, double tflops, double ratio) {
  printf("  %-28s %10.1f us  %7.2f TFLOP/s  %5.3f  p10..p90 %.1f..%.1f us  %d x %d\n", name,
         time->median_ns / 1e3, tflops, ratio, time->p10_ns / 1e3, time->p90_ns / 1e3,
         time->n_samples, time->launches_per_sample);
}

static void print_state(const char *when, const GpuState *state) {
  if (!state->known) return;
  printf("  %s: SM %d MHz, memory %d MHz, %.0f W, %d C, throttle: %s\n", when, state->sm_mhz,
         state->memory_mhz, state->power_w, state->temperature_c,
         state->throttle_text ? state->throttle_text : "not known");
}

static bool run_timing(Gpu *gpu, int64_t m, int64_t n, int64_t k, bool flush) {
  Arena *arena = arena_new("self test timing");
  const bool divides = m % 128 == 0 && n % 128 == 0 && k % 8 == 0;
  Case c = {.name = "tiled 128x128", .m = m, .n = n, .k = k};
  Plan shape = shape_of(gpu, arena, &c);
  Plan *simple = selftest_plan(arena, SELFTEST_SIMPLE, &shape);
  simple->label = "simple";
  BenchInput inputs[2] = {{simple, NULL, 0, NULL}};
  int n_inputs = 1;
  if (divides) inputs[n_inputs++].plan = selftest_plan(arena, SELFTEST_TILED, &shape);
  const BenchOptions options = {.flush_l2 = flush};
  BenchResult *result = bench_run(arena, gpu, inputs, n_inputs, &options);
  printf("%lld x %lld x %lld on %s, %s\n", (long long)m, (long long)n, (long long)k, result->gpu,
         result->method);
  for (int i = 0; i < n_inputs; i++) {
    const BenchEntry *entry = &result->entries[i];
    if (entry->ok)
      print_row(entry->label, &entry->time, entry->tflops, entry->ratio);
    else
      printf("  %-28s %s\n", entry->label, entry->error ? entry->error : "not measured");
  }
  if (result->reference.ok)
    print_row(result->reference.name, &result->reference.time, result->reference.tflops, 1);
  else
    printf("  cuBLAS: %s\n", result->reference.error ? result->reference.error : "not measured");
  printf("  %d rows of %s tried; verified in %.0f ms; %.2f s in all\n",
         result->reference.n_candidates,
         result->reference.library ? result->reference.library : "cuBLAS", result->verify_ms,
         result->total_ms / 1e3);
  print_state("before", &result->before);
  print_state("after", &result->after);
  if (result->error) printf("  %s\n", result->error);
  bool ok = result->ok && result->reference.ok;
  arena_free(arena);
  return ok;
}

// The same plan twice: how often are the two called different?
static bool run_pairs(Gpu *gpu) {
  int different = 0, measured = 0;
  double largest = 0;
  for (int i = 0; i < PAIRS; i++) {
    Arena *arena = arena_new("self test pair");
    const Case c = {.name = "twin", .m = 1024, .n = 1024, .k = 1024};
    Plan shape = shape_of(gpu, arena, &c);
    const Plan *plan = selftest_plan(arena, SELFTEST_TILED, &shape);
    const BenchInput inputs[2] = {{plan, NULL, 0, NULL}, {plan, NULL, 0, NULL}};
    const BenchOptions options = {.budget_s = 0.2, .no_reference = true};
    BenchResult *result = bench_run(arena, gpu, inputs, 2, &options);
    const Timing *a = &result->entries[0].time, *b = &result->entries[1].time;
    if (result->ok) {
      double off = a->median_ns / b->median_ns - 1;
      off = off < 0 ? -off : off;
      largest = off > largest ? off : largest;
      measured++;
      different += bench_differs(a, b);
    }
    arena_free(arena);
  }
  printf("the same kernel twice: %d of %d pairs called different, largest distance %.2f %%\n",
         different, measured, 100 * largest);
  return measured == PAIRS && different <= 1;
}

static bool run_crash(Gpu *gpu) {
  const Case crash = {.name = "null pointer",
                      .kind = SELFTEST_CRASH,
                      .expected = CRASHED,
                      .m = 64,
                      .n = 64,
                      .k = 64};
  const Case after = {.name = "after the crash",
                      .kind = SELFTEST_SIMPLE,
                      .expected = CRASHED,
                      .m = 64,
                      .n = 64,
                      .k = 64};
  bool ok = run_case(gpu, &crash) && gpu_poisoned(gpu);
  return run_case(gpu, &after) && ok;
}

static bool parse_size(const char *text, int64_t size[3]) {
  char *end = NULL;
  size[0] = size[1] = size[2] = strtoll(text, &end, 10);
  for (int d = 1; d < 3 && *end == 'x'; d++) size[d] = strtoll(end + 1, &end, 10);
  for (int d = 0; d < 3; d++)
    if (size[d] < 1 || size[d] > 65536) return false;
  return *end == '\0' && end != text;
}

int gpu_selftest_main(int argc, char **argv) {
  int64_t sizes[SIZES_MAX][3] = {{1024, 1024, 1024}, {4096, 4096, 4096}};
  int n_sizes = argc > 1 ? argc - 1 : 2;
  for (int i = 1; i < argc; i++)
    if (i > SIZES_MAX || !parse_size(argv[i], sizes[i - 1])) {
      fprintf(stderr, "%s is no size: 4096 or 128x128x16384, each 1 to 65536, at most %d of them\n",
              argv[i], (int)SIZES_MAX);
      return 2;
    }
  Arena *arena = arena_new("self test");
  const char *error = NULL;
  Gpu *gpu = gpu_open(arena, 0, &error);
  if (!gpu) {
    fprintf(stderr, "%s\n", error);
    arena_free(arena);
    return 3;
  }
  const GpuInfo *info = gpu_info(gpu);
  printf("%s, sm_%d%d, %d SMs, driver %s, CUDA %s\n", info->name, info->capability_major,
         info->capability_minor, (int)info->device.sm_count, info->driver, info->cuda);
  bool ok = run_checks(gpu);
  for (int i = 0; i < n_sizes && !gpu_poisoned(gpu); i++)
    ok = run_timing(gpu, sizes[i][0], sizes[i][1], sizes[i][2], false) && ok;
  if (!gpu_poisoned(gpu)) ok = run_timing(gpu, 1024, 1024, 1024, true) && ok;
  if (!gpu_poisoned(gpu)) ok = run_pairs(gpu) && ok;
  ok = run_crash(gpu) && ok;
  gpu_close(gpu);
  arena_free(arena);
  printf("%s\n", ok ? "all as expected" : "NOT as expected");
  return ok ? 0 : 1;
}
