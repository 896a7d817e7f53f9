// gemmview banks, swizzle and solve as a user calls them: arguments in, text and exit status out.
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/common/cli.h"

Suite *suite_banks_cli(void);
CommandRun cmd_banks, cmd_swizzle, cmd_solve;

static char out[1 << 20], err[1 << 16];

// Sends a stream to a new temporary file; returns a copy of the descriptor it had.
static int divert(FILE *stream, FILE *to) {
  fflush(stream);
  int kept = dup(fileno(stream));
  ck_assert_int_ge(dup2(fileno(to), fileno(stream)), 0);
  return kept;
}

static void restore(FILE *stream, int kept, FILE *from, char *text, size_t size) {
  fflush(stream);
  dup2(kept, fileno(stream));
  close(kept);
  rewind(from);
  size_t n = fread(text, 1, size - 1, from);
  text[n] = '\0';
  fclose(from);
}

// Runs a command with up to 11 arguments; its output is left in `out` and `err`.
static int run(CommandRun *command, const char *const *given) {
  char *argv[13] = {"command"};
  int argc = 1;
  while (argc < 12 && given[argc - 1]) {
    argv[argc] = (char *)(uintptr_t)given[argc - 1];
    argc++;
  }
  FILE *to_out = tmpfile(), *to_err = tmpfile();
  ck_assert(to_out && to_err);
  int kept_out = divert(stdout, to_out), kept_err = divert(stderr, to_err);
  Arena *arena = arena_new("command");
  int status = command(arena, argc, argv);
  arena_free(arena);
  restore(stdout, kept_out, to_out, out, sizeof out);
  restore(stderr, kept_err, to_err, err, sizeof err);
  return status;
}
#define SWIZZLE(...) run(cmd_swizzle, (const char *const[]){__VA_ARGS__, NULL})
#define SOLVE(...) run(cmd_solve, (const char *const[]){__VA_ARGS__, NULL})
#define RUN(...) run(cmd_banks, (const char *const[]){__VA_ARGS__, NULL})

static void write_batch(char *path, const char *text) {
  strcpy(path, "/tmp/gemmview_test_XXXXXX");
  int fd = mkstemp(path);
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
}

// What to write instead stands below a card with conflicts, in the words of the expression.
START_TEST(a_conflict_is_written_anew) {
  ck_assert_int_eq(RUN("--op", "lds32", "--unit", "f32", "--addr", "(tid % 8) * 32 + lane/8"), 0);
  ck_assert_ptr_nonnull(strstr(out, "\nwrite  i ^ ((i >> 3) & 28)   1 wavefront, swizzle:3,4,3\n"));
  ck_assert_ptr_nonnull(strstr(out, "\nor     (tid % 8) * 36 + lane/8   1 wavefront, pad:4\n"));
  ck_assert_ptr_nonnull(strstr(out, "\ni is read instead\n"));
  ck_assert_int_eq(RUN("--op", "lds128", "--addr", "lane*16"), 0);
  ck_assert_ptr_null(strstr(out, "write"));
  ck_assert_int_eq(RUN("--op", "lds32", "--addr", "lane*128", "--json"), 0);
  ck_assert_ptr_nonnull(strstr(out, "\"layouts\":[{\"layout\":\"swizzle:5,2,5\""));
  ck_assert_int_eq(RUN("--op", "lds32", "--unit", "f3", "--addr", "lane"), 2);
  ck_assert_ptr_nonnull(strstr(err, "nearest: f32"));
  ck_assert_int_eq(RUN("--op", "ldg32", "--unit", "f3", "--addr", "lane"), 2);
  ck_assert_ptr_nonnull(strstr(err, "nearest: f32"));
}
END_TEST

// The unit was heeded in shared memory alone: lane 1 lay at byte 1 of global memory.
START_TEST(an_expression_of_global_memory_has_a_unit) {
  ck_assert_int_eq(RUN("--op", "ldg32", "--unit", "f64", "--addr", "lane", "--json"), 0);
  ck_assert_ptr_nonnull(strstr(out, "\"sectors\":8,\"ideal\":4,\"line_count\":2"));
}
END_TEST

START_TEST(one_access_as_text_and_json) {
  ck_assert_int_eq(RUN("--op", "lds128", "--addr", "lane*32", "--ascii"), 0);
  ck_assert_ptr_nonnull(strstr(out, "\nwavefronts   8 "));
  ck_assert_ptr_nonnull(strstr(out, "q1     1  0000"));
  ck_assert_int_eq(RUN("--op=lds128", "--addr=0:512", "--json"), 0);
  ck_assert_ptr_nonnull(strstr(out,
                               "{\"schema\":\"gemmview/1\",\"op\":\"lds128\",\"wavefronts\":4,"
                               "\"conflicts\":0,\"ideal\":4,\"ways\":1,\"phases\":4,"));
  ck_assert_int_eq(RUN("--op", "ldsm_x1", "--addr", "0", "16", "32", "48", "64", "80", "96", "112"),
                   0);
  ck_assert_str_eq(err, "");
}
END_TEST

START_TEST(bad_calls_are_usage) {
  static const char *const calls[][6] = {
      {NULL},
      {"--op", "lds128", NULL},
      {"--addr", "0:512", NULL},
      {"--op", "lds1", "--addr", "0:512", NULL},
      {"--op", "lds128", "--addr", "0", "16"},
      {"--op", "lds128", "--addr", "lane*8", NULL},
      {"lds128", NULL},
      {"--check", NULL},
      {"--batch", "/dev/null/none/file", NULL},
      {"--batch", "x", "--op", "lds8", NULL},
      {"--list", "--bench", NULL},
      {"--wavefronts", NULL},
  };
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    ck_assert_int_eq(run(cmd_banks, calls[i]), CLI_USAGE);
    ck_assert_str_eq(out, "");
    ck_assert_msg(strncmp(err, "gemmview: ", 10) == 0, "%zu: %s", i, err);
  }
}
END_TEST

// It was once read whole, whatever its length: 4 GB of /dev/zero.
START_TEST(a_line_without_end_is_refused) {
  char path[64];
  static char endless[70000];
  memset(endless, 'x', sizeof endless - 1);
  ck_assert_int_eq(RUN("--batch", "/dev/zero"), CLI_USAGE);
  ck_assert_ptr_nonnull(strstr(err, "/dev/zero cannot be read: it is a device"));
  write_batch(path, endless);
  ck_assert_int_eq(RUN("--batch", path), CLI_USAGE);
  ck_assert_msg(strstr(err, "line 1: a line has more than 65536 bytes") != NULL, "%s", err);
  write_batch(path,
              "{\"op\":\"lds32\",\"addr\":\"lane*4\"}\n"
              "{\"op\":\"lds32\",\"addr\":\"lane*8\"}");
  ck_assert_int_eq(RUN("--batch", path), 0);
  unlink(path);
  ck_assert_ptr_nonnull(strstr(strchr(out, '\n'), "\"wavefronts\":2"));
}
END_TEST

START_TEST(a_batch_goes_on_after_a_bad_line) {
  char path[64];
  write_batch(path,
              "{\"op\":\"lds32\",\"addr\":\"lane*4\"}\n"
              "\n"
              "{\"op\":\"lds33\",\"addr\":\"lane*4\"}\n"
              "{\"op\":\"sts32\",\"name\":\"z\",\"addr\":\"lane*128\"}");
  ck_assert_int_eq(RUN("--batch", path), CLI_USAGE);
  unlink(path);
  ck_assert_ptr_nonnull(strstr(err, "line 3: there is no access \"lds33\""));
  char *second = strchr(out, '\n') + 1, *third = strchr(second, '\n') + 1;
  ck_assert(str_starts(out, "{\"op\":\"lds32\",\"wavefronts\":1,\"conflicts\":0,"));
  ck_assert(str_starts(second, "{\"op\":null,\"wavefronts\":null,"));
  ck_assert(str_starts(third, "{\"op\":\"sts32\",\"name\":\"z\",\"wavefronts\":32,"));
  ck_assert_str_eq(strchr(third, '\n'), "\n");
}
END_TEST

START_TEST(the_measured_file_is_answered_and_agrees) {
  ck_assert_int_eq(RUN("--batch", "data/facts/h200_wavefronts.jsonl"), 0);
  int lines = 0;
  for (const char *at = out; (at = strchr(at, '\n')); at++) lines++;
  ck_assert_int_eq(lines, 1633);
  ck_assert_int_eq(RUN("--batch", "data/facts/h200_wavefronts.jsonl", "--check"), 0);
  ck_assert_str_eq(out, "1633 of 1633 accesses are as the rules say\n");
}
END_TEST

START_TEST(a_measurement_that_differs_answers_no) {
  char path[64];
  write_batch(path,
              "{\"op\":\"lds32\",\"name\":\"\\u001b[1m\",\"addr\":\"lane*4\",\"wavefronts\":2}\n");
  ck_assert_int_eq(RUN("--batch", path, "--check"), CLI_NO);
  unlink(path);
  ck_assert_ptr_nonnull(strstr(out, "line 1: lds32 ?[1m: wavefronts 1, conflicts 0"));
  ck_assert_ptr_nonnull(strstr(out, "0 of 1 accesses are as the rules say"));
}
END_TEST

START_TEST(the_operations_are_listed) {
  ck_assert_int_eq(RUN("--list"), 0);
  ck_assert_ptr_nonnull(strstr(out, "STSM.16.MT88.4"));
}
END_TEST

START_TEST(a_swizzle_is_shown) {
  ck_assert_int_eq(SWIZZLE("swizzle:2,4,3", "--rows", "128", "--row-bytes", "64", "--elem", "4"),
                   0);
  ck_assert_ptr_nonnull(strstr(out, "bijection           yes\n"));
  ck_assert_ptr_nonnull(strstr(out, "  row   2  1 0 3 2\n"));
  ck_assert_int_eq(SWIZZLE("xor:'col ^ (((row >> 1) & 3) << 2)'", "--example", "tf32-b", "--json"),
                   0);
  ck_assert_ptr_nonnull(
      strstr(out,
             "{\"name\":\"store B\",\"op\":\"sts32\",\"plain\":{\"wavefronts\":2048,\"ideal\":64,"
             "\"conflicts\":1984,\"ways\":32,\"aligned\":true},\"layout\":{\"wavefronts\":1024,"));
  ck_assert_int_eq(
      SWIZZLE("pad:1", "--rows", "2", "--row-bytes", "16", "--elem", "4", "--json", "--map"), 0);
  ck_assert_ptr_nonnull(strstr(out, "\"map\":[[0,4,8,12],[20,24,28,32]]"));
}
END_TEST

START_TEST(bad_swizzles_are_told) {
  static const struct {
    const char *layout, *says;
  } cases[] = {
      {"xor:col & 3", "not a bijection: row 0, col 0 and row 0, col 4 both lie at byte 0"},
      {"xor:col + row", "row 1, col 15 goes to column 16, outside 0 to 15"},
      {"xor:col / row", "divides by zero for row 0, col 0"},
      {"xor:", "ends before"},
      {"swizzle:3,4", "column 12: expected \",\" and S, the shift"},
      {"swizzle:3,4,2", "nearest: swizzle:3,4,3"},
      {"swizzel:3,4,3", "nearest: swizzle"},
      {"pad:-1", "pad:0"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ck_assert_int_eq(SWIZZLE(cases[i].layout, "--rows", "128", "--row-bytes", "64", "--elem", "4"),
                     CLI_USAGE);
    ck_assert_msg(strstr(err, cases[i].says), "%s: %s", cases[i].layout, err);
  }
  ck_assert_int_eq(SWIZZLE("none"), CLI_USAGE);
  ck_assert_int_eq(SWIZZLE("none", "--rows", "128"), CLI_USAGE);
  ck_assert_int_eq(SWIZZLE("none", "--rows", "128", "--row-bytes", "66", "--elem", "4"), CLI_USAGE);
  ck_assert_int_eq(SWIZZLE("none", "--problem", "/dev/null/none"), CLI_USAGE);
}
END_TEST

START_TEST(solve_answers_article_002) {
  ck_assert_int_eq(SOLVE("--example", "tf32-b", "--json"), 0);
  ck_assert_ptr_nonnull(strstr(out, "\"total\":320,\"bound\":320,\"optimal\":true"));
  ck_assert_ptr_nonnull(strstr(out, "\"ways\":4,\"bound\":256"));
  ck_assert_int_eq(SOLVE("--example", "tf32-b"), 0);
  ck_assert_ptr_nonnull(strstr(out, "bound 320: optimal"));
  ck_assert_int_eq(SOLVE("--list"), 0);
  ck_assert_ptr_nonnull(strstr(out, "tf32-b "));
}
END_TEST

START_TEST(a_printed_example_can_be_solved_from_a_file) {
  ck_assert_int_eq(SOLVE("--example", "hgemm-a", "--print"), 0);
  char path[64];
  write_batch(path, out);
  ck_assert_int_eq(SOLVE(path), 0);
  ck_assert_ptr_nonnull(strstr(out, "layout  swizzle:3,4,3\n"));
  ck_assert_int_eq(SWIZZLE("128B", "--problem", path), 0);
  unlink(path);
  ck_assert_int_eq(SOLVE("--example", "tf32b"), CLI_USAGE);
  ck_assert_ptr_nonnull(strstr(err, "nearest: tf32-b"));
  ck_assert_int_eq(SOLVE("/dev/null/none"), CLI_USAGE);
  ck_assert_int_eq(SOLVE("--json"), CLI_USAGE);
  write_batch(path, "{\"slab\":{\"rows\":4}}");
  ck_assert_int_eq(SOLVE(path), CLI_USAGE);
  unlink(path);
}
END_TEST

Suite *suite_banks_cli(void) {
  Suite *suite = suite_create("banks_cli");
  TCase *cli = tcase_create("cli");
  tcase_add_test(cli, a_conflict_is_written_anew);
  tcase_add_test(cli, an_expression_of_global_memory_has_a_unit);
  tcase_add_test(cli, one_access_as_text_and_json);
  tcase_add_test(cli, bad_calls_are_usage);
  tcase_add_test(cli, a_line_without_end_is_refused);
  tcase_add_test(cli, a_batch_goes_on_after_a_bad_line);
  tcase_add_test(cli, the_measured_file_is_answered_and_agrees);
  tcase_add_test(cli, a_measurement_that_differs_answers_no);
  tcase_add_test(cli, the_operations_are_listed);
  tcase_add_test(cli, a_swizzle_is_shown);
  tcase_add_test(cli, bad_swizzles_are_told);
  tcase_add_test(cli, solve_answers_article_002);
  tcase_add_test(cli, a_printed_example_can_be_solved_from_a_file);
  suite_add_tcase(suite, cli);
  return suite;
}
