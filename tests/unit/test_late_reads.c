// The kernel that asks whether copies by TMA come after fenced reads: it compiles for every GPU
// that has them, and what it counts is taken up as counted.
#include "compile_once.h"
#include "kernels/device/late_reads.h"

#include <check.h>
#include <string.h>

#include "fake_cuda.h"
#include "kernels/device/gpu.h"
#include "kernels/toolchain/nvrtc.h"

Suite *suite_late_reads(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test late reads"); }
static void teardown(void) { arena_free(arena); }

static uint64_t fake_late[LATE_N];
static int given_clocks[LATE_N];

// Every word of the patterns must have come; then so many were late, and the fence took 640 clocks.
static void run_late_reads(void **parameters) {
  const uint32_t *from = (const uint32_t *)(uintptr_t) * (CuDevicePtr *)parameters[0];
  uint64_t *counts = (uint64_t *)(uintptr_t) * (CuDevicePtr *)parameters[1];
  const int row = *(int *)parameters[2];
  for (int i = 0; i < 4 * 1024; i++) ck_assert_uint_eq(from[i], (uint32_t)i / 1024);
  ck_assert_uint_eq(counts[0] | counts[1], 0);
  given_clocks[row] = *(int *)parameters[3];
  counts[0] = fake_late[row];
  counts[1] = 640u * 2000u;
}

static const char *asked(Gpu *gpu, LateReads counts[LATE_N]) {
  const char *error = NULL;
  for (int row = 0; row < LATE_N && !error; row++)
    error = late_reads(arena, gpu, (LateRow)row, counts);
  return error;
}

static Gpu *open_fake(void) {
  const char *why = NULL;
  fake_cuda_install();
  fake_cuda_add_kernel("late_reads", run_late_reads);
  Gpu *gpu = gpu_open(arena, 0, &why);
  ck_assert_msg(gpu != NULL, "%s", why);
  return gpu;
}

static void close_fake(Gpu *gpu) {
  gpu_close(gpu);
  ck_assert_int_eq(fake_cuda_live(), 0);
  fake_cuda_remove();
}

START_TEST(what_is_counted_is_told) {
  LateReads counts[LATE_N] = {{0, 0, 0}};
  Gpu *gpu = open_fake();
  fake_late[LATE_NOBODY_FENCES] = 17;
  fake_late[LATE_ASKER_FENCES] = 3;
  const char *error = asked(gpu, counts);
  ck_assert_msg(error == NULL, "%s", error);
  const int blocks = (int)gpu_info(gpu)->device.sm_count;
  for (int row = 0; row < LATE_N; row++) {
    ck_assert_int_eq(counts[row].n_late, (int64_t)fake_late[row]);
    ck_assert_int_eq(counts[row].n_reads, (int64_t)blocks * 8 * 32 * 16 * 2000);
    ck_assert_double_eq_tol(counts[row].clocks, 640.0 / blocks, 1);
  }
  // The row that waits does so for as long as the fence took.
  ck_assert_int_eq(given_clocks[LATE_ASKER_WAITS], (int)counts[LATE_ASKER_FENCES].clocks);
  close_fake(gpu);
}
END_TEST

START_TEST(a_failing_driver_is_a_sentence) {
  int n_errors = 0;
  for (int n = 1; n < 24; n++) {
    LateReads counts[LATE_N] = {{0, 0, 0}};
    Gpu *gpu = open_fake();
    fake_cuda_fail(n, 2);
    const char *error = late_reads(arena, gpu, LATE_ASKER_FENCES, counts);
    ck_assert(error == NULL || strstr(error, "CUDA_ERROR_FAKE"));
    ck_assert(error == NULL || counts[LATE_ASKER_FENCES].n_reads == 0);
    n_errors += error != NULL;
    fake_cuda_fail(0, 0);
    close_fake(gpu);
  }
  ck_assert_int_gt(n_errors, 4);
}
END_TEST

START_TEST(it_compiles_where_there_is_tma) {
  static const char *const archs[] = {"sm_90", "sm_90a", "sm_100a", "sm_120a"};
  bool found = false;
  nvrtc_describe(arena, &found);
  if (!found) return;
  const Plan *plan = late_reads_plan(arena, archs[_i], 132);
  const CompileResult *result = compile_once(arena, plan, COMPILE_BOTH);
  ck_assert_msg(result->ok, "%s: %s\n%s", archs[_i], result->error, result->log);
  ck_assert_ptr_nonnull(strstr(result->ptx, "fence.proxy.async.shared::cta"));
  ck_assert_ptr_nonnull(strstr(result->ptx, "cp.async.bulk.shared::cluster.global"));
}
END_TEST

START_TEST(rows_and_gpus) {
  ck_assert(!late_reads_on(89));
  ck_assert(late_reads_on(90) && late_reads_on(120));
  ck_assert(late_row_must_hold(LATE_READERS_FENCE) && late_row_must_hold(LATE_ASKER_FENCES));
  ck_assert(!late_row_must_hold(LATE_NOBODY_FENCES) && !late_row_must_hold(LATE_ASKER_WAITS));
  ck_assert_str_eq(late_row_name(LATE_ASKER_FENCES), "the asking thread fences");
}
END_TEST

Suite *suite_late_reads(void) {
  Suite *suite = suite_create("late_reads");
  TCase *tc = tcase_create("late reads");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, what_is_counted_is_told);
  tcase_add_test(tc, a_failing_driver_is_a_sentence);
  tcase_add_loop_test(tc, it_compiles_where_there_is_tma, 0, 4);
  tcase_add_test(tc, rows_and_gpus);
  suite_add_tcase(suite, tc);
  return suite;
}
