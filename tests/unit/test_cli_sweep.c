// Which schedules a sweep looks at, and gemmview check, loops and sweep as a user calls them.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/tables/sweep.h"
#include "cli_harness.h"
#include "kernels/device/history/recorded.h"
#include "property.h"

Suite *suite_cli_sweep(void);

static Arena *arena;
static TargetTable targets;
static Diags diags;

static void setup(void) {
  arena = arena_new("test cli sweep");
  diags = diags_new(arena);
  targets = *property_gpus();
}
static void teardown(void) { arena_free(arena); }

static Schedule schedule_of(const char *text) {
  Schedule schedule = schedule_plain();
  ck_assert_msg(schedule_parse(&schedule, text, &diags), "%s", diags_text(arena, &diags));
  return schedule;
}

static void assert_has(const char *text, const char *part) {
  ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in\n%s", part, text);
}

// ---- products -----------------------------------------------------------------------------------

START_TEST(the_last_knob_runs_fastest) {
  const Schedule base = schedule_of("BM=16,BN=16,STAGE=11");
  SweepAxes axes = {0};
  ck_assert(sweep_add_axis(&axes, "FM=4,8", &base, &diags));
  ck_assert(sweep_add_axis(&axes, "pad=0,4", &base, &diags));
  ck_assert_int_eq(sweep_product(&axes), 4);
  SweepPoints points = sweep_points(arena, &axes, &base, &targets);
  ck_assert_int_eq(points.n, 4);
  ck_assert_str_eq(schedule_text(arena, &points.point[1]),
                   "AUTO=0,BM=16,BN=16,STAGE=11,FM=4,PAD_SMEM=4");
  ck_assert_str_eq(schedule_text(arena, &points.point[2]),
                   "AUTO=0,BM=16,BN=16,STAGE=11,FM=8,PAD_SMEM=0");
}
END_TEST

START_TEST(illegal_points_are_passed_over) {
  const Schedule base = schedule_of("BM=16");
  SweepAxes axes = {0};
  ck_assert(sweep_add_axis(&axes, "BN=32,64,128", &base, &diags));
  SweepPoints points = sweep_points(arena, &axes, &base, &targets);
  ck_assert_int_eq(points.n, 2);  // 16 x 128 threads are too many
}
END_TEST

START_TEST(a_name_alone_is_every_value) {
  const Schedule base = schedule_of("CELL_GROUP=4");
  SweepAxes axes = {0};
  ck_assert(sweep_add_axis(&axes, "CELL_GROUP", &base, &diags));
  ck_assert_int_eq(axes.axis[0].n, 6);  // 0 1 2 4 8 16
  ck_assert_int_eq(axes.axis[0].value[0], 0);
  ck_assert_int_eq(axes.axis[0].value[5], 16);
  ck_assert(sweep_add_axis(&axes, "STAGE", &base, &diags));
  ck_assert_int_eq(axes.axis[1].n, 4);
}
END_TEST

// ---- the commands -------------------------------------------------------------------------------

static int count_lines(const char *text) {
  int n = 0;
  for (; *text; text++) n += *text == '\n';
  return n;
}

START_TEST(sweep_prints_points_and_the_best_last) {
  CliRun run = cli_run(arena, "sweep -k AUTO=0,STAGE=11 --knob FM=1,8 --knob FN=1,8 --predict");
  ck_assert_msg(run.status == 0, "%s", run.err);
  ck_assert_int_eq(count_lines(run.out), 1 + 4 + 3);
  const char *best = strstr(run.out, "\nbest of 4:\n");
  ck_assert_ptr_nonnull(best);
  assert_has(best, "STAGE=11,FM=8,FN=8\n");
  run = cli_run(arena, "sweep -k AUTO=0,STAGE=11 --knob FM=1,8 --predict --json");
  ck_assert_int_eq(count_lines(run.out), 3);
  assert_has(run.out, "\"best_so_far\":true,\"best\":{");
}
END_TEST

START_TEST(sweep_times_through_the_worker) {
  CompileResult cubin = cli_good_cubin();
  BenchResult bench = cli_good_bench();
  const char *worker = cli_fake_worker(arena, "NVIDIA H200", &cubin, &bench);
  CliRun run =
      cli_run(arena, arena_printf(arena, "sweep --knob FM=1,2,4 --csv --seconds 0.1 %s", worker));
  ck_assert_msg(run.status == 0, "%s", run.err);
  ck_assert_int_eq(count_lines(run.out), 1 + 3 + 1);
  assert_has(run.out, ",1,3000000,");
  run = cli_run(arena, arena_printf(arena, "sweep --knob FM=1,2 %s", worker));
  ck_assert_msg(run.status == 0, "%s", run.err);
  assert_has(run.out, "timed again");
  bench.ok = bench.entries[0].ok = false;
  bench.entries[0].error = "1 of 2 cells wrong";
  bench.entries[0].verify.ok = false;
  bench.entries[0].time = (Timing){0};
  worker = cli_fake_worker(arena, "NVIDIA H200", &cubin, &bench);
  run = cli_run(arena, arena_printf(arena, "sweep --knob FM=1,2 %s", worker));
  ck_assert_int_eq(run.status, 5);
  assert_has(run.out, "1 of 2 cells wrong");
  ck_assert_ptr_null(strstr(run.out, "best of"));
}
END_TEST

START_TEST(check_tells_what_holds_and_what_fails) {
  CliRun run = cli_run(arena, "check -k BM=8,BN=256");
  ck_assert_int_eq(run.status, 1);
  assert_has(run.out, "FAILS  threads_fit        BM=8, BN=256: 2048 threads");
  assert_has(run.out, "nearest: BN=128\n");
  assert_has(run.out, "open   smem_fits");
  assert_has(run.out, "1 of ");
  run = cli_run(arena, "check");
  ck_assert_int_eq(run.status, 0);
  ck_assert_ptr_null(strstr(run.out, "FAILS"));
  ck_assert_ptr_null(strstr(run.out, "open"));
  run = cli_run(arena, "check --failing -k TMA=1,STAGE=11,TARGET=a100");
  ck_assert_int_eq(run.status, 1);
  assert_has(run.out, "nearest: TMA=0");
  ck_assert_ptr_null(strstr(run.out, "holds"));
}
END_TEST

START_TEST(check_json_has_every_rule) {
  CliRun run = cli_run(arena, "check --json -k BM=8,BN=256");
  ck_assert_int_eq(run.status, 1);
  const JsonValue *root = cli_json(arena, &run);
  const JsonValue *rules = json_object_get(root, "rules");
  int failing = 0, open = 0;
  for (int i = 0; i < json_count(rules); i++) {
    const JsonValue *holds = json_object_get(json_at(rules, i), "holds");
    bool value = false;
    if (json_is_null(holds))
      open++;
    else if (json_read_bool(holds, &value, &diags) && !value)
      failing++;
  }
  ck_assert_int_gt(json_count(rules), 10);
  ck_assert_int_eq(failing, 1);
  ck_assert_int_eq(open, 2);
}
END_TEST

START_TEST(loops_shows_the_nest_and_what_a_pass_did) {
  CliRun run = cli_run(arena, "loops -k FM=2,FN=2");
  ck_assert_int_eq(run.status, 0);
  assert_has(run.out, "\n  for m_t in 0..16 THREAD, n_t in 0..16 THREAD\n");
  run = cli_run(arena, "loops --knobs -k FM=2,FN=2");
  assert_has(run.out, "FM              |     for m_r in 0..2 REGISTER");
  run = cli_run(arena, "loops --pass register_tile -k FM=2,FN=2");
  assert_has(run.out, "- registers acc[1 x 1]");
  assert_has(run.out, "+ registers acc[2 x 2]");
  ck_assert_ptr_null(strstr(run.out, "tile (BM BN)"));
  run = cli_run(arena, "loops --diff -k FM=2,FN=2");
  assert_has(run.out, "tile (BM BN)");
  assert_has(run.out, "register_tile (FM FN)");
  run = cli_run(arena, "loops --json -k FM=2,FN=2");
  const JsonValue *root = cli_json(arena, &run);
  ck_assert_int_eq(json_count(json_object_get(root, "passes")), 2);
  ck_assert_int_gt(json_count(json_object_get(root, "lines")), 8);
}
END_TEST

START_TEST(resources_names_the_limit_and_every_site) {
  const char *quiet = cli_fake_worker(arena, NULL, NULL, NULL);
  const char *state = "-k AUTO=0,BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,VECTORIZE=1";
  CliRun run = cli_run(arena, arena_printf(arena, "resources %s %s", state, quiet));
  ck_assert_int_eq(run.status, 0);
  assert_has(run.out, "estimated LIMIT: shared");
  assert_has(run.out, "  a <- A_s  LDS ");
  run = cli_run(arena, arena_printf(arena, "resources --json %s %s", state, quiet));
  const JsonValue *root = cli_json(arena, &run), *sites = json_object_get(root, "sites");
  ck_assert_int_eq(json_count(sites), 4);
  int wavefronts = 0, ideal = 0, conflicts = 0;
  const JsonValue *site = json_at(sites, 3);
  ck_assert(json_require_int(site, "wavefronts", 1, 32, &wavefronts, &diags));
  ck_assert(json_require_int(site, "ideal", 1, 32, &ideal, &diags));
  ck_assert(json_require_int(site, "conflicts", 0, 32, &conflicts, &diags));
  ck_assert_int_eq(wavefronts, 8);
  ck_assert_int_eq(conflicts, wavefronts - ideal);
  double clocks = 0;
  ck_assert(json_require_double(json_object_get(root, "traffic"), "fma_clocks", &clocks, &diags));
  ck_assert_double_eq(clocks, 2048);
  // A 16-byte cp.async has no count: null, never 0.
  run = cli_run(arena, arena_printf(arena, "resources --json %s,BUFFER_COUNT=2,ASYNC_COPY=1 %s",
                                    state, quiet));
  site = json_at(json_object_get(cli_json(arena, &run), "sites"), 0);
  ck_assert(json_is_null(json_object_get(site, "wavefronts")));
}
END_TEST

// A compiler that is not done in time leaves the model's half, and the status says that it was
// late.
START_TEST(resources_shows_the_model_where_the_compiler_is_late) {
  const char *late =
      cli_fake_worker_rules(arena,
                            "{\"on\":\"compile\",\"do\":\"reply\",\"line\":{\"type\":\"error\","
                            "\"id\":0,\"error\":\"timeout\","
                            "\"text\":\"the compile was ended at its deadline of 120.0 s\"}}\n"
                            "{\"on\":\"compile\",\"do\":\"done\"}\n");
  CliRun run = cli_run(arena, arena_printf(arena, "resources -k BM=16,BN=16,FM=8,FN=8 %s", late));
  ck_assert_int_eq(run.status, 124);
  assert_has(run.out, "registers per thread");
  assert_has(run.out, "estimated LIMIT:");
  assert_has(run.err, "the compiler did not answer: the compile was ended at its deadline");
  run = cli_run(arena, arena_printf(arena, "ptx -k BM=16,BN=16,FM=8,FN=8 %s", late));
  ck_assert_int_eq(run.status, 124);
  ck_assert_str_eq(run.out, "");
}
END_TEST

// What an article prints in front of its command is a state.
START_TEST(a_line_of_a_listing_is_a_state) {
  const char *lines[] = {"DEPLODOCK_KNOBS=\"BM=8,BN=32,FM=26,FN=4\" \\",
                         "export DEPLODOCK_KNOBS=BM=8,BN=32,FM=26,FN=4"};
  CliRun bare = cli_run(arena, "loops -k BM=8,BN=32,FM=26,FN=4");
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    CliRun run = cli_run(arena, arena_printf(arena, "loops -k '%s'", lines[i]));
    ck_assert_int_eq(run.status, 0);
    ck_assert_str_eq(run.out, bare.out);
  }
  CliRun run = cli_run(arena, "loops -k 'DEPLODOCK_KNOBS=\"$BASE,STAGE=00\"'");
  ck_assert_int_eq(run.status, 2);
  assert_has(run.err, "$BASE");
}
END_TEST

static const struct {
  const char *arguments, *sentence;
} bad[] = {
    {"check -k BM=0", "nearest: BM=1"},
    {"check -k TARGET=h2000", "nearest: h200"},
    {"check extra", "extra cannot be read"},
    {"check --jsno", "nearest: --json"},
    {"loops -k BM=1000,BN=32", "32000 threads"},
    {"loops --pass register_tyle -k FM=2", "nearest: register_tile"},
    {"loops --pass tile --diff", "not both"},
    {"loops extra", "\"extra\""},
    {"sweep", "nearest: --knob"},
    {"sweep --knob FM=1 --search 3", "nearest: gemmview tune 4096,4096,4096 --seconds 3"},
    {"sweep --knob FN=x --predict", "FN=x"},
    {"sweep --knob FM=1,99 --predict", "FM=99"},
    {"sweep --knob FMM=1 --predict", "nearest: FM"},
    {"sweep --knob TARGET=h100 --predict", "one GPU"},
    {"sweep --knob FM=1 --knob TM=2 --predict", "swept twice"},
    {"sweep --knob BM=1024 --knob BN=1024 --predict", "none of the 1 points is legal"},
    {"sweep --knob FM --knob FN --knob PAD_SMEM --predict", "are allowed"},
    {"sweep --knob FM --knob FN --predict", "nearest: --limit"},
    {"sweep --knob FM=1 --predict --worker x", "needs no worker"},
    {"sweep --knob FM= --predict", "FM="},
};

START_TEST(bad_input_is_2_with_a_sentence) {
  CliRun run = cli_run(arena, bad[_i].arguments);
  ck_assert_msg(run.status == 2, "%s: %d %s", bad[_i].arguments, run.status, run.err);
  assert_has(run.err, bad[_i].sentence);
  ck_assert_str_eq(run.out, "");
}
END_TEST

Suite *suite_cli_sweep(void) {
  Suite *suite = suite_create("cli_sweep");
  TCase *tc = tcase_create("sweep");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, the_last_knob_runs_fastest);
  tcase_add_test(tc, illegal_points_are_passed_over);
  tcase_add_test(tc, a_name_alone_is_every_value);
  suite_add_tcase(suite, tc);
  if (!cli_has_program()) return suite;
  tcase_add_test(tc, sweep_prints_points_and_the_best_last);
  tcase_add_test(tc, sweep_times_through_the_worker);
  tcase_add_test(tc, check_tells_what_holds_and_what_fails);
  tcase_add_test(tc, check_json_has_every_rule);
  tcase_add_test(tc, resources_names_the_limit_and_every_site);
  tcase_add_test(tc, resources_shows_the_model_where_the_compiler_is_late);
  tcase_add_test(tc, a_line_of_a_listing_is_a_state);
  tcase_add_test(tc, loops_shows_the_nest_and_what_a_pass_did);
  tcase_add_loop_test(tc, bad_input_is_2_with_a_sentence, 0, (int)(sizeof bad / sizeof *bad));
  return suite;
}
