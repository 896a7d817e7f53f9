// The launches of a recorded program: listed in its capsule, as JSON, with times of a GPU; those of
// CUDA graphs; one capsule of each process.
#include <unistd.h>

#include "ptx/tally/tally.h"
#include "record_harness.h"

Suite *suite_record_launches(void);

// Of three launches in a graph the second has what the first left, and the third comes later.
static void check_graph(const char *with) {
  const char *path = in_folder("k.capsule");
  const CliRun run =
      cli_shell(arena, arena_printf(arena, "%s --launch 4 -o %s -- %s " DATA "/add.ptx graph3",
                                    with, path, in_folder("add")));
  ck_assert_msg(run.status == 0, "%s\n%s", run.out, run.err);
  ck_assert_str_eq(run.out, "PASS\n");
  const Capsule *capsule = read_capsule(path);
  ck_assert_uint_eq(capsule->number, 4);
  ck_assert(capsule->ended);
  ck_assert_int_eq(capsule->n_launches, 1);
  ck_assert_uint_eq(capsule->launches[0].times, 6);
  check_opens_equal(path, "999 of 999 words that changed are equal");
}

START_TEST(test_a_launch_is_cut_out_of_a_graph) {
  if (!have("cc", "a program of the driver's functions")) return;
  driver_program();
  check_graph("$GEMMVIEW record --cpu");
}
END_TEST

// ---- the launches of a program ------------------------------------------------------------------

// A capsule lists them all, with the one that it holds; `open` shows it in both ways.
START_TEST(test_a_capsule_lists_the_launches) {
  if (!have("cc", "a program of the driver's functions")) return;
  const char *path = in_folder("k.capsule");
  const CliRun run = record(arena_printf(arena, "--cpu --launch 2 -o %s", path),
                            arena_printf(arena, "%s " DATA "/add.ptx graph3", driver_program()));
  ck_assert_msg(run.status == 0, "%s", run.err);
  const CliRun text = cli_run(arena, arena_printf(arena, "open %s --list", path));
  ck_assert_int_eq(text.status, 0);
  ck_assert_msg(strstr(text.out, "/add.ptx graph3; the file holds") != NULL, "%s", text.out);
  ck_assert_msg(strstr(text.out, ">         6  8 ") != NULL, "%s", text.out);
  const CliRun json = cli_run(arena, arena_printf(arena, "open %s --list --json", path));
  const JsonValue *list = json_object_get(cli_json(arena, &json), "launches");
  ck_assert_int_eq(json_count(list), 1);
  ck_assert_int_eq(json_number(json_at(list, 0), "times"), 6);
  ck_assert_int_eq(json_kind(json_object_get(json_at(list, 0), "held")), JSON_BOOL);
  // A kernel's own part of the file says nothing of other launches.
  const CliRun detail = cli_run(arena, arena_printf(arena, "open %s --json --detail", path));
  ck_assert_int_eq(json_count(json_object_get(cli_json(arena, &detail), "launches")), 1);
}
END_TEST

// The document has stdout to itself.
START_TEST(test_a_recording_as_json) {
  if (!have("cc", "a program of the driver's functions")) return;
  const char *program = arena_printf(arena, "%s " DATA "/add.ptx graph3", driver_program());
  CliRun run = record("--cpu --list --json", program);
  ck_assert_msg(run.status == 0, "%s", run.err);
  ck_assert_ptr_nonnull(strstr(run.err, "FAIL"));  // no launch was run
  const JsonValue *root = cli_json(arena, &run);
  ck_assert_int_eq(json_number(root, "launched"), 6);
  ck_assert_int_eq(json_count(json_object_get(root, "capsules")), 0);
  const JsonValue *launch = json_at(json_object_get(root, "launches"), 0);
  ck_assert_int_eq(json_kind(json_object_get(launch, "time_us")), JSON_NULL);
  run = record(arena_printf(arena, "--cpu --json -o %s/k-%%p.capsule", folder), program);
  ck_assert_msg(run.status == 0, "%s", run.err);
  ck_assert_ptr_nonnull(strstr(run.err, "PASS"));
  ck_assert_int_eq(json_count(json_object_get(cli_json(arena, &run), "capsules")), 1);
}
END_TEST

// A capsule names the files of its PTX: one beside it is shown, one elsewhere is not read.
START_TEST(test_sources_elsewhere_are_not_read) {
  if (!have("cc", "a program of the driver's functions")) return;
  const char *path = in_folder("k.capsule"), *ptx = in_folder("named.ptx"),
             *other = arena_printf(arena, "%s-other", folder), *program = driver_program();
  const char *names[] = {in_folder("near.cu"), arena_printf(arena, "%s/far.cu", other),
                         arena_printf(arena, "%s/../%s/far.cu", folder, ptx_base_name(other))};
  cli_shell(arena, arena_printf(arena, "mkdir %s", other));
  for (int i = 0; i < 3; i++) {
    cli_shell(arena, arena_printf(arena, "echo 'a line of mine' > %s", names[i]));
    cli_shell(arena,
              arena_printf(arena, "sed 's#^.*[.]file.*#.file 1 \"%s\"#' " DATA "/add.ptx > %s",
                           names[i], ptx));
    const CliRun run = record(arena_printf(arena, "--cpu -o %s", path),
                              arena_printf(arena, "%s %s", program, ptx));
    ck_assert_msg(run.status == 0, "%s", run.err);
    const CliRun open = cli_run(arena, arena_printf(arena, "open %s --json --detail", path));
    const bool shown = strstr(open.out, "a line of mine") != NULL;
    ck_assert_msg(shown == (i == 0), "%s: %d %.1000s", names[i], open.status, open.err);
  }
  cli_shell(arena, arena_printf(arena, "rm -r %s", other));
}
END_TEST

// Each process of a program has a capsule of its own, where the name leaves room for it.
START_TEST(test_each_process_is_recorded) {
  if (!have("cc", "a program of the driver's functions")) return;
  const char *program = arena_printf(arena, "%s " DATA "/add.ptx", driver_program());
  const CliRun run = record(arena_printf(arena, "--cpu --json -o %s/k-%%p.capsule", folder),
                            arena_printf(arena, "sh -c '%s; %s'", program, program));
  ck_assert_msg(run.status == 0, "%s", run.err);
  const JsonValue *capsules = json_object_get(cli_json(arena, &run), "capsules");
  ck_assert_int_eq(json_count(capsules), 2);
  const CliRun files = cli_shell(arena, arena_printf(arena, "(ls %s/k-*.capsule | wc -l)", folder));
  ck_assert_int_eq(atoi(files.out), 2);
}
END_TEST

// By the events of the made up GPU a launch takes 2.5 ms; its graphs are cut as ours are.
START_TEST(test_launches_of_a_gpu) {
  if (!have("cc", "a driver with a GPU, made up")) return;
  const char *program = driver_program(),
             *with = arena_printf(arena, "LD_LIBRARY_PATH=%s $GEMMVIEW record", folder);
  compile(arena_printf(arena,
                       "cc -O1 -shared -fPIC -Wl,-soname,libcuda.so.1 -o %s/libcuda.so.1 " DATA
                       "/fake_driver.c",
                       folder));
  CliRun run = cli_shell(
      arena, arena_printf(arena, "%s --list --json -- %s " DATA "/add.ptx", with, program));
  const JsonValue *list = json_object_get(cli_json(arena, &run), "launches");
  ck_assert_int_eq(json_number(json_at(list, 0), "time_us"), 2500);
  run = cli_shell(arena, arena_printf(arena, "%s --list -- %s " DATA "/add.ptx", with, program));
  ck_assert_msg(strstr(run.err, "us each") && strstr(run.err, "2500"), "%s", run.err);
  check_graph(with);
}
END_TEST

Suite *suite_record_launches(void) {
  Suite *suite = suite_create("record_launches");
  TCase *tc = tcase_create("record_launches");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 300);
  tcase_add_test(tc, test_a_launch_is_cut_out_of_a_graph);
  tcase_add_test(tc, test_a_capsule_lists_the_launches);
  tcase_add_test(tc, test_a_recording_as_json);
  tcase_add_test(tc, test_each_process_is_recorded);
  tcase_add_test(tc, test_sources_elsewhere_are_not_read);
  tcase_add_test(tc, test_launches_of_a_gpu);
  suite_add_tcase(suite, tc);
  return suite;
}
