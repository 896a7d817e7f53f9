// The probe's kernels: they compile for every operation, keep their sixteen accesses, and refuse
// what cannot be timed; requests and results on the pipe; and the verdict on orders. What the
// clocks say needs a GPU.
#include <check.h>
#include <string.h>

#include "cuda_batch.h"
#include "fake_cuda.h"
#include "kernels/device/probe/probe.h"
#include "kernels/device/probe/probe_order.h"
#include "kernels/toolchain/machine/sass.h"
#include "kernels/toolchain/nvrtc.h"

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

// How often an opcode stands between a label of a kernel and the branch back to it.
static int count_in_loop(const SassResult *sass, const char *kernel, const char *opcode) {
  for (int from = 0; from < sass->n_lines; from++) {
    const char *label = sass->lines[from].text;
    if (strcmp(sass->lines[from].kernel, kernel) != 0 || strncmp(label, ".L_x_", 5) != 0) continue;
    int count = 0;
    for (int i = from + 1; i < sass->n_lines; i++) {
      const SassLine *line = &sass->lines[i];
      const char *back = strstr(line->text, "BRA `(");
      count += line->opcode && strcmp(line->opcode, opcode) == 0;
      if (back && strncmp(back + 6, label, strcspn(label, ":")) == 0) return count;
    }
  }
  return 0;
}

// All sixteen are in the loop: what is the same in every round must not be lifted out of it.
START_TEST(test_every_operation) {
  bool found = false;
  nvrtc_describe(arena, &found);
  if (!found) return;
  CudaBatch batch = cuda_batch_new(arena);
  for (int i = 0; i < banks_op_count(); i++)
    cuda_batch_add(&batch, plan_for(banks_op_at(i), 16)->cuda, "probe", banks_op_at(i)->name);
  const Plan *plan = cuda_batch_plan(arena, &batch, "sm_90a", "probe");
  CompileResult *result = nvrtc_compile(arena, plan, COMPILE_CUBIN);
  ck_assert_msg(result->ok, "%s\n%s", result->error, result->log);
  SassResult *sass = sass_disassemble(arena, result->cubin, result->cubin_bytes, 60);
  for (int i = 0; sass->ok && i < batch.n; i++) {
    const BankOp *op = banks_op_at(i);
    const int count = count_in_loop(sass, arena_printf(arena, "probe_%d", i), op->sass);
    ck_assert_msg(count == 16, "%s: %d times %s in the loop", op->name, count, op->sass);
  }
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
  probe_results_write_json(&text, &(ProbeResults){.n = 1, .result = result});
  Diags diags = diags_new(arena);
  const ProbeResults *read = probe_results_read_json(arena, text.text, &diags);
  ck_assert_double_eq(read->result[0].clocks, result->clocks);
  gpu_close(gpu);
  ck_assert_int_eq(fake_cuda_live(), 0);
  fake_cuda_remove();
}
END_TEST

// ---- several accesses ---------------------------------------------------------------------------

static ProbeAccess access_of(const char *op, int64_t stride) {
  ProbeAccess access = {.op = op};
  spread(access.addr, stride);
  return access;
}

typedef struct Hooked {
  int n_compiled, n_progress, cancel_at;
} Hooked;

static const CompileResult *count_compile(void *context, const Plan *plan) {
  ((Hooked *)context)->n_compiled++;
  return nvrtc_compile(arena, plan, COMPILE_CUBIN);
}

static bool count_progress(void *context, const char *stage, double fraction) {
  Hooked *hooked = context;
  ck_assert_str_eq(stage, "probe");
  ck_assert(fraction >= 0 && fraction < 1);
  return ++hooked->n_progress == hooked->cancel_at;
}

static ProbeResults *probe_all_on_fake(const ProbeRequest *request, Hooked *hooked, int fail_at,
                                       int status) {
  const char *error = NULL;
  const ProbeHooks hooks = {count_compile, count_progress, hooked};
  fake_cuda_install();
  Gpu *gpu = gpu_open(arena, 0, &error);
  fake_cuda_fail(fail_at, status);
  ProbeResults *results = probe_run_all(arena, gpu, request, &hooks);
  fake_cuda_fail(0, 0);
  gpu_close(gpu);
  fake_cuda_remove();
  return results;
}

START_TEST(test_several) {
  ProbeAccess access[3] = {access_of("lds32", 128), access_of("sts64", 8), access_of("lds32", 4)};
  access[1].addr[0] = 230000;  // too wide
  Hooked hooked = {0};
  const ProbeRequest request = {3, access};
  ProbeResults *results = probe_all_on_fake(&request, &hooked, 0, 0);
  ck_assert_int_eq(results->n, 3);
  ck_assert(!results->cancelled);
  ck_assert(results->result[0].ok && !results->result[1].ok && results->result[2].ok);
  ck_assert_ptr_nonnull(strstr(results->result[1].error, "span"));
  ck_assert_double_eq_tol(results->result[0].clocks_per_wavefront, 1, 1e-9);
  ck_assert_double_eq_tol(results->result[2].clocks_per_wavefront, 32, 1e-9);
  ck_assert_int_eq(hooked.n_compiled, 2);
  ck_assert_int_eq(hooked.n_progress, 3);
  Str text = str_new(arena), again = str_new(arena);
  Diags diags = diags_new(arena);
  probe_results_write_json(&text, results);
  probe_results_write_json(&again, probe_results_read_json(arena, text.text, &diags));
  ck_assert_str_eq(text.text, again.text);
}
END_TEST

START_TEST(test_cancelled) {
  const ProbeAccess access[3] = {access_of("lds32", 4), access_of("lds32", 8),
                                 access_of("lds32", 16)};
  Hooked hooked = {.cancel_at = 2};
  const ProbeRequest request = {3, access};
  ProbeResults *results = probe_all_on_fake(&request, &hooked, 0, 0);
  ck_assert(results->cancelled);
  ck_assert_int_eq(results->n, 1);
}
END_TEST

// An illegal address in the first one: nothing else is tried on the lost context.
START_TEST(test_lost_context) {
  const ProbeAccess access[2] = {access_of("lds32", 4), access_of("lds64", 8)};
  Hooked hooked = {0};
  const ProbeRequest request = {2, access};
  ProbeResults *results = probe_all_on_fake(&request, &hooked, 12, 700);
  ck_assert_int_eq(results->n, 2);
  ck_assert(results->result[0].poisoned && results->result[1].poisoned);
  ck_assert_ptr_nonnull(strstr(results->result[0].error, "ILLEGAL_ADDRESS"));
  ck_assert_ptr_nonnull(strstr(results->result[1].error, "not tried"));
  ck_assert_int_eq(hooked.n_compiled, 1);
}
END_TEST

static const struct {
  const char *text, *says;
} bad_requests[] = {
    {"{}", "accesses"},
    {"{\"accesses\":[]}", "no access"},
    {"{\"accesses\":[{\"op\":\"lds32\",\"addr\":[0,4]}]}", "32"},
    {"{\"accesses\":[{\"op\":\"lds23\",\"addr\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
     "0,0,0,0,0,0,0,0]}]}",
     "lds23"},
    {"{\"accesses\":[{\"op\":\"lds32\",\"addr\":[233472,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
     "0,0,0,0,0,0,0,0,0,0]}]}",
     "233472 is outside shared memory"},
};

START_TEST(test_bad_request) {
  Diags diags = diags_new(arena);
  ck_assert_ptr_null(probe_request_read_json(arena, bad_requests[_i].text, &diags));
  ck_assert_msg(strstr(diags_text(arena, &diags), bad_requests[_i].says) != NULL, "%s",
                diags_text(arena, &diags));
}
END_TEST

START_TEST(test_request_round_trip) {
  ProbeAccess access[PROBE_ACCESSES_MAX + 1];
  for (int i = 0; i <= PROBE_ACCESSES_MAX; i++) access[i] = access_of("lds32", i % 40);
  Diags diags = diags_new(arena);
  Str text = str_new(arena), more = str_new(arena);
  access[7].addr[3] = -1;
  probe_request_write_json(&text, &(ProbeRequest){PROBE_ACCESSES_MAX, access});
  const ProbeRequest *back = probe_request_read_json(arena, text.text, &diags);
  ck_assert_int_eq(back->n, PROBE_ACCESSES_MAX);
  ck_assert_int_eq(memcmp(back->access[7].addr, access[7].addr, sizeof access[7].addr), 0);
  probe_request_write_json(&more, &(ProbeRequest){PROBE_ACCESSES_MAX + 1, access});
  ck_assert_ptr_null(probe_request_read_json(arena, more.text, &diags));
}
END_TEST

START_TEST(test_same) {
  const BankOp *op = banks_op_find("lds32"), *matrix = banks_op_find("ldsm_x1");
  int64_t a[BANK_LANES], b[BANK_LANES];
  spread(a, 4);
  spread(b, 4);
  for (int lane = 0; lane < BANK_LANES; lane++) b[lane] += 640;
  ck_assert(probe_same(op, a, b));
  b[5] = -1;
  ck_assert(!probe_same(op, a, b));
  a[5] = -1;
  ck_assert(probe_same(op, a, b));
  b[31] += 128;
  ck_assert(!probe_same(op, a, b));
  ck_assert(probe_same(matrix, a, b));  // lane 31 does not count
  spread(a, 16);
  spread(b, 16);
  b[9] = 4096;  // a lane whose address nobody reads
  ck_assert(probe_same(matrix, a, b));
  for (int lane = 0; lane < BANK_LANES; lane++) b[lane] += 64;
  ck_assert(!probe_same(matrix, a, b));
}
END_TEST

// ---- orders -------------------------------------------------------------------------------------

static ProbeResult measured(const char *op, int wavefronts, double clocks) {
  return (ProbeResult){.ok = clocks > 0,
                       .op = op,
                       .clocks = clocks,
                       .p10_clocks = clocks - 0.01,
                       .p90_clocks = clocks + 0.01,
                       .n_samples = 15,
                       .wavefronts = wavefronts};
}

static const struct {
  double clocks[4];  // of 2, 4, 4 and 8 wavefronts; 0: not measured
  int with, tied, against, split, few, many;
  ProbeVerdict verdict;
} orders[] = {
    {{2.1, 4.0, 4.02, 8.0}, 5, 0, 0, 0, -1, -1, PROBE_ALIKE},
    {{4.0, 4.0, 4.0, 8.0}, 3, 2, 0, 0, -1, -1, PROBE_ALIKE},
    {{4.0, 4.03, 4.0, 4.04}, 0, 5, 0, 0, -1, -1, PROBE_NOT_ALIKE},
    {{2.0, 4.0, 4.0, 3.0}, 3, 0, 2, 0, 1, 3, PROBE_NOT_ALIKE},
    {{2.0, 4.0, 3.5, 3.0}, 3, 0, 2, 1, 1, 3, PROBE_NOT_ALIKE},
    {{2.0, 4.0, 6.5, 8.0}, 5, 0, 0, 1, -1, -1, PROBE_ALIKE},
    {{0, 4.0, 4.0, 0}, 0, 0, 0, 0, -1, -1, PROBE_UNJUDGED},
    {{0, 0, 0, 0}, 0, 0, 0, 0, -1, -1, PROBE_UNJUDGED},
};

START_TEST(test_order) {
  static const int wavefronts[] = {2, 4, 4, 8};
  ProbeResult results[6];
  const ProbeResult *list[7] = {NULL};
  for (int i = 0; i < 4; i++) results[i] = measured("lds128", wavefronts[i], orders[_i].clocks[i]);
  results[4] = measured("lds64", 1, 100);
  results[5] = measured("lds128", -1, 100);
  for (int i = 0; i < 6; i++) list[i] = &results[i];
  const ProbeOrder order = probe_order(list, 7, "lds128");
  ck_assert_int_eq(order.n_with, orders[_i].with);
  ck_assert_int_eq(order.n_tied, orders[_i].tied);
  ck_assert_int_eq(order.n_hidden, 0);
  ck_assert_int_eq(order.n_against, orders[_i].against);
  ck_assert_int_eq(order.n_split, orders[_i].split);
  ck_assert_int_eq(order.few, orders[_i].few);
  ck_assert_int_eq(order.many, orders[_i].many);
  ck_assert_int_eq(order.verdict, orders[_i].verdict);
  ck_assert_int_eq(probe_order(list, 7, "lds64").n, 1);
  ck_assert_double_eq_tol(probe_order(list, 7, "lds64").slope, 100, 1e-9);
}
END_TEST

// cp.async of 4 bytes on an H200: nothing is faster than 4.33 clocks, whatever its count below
// that.
static const struct {
  int wavefronts[4];
  double clocks[4];
  int with, tied, hidden, against;
  ProbeVerdict verdict;
} floors[] = {
    {{1, 1, 2, 2}, {4.33, 4.33, 4.34, 4.33}, 0, 0, 4, 0, PROBE_UNJUDGED},
    {{1, 2, 4, 8}, {4.33, 4.33, 4.34, 8.5}, 3, 0, 3, 0, PROBE_ALIKE},
    {{1, 2, 8, 8}, {4.33, 4.33, 4.34, 4.33}, 0, 4, 1, 0, PROBE_NOT_ALIKE},
    {{8, 9, 16, 32}, {4.33, 4.33, 4.34, 4.33}, 0, 6, 0, 0, PROBE_NOT_ALIKE},
    // The floor explains a tie, never an inversion.
    {{1, 2, 2, 2}, {6.33, 4.33, 4.34, 4.33}, 0, 0, 0, 3, PROBE_NOT_ALIKE},
};

START_TEST(test_floor) {
  ProbeResult results[4];
  const ProbeResult *list[4];
  for (int i = 0; i < 4; i++) {
    results[i] = measured("cpasync4", floors[_i].wavefronts[i], floors[_i].clocks[i]);
    list[3 - i] = &results[i];
  }
  const ProbeOrder order = probe_order(list, 4, "cpasync4");
  ck_assert_int_eq(order.n_with, floors[_i].with);
  ck_assert_int_eq(order.n_tied, floors[_i].tied);
  ck_assert_int_eq(order.n_hidden, floors[_i].hidden);
  ck_assert_int_eq(order.n_against, floors[_i].against);
  ck_assert_int_eq(order.verdict, floors[_i].verdict);
}
END_TEST

START_TEST(test_verdict_of_all) {
  ProbeOrder each[3] = {{.verdict = PROBE_UNJUDGED}, {.verdict = PROBE_UNJUDGED}};
  ck_assert_int_eq(probe_verdict(each, 3), PROBE_UNJUDGED);
  each[1].verdict = PROBE_ALIKE;
  ck_assert_int_eq(probe_verdict(each, 3), PROBE_ALIKE);
  each[0].verdict = PROBE_NOT_ALIKE;
  ck_assert_int_eq(probe_verdict(each, 3), PROBE_NOT_ALIKE);
}
END_TEST

START_TEST(test_slope) {
  const ProbeResult a = measured("sts32", 1, 2.5), b = measured("sts32", 4, 5.5),
                    c = measured("sts32", 32, 33.5);
  const ProbeResult *list[] = {&a, &b, &c};
  const ProbeOrder order = probe_order(list, 3, "sts32");
  ck_assert_double_eq_tol(order.slope, 1, 1e-9);
  ck_assert_int_eq(order.wavefronts_lo, 1);
  ck_assert_int_eq(order.wavefronts_hi, 32);
  ck_assert_double_eq(order.clocks_hi, 33.5);
}
END_TEST

Suite *suite_probe(void);
Suite *suite_probe(void) {
  Suite *suite = suite_create("probe");
  TCase *tests = tcase_create("probe");
  tcase_set_timeout(tests, 60);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, test_every_operation);
  tcase_add_test(tests, test_placing);
  tcase_add_test(tests, test_refusals);
  tcase_add_test(tests, test_on_fake_driver);
  tcase_add_test(tests, test_several);
  tcase_add_test(tests, test_cancelled);
  tcase_add_test(tests, test_lost_context);
  tcase_add_loop_test(tests, test_bad_request, 0,
                      (int)(sizeof bad_requests / sizeof *bad_requests));
  tcase_add_test(tests, test_request_round_trip);
  tcase_add_test(tests, test_same);
  tcase_add_loop_test(tests, test_order, 0, (int)(sizeof orders / sizeof *orders));
  tcase_add_loop_test(tests, test_floor, 0, (int)(sizeof floors / sizeof *floors));
  tcase_add_test(tests, test_verdict_of_all);
  tcase_add_test(tests, test_slope);
  suite_add_tcase(suite, tests);
  return suite;
}
