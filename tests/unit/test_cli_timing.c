// bench, ladder and selftest as a user calls them, with a worker that answers from a script: what
// is printed, and the exit status of everything that can go wrong.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli_harness.h"
#include "kernels/device/history/history.h"
#include "kernels/device/history/recorded.h"

Suite *suite_cli_timing(void);

static Arena *arena;

static void setup(void) { arena = arena_new("test cli timing"); }
static void teardown(void) { arena_free(arena); }

#define STATE "-k AUTO=0,BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11"

static CliRun with_worker(const char *arguments, const char *worker) {
  return cli_run(arena, arena_printf(arena, "%s %s", arguments, worker));
}

static void assert_has(const char *text, const char *part) {
  ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in\n%s", part, text);
}

static const char *good_worker(void) {
  CompileResult cubin = cli_good_cubin();
  BenchResult bench = cli_good_bench();
  return cli_fake_worker(arena, "NVIDIA H200", &cubin, &bench);
}

static double number_at(const JsonValue *object, const char *key) {
  Diags diags = diags_new(arena);
  double number = 0;
  ck_assert_msg(json_require_double(object, key, &number, &diags), "%s", diags_text(arena, &diags));
  return number;
}

// ---- bench --------------------------------------------------------------------------------------

START_TEST(bench_prints_time_and_reference) {
  CliRun run = with_worker("bench " STATE, good_worker());
  ck_assert_msg(run.status == 0, "%d %s%s", run.status, run.out, run.err);
  assert_has(run.out, "NVIDIA H200, driver 580.95.05, CUDA 13.0, SM 1980 MHz");
  assert_has(run.out, "3.000 ms");
  assert_has(run.out, "0.900");
  assert_has(run.out, "cublasLt heuristic 3");
  ck_assert_str_eq(run.err, "");
}
END_TEST

START_TEST(bench_json_has_the_row_and_the_whole_result) {
  CliRun run = with_worker("bench --json " STATE, good_worker());
  ck_assert_int_eq(run.status, 0);
  const JsonValue *root = cli_json(arena, &run);
  const JsonValue *row = json_object_get(root, "this");
  ck_assert_double_eq(number_at(row, "time_ns"), 3.0e6);
  ck_assert_double_eq(number_at(row, "cublas_time_ns"), 2.7e6);
  ck_assert_double_eq(number_at(row, "registers"), 96);
  ck_assert_double_eq(number_at(row, "spill_bytes"), 0);
  // Two blocks of 256 threads on an SM of 2048.
  ck_assert_double_eq(number_at(row, "occupancy"), 0.25);
  ck_assert(json_is_null(json_object_get(root, "error_map")));
  ck_assert(!json_is_null(json_object_get(json_object_get(root, "bench"), "reference")));
}
END_TEST

// The question asks for it, and the answer's ratios are shown with their range.
START_TEST(hot_is_asked_for_and_said) {
  CompileResult cubin = cli_good_cubin();
  BenchResult bench = cli_good_bench();
  bench.hot = true;
  bench.entries[0].ratio_min = 0.885;
  bench.entries[0].ratio_max = 0.9125;
  const char *worker = cli_fake_worker(arena, "NVIDIA H200", &cubin, &bench);
  CliRun run = with_worker("bench --hot " STATE, worker);
  ck_assert_msg(run.status == 0, "%s", run.err);
  assert_has(run.out,
             "hot, 100 rounds:\nthis       0.900 of cuBLAS, 0.885 to 0.912 within a round");
  run = with_worker("bench --hot --json " STATE, worker);
  const JsonValue *root = cli_json(arena, &run);
  ck_assert_double_eq(number_at(json_object_get(root, "this"), "ratio_min"), 0.885);
  assert_has(run.out, "\"hot\":true");
  run = with_worker("ladder fp32 --only naive --hot", worker);
  assert_has(run.out, "of cuBLAS within a round");
  assert_has(run.out, "0.885 to 0.912\n");
}
END_TEST

// A worker that times nothing unless it is asked for hot turns.
static const char *only_hot_worker(void) {
  return cli_fake_worker_rules(arena,
                               "{\"on\":\"start\",\"do\":\"machine\",\"text\":\"NVIDIA H200\"}\n"
                               "{\"on\":\"compile\",\"do\":\"done\"}\n"
                               "{\"on\":\"bench\",\"match\":\"\\\"hot\\\":true\",\"do\":\"reply\","
                               "\"line\":{\"type\":\"error\","
                               "\"id\":0,\"error\":\"timeout\",\"text\":\"hot it is\"}}\n"
                               "{\"on\":\"bench\",\"do\":\"done\"}\n");
}

START_TEST(records_are_hot_unless_cold) {
  const char *worker = only_hot_worker();
  const char *path = cli_write_file(arena, "record.json", "old");
  CliRun run =
      with_worker(arena_printf(arena, "ladder fp32 --only naive --record %s", path), worker);
  assert_has(run.out, "hot it is");
  run =
      with_worker(arena_printf(arena, "ladder fp32 --only naive --cold --record %s", path), worker);
  ck_assert_ptr_null(strstr(run.out, "hot it is"));
  run = with_worker("ladder fp32 --only naive", worker);
  ck_assert_ptr_null(strstr(run.out, "hot it is"));
  run = with_worker("bench --hot " STATE, worker);
  assert_has(run.err, "hot it is");
  remove(path);
}
END_TEST

START_TEST(a_wrong_kernel_has_no_speed_but_a_map) {
  CompileResult cubin = cli_good_cubin();
  BenchResult bench = cli_good_bench();
  static const uint32_t map[] = {0, 16384, 0, 5};
  bench.ok = false;
  BenchEntry *entry = &bench.entries[0];
  *entry = (BenchEntry){.label = "",
                        .error = "16389 of 65536 cells wrong",
                        .blocks_per_sm = -1,
                        .registers = -1,
                        .local_bytes = -1};
  entry->verify = (VerifyResult){.ran = true,
                                 .worst = 9,
                                 .n_cells = 65536,
                                 .n_wrong = 16389,
                                 .map_rows = 2,
                                 .map_cols = 2,
                                 .map_tile_m = 128,
                                 .map_tile_n = 128,
                                 .n_map = 4,
                                 .map = map};
  const char *worker = cli_fake_worker(arena, "NVIDIA H200", &cubin, &bench);
  CliRun run = with_worker("bench " STATE, worker);
  ck_assert_int_eq(run.status, 5);
  assert_has(run.out, "  .#\n  .+\n");
  assert_has(run.err, "16389 of 65536 cells wrong");
  ck_assert_ptr_null(strstr(run.out, "3.000 ms"));
  run = with_worker("bench --json " STATE, worker);
  ck_assert_int_eq(run.status, 5);
  const JsonValue *root = cli_json(arena, &run);
  ck_assert(json_is_null(json_object_get(json_object_get(root, "this"), "time_ns")));
  ck_assert_double_eq(number_at(json_object_get(root, "error_map"), "tile_m"), 128);
}
END_TEST

START_TEST(a_wide_spread_is_not_trusted) {
  CompileResult cubin = cli_good_cubin();
  BenchResult bench = cli_good_bench();
  bench.entries[0].time.p75_ns = 3.5e6;
  CliRun run = with_worker("bench " STATE, cli_fake_worker(arena, "NVIDIA H200", &cubin, &bench));
  ck_assert_int_eq(run.status, 5);
  assert_has(run.err, "cannot be trusted");
}
END_TEST

static const char *against(double ns) {
  CompileResult cubin = cli_good_cubin();
  BenchResult bench = cli_good_bench();
  bench.n_entries = 2;
  Timing *time = &bench.entries[1].time;
  *time = (Timing){ns, ns * 0.99, ns * 0.995, ns * 0.999, ns * 1.001, ns * 1.005, 100, 1};
  return cli_fake_worker(arena, "NVIDIA H200", &cubin, &bench);
}

START_TEST(against_a_faster_one_is_no) {
  CliRun run = with_worker("bench " STATE " --against BM=16,BN=16,FM=8,FN=8", against(2.0e6));
  ck_assert_int_eq(run.status, 1);
  assert_has(run.out, "50.0 % slower");
  run = with_worker("bench " STATE " --against BM=16,BN=16,FM=8,FN=8", against(6.0e6));
  ck_assert_int_eq(run.status, 0);
  assert_has(run.out, "100.0 % faster");
  run = with_worker("bench " STATE " --against BM=16,BN=16,FM=8,FN=8", against(3.0e6));
  ck_assert_int_eq(run.status, 0);
  assert_has(run.out, "no difference");
}
END_TEST

START_TEST(a_text_that_does_not_compile_is_4) {
  CompileResult cubin = {.error = "ptxas says no",
                         .failed = "cubin",
                         .log = "line 3: what is this",
                         .ptx_ms = -1,
                         .cubin_ms = -1};
  CliRun run = with_worker("bench " STATE, cli_fake_worker(arena, "NVIDIA H200", &cubin, NULL));
  ck_assert_int_eq(run.status, 4);
  assert_has(run.err, "ptxas says no");
  assert_has(run.err, "line 3");
}
END_TEST

START_TEST(what_is_missing_is_3) {
  CompileResult none = {
      .error = "NVRTC was not found", .failed = "library", .log = "", .ptx_ms = -1, .cubin_ms = -1};
  CliRun run = with_worker("bench " STATE, cli_fake_worker(arena, NULL, NULL, NULL));
  ck_assert_int_eq(run.status, 3);
  assert_has(run.err, "no driver was found");
  run = with_worker("ladder fp32", cli_fake_worker(arena, NULL, NULL, NULL));
  ck_assert_int_eq(run.status, 3);
  run = with_worker("selftest --gpu", cli_fake_worker(arena, NULL, NULL, NULL));
  ck_assert_int_eq(run.status, 3);
  run = with_worker("bench " STATE, cli_fake_worker(arena, "NVIDIA H200", &none, NULL));
  ck_assert_int_eq(run.status, 3);
  assert_has(run.err, "NVRTC was not found");
  run = cli_run(arena, "probe --registers");  // here, not by a worker
  ck_assert_msg(run.status == 3 || run.status < 2, "%d %s", run.status, run.err);
  run = cli_run(arena, "bench --worker /nowhere/gemmview");
  ck_assert_int_eq(run.status, 3);
}
END_TEST

START_TEST(a_worker_that_dies_is_3_and_one_that_hangs_124) {
  const char *machine =
      "{\"on\":\"start\",\"do\":\"machine\",\"text\":\"NVIDIA H200\"}\n"
      "{\"on\":\"compile\",\"do\":\"done\"}\n";
  const char *dies = arena_printf(arena, "%s{\"on\":\"bench\",\"do\":\"crash\"}\n", machine);
  CliRun run = with_worker("bench " STATE, cli_fake_worker_rules(arena, dies));
  ck_assert_msg(run.status == 3, "%d %s", run.status, run.err);
  const char *hangs =
      arena_printf(arena,
                   "%s{\"on\":\"bench\",\"do\":\"reply\",\"line\":{\"type\":\"error\",\"id\":0,"
                   "\"error\":\"timeout\",\"text\":\"ended at its deadline\"}}\n{\"on\":\"bench\","
                   "\"do\":\"done\"}\n",
                   machine);
  run = with_worker("bench " STATE, cli_fake_worker_rules(arena, hangs));
  ck_assert_int_eq(run.status, 124);
  assert_has(run.err, "ended at its deadline");
}
END_TEST

START_TEST(a_worker_without_a_result_is_3) {
  CompileResult cubin = cli_good_cubin();
  const char *silent = cli_fake_worker(arena, "NVIDIA H200", &cubin, NULL);
  CliRun run = with_worker("bench " STATE " --against FM=2,FN=2", silent);
  ck_assert_int_eq(run.status, 3);
  assert_has(run.err, "without a result");
  // One entry where two were asked for.
  run = with_worker("bench " STATE " --against FM=2,FN=2", good_worker());
  ck_assert_int_eq(run.status, 3);
}
END_TEST

START_TEST(an_interrupt_is_130_and_ends_the_worker) {
  const char *hangs =
      "{\"on\":\"start\",\"do\":\"machine\",\"text\":\"NVIDIA H200\"}\n"
      "{\"on\":\"compile\",\"do\":\"done\"}\n{\"on\":\"bench\",\"do\":\"hang\"}\n";
  const char *worker = cli_fake_worker_rules(arena, hangs);
  CliRun run =
      cli_shell(arena, arena_printf(arena, "timeout --preserve-status -s INT 1 %s bench %s",
                                    getenv("GEMMVIEW"), worker));
  ck_assert_msg(run.status == 130, "%d %s", run.status, run.err);
  assert_has(run.err, "interrupted");
}
END_TEST

START_TEST(timings_are_kept_in_the_history) {
  CliRun run = with_worker("bench " STATE, good_worker());
  ck_assert_int_eq(run.status, 0);
  HistoryRow rows[1];
  Diags diags = diags_new(arena);
  History *history = history_open(arena, NULL, &diags);
  ck_assert_int_eq(history_recent(history, arena, rows, 1), 1);
  ck_assert_str_eq(rows[0].state, "AUTO=0,BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11");
  ck_assert_double_eq(rows[0].time_ns, 3.0e6);
  history_close(history);
}
END_TEST

// ---- ladder -------------------------------------------------------------------------------------

START_TEST(ladder_lists_every_rung) {
  CliRun run = with_worker("ladder fp32", good_worker());
  ck_assert_msg(run.status == 0, "%s", run.err);
  ck_assert_ptr_null(strstr(run.out, "not built"));
  assert_has(run.out, " tma ");
  assert_has(run.out, " naive ");
  assert_has(run.out, "splitk_best");
  assert_has(run.out, "driver 580.95.05");
  assert_has(run.out, " x prev ");
  assert_has(run.out, "  45.80   x1.00 ");  // the worker takes the same time for all of them
}
END_TEST

START_TEST(ladder_json_is_a_recorded_document) {
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);  // a ladder with a rung that is not built
  CliRun run = with_worker("ladder fp32 --only naive,tma,2 --size 512 --size 256,128,64 --json",
                           good_worker());
  unsetenv("GEMMVIEW_DATA");
  ck_assert_int_eq(run.status, 0);
  Diags diags = diags_new(arena);
  const Recorded *recorded = recorded_read_json(arena, run.out, strlen(run.out), "stdout", &diags);
  ck_assert_msg(recorded != NULL, "%s", diags_text(arena, &diags));
  // Two rungs at two sizes, and the one that is not built once.
  ck_assert_int_eq(recorded->n_rows, 5);
  ck_assert_str_eq(recorded->kind, "measured");
  ck_assert_str_eq(recorded->clocks, "SM 1980 MHz");
  ck_assert_str_eq(recorded->rows[0].rung, "naive");
  assert_has(recorded->rows[0].state, "M=512,N=512,K=512");
  assert_has(recorded->rows[3].state, "M=256,N=128,K=64");
  ck_assert_str_eq(recorded->rows[2].rung, "tma");
  ck_assert_ptr_nonnull(recorded->rows[2].error);
  ck_assert(recorded->rows[2].time_ns == 0 && !recorded->rows[2].verified);
}
END_TEST

// Before a worker is asked for anything.
START_TEST(ladder_refuses_a_size_that_no_rung_takes) {
  static const char *const sizes[][2] = {
      {"ladder hgemm --size 4096 --size 4100",
       "--size 4100,4100,4100: no rung of hgemm is legal with it"},
      {"ladder hopper --only e4m3 --size 1000", "no rung of hopper is legal with it; e4m3: "},
  };
  for (int i = 0; i < 2; i++) {
    const CliRun run = with_worker(sizes[i][0], good_worker());
    ck_assert_int_eq(run.status, 2);
    assert_has(run.err, sizes[i][1]);
    assert_has(run.err, "nearest: ");
    ck_assert_str_eq(run.out, "");
  }
  // Some of them take it: the line of the other one says why not.
  const CliRun run = with_worker("ladder fp16 --only mma,staged --size 4100", good_worker());
  assert_has(run.out, " 45.80 ");
  ck_assert_int_eq(run.status, 2);
}
END_TEST

START_TEST(ladder_records_a_file) {
  const char *path = cli_write_file(arena, "record.json", "old");
  CliRun run = with_worker(arena_printf(arena, "ladder fp32 --only naive --csv --record %s", path),
                           good_worker());
  ck_assert_int_eq(run.status, 0);
  assert_has(run.out, "rung,m,n,k,");
  assert_has(run.out, "\nnaive,4096,4096,4096,1,3000000,");
  FILE *file = fopen(path, "r");
  static char text[1 << 16];
  size_t n = fread(text, 1, sizeof text, file);
  fclose(file);
  remove(path);
  Diags diags = diags_new(arena);
  const Recorded *recorded = recorded_read_json(arena, text, n, path, &diags);
  ck_assert_msg(recorded != NULL, "%s", diags_text(arena, &diags));
  ck_assert_str_eq(recorded->kind, "recorded");
  ck_assert_str_eq(recorded->gpu, "NVIDIA H200");
  ck_assert_double_eq(recorded->rows[0].time_ns, 3.0e6);
}
END_TEST

START_TEST(another_gpu_becomes_the_target) {
  CliRun run = with_worker("ladder fp32 --only naive --json", good_worker());
  ck_assert_ptr_null(strstr(run.out, "TARGET"));
  CompileResult cubin = cli_good_cubin();
  BenchResult bench = cli_good_bench();
  const char *worker = cli_fake_worker(arena, "NVIDIA H100 80GB HBM3", &cubin, &bench);
  run = with_worker("ladder fp32 --only naive --json", worker);
  assert_has(run.out, "TARGET=h100");
  run = with_worker("bench --json -k TARGET=h200", worker);
  assert_has(run.out, "TARGET=h200");
}
END_TEST

START_TEST(a_failing_rung_decides_the_status) {
  CompileResult cubin = cli_good_cubin();
  BenchResult bench = cli_good_bench();
  bench.ok = bench.entries[0].ok = false;
  bench.entries[0].error = "3 of 9 cells wrong";
  bench.entries[0].verify.ok = false;
  bench.entries[0].time = (Timing){0};
  CliRun run = with_worker("ladder fp32 --only naive,tiers",
                           cli_fake_worker(arena, "NVIDIA H200", &cubin, &bench));
  ck_assert_int_eq(run.status, 5);
  assert_has(run.out, "3 of 9 cells wrong");
}
END_TEST

// ---- bad input ----------------------------------------------------------------------------------

static const struct {
  const char *arguments, *sentence;
} bad[] = {
    {"bench -k BM=3000", "nearest: BM=1024"},
    {"bench -k BM=1000,BN=32 --worker false", "32000 threads"},
    {"bench extra", "\"extra\""},
    {"bench --seconds 0", "from 0.05 to 600; nearest: 0.05"},
    {"bench --against BN=x", "BN"},
    {"bench --worker ''", "worker"},
    {"bench --hot --cold", "--hot and --cold exclude each other"},
    {"ladder fp32 --hot --cold", "--hot and --cold exclude each other"},
    {"bench --in-process --worker x", "exclude"},
    {"bench --against M=64 --in-process --jsno", "--json"},
    {"ladder", "a ladder is needed; nearest: fp32"},
    {"ladder fp23", "nearest: fp32"},
    {"ladder fp32 extra", "one ladder"},
    {"ladder fp32 --size 0", "--size: \"0\""},
    {"ladder fp32 --size 4096,4096", "--size"},
    {"ladder fp32 --size 2147483648", "nearest: 1048576"},
    {"ladder fp32 --size 1,2,3,4", "--size"},
    {"ladder fp32 --size -1", "--size"},
    {"ladder fp32 --only nayve", "nearest: naive"},
    {"ladder fp32 --only 99", "99"},
    {"ladder fp32 --main --asides", "exclude"},
    {"ladder fp32 --json --csv", "exclude"},
    {"ladder fp32 --with BM=x", "BM"},
    {"probe --op lds32", "belong together"},
    {"probe --op lds23 --addr 0", "nearest: lds32"},
    {"probe --op lds32 --addr 0,4", "addr"},
    {"probe --op lds32 --addr lane*4 -k AUTO=0,STAGE=11", "give --op with --addr, or a schedule"},
    {"probe", "0 accesses to shared memory; nearest: STAGE=11"},
    {"probe -k AUTO=0,STAGE=11 --site 9", "nearest: --site 4"},
    {"probe extra", "\"extra\""},
    {"probe --registers --site 1", "--registers takes only --json"},
    {"probe --registers --worker x", "--registers takes only --json"},
    {"selftest --only bank", "nearest: banks"},
    {"selftest --random -1", "--random"},
    {"selftest --ladder fp23", "nearest: fp32"},
    {"selftest gpu", "\"gpu\""},
};

START_TEST(bad_input_is_2_with_a_sentence) {
  CliRun run = cli_run(arena, bad[_i].arguments);
  ck_assert_msg(run.status == 2, "%s: %d %s", bad[_i].arguments, run.status, run.err);
  assert_has(run.err, bad[_i].sentence);
  ck_assert_str_eq(run.out, "");
}
END_TEST

START_TEST(selftest_holds_here) {
  CliRun run = cli_run(arena, "selftest --only banks --json");
  ck_assert_msg(run.status == 0, "%s", run.err);
  const JsonValue *check = json_at(json_object_get(cli_json(arena, &run), "checks"), 0);
  ck_assert_double_eq(number_at(check, "passed"), 1633);
  run = cli_run(arena, "selftest --only random --random 3 --seed 7");
  ck_assert_int_eq(run.status, 0);
  assert_has(run.out, "3 passed, 0 failed");
  run = cli_run(arena, "selftest --only random --random 1 --hopper --verbose --seed 2");
  ck_assert_int_eq(run.status, 0);
  assert_has(run.out, "1 passed, 0 failed");
}
END_TEST

START_TEST(a_wrong_kernel_fails_the_selftest_with_its_state) {
  CompileResult cubin = {
      .error = "no such luck", .failed = "ptx", .log = "", .ptx_ms = -1, .cubin_ms = -1};
  CliRun run = with_worker("selftest --only compile --ladder fp32",
                           cli_fake_worker(arena, "NVIDIA H200", &cubin, NULL));
  ck_assert_int_eq(run.status, 1);
  assert_has(run.err, "compile: register_tile: no such luck\n  -k AUTO=0,BM=16,BN=16,FM=8,FN=8\n");
  assert_has(run.out, "NOT all as claimed");
}
END_TEST

// What names a GPU of another architecture is no failure of the one at hand.
START_TEST(rungs_of_another_architecture_are_counted_apart) {
  CliRun run = with_worker("selftest --gpu --only run --ladder blackwell --json",
                           cli_fake_worker(arena, "NVIDIA H200", NULL, NULL));
  assert_has(run.out, "\"passed\":0,\"failed\":0,\"elsewhere\":");
  ck_assert_ptr_null(strstr(run.out, "\"elsewhere\":0"));
  ck_assert_int_eq(run.status, 0);
}
END_TEST

Suite *suite_cli_timing(void) {
  Suite *suite = suite_create("cli_timing");
  TCase *tc = tcase_create("timing");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 120);
  suite_add_tcase(suite, tc);
  if (!cli_has_program()) return suite;
  tcase_add_test(tc, bench_prints_time_and_reference);
  tcase_add_test(tc, bench_json_has_the_row_and_the_whole_result);
  tcase_add_test(tc, hot_is_asked_for_and_said);
  tcase_add_test(tc, records_are_hot_unless_cold);
  tcase_add_test(tc, a_wrong_kernel_has_no_speed_but_a_map);
  tcase_add_test(tc, a_wide_spread_is_not_trusted);
  tcase_add_test(tc, against_a_faster_one_is_no);
  tcase_add_test(tc, a_text_that_does_not_compile_is_4);
  tcase_add_test(tc, what_is_missing_is_3);
  tcase_add_test(tc, a_worker_that_dies_is_3_and_one_that_hangs_124);
  tcase_add_test(tc, a_worker_without_a_result_is_3);
  tcase_add_test(tc, an_interrupt_is_130_and_ends_the_worker);
  tcase_add_test(tc, timings_are_kept_in_the_history);
  tcase_add_test(tc, ladder_lists_every_rung);
  tcase_add_test(tc, ladder_json_is_a_recorded_document);
  tcase_add_test(tc, ladder_refuses_a_size_that_no_rung_takes);
  tcase_add_test(tc, ladder_records_a_file);
  tcase_add_test(tc, another_gpu_becomes_the_target);
  tcase_add_test(tc, a_failing_rung_decides_the_status);
  tcase_add_loop_test(tc, bad_input_is_2_with_a_sentence, 0, (int)(sizeof bad / sizeof *bad));
  tcase_add_test(tc, selftest_holds_here);
  tcase_add_test(tc, a_wrong_kernel_fails_the_selftest_with_its_state);
  tcase_add_test(tc, rungs_of_another_architecture_are_counted_apart);
  return suite;
}
