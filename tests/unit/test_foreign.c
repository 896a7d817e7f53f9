// Texts from outside where something else would act on them.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/foreign.h"
#include "base/json.h"
#include "base/str.h"
#include "cli_harness.h"
#include "kernels/device/history/history.h"

static Arena *arena;
static void setup(void) { arena = arena_new("test foreign"); }
static void teardown(void) { arena_free(arena); }

static const struct {
  const char *text, *comment;
} comments[] = {
    {"NVIDIA H200", "NVIDIA H200"},
    {"H200 */ int x; /*", "H200 _/ int x; /_"},
    {"/*/ **//", "/_/ *_//"},
    {"a\nb\r\nc", "a b_ c"},
    {"end\\", "end_"},
    {"end?\?/", "end__/"},
    {"\x1b[2J\xe2\x80\xae", "_[2J___"},
};

START_TEST(comments_stay_comments) {
  ck_assert_str_eq(foreign_comment(arena, comments[_i].text), comments[_i].comment);
}
END_TEST

static const struct {
  const char *text, *cell;
} cells[] = {
    {"ana", "\"ana\";"},
    {"=1+1", "\"'=1+1\";"},
    {"+1+cmd|' /C calc'!A0", "\"'+1+cmd|' /C calc'!A0\";"},
    {"-2+3", "\"'-2+3\";"},
    {"@SUM(1)", "\"'@SUM(1)\";"},
    {"\t=1", "\"'\t=1\";"},
    {" =1", "\"' =1\";"},
    {"\r=1", "\"'?=1\";"},
    {"=HYPERLINK(\"http://evil", "\"'=HYPERLINK(\"\"http://evil\";"},
    {"-12.5", "\"-12.5\";"},
    {"+1e-9", "\"+1e-9\";"},
    {"-", "\"-\";"},
    {"a=1", "\"a=1\";"},
    {"\x1b[2J", "\"?[2J\";"},
    {NULL, ";"},
};

START_TEST(cells_are_no_formulas) {
  char text[256] = "";
  FILE *file = fmemopen(text, sizeof text, "w");
  foreign_cell(file, cells[_i].text, ';');
  fclose(file);
  ck_assert_str_eq(text, cells[_i].cell);
}
END_TEST

// A mark that turns a line around is an escape in JSON, and comes back as it was.
START_TEST(json_has_no_marks_that_turn_lines) {
  const char *text =
      "a\xe2\x80\xae"
      "b\xef\xbb\xbf\xf3\xa0\x80\x81";
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  json_put_string(&w, text);
  ck_assert_str_eq(out.text, "\"a\\u202eb\\ufeff\\udb40\\udc01\"");
  Diags diags = diags_new(arena);
  const char *back = NULL;
  const JsonValue *value = json_parse(arena, out.text, out.length, &diags, "x");
  ck_assert(value && json_read_string(value, &back, &diags));
  ck_assert_str_eq(back, text);
}
END_TEST

START_TEST(a_poisoned_history_is_harmless_in_csv) {
  static const char *const commands[] = {"history", "tuned"};
  Diags diags = diags_new(arena);
  if (!cli_has_program()) return;
  const char *folder = cli_own_folder(arena);
  cli_shell(arena, arena_printf(arena, "mkdir -p %s/gemmview; rm -f %s/gemmview/history.db*",
                                folder, folder));
  History *history =
      history_open(arena, arena_printf(arena, "%s/gemmview/history.db", folder), &diags);
  const HistoryRow row = {.user = "=1+1",
                          .host = "+cmd|' /C calc'!A0",
                          .gpu = "@SUM(1)\nNVIDIA H200",
                          .gpu_uuid = "u",
                          .driver = "d",
                          .state = "M=64,N=64,K=64",
                          .text_hash = "h",
                          .problem = "64x64x64",
                          .time_ns = 3e6,
                          .cublas_time_ns = 2e6,
                          .tflops = 45.8,
                          .status = "ok",
                          .method = "m"};
  ck_assert(history && history_add(history, &row, &diags));
  history_close(history);
  for (int i = 0; i < 2; i++) {
    const CliRun run = cli_shell(
        arena, arena_printf(arena, "XDG_STATE_HOME=%s $GEMMVIEW %s --csv", folder, commands[i]));
    ck_assert_int_eq(run.status, 0);
    ck_assert_msg(!strstr(run.out, "\"=") && !strstr(run.out, "\"+") && !strstr(run.out, "\"@"),
                  "%s", run.out);
    ck_assert_msg(i == 1 || strstr(run.out, "\"'@SUM(1) NVIDIA H200\""), "%s", run.out);
  }
}
END_TEST

Suite *suite_foreign(void);
Suite *suite_foreign(void) {
  Suite *suite = suite_create("foreign");
  TCase *tests = tcase_create("foreign");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_set_timeout(tests, 60);
  tcase_add_loop_test(tests, comments_stay_comments, 0, sizeof comments / sizeof *comments);
  tcase_add_loop_test(tests, cells_are_no_formulas, 0, sizeof cells / sizeof *cells);
  tcase_add_test(tests, json_has_no_marks_that_turn_lines);
  tcase_add_test(tests, a_poisoned_history_is_harmless_in_csv);
  suite_add_tcase(suite, tests);
  return suite;
}
