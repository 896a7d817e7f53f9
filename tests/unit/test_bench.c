// The benchmark from end to end on a driver made of host memory (fake_cuda.h): verdicts, layouts,
// reference, failures of every single call; and the statistics alone.
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"
#include "kernels/device/bench.h"
#include "kernels/device/driver.h"
#include "kernels/device/gpu_selftest_text.h"
#include "kernels/device/nvml.h"
#include "kernels/device/timing.h"
#include "kernels/worker/result_json.h"
#include "stress.h"

static Arena *arena;
static void setup(void) {
  arena = arena_new("test bench");
  fake_cuda_install();
}
static void teardown(void) {
  fake_cuda_remove();
  arena_free(arena);
}

static const unsigned char cubin[] = "\177ELF";

static Plan *plan_named(const char *kernel) {
  Plan *plan = ARENA_NEW(arena, Plan);
  *plan = (Plan){.cuda = "text",
                 .arch = "sm_90a",
                 .label = kernel,
                 .m = 20,
                 .n = 24,
                 .k = 12,
                 .tile_m = 8,
                 .tile_n = 8,
                 .n_kernels = 1,
                 .kernels = {{.name = kernel,
                              .grid = {3, 3, 1},
                              .block = {64, 1, 1},
                              .n_args = 3,
                              .args = {PLAN_ARG_A, PLAN_ARG_B, PLAN_ARG_C}}}};
  return plan;
}

static BenchInput input_of(const Plan *plan) {
  return (BenchInput){plan, cubin, sizeof cubin, NULL};
}

static Gpu *open_gpu(void) {
  const char *error = NULL;
  Gpu *gpu = gpu_open(arena, 0, &error);
  ck_assert_msg(gpu != NULL, "%s", error);
  return gpu;
}

static const BenchOptions quick = {.budget_s = 0.001};

static BenchResult *run_plans(const Plan *a, const Plan *b, const BenchOptions *options) {
  BenchInput inputs[2] = {input_of(a), {0}};
  if (b) inputs[1] = input_of(b);
  Gpu *gpu = open_gpu();
  BenchResult *result = bench_run(arena, gpu, inputs, b ? 2 : 1, options);
  bool lost = gpu_poisoned(gpu);
  gpu_close(gpu);
  if (!lost) ck_assert_int_eq(fake_cuda_live(), 0);
  return result;
}

START_TEST(test_right_kernel) {
  BenchResult *result = run_plans(plan_named("gemm"), NULL, &quick);
  const BenchEntry *entry = &result->entries[0];
  ck_assert_msg(result->ok, "%s %s", result->error, entry->error);
  ck_assert(entry->verify.ok && entry->verify.worst < 1);
  ck_assert_int_eq(entry->verify.n_cells, 480);
  ck_assert_double_eq_tol(entry->time.median_ns, 100e3, 100);
  ck_assert_int_eq(entry->time.launches_per_sample, 3);
  ck_assert_int_ge(entry->time.n_samples, 5);
  ck_assert_double_eq_tol(entry->tflops, 2.0 * 20 * 24 * 12 / 100e3 * 1e-3, 1e-9);
  ck_assert_str_eq(result->reference.name, "cublasLt, heuristic 3");
  ck_assert_str_eq(result->reference.library, "cuBLAS 13.1.0");
  ck_assert_int_eq(result->reference.n_candidates, 4);
  ck_assert_double_eq_tol(entry->ratio, 0.7, 0.01);
  ck_assert_int_eq(entry->registers, 128);
  ck_assert_int_eq(entry->blocks_per_sm, 32);
  ck_assert_int_eq(result->after.sm_mhz, 1980);
  ck_assert(result->after.throttled);
  ck_assert_str_eq(result->after.throttle_text, "power cap");
  ck_assert_str_eq(result->driver, "580.00");
  ck_assert_str_eq(result->gpu, "Fake GPU 0");
  ck_assert_int_eq((int)strlen(result->date), 20);
}
END_TEST

START_TEST(test_layouts) {
  Plan *plan = plan_named("gemm");
  plan->a_col_major = _i & 1;
  plan->b_col_major = _i >> 1;
  BenchResult *result = run_plans(plan, NULL, &quick);
  ck_assert_msg(result->ok && result->reference.ok, "%s", result->reference.error);
  ck_assert(result->reference.verify.ok);
  ck_assert_int_eq(result->reference.n_candidates, 4);
}
END_TEST

START_TEST(test_wrong_cell) {
  BenchResult *result = run_plans(plan_named("gemm_wrong"), NULL, &quick);
  const BenchEntry *entry = &result->entries[0];
  const VerifyResult *verify = &entry->verify;
  ck_assert(!result->ok && !entry->ok && !result->error && !result->poisoned);
  ck_assert_int_eq(entry->time.n_samples, 0);
  ck_assert(entry->tflops == 0 && entry->ratio == 0);
  ck_assert_int_eq(verify->n_wrong, 1);
  ck_assert_int_eq(verify->first_row, 3);
  ck_assert_int_eq(verify->first_col, 5);
  ck_assert_double_eq_tol(verify->first_got - verify->first_expected, 1, 1e-4);
  ck_assert(verify->first_bound > 0 && verify->first_bound < 1e-4);
  ck_assert_int_eq(verify->n_map, 9);
  ck_assert_int_eq(verify->map[0], 1);
  ck_assert_int_eq(verify->map[1], 0);
  ck_assert_ptr_nonnull(strstr(entry->error, "1 of 480 cells wrong, first C[3, 5] = "));
}
END_TEST

START_TEST(test_unwritten_row) {
  BenchResult *result = run_plans(plan_named("gemm_short"), NULL, &quick);
  const VerifyResult *verify = &result->entries[0].verify;
  ck_assert_int_eq(verify->n_unwritten, 24);
  ck_assert_int_eq(verify->n_wrong, 24);
  ck_assert(verify->worst == -1 && isnan(verify->first_got));
  ck_assert_int_eq(verify->map[6], 8);
  ck_assert_int_eq(verify->map[0], 0);
}
END_TEST

START_TEST(test_store_outside) {
  BenchResult *result = run_plans(plan_named("gemm_outside"), NULL, &quick);
  ck_assert_int_eq(result->entries[0].verify.n_outside, 1);
  ck_assert_int_eq(result->entries[0].verify.n_wrong, 0);
  ck_assert(!result->ok && result->entries[0].time.n_samples == 0);
}
END_TEST

START_TEST(test_crash) {
  BenchResult *result = run_plans(plan_named("gemm_crash"), plan_named("gemm"), &quick);
  ck_assert(result->poisoned && !result->ok);
  ck_assert_ptr_nonnull(strstr(result->entries[0].error, "CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
  ck_assert_int_eq(result->entries[1].time.n_samples, 0);
}
END_TEST

START_TEST(test_wrong_beside_right) {
  BenchResult *result = run_plans(plan_named("gemm_wrong"), plan_named("gemm"), &quick);
  ck_assert(!result->ok && !result->entries[0].ok && result->entries[1].ok);
  ck_assert_int_gt(result->entries[1].time.n_samples, 0);
  ck_assert_double_eq_tol(result->entries[1].ratio, 0.7, 0.01);
}
END_TEST

START_TEST(test_twins) {
  BenchResult *result = run_plans(plan_named("gemm"), plan_named("gemm"), &quick);
  ck_assert(result->ok && !bench_differs(&result->entries[0].time, &result->entries[1].time));
  ck_assert(bench_differs(&result->entries[0].time, &result->reference.time));
}
END_TEST

START_TEST(test_reference_must_be_right) {
  fake_cublas_round(true);
  BenchResult *result = run_plans(plan_named("gemm"), NULL, &quick);
  ck_assert(result->entries[0].ok && !result->reference.ok);
  ck_assert_ptr_nonnull(strstr(result->reference.error, "cells wrong"));
  ck_assert(result->entries[0].ratio == 0 && result->reference.time.n_samples == 0);
}
END_TEST

START_TEST(test_options) {
  const BenchOptions verify_only = {.verify_only = true};
  BenchResult *result = run_plans(plan_named("gemm"), NULL, &verify_only);
  ck_assert(result->ok && result->entries[0].time.n_samples == 0 && !result->reference.name);
  const BenchOptions alone = {.budget_s = 0.001, .no_reference = true, .flush_l2 = true};
  result = run_plans(plan_named("gemm"), NULL, &alone);
  ck_assert(result->ok && result->l2_flushed && result->entries[0].ratio == 0);
  ck_assert_int_eq(result->entries[0].time.launches_per_sample, 1);
}
END_TEST

// ---- hot ----------------------------------------------------------------------------------------

static const BenchOptions hot = {.hot = true};

// Cool, GemmEx is the fastest row; under load it slows down more than the third heuristic.
static const FakeCublasTimes power_capped = {{60, 200, 62}, {70, 200, 65}};

static BenchResult *run_long(const BenchOptions *options) {
  fake_cuda_set_us("gemm", 50e3);
  fake_cublas_set_times(power_capped);
  BenchResult *result = run_plans(plan_named("gemm"), plan_named("gemm_wrong"), options);
  ck_assert_msg(result->entries[0].ok, "%s %s", result->error, result->entries[0].error);
  return result;
}

START_TEST(test_reference_is_chosen_hot) {
  const BenchResult *cool = run_long(&quick);
  ck_assert(!cool->hot);
  ck_assert_str_eq(cool->reference.name, "cublasGemmEx");
  ck_assert_ptr_nonnull(strstr(cool->method, "short turns, cool: "));
  fake_cuda_remove();
  fake_cuda_install();
  const BenchResult *result = run_long(&hot);
  const BenchEntry *entry = &result->entries[0];
  ck_assert(result->hot);
  ck_assert_str_eq(result->reference.name, "cublasLt, heuristic 3");
  ck_assert_double_eq_tol(result->reference.time.median_ns, 65e6, 1e3);
  ck_assert_int_eq(result->reference.time.launches_per_sample, 5);
  ck_assert_int_eq(entry->time.launches_per_sample, 6);
  ck_assert_int_eq(entry->time.n_samples, 8);
  ck_assert_double_eq_tol(entry->ratio, 1.3, 1e-3);
  ck_assert_ptr_nonnull(strstr(result->method, "hot: batches of 300 ms"));
  ck_assert_double_gt(result->before.power_w, 0);
  ck_assert(result->entries[1].ratio == 0 && result->entries[1].ratio_max == 0);
}
END_TEST

// Of two jobs on one problem each has the reference that it asked for.
START_TEST(test_hot_after_cool) {
  fake_cuda_set_us("gemm", 50e3);
  fake_cublas_set_times(power_capped);
  const BenchInput input = input_of(plan_named("gemm"));
  static const char *const names[] = {"cublasGemmEx", "cublasLt, heuristic 3"};
  Gpu *gpu = open_gpu();
  for (int i = 0; i < 2; i++) {
    const BenchResult *result = bench_run(arena, gpu, &input, 1, i ? &hot : &quick);
    ck_assert_str_eq(result->reference.name, names[i]);
  }
  gpu_close(gpu);
  ck_assert_int_eq(fake_cuda_live(), 0);
}
END_TEST

// The card slows down by 2 % a second: the times lie far apart, the ratios of a round together.
START_TEST(test_a_drift_moves_no_ratio) {
  fake_cuda_slow_down(0.02);
  const BenchEntry *entry = &run_long(&hot)->entries[0];
  const Timing *time = &entry->time;
  ck_assert_double_gt(time->p90_ns / time->min_ns, 1.05);
  ck_assert_double_eq_tol(entry->ratio, 1.3, 0.002);
  ck_assert_double_lt(entry->ratio_max / entry->ratio_min, 1.03);
  ck_assert(entry->ratio_min < entry->ratio && entry->ratio < entry->ratio_max);
}
END_TEST

START_TEST(test_hot_and_flushed_exclude_each_other) {
  const BenchOptions both = {.hot = true, .flush_l2 = true};
  const BenchResult *result = run_plans(plan_named("gemm"), NULL, &both);
  ck_assert(!result->ok && result->entries[0].time.n_samples == 0);
  ck_assert_ptr_nonnull(strstr(result->error, "choose one"));
}
END_TEST

// A zero kernel, then a cluster launch with more shared memory than every kernel may have, and a
// workspace.
START_TEST(test_many_kernels) {
  Plan *plan = plan_named("zero");
  plan->n_kernels = 2;
  plan->workspace_bytes[0] = 1000;
  plan->kernels[1] = (PlanKernel){.name = "gemm",
                                  .grid = {32, 1, 1},
                                  .block = {64, 1, 1},
                                  .cluster = {16, 1, 0},
                                  .smem_bytes = 200000,
                                  .n_args = 4,
                                  .args = {PLAN_ARG_A, PLAN_ARG_B, PLAN_ARG_C, PLAN_ARG_WORKSPACE}};
  plan->kernels[0].n_args = 1;
  plan->kernels[0].args[0] = PLAN_ARG_C;
  BenchResult *result = run_plans(plan, NULL, &quick);
  ck_assert_msg(result->ok, "%s %s", result->error, result->entries[0].error);
  ck_assert_double_eq_tol(result->entries[0].time.median_ns, 110e3, 100);
  ck_assert_int_eq(fake_cuda_early_launches(), 0);
  plan->kernels[1].dependent = true;  // beside the dimensions of its cluster
  result = run_plans(plan, NULL, &quick);
  ck_assert_msg(result->ok, "%s %s", result->error, result->entries[0].error);
  ck_assert_int_gt(fake_cuda_early_launches(), 8);
}
END_TEST

// As many blocks as fit: 100 SMs of the fake device times 2048 threads of each, 64 a block; no more
// than there are tiles; whole clusters, of which 42 fit in four SMs; and no more than tensor memory
// has room for, which the driver does not count.
START_TEST(test_persistent_grid) {
  static const struct {
    int64_t tiles;
    int cluster, blocks_per_sm;
    int64_t grid;
  } rows[] = {{40000, 1, 0, 3200}, {12, 1, 0, 12},     {33000, 3, 0, 3150},
              {40000, 1, 2, 200},  {40000, 2, 1, 100}, {40000, 1, 64, 3200}};
  Plan *plan = plan_named("gemm");
  PlanKernel *kernel = &plan->kernels[0];
  kernel->grid[0] = rows[_i].tiles;
  kernel->grid[1] = 1;
  kernel->persistent = true;
  kernel->blocks_per_sm = rows[_i].blocks_per_sm;
  kernel->block[0] = 64;
  kernel->block[1] = 1;
  kernel->cluster[0] = rows[_i].cluster;
  kernel->cluster[1] = 1;
  BenchResult *result = run_plans(plan, NULL, &quick);
  ck_assert_msg(result->ok, "%s %s", result->error, result->entries[0].error);
  ck_assert_int_eq(fake_cuda_grid("gemm"), rows[_i].grid);
}
END_TEST

static bool cancel_timing(void *context, const char *stage, double fraction) {
  ck_assert(fraction >= 0 && fraction <= 1);
  return strcmp(stage, context) == 0;
}

START_TEST(test_cancel) {
  static char stages[3][16] = {"verify", "reference", "time"};
  const BenchOptions options = {
      .budget_s = 0.001, .progress = cancel_timing, .context = stages[_i]};
  BenchResult *result = run_plans(plan_named("gemm"), NULL, &options);
  ck_assert(result->cancelled && !result->ok);
  ck_assert_str_eq(result->error, "cancelled");
}
END_TEST

START_TEST(test_refused_jobs) {
  Plan *other = plan_named("gemm");
  other->k = 16;
  BenchResult *result = run_plans(plan_named("gemm"), other, &quick);
  ck_assert_str_eq(result->error, "the plans of one job must compute the same product");
  Plan *ampere = plan_named("gemm");
  ampere->arch = "sm_80";
  result = run_plans(ampere, NULL, &quick);
  ck_assert_str_eq(result->entries[0].error, "compiled for sm_80, but the Fake GPU 0 is sm_90");
  Plan *large = plan_named("gemm");
  large->kernels[0].smem_bytes = 240000;
  result = run_plans(large, NULL, &quick);
  ck_assert_ptr_nonnull(strstr(result->entries[0].error, "needs 240000 B of shared memory"));
  Plan *huge = plan_named("gemm");
  huge->m = huge->n = 1 << 16;
  result = run_plans(huge, NULL, &quick);
  ck_assert_ptr_nonnull(strstr(result->error, "GiB of GPU memory"));
}
END_TEST

static BenchResult *run_small_pair(Gpu *gpu) {
  Plan *right = plan_named("gemm"), *wrong = plan_named("gemm_wrong");
  right->k = wrong->k = 1;
  right->m = wrong->m = 4;
  const BenchInput inputs[2] = {input_of(right), input_of(wrong)};
  return bench_run(arena, gpu, inputs, 2, &quick);
}

// Every call of a whole job fails once, by running out of memory and by losing the context.
START_TEST(test_every_call_fails) {
  static const int statuses[] = {2, 719};
  Gpu *whole = open_gpu();
  run_small_pair(whole);
  gpu_close(whole);
  const int calls = fake_cuda_calls();
  ck_assert_int_gt(calls, 100);
  for (int n = 1; n <= calls; n += n < 200 ? 1 : 41) {
    fake_cuda_remove();
    fake_cuda_install();
    arena_reset(arena);
    fake_cuda_fail(n, statuses[_i]);
    const char *error = NULL;
    Gpu *gpu = gpu_open(arena, 0, &error);
    if (!gpu) {
      ck_assert_ptr_nonnull(error);
      continue;
    }
    BenchResult *result = run_small_pair(gpu);
    ck_assert(!result->ok);
    // A lost context is always told; whatever is not told has been measured.
    ck_assert(result->poisoned == gpu_poisoned(gpu));
    ck_assert(!result->poisoned || result->error);
    ck_assert(result->error || result->entries[0].ok || result->entries[0].error);
    bool lost = result->poisoned || _i == 1;
    fake_cuda_fail(0, 0);
    gpu_close(gpu);
    if (!lost) ck_assert_msg(fake_cuda_live() == 0, "call %d leaves %d", n, fake_cuda_live());
  }
}
END_TEST

START_TEST(test_json_round_trip) {
  BenchResult *result = run_plans(plan_named("gemm_wrong"), plan_named("gemm"), &quick);
  Str text = str_new(arena), again = str_new(arena);
  bench_result_write_json(&text, result);
  Diags diags = diags_new(arena);
  BenchResult *read = bench_result_read_json(arena, text.text, &diags);
  ck_assert_msg(read != NULL, "%s", diags_text(arena, &diags));
  bench_result_write_json(&again, read);
  ck_assert_str_eq(text.text, again.text);
  ck_assert_int_eq(read->entries[0].verify.map[0], 1);
  ck_assert_double_eq(read->entries[1].time.median_ns, result->entries[1].time.median_ns);
  ck_assert_ptr_nonnull(strstr(text.text, "\"tflops\":null"));
  ck_assert_ptr_null(bench_result_read_json(arena, "{\"ok\":true}", &diags));
}
END_TEST

START_TEST(test_compile_json) {
  CompileResult result = {.ok = false,
                          .error = "no",
                          .failed = "ptx",
                          .log = "",
                          .ptx_ms = -1,
                          .cubin_ms = 12.5,
                          .n_kernels = 1,
                          .kernels = {{.name = "gemm",
                                       .registers = 154,
                                       .smem_bytes = -1,
                                       .stack_bytes = 0,
                                       .spill_store_bytes = 8,
                                       .spill_load_bytes = 16,
                                       .constant_bytes = -1,
                                       .n_barriers = 1}}};
  Str text = str_new(arena);
  compile_result_write_json(&text, &result);
  Diags diags = diags_new(arena);
  CompileResult *read = compile_result_read_json(arena, text.text, &diags);
  ck_assert_msg(read != NULL, "%s", diags_text(arena, &diags));
  ck_assert(read->ptx_ms == -1 && read->cubin_ms == 12.5 && !read->ptx);
  ck_assert_int_eq(read->kernels[0].smem_bytes, -1);
  ck_assert_int_eq(read->kernels[0].spill_load_bytes, 16);
}
END_TEST

START_TEST(test_percentiles) {
  double samples[11] = {9, 1, 3, 2, 5, 4, 10, 7, 8, 6, 0};
  Timing timing = timing_of_samples(samples, 11, 7);
  ck_assert_double_eq(timing.median_ns, 5);
  ck_assert_double_eq(timing.min_ns, 0);
  ck_assert_double_eq_tol(timing.p10_ns, 1, 1e-12);
  ck_assert_double_eq_tol(timing.p90_ns, 9, 1e-12);
  ck_assert_double_eq_tol(timing.p25_ns, 2.5, 1e-12);
  ck_assert_int_eq(timing.launches_per_sample, 7);
}
END_TEST

START_TEST(test_turns) {
  ck_assert_int_eq(timing_batch(&timing_short, 5000, 1), 60);
  ck_assert_int_eq(timing_batch(&timing_short, 1e9, 1), 1);
  ck_assert_int_eq(timing_batch(&timing_short, 1, 1), 400);
  ck_assert_int_eq(timing_batch(&timing_short, 1, 4), 250);
  ck_assert_int_eq(timing_rounds(&timing_short, 2, 5.8e6), 344);
  ck_assert_int_eq(timing_rounds(&timing_short, 0, 5.8e6), 344);
  ck_assert_int_eq(timing_rounds(&timing_short, 2, 1e9), 3);
  ck_assert_int_eq(timing_rounds(&timing_short, 2, 0.4e9), 5);
  ck_assert_int_eq(timing_batch(&timing_hot, 1.6e6, 1), 188);
  ck_assert_int_eq(timing_batch(&timing_hot, 8001, 2), 37496);
  // A product that is over before the host has launched the next one.
  ck_assert_int_eq(timing_batch(&timing_hot, 7999, 2), 500);
  ck_assert_int_eq(timing_rounds(&timing_hot, 0, 0.6e9), 8);
  ck_assert_int_eq(timing_rounds(&timing_hot, 9, 0.6e9), 15);
  ck_assert_int_eq(timing_rounds(&timing_hot, 0, 6e9), 3);
  // Behind a long batch the head start is short.
  ck_assert_double_eq(timing_spin_us(1000), 4008);
  ck_assert_double_eq(timing_spin_us(37496), 264);
}
END_TEST

// Everybody is at every place, and before and after everybody else.
START_TEST(test_order_of_turns) {
  static const int expected[4][3] = {{0, 1, 2}, {1, 0, 2}, {2, 0, 1}, {0, 2, 1}};
  for (int round = 0; round < 4; round++)
    for (int i = 0; i < 3; i++) ck_assert_int_eq(timing_turn(round, i, 3), expected[round][i]);
}
END_TEST

static double noise(unsigned *seed) {
  double sum = 0;
  for (int i = 0; i < 6; i++) {
    *seed = *seed * 1664525u + 1013904223u;
    sum += (double)(*seed >> 8) / (1 << 24) - 0.5;
  }
  return sum / sqrt(0.5);
}

// Pairs of equal kernels, with noise, a common drift and a slow wander of each; then 2 % apart.
START_TEST(test_equal_are_called_equal) {
  unsigned seed = 2024;
  int different = 0, equal = 0;
  for (int pair = 0; pair < 1000; pair++) {
    enum { N = 100 };
    double a[N], b[N], c[N], wander_a = 0, wander_b = 0;
    for (int i = 0; i < N; i++) {
      wander_a = 0.9 * wander_a + 0.03 * noise(&seed);
      wander_b = 0.9 * wander_b + 0.03 * noise(&seed);
      a[i] = 100 + 0.01 * i + 0.5 * noise(&seed) + wander_a;
      b[i] = 100 + 0.01 * i + 0.5 * noise(&seed) + wander_b;
      c[i] = 102 + 0.01 * i + 0.5 * noise(&seed) + wander_b;
    }
    Timing ta = timing_of_samples(a, N, 1), tb = timing_of_samples(b, N, 1),
           tc = timing_of_samples(c, N, 1);
    different += bench_differs(&ta, &tb);
    equal += !bench_differs(&ta, &tc);
  }
  ck_assert_int_le(different, 10);
  ck_assert_int_le(equal, 10);
}
END_TEST

START_TEST(test_bounds) {
  Plan plan = {.m = 8192, .n = 100, .k = 4096, .tile_m = 32, .tile_n = 64};
  ck_assert_double_eq(verify_tolerance(&plan), 24 * 0x1p-24);
  ck_assert_double_eq(verify_rounding(&plan), 0);
  VerifyResult map = {0};
  verify_size_map(&plan, &map);
  ck_assert_int_eq(map.map_rows, 64);
  ck_assert_int_eq(map.map_tile_m, 128);
  ck_assert_int_eq(map.map_cols, 2);
  ck_assert_int_eq(map.map_tile_n, 64);
  Plan half = {.k = 64, .operand_type = PLAN_F16, .output_type = PLAN_F16};
  ck_assert_double_eq(verify_tolerance(&half), 10 * 0x1p-24);
  ck_assert_double_eq(verify_rounding(&half), 0x1p-11);
  plan.tolerance = 1e-3;
  ck_assert_double_eq(verify_tolerance(&plan), 1e-3);
}
END_TEST

// f32 sums of random data lie well inside their bound; one product left out lies outside.
START_TEST(test_bound_fits_f32) {
  Plan plan = {.m = 1, .n = 1, .k = 1 << (4 + _i)};
  unsigned seed = 7;
  double worst = 0;
  int missed = 0;
  for (int cell = 0; cell < 300; cell++) {
    double exact = 0, size = 0;
    float sum = 0, a = 0, b = 0;
    for (int p = 0; p < plan.k; p++) {
      a = (float)noise(&seed), b = (float)noise(&seed);
      sum = fmaf(a, b, sum);
      exact += (double)a * (double)b;
      size += fabs((double)a * (double)b);
    }
    double bound = verify_tolerance(&plan) * size;
    worst = fmax(worst, fabs((double)sum - exact) / bound);
    missed += fabs((double)sum - (double)a * (double)b - exact) <= bound;
  }
  ck_assert_double_lt(worst, 0.5);
  ck_assert_int_lt(missed, 15);
}
END_TEST

START_TEST(test_throttle_words) {
  bool throttled = true;
  ck_assert_str_eq(nvml_reasons_text(arena, 0, &throttled), "none");
  ck_assert(!throttled);
  ck_assert_str_eq(nvml_reasons_text(arena, 1 | 2, &throttled), "idle, application clocks");
  ck_assert(!throttled);
  ck_assert_str_eq(nvml_reasons_text(arena, 0x24, &throttled), "power cap, thermal slowdown");
  ck_assert(throttled);
  ck_assert_str_eq(nvml_reasons_text(arena, 0x4000, &throttled), "unnamed reason 0x4000");
}
END_TEST

// The self test's texts must at least compile; needs the real NVRTC.
START_TEST(test_selftest_texts_compile) {
  fake_cuda_remove();
  bool found = false;
  nvrtc_describe(arena, &found);
  if (!found) return;
  const Plan shape = {
      .arch = "sm_90", .label = "", .m = 256, .n = 128, .k = 64, .a_col_major = _i & 1};
  Plan *plan = selftest_plan(arena, (SelftestKind)_i, &shape);
  CompileResult *result = nvrtc_compile(arena, plan, COMPILE_BOTH);
  ck_assert_msg(result->ok, "%s\n%s", result->error, result->log);
}
END_TEST

Suite *suite_bench(void);
Suite *suite_bench(void) {
  Suite *suite = suite_create("bench");
  TCase *tests = tcase_create("bench");
  tcase_set_timeout(tests, 120);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, test_right_kernel);
  tcase_add_loop_test(tests, test_layouts, 0, 4);
  tcase_add_test(tests, test_wrong_cell);
  tcase_add_test(tests, test_unwritten_row);
  tcase_add_test(tests, test_store_outside);
  tcase_add_test(tests, test_crash);
  tcase_add_test(tests, test_wrong_beside_right);
  tcase_add_test(tests, test_twins);
  tcase_add_test(tests, test_reference_must_be_right);
  tcase_add_test(tests, test_options);
  tcase_add_test(tests, test_many_kernels);
  stress_add_turns(tests, test_persistent_grid, 6, 6);
  tcase_add_loop_test(tests, test_cancel, 0, 3);
  tcase_add_test(tests, test_refused_jobs);
  stress_add_turns(tests, test_every_call_fails, 2, 6);
  tcase_add_test(tests, test_json_round_trip);
  tcase_add_test(tests, test_compile_json);
  tcase_add_test(tests, test_percentiles);
  tcase_add_test(tests, test_turns);
  tcase_add_test(tests, test_order_of_turns);
  tcase_add_test(tests, test_reference_is_chosen_hot);
  tcase_add_test(tests, test_hot_after_cool);
  tcase_add_test(tests, test_a_drift_moves_no_ratio);
  tcase_add_test(tests, test_hot_and_flushed_exclude_each_other);
  tcase_add_test(tests, test_equal_are_called_equal);
  tcase_add_test(tests, test_bounds);
  tcase_add_loop_test(tests, test_bound_fits_f32, 0, 9);
  tcase_add_test(tests, test_throttle_words);
  stress_add_turns(tests, test_selftest_texts_compile, SELFTEST_CRASH + 1, 9);
  suite_add_tcase(suite, tests);
  return suite;
}
