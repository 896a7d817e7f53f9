// A traced run on a driver made of host memory: pages read, more stamps than there is room for,
// pages that are missing, blocks that are not there; its result in JSON, honest and hostile.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "fake_cuda.h"
#include "kernels/device/driver.h"
#include "kernels/device/trace_run.h"
#include "kernels/worker/result_json.h"

Suite *suite_trace_run(void);

enum { M = 20, N = 24, K = 12, WARPS = 2 };

static Arena *arena;
static const unsigned char cubin[] = "\177ELF";

// What the fake kernel does.
static struct {
  unsigned written;
  int blocks;  // of a cluster; 0: there are none
  bool forgets, is_wrong, turns_back;
} fake;

static void fill_page(StampPage *page, int warp, int block) {
  const int64_t origin = INT64_C(4801223018334);
  page->ns_begin = 1763856000000000000u + 100 * (unsigned)warp;
  page->ns_end = page->ns_begin + 10000;
  page->clock_begin = origin + 200 * warp;
  page->clock_end = page->clock_begin + 20000;
  page->sm = 17;
  page->block = (uint32_t)block;
  page->written = fake.written;
  for (unsigned i = 0; i < fake.written && i < STAMPS_EACH; i++)
    page->stamp[i] =
        (PackedStamp){(uint32_t)(page->clock_begin + i), i % 4 << STAMP_NUMBER_BITS | i / 4};
  if (fake.turns_back) page->clock_end = page->clock_begin - 1;
}

// The kernel takes the cluster that is traced; its blocks run on SMs with clocks of their own.
static void fill_pages(StampPage *page, int cluster) {
  const int blocks = fake.blocks ? fake.blocks : 1;
  for (int i = 0; i < blocks * WARPS - fake.forgets; i++) {
    fill_page(&page[i], i % WARPS, cluster * blocks + i / WARPS);
    if (i < WARPS) continue;
    page[i].sm = 18;
    page[i].ns_begin += 600, page[i].ns_end += 600;
    page[i].clock_begin -= 70000, page[i].clock_end -= 70000;
    for (unsigned k = 0; k < fake.written && k < STAMPS_EACH; k++) page[i].stamp[k].clock -= 70000;
  }
}

static void run_traced(void **parameters) {
  const float *a = *(const float **)parameters[0], *b = *(const float **)parameters[1];
  float *c = *(float **)parameters[2];
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = fake.is_wrong;
      for (int k = 0; k < K; k++) sum += (double)a[i * K + k] * b[k * N + j];
      c[i * N + j] = (float)sum;
    }
  fill_pages(*(StampPage **)parameters[3], *(const int *)parameters[4]);
}

static void setup(void) {
  arena = arena_new("test trace run");
  memset(&fake, 0, sizeof fake);
  fake.written = 8;
  fake_cuda_install();
  fake_cuda_add_kernel("traced", run_traced);
}
static void teardown(void) {
  fake_cuda_remove();
  arena_free(arena);
}

static Plan *plan_of(const char *kernel, bool stamps) {
  Plan *plan = ARENA_NEW(arena, Plan);
  *plan = (Plan){.cuda = "text",
                 .arch = "sm_90a",
                 .label = kernel,
                 .m = M,
                 .n = N,
                 .k = K,
                 .traced = stamps ? 2 : 0,
                 .n_kernels = 1,
                 .kernels = {{.name = kernel,
                              .grid = {3, 1, 1},
                              .block = {WARPS * 32 - 1, 1, 1},
                              .n_args = stamps ? 5 : 3,
                              .args = {PLAN_ARG_A, PLAN_ARG_B, PLAN_ARG_C, PLAN_ARG_STAMPS,
                                       PLAN_ARG_TRACED}}}};
  return plan;
}

static const TraceResult *trace_plan(const Plan *traced) {
  const char *why = NULL;
  const BenchInput inputs[2] = {{traced, cubin, sizeof cubin, NULL},
                                {plan_of("gemm", false), cubin, sizeof cubin, NULL}};
  const BenchOptions quick = {.budget_s = 0.001};
  Gpu *gpu = gpu_open(arena, 0, &why);
  if (!gpu) return NULL;
  const TraceResult *result = trace_run(arena, gpu, &inputs[0], &inputs[1], &quick);
  const bool lost = gpu_poisoned(gpu);
  gpu_close(gpu);
  if (!lost) ck_assert_int_eq(fake_cuda_live(), 0);
  return result;
}

// ---- the run ------------------------------------------------------------------------------------

START_TEST(a_block_is_traced) {
  const TraceResult *result = trace_plan(plan_of("traced", true));
  ck_assert_msg(result->ok, "%s", result->error);
  ck_assert(result->verify.ok && result->bench.ok);
  ck_assert_double_gt(result->bench.entries[0].time.median_ns, 0);
  ck_assert_double_gt(result->bench.entries[1].time.median_ns, 0);
  ck_assert_int_eq(result->block, 2);
  ck_assert_int_eq(result->n_blocks, 1);
  ck_assert_str_eq(trace_where(arena, result), "block 2 on SM 17");
  ck_assert_double_eq_tol(result->clock_mhz, 2000, 1e-9);
  ck_assert_int_eq(result->n_warps, WARPS);
  const StampedWarp *second = &result->warp[1];
  ck_assert_int_eq(second->ns_begin, 100);
  ck_assert_int_eq(second->clock_begin, 200);
  ck_assert_int_eq(second->clock_end, 20200);
  ck_assert_int_eq(second->n, 8);
  ck_assert_int_eq(second->lost, 0);
  ck_assert_int_eq(second->stamp[5].clock, 205);
  ck_assert_int_eq(second->stamp[5].mark, 1);
  ck_assert_int_eq(second->stamp[5].number, 1);
}
END_TEST

// The second block began 600 ns after the first one: at 2000 MHz that is clock 1200.
START_TEST(the_blocks_of_a_cluster_are_traced_together) {
  Plan *plan = plan_of("traced", true);
  plan->kernels[0].grid[0] = 4;
  plan->kernels[0].cluster[0] = fake.blocks = 2;
  plan->traced = 3;
  const TraceResult *result = trace_plan(plan);
  ck_assert_msg(result->ok, "%s", result->error);
  ck_assert_int_eq(result->block, 2);
  ck_assert_int_eq(result->n_warps, 2 * WARPS);
  ck_assert_str_eq(trace_where(arena, result), "blocks 2, 3 on SMs 17, 18");
  ck_assert_int_eq(result->warp[0].clock_begin, 0);
  ck_assert_int_eq(result->warp[WARPS].clock_begin, 1200);
  ck_assert_int_eq(result->warp[WARPS].ns_begin, 600);
  ck_assert_int_eq(result->warp[WARPS + 1].stamp[5].clock, 1200 + 205);
}
END_TEST

START_TEST(what_a_page_has_no_room_for_is_counted) {
  fake.written = STAMPS_EACH + 7;
  const TraceResult *result = trace_plan(plan_of("traced", true));
  ck_assert_msg(result->ok, "%s", result->error);
  ck_assert_int_eq(result->warp[0].n, STAMPS_EACH);
  ck_assert_int_eq(result->warp[0].lost, 7);
}
END_TEST

static void assert_fails(const Plan *plan, const char *part) {
  const TraceResult *result = trace_plan(plan);
  ck_assert(!result->ok);
  ck_assert_ptr_nonnull(result->error);
  ck_assert_msg(strstr(result->error, part) != NULL, "no \"%s\" in \"%s\"", part, result->error);
}

START_TEST(a_page_that_is_not_whole_is_told) {
  fake.forgets = true;
  assert_fails(plan_of("traced", true), "warp 1 of block 2");
  fake.forgets = false;
  fake.turns_back = true;
  assert_fails(plan_of("traced", true), "warp 0 of block 2");
}
END_TEST

START_TEST(a_block_beyond_the_grid_is_refused) {
  Plan *plan = plan_of("traced", true);
  plan->traced = 3;
  assert_fails(plan, "block 3 cannot be traced: traced has only 3 blocks");
}
END_TEST

START_TEST(a_wrong_kernel_has_no_trace) {
  fake.is_wrong = true;
  assert_fails(plan_of("traced", true), "wrong");
}
END_TEST

START_TEST(a_plan_without_stamps_is_refused) {
  assert_fails(plan_of("gemm", false), "takes no stamps");
}
END_TEST

// Whatever call fails, there is a sentence and nothing is left behind.
START_TEST(every_failing_call_is_told) {
  trace_plan(plan_of("traced", true));
  const int calls = fake_cuda_calls(), last = 24;
  for (int n = 1; n <= calls; n += n < calls - last ? calls / last : 1) {
    fake_cuda_fail(n, 999);
    const TraceResult *result = trace_plan(plan_of("traced", true));
    fake_cuda_fail(0, 0);
    if (result && !result->ok) ck_assert_msg(result->error && *result->error, "call %d", n);
  }
}
END_TEST

// ---- its text -----------------------------------------------------------------------------------

static const char *text_of(const TraceResult *result) {
  Str json = str_new(arena);
  trace_result_write_json(&json, result);
  return json.text;
}

START_TEST(a_result_crosses_the_pipe) {
  Diags diags = diags_new(arena);
  const TraceResult *result = trace_plan(plan_of("traced", true));
  const char *text = text_of(result);
  const TraceResult *read = trace_result_read_json(arena, text, &diags);
  ck_assert_msg(read != NULL, "%s", diags_text(arena, &diags));
  ck_assert_str_eq(text_of(read), text);
  ck_assert_int_eq(read->warp[1].stamp[7].clock, result->warp[1].stamp[7].clock);
}
END_TEST

START_TEST(hostile_results_are_refused) {
  static const struct {
    const char *from, *to;
  } cases[] = {{"\"block\":2", "\"block\":\"2\""},   {"\"block\":2", "\"block\":1e300"},
               {"\"mark\":1", "\"mark\":1.5"},       {"\"mark\":1", "\"mark\":99999999999"},
               {"\"lost\":0", "\"lost\":null"},      {"\"warps\":[", "\"warps\":[7,"},
               {"\"sm\":17", "\"sm\":17,\"more\":1"}};
  const char *text = text_of(trace_plan(plan_of("traced", true)));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Diags diags = diags_new(arena);
    const char *at = strstr(text, cases[i].from);
    ck_assert_ptr_nonnull(at);
    const char *changed = arena_printf(arena, "%.*s%s%s", (int)(at - text), text, cases[i].to,
                                       at + strlen(cases[i].from));
    ck_assert_msg(!trace_result_read_json(arena, changed, &diags), "%s", cases[i].to);
    ck_assert_int_gt(diags.count, 0);
  }
}
END_TEST

Suite *suite_trace_run(void) {
  Suite *suite = suite_create("trace_run");
  TCase *tests = tcase_create("trace_run");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, a_block_is_traced);
  tcase_add_test(tests, the_blocks_of_a_cluster_are_traced_together);
  tcase_add_test(tests, what_a_page_has_no_room_for_is_counted);
  tcase_add_test(tests, a_page_that_is_not_whole_is_told);
  tcase_add_test(tests, a_block_beyond_the_grid_is_refused);
  tcase_add_test(tests, a_wrong_kernel_has_no_trace);
  tcase_add_test(tests, a_plan_without_stamps_is_refused);
  tcase_add_test(tests, every_failing_call_is_told);
  tcase_add_test(tests, a_result_crosses_the_pipe);
  tcase_add_test(tests, hostile_results_are_refused);
  suite_add_tcase(suite, tests);
  return suite;
}
