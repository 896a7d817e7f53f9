// What every command promises, asked of the program itself: one JSON object, CSV whose rows have as
// many fields as its head, nothing but the document on standard output, the exit statuses.
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli_harness.h"
#include "stress.h"

#define STATE "-k AUTO=0,M=32,N=32,K=32,BM=16,BN=16,FM=2,FN=2,STAGE=11"

static Arena *arena;

static void setup(void) {
  arena = arena_new("test");
  setenv("XDG_CONFIG_HOME", cli_own_folder(arena), 1);  // whoever runs the tests may have one
}
static void teardown(void) { arena_free(arena); }

static const char *const documents[] = {
    "banks --op lds32 --addr 'lane*4'",
    "loops " STATE,
    "loops --knobs " STATE,
    "check " STATE,
    "check -k BM=1024",
    "cuda " STATE,
    "interpret " STATE,
    "fragment m16n8k16.f16 A",
    "fragment --list",
    "swizzle swizzle:3,4,3 --rows 8 --row-bytes 128 --elem 2",
    "solve --example tf32-b",
    "decode s1688gemm_64x256_16x4",
    "targets",
    "knobs",
    "ladders",
    "doctor",
    "config",
    "classroom",
    "config check",
    "lesson --list",
    "lesson --facts",
    "show explore",
    "show banks --size 40x12",
};
enum { DOCUMENTS = sizeof documents / sizeof *documents };

START_TEST(json_is_one_object_of_the_schema) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena, arena_printf(arena, "%s --json", documents[_i]));
  Diags diags = diags_new(arena);
  const char *schema = "";
  const JsonValue *root = cli_json(arena, &run);
  ck_assert(json_require_string(root, "schema", &schema, &diags));
  ck_assert_str_eq(schema, "gemmview/1");
  ck_assert_msg(strchr(run.out, '\n') == run.out + strlen(run.out) - 1, "%s: more than a line",
                documents[_i]);
  ck_assert_ptr_null(strchr(run.out, 033));
}
END_TEST

static const char *const tables[] = {"check -k BM=1024", "fragment --list", "solve --list",
                                     "banks --list",     "targets",         "knobs",
                                     "ladders"};
enum { TABLES = sizeof tables / sizeof *tables };

static int fields(const char *line, size_t n) {
  int count = 1;
  bool quoted = false;
  for (size_t i = 0; i < n; i++) {
    if (line[i] == '"') quoted = !quoted;
    count += line[i] == ',' && !quoted;
  }
  ck_assert_msg(!quoted, "an open quote: %.*s", (int)n, line);
  return count;
}

START_TEST(csv_rows_are_as_long_as_their_head) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena, arena_printf(arena, "%s --csv", tables[_i]));
  int head = 0, rows = 0;
  for (const char *line = run.out; *line; rows++) {
    size_t n = strcspn(line, "\n");
    if (rows == 0) head = fields(line, n);
    ck_assert_msg(fields(line, n) == head, "%s: %.*s", tables[_i], (int)n, line);
    line += n + (line[n] == '\n');
  }
  ck_assert_int_ge(rows, 3);
  ck_assert_int_ge(head, 2);
}
END_TEST

static const struct {
  const char *arguments;
  int status;
} statuses[] = {
    {"check", CLI_OK},
    {"check -k BM=1024", CLI_NO},
    {"check -k BM=", CLI_USAGE},
    {"check -k XYZ=1", CLI_USAGE},
    {"loops -k BM=1024,BN=1024", CLI_USAGE},
    {"cuda -k BM=1024,BN=1024", CLI_USAGE},
    {"show explore -k BM=1024,BN=1024", CLI_USAGE},
    {"show nothing", CLI_USAGE},
    {"show explore --format gif", CLI_USAGE},
    {"show explore --size 0x0", CLI_USAGE},
    {"show explore --color mauve", CLI_USAGE},
    {"nothing", CLI_USAGE},
    {"--nothing", CLI_USAGE},
    {"explore", CLI_USAGE},  // no terminal here
    {"bench " STATE " --worker /dev/null/none/worker", CLI_MISSING},
    {"interpret " STATE, CLI_OK},
    {"interpret " STATE " --break last_barrier", CLI_NO},
    {"--version", CLI_OK},
    {"--help", CLI_OK},
    {"classroom init relative", CLI_USAGE},
    {"classroom init /tmp/gemmview-classroom", CLI_USAGE},
    {"classroom init /srv/x --group no_such_group_here", CLI_USAGE},
    {"classroom inti /srv/x", CLI_USAGE},
};

START_TEST(statuses_are_those_of_the_table) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena, arena_printf(arena, "%s </dev/null", statuses[_i].arguments));
  ck_assert_msg(run.status == statuses[_i].status, "%s: %d: %s", statuses[_i].arguments, run.status,
                run.err);
  ck_assert_int_eq(*run.err != '\0', run.status >= CLI_USAGE);
}
END_TEST

// NO_COLOR counts for what is printed too, unless the command line says otherwise.
START_TEST(no_color_is_honoured_by_what_is_printed) {
  if (!cli_has_program()) return;
  setenv("NO_COLOR", "1", 1);
  CliRun none = cli_run(arena, "show explore --format ansi");
  CliRun asked = cli_run(arena, "show explore --format ansi --color 16");
  setenv("NO_COLOR", "", 1);
  CliRun empty = cli_run(arena, "show explore --format ansi");
  unsetenv("NO_COLOR");
  ck_assert_ptr_null(strstr(none.out, "\033[36m"));
  ck_assert_ptr_nonnull(strstr(none.out, "\033[1m"));
  ck_assert_ptr_nonnull(strstr(asked.out, "\033[36m"));
  ck_assert_ptr_nonnull(strstr(empty.out, "\033[36m"));
}
END_TEST

START_TEST(every_command_has_its_help) {
  if (!cli_has_program()) return;
  for (int i = 0; i < cli_command_count; i++) {
    const Command *command = &cli_commands[i];
    CliRun run = cli_run(arena, arena_printf(arena, "%s --help", command->name));
    ck_assert_int_eq(run.status, CLI_OK);
    ck_assert_ptr_nonnull(strstr(run.out, command->usage));
    ck_assert_str_eq(run.err, "");
    // The members of --json are named there, by the table that gemmview schema prints.
    for (int d = 0; d < cli_document_count; d++) {
      const Document *document = &cli_documents[d];
      const size_t n = strlen(command->name);
      const bool its = str_starts(document->command, command->name) && document->command[n] <= ' ';
      const bool said = strstr(run.out, arena_printf(arena, "\n  %s ", document->name)) ||
                        strstr(run.out, arena_printf(arena, "\n  %s\n", document->name));
      ck_assert_msg(said || !its, "%s", run.out);
    }
  }
}
END_TEST

// The next "--name" in a usage, without what follows it; NULL when there is none.
static const char *next_option(const char **usage) {
  const char *at = strstr(*usage, "--");
  if (!at) return NULL;
  size_t n = 2 + strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");
  *usage = at + n;
  return arena_strndup(arena, at, n);
}

static bool usage_names(const char *usage, const char *option) {
  for (const char *name; (name = next_option(&usage));)
    if (str_equal(name, option)) return true;
  return false;
}

// Reading goes on after a mistake, so one call shows which of all the options it knows.
START_TEST(every_command_takes_the_options_of_its_usage_and_no_others) {
  if (!cli_has_program()) return;
  Str all = str_new(arena);
  for (int i = 0; i < cli_command_count; i++) {
    const char *usage = cli_commands[i].usage;
    for (const char *option; (option = next_option(&usage));) str_printf(&all, " %s=1", option);
  }
  for (int i = 0; i < cli_command_count; i++) {
    const Command *command = &cli_commands[i];
    if (!strstr(command->usage, "--")) continue;
    CliRun run = cli_run(arena, arena_printf(arena, "%s --bogus%s", command->name, all.text));
    ck_assert_int_eq(run.status, CLI_USAGE);
    const char *rest = all.text;
    for (const char *option; (option = next_option(&rest));) {
      const char *refusal = arena_printf(arena, "no option \"%s=1\"", option);
      ck_assert_msg(usage_names(command->usage, option) != (strstr(run.err, refusal) != NULL),
                    "%s %s: the usage and the program disagree", command->name, option);
    }
  }
}
END_TEST

static bool in_tmp(const char *path) {
  return str_starts(path, "/tmp/") || str_starts(path, "/var/tmp/");
}

// A classroom that is made is one; a folder that the world may write to is none.
START_TEST(a_classroom_is_for_its_group) {
  if (!cli_has_program()) return;
  char folder[] = "./build/classroom-XXXXXX";
  if (!mkdtemp(folder)) return;
  const char *path = realpath(folder, NULL);
  bool temporary = in_tmp(path);
  CliRun run = cli_run(arena, arena_printf(arena, "classroom init %s", path));
  ck_assert_msg(run.status == (temporary ? CLI_USAGE : CLI_OK), "%s", run.err);
  struct stat status;
  ck_assert_int_eq(stat(path, &status), 0);
  if (!temporary) ck_assert_int_eq(status.st_mode & 07777, 03770);
  const char *ask = "GEMMVIEW_CLASSROOM=%s %s classroom";
  chmod(path, 02770);
  run = cli_shell(arena, arena_printf(arena, ask, path, getenv("GEMMVIEW")));
  ck_assert_msg(run.status == CLI_OK, "%s%s", run.out, run.err);
  chmod(path, 02777);
  run = cli_shell(arena, arena_printf(arena, ask, path, getenv("GEMMVIEW")));
  ck_assert_int_eq(run.status, CLI_NO);
  ck_assert_ptr_nonnull(strstr(run.out, "everybody can write"));
  rmdir(path);
  free((void *)path);
}
END_TEST

// A file once became a folder's mode, a full folder everybody's, and ".." led past the refusal.
START_TEST(a_classroom_takes_nothing_over) {
  if (!cli_has_program()) return;
  char folder[] = "./build/classroom-XXXXXX";
  struct stat status;
  if (!mkdtemp(folder)) return;
  const char *path = realpath(folder, NULL);
  char *file = arena_printf(arena, "%s/file", path);
  FILE *made = fopen(file, "w");
  ck_assert(made && fclose(made) == 0 && chmod(file, 0600) == 0 && chmod(path, 0700) == 0);
  static const struct {
    const char *path, *says;
  } cases[] = {{"%s/file", "it is not a folder"},
               {"%s", "it is not empty"},
               {"%s/../../../../../../../../tmp/x", "temporary files"},
               {"%s/nothing/here", "No such file"},
               {"/tmp/gemmview-classroom", "temporary files"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *asked = str_starts(cases[i].path, "%s")
                            ? arena_printf(arena, "%s%s", path, cases[i].path + 2)
                            : cases[i].path;
    CliRun run = cli_run(arena, arena_printf(arena, "classroom init %s", asked));
    bool temporary = in_tmp(path);
    ck_assert_msg(run.status == CLI_USAGE, "%s: %s", asked, run.err);
    ck_assert_msg(temporary || strstr(run.err, cases[i].says), "%s: %s", asked, run.err);
  }
  ck_assert(stat(file, &status) == 0 && (status.st_mode & 07777) == 0600);
  ck_assert(stat(path, &status) == 0 && (status.st_mode & 07777) == 0700);
  unlink(file);
  rmdir(path);
  free((void *)path);
}
END_TEST

// A workshop's ssh: no key press at 120×40 sends more than 6.25 KiB. CI asks it of a short ladder,
// the long CI of two long ones, too, for that takes ten thousand presses.
static const char *const key_runs[] = {"scaled --color 256", "hgemm --color 256",
                                       "fp32 --color truecolor"};
static int n_key_runs(void) { return stress_is_on() ? 3 : stress_has_turn(2, 4); }

START_TEST(a_key_press_is_a_few_kilobytes) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(
      arena, arena_printf(arena, "bench-ui --json --size 120x40 --ladder %s", key_runs[_i]));
  Diags diags = diags_new(arena);
  double bytes = 0, samples = 0;
  const JsonValue *root = cli_json(arena, &run);
  ck_assert(json_require_double(root, "max_bytes", &bytes, &diags));
  ck_assert(json_require_double(root, "samples", &samples, &diags));
  ck_assert_msg(bytes > 100 && bytes < 6400, "%s: %g bytes", key_runs[_i], bytes);
  ck_assert(samples > 500);
}
END_TEST

// Microseconds that bench-ui says under `key`, of at least `presses`; of three runs the quickest
// counts where one takes `limit` or longer, since others may share the machine.
static double quickest(const char *arguments, const char *key, double presses, double limit) {
  double best = INFINITY;
  for (int i = 0; i < 3 && !(best < stress_wall(limit)); i++) {
    const CliRun run = cli_run(arena, arguments);
    Diags diags = diags_new(arena);
    double us = 0, samples = 0;
    const JsonValue *root = cli_json(arena, &run);
    ck_assert(json_require_double(root, key, &us, &diags));
    ck_assert(json_require_double(root, "samples", &samples, &diags));
    ck_assert(samples >= presses);
    best = fmin(best, us);
  }
  return best;
}

// What takes long goes on beside: with two consumers to a pair a run with values took a second.
// Where sanitizers watch, a press may take a few times the 10 ms of tests/stress/frames.sh.
START_TEST(a_key_press_waits_for_no_run_with_values) {
  if (!cli_has_program()) return;
  const double us = quickest(
      "bench-ui --json --ladder blackwell --view pipeline --press 'x x x X x'", "p99_us", 60, 50e3);
  ck_assert_msg(us < stress_wall(50e3), "%g us", us);
  const CliRun run = cli_run(arena, "bench-ui --view pipeline --press 'x Entre'");
  ck_assert_int_eq(run.status, CLI_USAGE);
}
END_TEST

// The claims of blackwell ask for four runs with values: the one press of Right in 91 that comes to
// them took 230 ms, and takes 30 ms. Without sanitizers tests/stress/frames.sh asks for 50 ms.
START_TEST(no_key_press_waits_for_the_runs_that_claims_ask_for) {
  if (!cli_has_program()) return;
  const double us = quickest(
      "bench-ui --json --ladder blackwell --view measure --press 'Right Right Right Right Right "
      "Right Right'",
      "max_us", 7 * 13, 120e3);
  ck_assert_msg(us < stress_wall(120e3), "%g us", us);
}
END_TEST

START_TEST(the_screenshots_are_current) {
  if (!cli_has_program()) return;
  const char *command = "tools/screenshots.sh %s screenshots check";
  CliRun run = cli_shell(arena, arena_printf(arena, command, getenv("GEMMVIEW")));
  ck_assert_msg(run.status == 0, "%s%s", run.out, run.err);
}
END_TEST

Suite *suite_conventions(void);
Suite *suite_conventions(void) {
  Suite *suite = suite_create("conventions");
  TCase *tcase = tcase_create("conventions");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, json_is_one_object_of_the_schema, 0, DOCUMENTS);
  tcase_add_loop_test(tcase, csv_rows_are_as_long_as_their_head, 0, TABLES);
  tcase_add_loop_test(tcase, statuses_are_those_of_the_table, 0,
                      sizeof statuses / sizeof *statuses);
  tcase_add_test(tcase, every_command_has_its_help);
  tcase_add_test(tcase, every_command_takes_the_options_of_its_usage_and_no_others);
  tcase_add_test(tcase, no_color_is_honoured_by_what_is_printed);
  tcase_add_test(tcase, a_classroom_is_for_its_group);
  tcase_add_test(tcase, a_classroom_takes_nothing_over);
  tcase_add_loop_test(tcase, a_key_press_is_a_few_kilobytes, 0, n_key_runs());
  tcase_add_test(tcase, a_key_press_waits_for_no_run_with_values);
  tcase_add_test(tcase, no_key_press_waits_for_the_runs_that_claims_ask_for);
  tcase_add_test(tcase, the_screenshots_are_current);
  suite_add_tcase(suite, tcase);
  return suite;
}
