// The probe's kernels: they compile for every operation, keep their sixteen accesses, and refuse
// what cannot be timed. What the clocks say needs a GPU.
#include <check.h>
#include <string.h>

#include "fake_cuda.h"
#include "kernels/nvrtc.h"
#include "kernels/probe.h"
#include "kernels/sass.h"

static Arena *arena;
static void setup(void) { arena = arena_new("test probe"); }
static void teardown(void) { arena_free(arena); }

static void spread(int64_t addr[BANK_LANES], int64_t stride) {
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane * stride;
}

static Plan *plan_for(const BankOp *op, int64_t stride) {
  int64_t addr[BANK_LANES];
  const char *error = NULL;
  spread(addr, stride);
  Plan *plan = probe_plan(arena, "sm_90a", op, addr, &error);
  ck_assert_msg(plan != NULL, "%s", error);
  return plan;
}

START_TEST(test_every_operation) {
  bool found = false;
  nvrtc_describe(arena, &found);
  if (!found) return;
  const BankOp *op = banks_op_at(_i);
  CompileResult *result = nvrtc_compile(arena, plan_for(op, 16), COMPILE_CUBIN);
  ck_assert_msg(result->ok, "%s: %s\n%s", op->name, result->error, result->log);
  SassResult *sass = sass_disassemble(arena, result->cubin, result->cubin_bytes, 20);
  if (!sass->ok) return;
  int count = 0;
  for (int i = 0; i < sass->n_counts; i++)
    if (strcmp(sass->counts[i].opcode, op->sass) == 0) count = sass->counts[i].count;
  ck_assert_msg(count == 16, "%s: %d times %s", op->name, count, op->sass);
}
END_TEST

START_TEST(test_placing) {
  int64_t addr[BANK_LANES];
  const char *error = NULL;
  spread(addr, 4);
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] += 100 * 128 + 64;
  addr[5] = -1;
  Plan *plan = probe_plan(arena, "sm_90a", banks_op_find("lds32"), addr, &error);
  ck_assert_ptr_nonnull(strstr(plan->cuda, "{64, 68, 72, 76, 80, -1, 88,"));
  ck_assert_int_eq(plan->kernels[0].smem_bytes, 64 + 31 * 4 + 16 + 16 * 128);
  // Lanes without an address of their own repeat those that have one.
  spread(addr, 16);
  for (int lane = 8; lane < BANK_LANES; lane++) addr[lane] = -1;
  plan = probe_plan(arena, "sm_90a", banks_op_find("ldsm_x1"), addr, &error);
  ck_assert_ptr_nonnull(strstr(plan->cuda, "{0, 16, 32, 48, 64, 80, 96, 112, 0, 16,"));
}
END_TEST

START_TEST(test_refusals) {
  int64_t addr[BANK_LANES];
  const char *error = NULL;
  spread(addr, 16);
  addr[3] = -1;
  ck_assert_ptr_null(probe_plan(arena, "sm_90a", banks_op_find("ldsm_x4"), addr, &error));
  ck_assert_str_eq(error, "ldsm_x4 needs an address from lane 3");
  spread(addr, 0);
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = -1;
  ck_assert_ptr_null(probe_plan(arena, "sm_90a", banks_op_find("sts64"), addr, &error));
  ck_assert_str_eq(error, "no lane is active: there is nothing to time");
  spread(addr, 7168);
  ck_assert_ptr_null(probe_plan(arena, "sm_90a", banks_op_find("lds32"), addr, &error));
  ck_assert_ptr_nonnull(strstr(error, "span 222208 bytes"));
}
END_TEST

START_TEST(test_on_fake_driver) {
  int64_t addr[BANK_LANES];
  const char *error = NULL;
  spread(addr, 128);
  fake_cuda_install();
  Gpu *gpu = gpu_open(arena, 0, &error);
  ProbeResult *result = probe_run(arena, gpu, banks_op_find("lds32"), addr);
  ck_assert_msg(result->ok, "%s", result->error);
  ck_assert_int_eq(result->wavefronts, 32);
  ck_assert_double_eq_tol(result->clocks, 32, 1e-9);
  Str text = str_new(arena);
  probe_result_write_json(&text, result);
  Diags diags = diags_new(arena);
  ck_assert_double_eq(probe_result_read_json(arena, text.text, &diags)->clocks, result->clocks);
  gpu_close(gpu);
  ck_assert_int_eq(fake_cuda_live(), 0);
  fake_cuda_remove();
}
END_TEST

Suite *suite_probe(void);
Suite *suite_probe(void) {
  Suite *suite = suite_create("probe");
  TCase *tests = tcase_create("probe");
  tcase_set_timeout(tests, 60);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_loop_test(tests, test_every_operation, 0, banks_op_count());
  tcase_add_test(tests, test_placing);
  tcase_add_test(tests, test_refusals);
  tcase_add_test(tests, test_on_fake_driver);
  suite_add_tcase(suite, tests);
  return suite;
}
