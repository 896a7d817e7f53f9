// gemmview tune and tuned as a user calls them, with workers that time by a law
// (worker_simulate.h).
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/tune_input.h"
#include "cli_harness.h"

Suite *suite_cli_tune(void);

static Arena *arena;

static void setup(void) { arena = arena_new("test cli tune"); }
static void teardown(void) { arena_free(arena); }

static const char *simulated(const char *gpu) {
  return cli_fake_worker_rules(
      arena, arena_printf(arena,
                          "{\"on\":\"start\",\"do\":\"machine\",\"text\":\"%s\"}\n"
                          "{\"on\":\"compile\",\"do\":\"simulate\"}\n"
                          "{\"on\":\"bench\",\"do\":\"simulate\"}\n",
                          gpu));
}

static CliRun run_well(const char *arguments) {
  CliRun run = cli_run(arena, arguments);
  ck_assert_msg(run.status == 0, "%d: %s%s", run.status, run.out, run.err);
  return run;
}

// The last of JSON Lines.
static const JsonValue *last_line(CliRun run) {
  const char *at = run.out + strlen(run.out) - 1;
  while (at > run.out && at[-1] != '\n') at--;
  run.out = at;
  return cli_json(arena, &run);
}

static double number(const JsonValue *object, const char *key) {
  Diags diags = diags_new(arena);
  double value = 0;
  ck_assert_msg(json_require_double(object, key, &value, &diags), "%s", diags_text(arena, &diags));
  return value;
}

static const char *word(const JsonValue *object, const char *key) {
  Diags diags = diags_new(arena);
  const char *value = "";
  ck_assert_msg(json_require_string(object, key, &value, &diags), "%s", diags_text(arena, &diags));
  return value;
}

// One command draws, times, fits to the first third and says how well that orders the rest; and the
// history keeps the fit.
START_TEST(random_schedules_say_how_good_the_model_is) {
  const CliRun run = run_well(
      arena_printf(arena, "tune 2048,2048,2048 --random 180 --json %s", simulated("NVIDIA H200")));
  const JsonValue *last = last_line(run), *families = json_object_get(last, "families");
  ck_assert_str_eq(word(last, "kind"), "order");
  ck_assert_int_eq(json_count(families), 1);
  const JsonValue *fma = json_at(families, 0);
  ck_assert_str_eq(word(fma, "family"), "fma");
  ck_assert(number(fma, "fitted_to") == 60 && number(fma, "predicted") == 120);
  ck_assert_msg(number(fma, "spearman") > 0.9, "%.3f", number(fma, "spearman"));
  ck_assert(number(fma, "spearman_roofline") <= 1 && number(fma, "error") < 0.3);
  ck_assert_ptr_null(strstr(run.out, "\"round\":\"short\""));
  const CliRun kept = run_well("tuned --calibrations --json");
  const JsonValue *fits = json_object_get(cli_json(arena, &kept), "calibrations");
  ck_assert_int_eq(json_count(fits), 1);
  ck_assert(number(json_at(fits, 0), "points") == 180);
  ck_assert_str_eq(word(json_at(fits, 0), "gpu"), "NVIDIA H200");
  const CliRun shown = run_well("tuned --calibrations");
  ck_assert_ptr_nonnull(strstr(shown.out, "\nNVIDIA H200                      fma "));
  ck_assert_ptr_nonnull(strstr(shown.out, "multiply-adds of threads\n"));
  for (const char *line = shown.out; *line; line = strchr(line, '\n') + 1)
    ck_assert_int_le((int)(strchr(line, '\n') - line), 80);
}
END_TEST

// The kernels of one GPU as files; of two GPUs one has to be named.
START_TEST(what_was_tuned_is_written_as_a_library) {
  const char *folder = arena_printf(arena, "%s/library/new", cli_own_folder(arena));
  run_well(
      arena_printf(arena, "tune 256,512,128 --limit 2 --no-seeds %s", simulated("NVIDIA H200")));
  run_well(arena_printf(arena, "tune 64,64,64 --limit 2 --no-seeds %s",
                        simulated("NVIDIA A100-SXM4-80GB")));
  CliRun run = cli_run(arena, arena_printf(arena, "tuned --header %s", folder));
  ck_assert(run.status == 2 && strstr(run.err, "choose one with --gpu"));
  run = run_well(arena_printf(arena, "tuned --header %s --gpu A100", folder));
  ck_assert_ptr_nonnull(strstr(run.out, "1 kernel of NVIDIA A100-SXM4-80GB"));
  ck_assert_ptr_nonnull(strstr(run.out, "-gencode arch=compute_80,code=sm_80 -lib"));
  run =
      cli_shell(arena, arena_printf(arena, "cat %s/gemm_tuned.h %s/gemm_64x64x64_f32_f32_f32_nn.cu",
                                    folder, folder));
  ck_assert_ptr_nonnull(strstr(run.out, "extern \"C\" int gemm_64x64x64_f32_f32_f32_nn("));
  ck_assert_int_eq(cli_run(arena, "tuned --gpu A100").status, 2);
  ck_assert_int_eq(cli_run(arena, "tuned --header x --json").status, 2);
}
END_TEST

// A table whose last column begins at one place, however long the names are.
START_TEST(the_list_of_what_was_tuned_is_a_table) {
  run_well(arena_printf(arena, "tune 64,64,64 --limit 2 --no-seeds %s", simulated("NVIDIA H200")));
  run_well(arena_printf(arena, "tune 64,64,64 --limit 2 --no-seeds %s",
                        simulated("NVIDIA H100 80GB HBM3 of the long name")));
  const char *out = run_well("tuned").out, *state = strstr(out, "state");
  ck_assert_ptr_nonnull(state);
  for (const char *at = strchr(out, '\n'); at && at[1]; at = strchr(at + 1, '\n'))
    ck_assert_int_eq(strncmp(at + 1 + (state - out), "AUTO=0", 6), 0);
}
END_TEST

// Each line is written as it comes: why the first of them was not is not known at the end.
START_TEST(a_full_disk_behind_stdout_is_told) {
  const CliRun run =
      cli_shell(arena, arena_printf(arena, "%s tune 64,64,64 --limit 2 --json %s > /dev/full",
                                    getenv("GEMMVIEW"), simulated("NVIDIA H200")));
  ck_assert_int_eq(run.status, 1);
  ck_assert_ptr_nonnull(strstr(run.err, "the output could not be written: not all of it"));
}
END_TEST

START_TEST(random_schedules_have_to_be_enough_to_fit_to) {
  ck_assert_int_eq(cli_run(arena, "tune 64,64,64 --random 90").status, 2);
  const CliRun run = cli_run(arena, "tune 64,64,64 --random 300 --resume");
  ck_assert_int_eq(run.status, 2);
  ck_assert_ptr_nonnull(strstr(run.err, "--random draws"));
}
END_TEST

// A command that is not there is told of at once, by its own words; nobody waits the whole time.
START_TEST(workers_that_never_come_are_named_and_not_waited_for) {
  CliRun run = cli_run(arena, "tune 64,64,64 --seconds 600 --worker no-such-command");
  ck_assert_int_eq(run.status, 3);
  ck_assert_ptr_nonnull(strstr(run.err, "\"no-such-command\" ended with status 127"));
  run = cli_run(arena, "tune 64,64,64 --seconds 600 --worker no-such-command --worker false");
  ck_assert_int_eq(run.status, 3);
  ck_assert_ptr_nonnull(strstr(run.err, "worker 1 of 2 does not work"));
  ck_assert_ptr_nonnull(strstr(run.err, "worker 2 of 2 does not work"));
}
END_TEST

// The others go on, and each line is said once.
START_TEST(a_worker_that_never_comes_does_not_stop_the_others) {
  const CliRun run = run_well(arena_printf(
      arena, "tune 64,64,64 --seconds 3 --worker no-such-command %s", simulated("NVIDIA H200")));
  const char *said = strstr(run.err, "worker 1 of 2 does not work");
  ck_assert_ptr_nonnull(said);
  ck_assert_ptr_null(strstr(said + 1, "worker 1 of 2"));
  ck_assert_ptr_nonnull(strstr(run.out, "best "));
}
END_TEST

// One worker for each GPU of the host, as many as the first one sees.
START_TEST(every_gpu_of_a_host_has_a_worker) {
  const CliRun run = run_well(arena_printf(
      arena, "tune 64,64,64 --seconds 2 --gpus all --json %s",
      cli_fake_worker_rules(
          arena,
          "{\"on\":\"start\",\"do\":\"machine\",\"text\":\"NVIDIA H200\",\"code\":3}\n"
          "{\"on\":\"compile\",\"do\":\"simulate\"}\n{\"on\":\"bench\",\"do\":\"simulate\"}\n")));
  ck_assert_ptr_nonnull(strstr(run.out, "\"workers\":3"));
  for (int worker = 0; worker < 3; worker++)
    ck_assert_ptr_nonnull(strstr(run.out, arena_printf(arena, "\"worker\":%d,", worker)));
  const CliRun none =
      cli_run(arena, arena_printf(arena, "tune 64,64,64 --gpus all %s", simulated("NVIDIA H200")));
  ck_assert_int_ne(none.status, 0);
  ck_assert_ptr_nonnull(strstr(none.err, "names no GPU"));
}
END_TEST

// The compilers of a host share its processors: 24 for three workers, 8 each; one that does not say
// how many there are is asked for no share.
START_TEST(workers_of_a_host_share_its_processors) {
  static const struct {
    const char *said, *last;
  } cases[] = {{",\"code\":3,\"bytes\":23", " --gpu 2 --compiles 8"},
               {",\"code\":3,\"bytes\":1", " --gpu 2 --compiles 1"},
               {",\"code\":2", " --gpu 1"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *script =
        cli_write_file(arena, arena_printf(arena, "host%d.jsonl", (int)i),
                       arena_printf(arena,
                                    "{\"on\":\"start\",\"do\":\"hello\"}\n"
                                    "{\"on\":\"start\",\"do\":\"machine\",\"text\":\"H200\"%s}\n",
                                    cases[i].said));
    const char *command = arena_printf(arena, "%s worker --fake %s", getenv("GEMMVIEW"), script);
    Diags diags = diags_new(arena);
    OptionList out;
    ck_assert_msg(tune_workers(arena, &(OptionList){&command, 1}, true, &out, &diags), "%s",
                  diags_text(arena, &diags));
    ck_assert_int_eq(out.count, cases[i].said[8] - '0');
    ck_assert_str_eq(out.items[out.count - 1], arena_printf(arena, "%s%s", command, cases[i].last));
  }
}
END_TEST

// The time is the search's own: a worker that comes out of a queue later than that has all of it.
START_TEST(the_time_begins_with_the_first_worker) {
  const CliRun run = run_well(arena_printf(
      arena, "tune 64,64,64 --seconds 2 --no-seeds --json %s",
      cli_fake_worker_rules(
          arena,
          "{\"on\":\"start\",\"delay_ms\":3000,\"do\":\"machine\",\"text\":\"NVIDIA H200\"}\n"
          "{\"on\":\"compile\",\"do\":\"simulate\"}\n{\"on\":\"bench\",\"do\":\"simulate\"}\n")));
  const JsonValue *last = last_line(run);
  ck_assert_str_eq(word(last, "kind"), "best");
  ck_assert_str_eq(word(last, "round"), "final");
  ck_assert(number(last, "elapsed_s") >= 1.4);
}
END_TEST

// A disk that fills up while it searches: the search goes on, and says that it keeps nothing.
START_TEST(a_history_that_cannot_be_written_is_told_of_once) {
  const CliRun run = cli_shell(
      arena, arena_printf(arena,
                          "trap '' XFSZ; ulimit -f 64; mkdir %s/full; XDG_STATE_HOME=%s/full %s "
                          "tune 64,64,64 --limit 80 --seconds 20 %s",
                          cli_own_folder(arena), cli_own_folder(arena), getenv("GEMMVIEW"),
                          simulated("NVIDIA H200")));
  ck_assert_msg(run.status == 0, "%d: %s", run.status, run.err);
  const char *said = strstr(run.err, "going on without it");
  ck_assert_ptr_nonnull(said);
  ck_assert_ptr_null(strstr(said + 1, "going on without it"));
  ck_assert_ptr_nonnull(strstr(run.out, "best "));
}
END_TEST

// What there is no kernel of says which rule is in the way, and what cannot run is not tried.
START_TEST(a_problem_without_kernels_says_why) {
  static const struct {
    const char *problem, *why;
  } cases[] = {{"2147483647,2147483647,2147483647", "more than 2^36 elements"},
               {"128,128,128,bf16,HEADS=2", "PROGRAM=matmul does not take HEADS"},
               {"128,128,128,bf16,TARGET=b200", "TARGET=b200: its kernels do not run on"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const CliRun run = cli_run(arena, arena_printf(arena, "tune %s --seconds 5 %s",
                                                   cases[i].problem, simulated("NVIDIA H200")));
    ck_assert_int_eq(run.status, 2);
    ck_assert_msg(strstr(run.err, cases[i].why) != NULL, "%s", run.err);
  }
}
END_TEST

// All the time is spent: the best of the runs before stands beside the cuBLAS of those runs.
START_TEST(what_is_known_is_shown_beside_cublas) {
  const char *asked =
      arena_printf(arena, "tune 64,64,64 --seconds 3 %s --json", simulated("NVIDIA H200"));
  run_well(asked);
  run_well(arena_printf(arena, "%s --resume", asked));
  const CliRun run = run_well(arena_printf(arena, "%s --resume --seconds 1", asked));
  const JsonValue *last = last_line(run);
  ck_assert_str_eq(word(last, "kind"), "best");
  ck_assert(number(last, "of_cublas") > 0);
}
END_TEST

Suite *suite_cli_tune(void) {
  Suite *suite = suite_create("cli_tune");
  TCase *tests = tcase_create("cli_tune");
  tcase_set_timeout(tests, 180);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, random_schedules_say_how_good_the_model_is);
  tcase_add_test(tests, what_was_tuned_is_written_as_a_library);
  tcase_add_test(tests, random_schedules_have_to_be_enough_to_fit_to);
  tcase_add_test(tests, workers_that_never_come_are_named_and_not_waited_for);
  tcase_add_test(tests, a_worker_that_never_comes_does_not_stop_the_others);
  tcase_add_test(tests, the_time_begins_with_the_first_worker);
  tcase_add_test(tests, every_gpu_of_a_host_has_a_worker);
  tcase_add_test(tests, workers_of_a_host_share_its_processors);
  tcase_add_test(tests, a_history_that_cannot_be_written_is_told_of_once);
  tcase_add_test(tests, a_problem_without_kernels_says_why);
  tcase_add_test(tests, what_is_known_is_shown_beside_cublas);
  tcase_add_test(tests, the_list_of_what_was_tuned_is_a_table);
  tcase_add_test(tests, a_full_disk_behind_stdout_is_told);
  suite_add_tcase(suite, tests);
  return suite;
}
