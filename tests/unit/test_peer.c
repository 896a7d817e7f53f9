// The reference in a process of its own: what torch's process says and does not say, and a job that
// is timed beside one, with a fake driver.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "fake_cuda.h"
#include "fake_cuda_parts.h"
#include "kernels/device/bench.h"
#include "kernels/device/driver.h"
#include "kernels/device/peer.h"
#include "kernels/worker/torch_peer.h"

Suite *suite_peer(void);

static Arena *arena;
static char folder[] = "/tmp/gemmview-peer-XXXXXX";
static const char *python;

static void setup(void) {
  arena = arena_new("test peer");
  strcpy(folder, "/tmp/gemmview-peer-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  python = arena_printf(arena, "%s/python", folder);
  fake_cuda_install();
}

static void teardown(void) {
  fake_cuda_remove();
  unlink(python);
  rmdir(folder);
  unsetenv("GEMMVIEW_PYTHON");
  arena_free(arena);
}

static const Plan *plan_of(PlanType type, int64_t queries, bool causal) {
  Plan *plan = ARENA_NEW(arena, Plan);
  *plan = (Plan){.cuda = "text",
                 .arch = "sm_90a",
                 .label = "attention",
                 .operand_type = type,
                 .accumulate_type = PLAN_F32,
                 .output_type = type,
                 .m = queries,
                 .n = 8,
                 .k = 16,
                 .heads = 2,
                 .causal = causal,
                 .tile_m = 8,
                 .tile_n = 8,
                 .n_kernels = 1,
                 .kernels = {{.name = "attend",
                              .grid = {2, 1, 1},
                              .block = {32, 1, 1},
                              .n_args = 4,
                              .args = {PLAN_ARG_A, PLAN_ARG_B, PLAN_ARG_V, PLAN_ARG_C}}}};
  return plan;
}

// ---- torch's process ----------------------------------------------------------------------------

// Takes a shell script for python3, which is given the program by -c and does not look at it.
static void play_python(const char *script) {
  FILE *file = fopen(python, "w");
  ck_assert_ptr_nonnull(file);
  fprintf(file, "#!/bin/sh\n%s\n", script);
  fclose(file);
  ck_assert_int_eq(chmod(python, 0700), 0);
  setenv("GEMMVIEW_PYTHON", python, 1);
}

static bool open_torch(TorchPeer *torch, const Plan *plan, PeerRows *rows, const char **error) {
  PeerBuffer buffer[PEER_BUFFERS] = {{.handle = {0xab, 1}, .offset = 77}};
  const BenchPeer peer = torch_peer(torch);
  *rows = (PeerRows){0};
  *error = NULL;
  return peer.open(peer.context, arena, plan, "GPU-1", buffer, rows, error);
}

START_TEST(rows_are_asked_for_and_timed) {
  TorchPeer torch = {0};
  PeerRows rows;
  const char *error;
  double ns = 0;
  play_python(arena_printf(
      arena,
      "read line; echo \"$line\" > %s.told\n"
      "echo '{\"library\": \"torch 9.9\", \"rows\": [\"FlashAttention-2\", \"cuDNN\"]}'\n"
      "while read line; do echo '{\"ms\": 2.5}'; done",
      python));
  ck_assert_msg(open_torch(&torch, plan_of(PLAN_BF16, 8, true), &rows, &error), "%s", error);
  ck_assert_str_eq(rows.library, "torch 9.9");
  ck_assert_int_eq(rows.n, 2);
  ck_assert_str_eq(rows.name[1], "cuDNN");
  const BenchPeer peer = torch_peer(&torch);
  ck_assert(peer.run(peer.context, 1, 20, &ns));
  ck_assert_double_eq(ns, 2.5e6);
  torch_peer_close(&torch);
  char told[1024] = {0};
  const char *path = arena_printf(arena, "%s.told", python);
  FILE *file = fopen(path, "r");
  ck_assert(file && fgets(told, sizeof told, file));
  fclose(file);
  unlink(path);
  ck_assert_ptr_nonnull(
      strstr(told,
             "{\"gpu\":\"GPU-1\",\"heads\":2,\"m\":8,\"n\":8,\"k\":16,\"type\":\"bf16\","
             "\"causal\":true,\"buffers\":[{\"handle\":\"ab010000"));
  ck_assert_ptr_nonnull(strstr(told, "\"offset\":77}"));
}
END_TEST

static const struct {
  const char *script, *says;
} silent[] = {
    {"read line; echo '{\"error\": \"torch sees no GPU\"}'", "torch sees no GPU"},
    {"echo Segmentation fault >&2; exit 1", "Segmentation fault"},
    {"read line; echo 'no object'", "python3 printed nothing"},
    {"read line; echo '{\"rows\": []}'", "library"},
    {"exit 0", "python3 printed nothing"},
};
enum { N_SILENT = sizeof silent / sizeof *silent };

START_TEST(what_goes_wrong_is_a_sentence) {
  TorchPeer torch = {0};
  PeerRows rows;
  const char *error;
  play_python(silent[_i].script);
  ck_assert(!open_torch(&torch, plan_of(PLAN_F16, 8, false), &rows, &error));
  ck_assert_msg(error && strstr(error, silent[_i].says), "%s", error);
  torch_peer_close(&torch);
}
END_TEST

START_TEST(a_python_that_is_not_there) {
  TorchPeer torch = {0};
  PeerRows rows;
  const char *error;
  setenv("GEMMVIEW_PYTHON", "/nowhere/python3", 1);
  ck_assert(!open_torch(&torch, plan_of(PLAN_F16, 8, false), &rows, &error));
  ck_assert_msg(strstr(error, "cannot execute /nowhere/python3"), "%s", error);
  torch_peer_close(&torch);
}
END_TEST

START_TEST(it_may_end_while_it_is_timed) {
  TorchPeer torch = {0};
  PeerRows rows;
  const char *error;
  double ns;
  play_python("read line; echo '{\"library\": \"torch 9.9\", \"rows\": [\"cuDNN\"]}'; read line");
  ck_assert(open_torch(&torch, plan_of(PLAN_F16, 8, false), &rows, &error));
  const BenchPeer peer = torch_peer(&torch);
  ck_assert(!peer.run(peer.context, 0, 20, &ns));
  torch_peer_close(&torch);
}
END_TEST

START_TEST(problems_that_torch_has_no_kernel_for) {
  TorchPeer torch = {0};
  PeerRows rows;
  const char *error;
  ck_assert(!open_torch(&torch, plan_of(PLAN_F32, 8, false), &rows, &error));
  ck_assert_str_eq(error, "torch's fused attention takes f16 and bf16");
  ck_assert(!open_torch(&torch, plan_of(PLAN_F16, 5, true), &rows, &error));
  ck_assert_str_eq(error,
                   "torch's causal mask begins at the first key, gemmview's ends at the "
                   "last");
}
END_TEST

// The program itself, by the python3 that is here: without torch, or without this GPU's memory, it
// says so in one line.
START_TEST(the_program_answers_in_one_line) {
  TorchPeer torch = {0};
  PeerRows rows;
  const char *error;
  if (system("python3 -c 'import json' >/dev/null 2>&1") != 0) return;
  ck_assert(!open_torch(&torch, plan_of(PLAN_F16, 8, false), &rows, &error));
  ck_assert_msg(error && !strstr(error, "says nothing"), "%s", error);
  torch_peer_close(&torch);
}
END_TEST

// ---- a job --------------------------------------------------------------------------------------

// What the fake float64 reference leaves is zero; a row that writes something else is wrong.
typedef struct Rows {
  Plan const *plan;
  Gpu *gpu;
  bool wrong[2];
  double ns[2];
  int runs;
} Rows;

static bool open_rows(void *context, Arena *own, const Plan *plan, const char *gpu_uuid,
                      const PeerBuffer buffer[PEER_BUFFERS], PeerRows *rows, const char **error) {
  (void)context, (void)own, (void)plan, (void)gpu_uuid, (void)buffer, (void)error;
  *rows = (PeerRows){"torch 9.9", {"FlashAttention-2", "cuDNN"}, 2};
  return true;
}

static void *fake_o;
static int64_t fake_o_bytes;

static bool run_rows(void *context, int row, int count, double *ns) {
  Rows *rows = context;
  rows->runs += count;
  *ns = count * rows->ns[row];
  if (count == 0) memset(fake_o, rows->wrong[row] ? 0x3c : 0, (size_t)fake_o_bytes);
  return true;
}

static void attend(void **parameters) {
  fake_o = *(void **)parameters[3];
  memset(fake_o, 0, (size_t)fake_o_bytes);
}

static BenchResult *run_beside(Rows *rows, const char *text) {
  static const unsigned char cubin[] = "\177ELF";
  Plan *plan = (Plan *)(uintptr_t)plan_of(PLAN_F16, 8, false);
  plan->cuda = text;
  fake_o_bytes = plan_c_bytes(plan);
  fake_cuda_set_types(PLAN_F16, PLAN_F16);
  fake_cuda_add_kernel("attend", attend);
  const BenchPeer peer = {.context = rows, .open = open_rows, .run = run_rows};
  const BenchInput input = {plan, cubin, sizeof cubin, NULL};
  const BenchOptions options = {.budget_s = 0.001, .peer = &peer};
  const char *error = NULL;
  Gpu *gpu = gpu_open(arena, 0, &error);
  ck_assert_msg(gpu != NULL, "%s", error);
  BenchResult *result = bench_run(arena, gpu, &input, 1, &options);
  gpu_close(gpu);
  return result;
}

// A kernel of mma.sync is held against one of its kind, a kernel of wgmma against the fastest.
START_TEST(like_is_held_against_like) {
  static const char *const texts[] = {"mma.sync", "wgmma.mma_async"};
  static const char *const names[] = {"FlashAttention-2", "cuDNN"};
  Rows rows = {.ns = {5000, 3000}};
  const BenchResult *result = run_beside(&rows, texts[_i]);
  ck_assert_msg(result->ok, "%s %s", result->error, result->entries[0].error);
  ck_assert_msg(result->reference.ok, "%s", result->reference.error);
  ck_assert_str_eq(result->reference.name, names[_i]);
  ck_assert_str_eq(result->reference.library, "torch 9.9");
  ck_assert_double_eq(result->reference.time.median_ns, rows.ns[_i]);
  ck_assert_double_eq_tol(result->entries[0].ratio, rows.ns[_i] / result->entries[0].time.median_ns,
                          1e-9);
}
END_TEST

START_TEST(a_wrong_row_is_no_reference) {
  Rows rows = {.ns = {5000, 3000}, .wrong = {true, _i == 1}};
  const BenchResult *result = run_beside(&rows, "mma.sync");
  ck_assert_msg(result->ok, "%s %s", result->error, result->entries[0].error);
  ck_assert(result->reference.ok == (_i == 0));
  if (_i == 0)
    ck_assert_str_eq(result->reference.name, "cuDNN");
  else
    ck_assert_msg(result->reference.error && result->entries[0].ratio == 0, "%s",
                  result->reference.error);
}
END_TEST

Suite *suite_peer(void) {
  Suite *suite = suite_create("peer");
  TCase *torch = tcase_create("torch"), *job = tcase_create("job");
  tcase_set_timeout(torch, 60);
  tcase_add_checked_fixture(torch, setup, teardown);
  tcase_add_checked_fixture(job, setup, teardown);
  tcase_add_test(torch, rows_are_asked_for_and_timed);
  tcase_add_loop_test(torch, what_goes_wrong_is_a_sentence, 0, N_SILENT);
  tcase_add_test(torch, a_python_that_is_not_there);
  tcase_add_test(torch, it_may_end_while_it_is_timed);
  tcase_add_test(torch, problems_that_torch_has_no_kernel_for);
  tcase_add_test(torch, the_program_answers_in_one_line);
  suite_add_tcase(suite, torch);
  tcase_add_loop_test(job, like_is_held_against_like, 0, 2);
  tcase_add_loop_test(job, a_wrong_row_is_no_reference, 0, 2);
  suite_add_tcase(suite, job);
  return suite;
}
