// gemmview banks as a user calls it: arguments in, text and exit status out.
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/cli.h"

Suite *suite_banks_cli(void);
CommandRun cmd_banks;

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

// Runs the command with up to 11 arguments; its output is left in `out` and `err`.
static int run(const char *const *given) {
  char *argv[13] = {"banks"};
  int argc = 1;
  while (argc < 12 && given[argc - 1]) {
    argv[argc] = (char *)(uintptr_t)given[argc - 1];
    argc++;
  }
  FILE *to_out = tmpfile(), *to_err = tmpfile();
  ck_assert(to_out && to_err);
  int kept_out = divert(stdout, to_out), kept_err = divert(stderr, to_err);
  int status = cmd_banks(argc, argv);
  restore(stdout, kept_out, to_out, out, sizeof out);
  restore(stderr, kept_err, to_err, err, sizeof err);
  return status;
}
#define RUN(...) run((const char *const[]){__VA_ARGS__, NULL})

static void write_batch(char *path, const char *text) {
  strcpy(path, "/tmp/gemmview_test_XXXXXX");
  int fd = mkstemp(path);
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
}

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
      {"--batch", "/nonexistent/file", NULL},
      {"--batch", "x", "--op", "lds8", NULL},
      {"--list", "--bench", NULL},
      {"--wavefronts", NULL},
  };
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    ck_assert_int_eq(run(calls[i]), CLI_USAGE);
    ck_assert_str_eq(out, "");
    ck_assert_msg(strncmp(err, "gemmview: ", 10) == 0, "%zu: %s", i, err);
  }
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
  ck_assert_int_eq(RUN("--batch", "tests/data/h200_wavefronts.jsonl"), 0);
  int lines = 0;
  for (const char *at = out; (at = strchr(at, '\n')); at++) lines++;
  ck_assert_int_eq(lines, 1633);
  ck_assert_int_eq(RUN("--batch", "tests/data/h200_wavefronts.jsonl", "--check"), 0);
  ck_assert_str_eq(out, "1633 of 1633 accesses agree with the rules\n");
}
END_TEST

START_TEST(a_measurement_that_differs_answers_no) {
  char path[64];
  write_batch(path,
              "{\"op\":\"lds32\",\"name\":\"\\u001b[1m\",\"addr\":\"lane*4\",\"wavefronts\":2}\n");
  ck_assert_int_eq(RUN("--batch", path, "--check"), CLI_NO);
  unlink(path);
  ck_assert_ptr_nonnull(strstr(out, "line 1: lds32 ?[1m: wavefronts 1, conflicts 0"));
  ck_assert_ptr_nonnull(strstr(out, "0 of 1 accesses agree"));
}
END_TEST

START_TEST(the_operations_are_listed) {
  ck_assert_int_eq(RUN("--list"), 0);
  ck_assert_ptr_nonnull(strstr(out, "STSM.16.MT88.4"));
}
END_TEST

Suite *suite_banks_cli(void) {
  Suite *suite = suite_create("banks_cli");
  TCase *cli = tcase_create("cli");
  tcase_add_test(cli, one_access_as_text_and_json);
  tcase_add_test(cli, bad_calls_are_usage);
  tcase_add_test(cli, a_batch_goes_on_after_a_bad_line);
  tcase_add_test(cli, the_measured_file_is_answered_and_agrees);
  tcase_add_test(cli, a_measurement_that_differs_answers_no);
  tcase_add_test(cli, the_operations_are_listed);
  suite_add_tcase(suite, cli);
  return suite;
}
