// What a search is given: problems, one by one and in files.
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/common/tune_input.h"

Suite *suite_tune_input(void);

static Arena *arena;
static Diags diags;
static char path[64];

static void setup(void) {
  arena = arena_new("test tune_input");
  diags = diags_new(arena);
  snprintf(path, sizeof path, "/tmp/gemmview-shapes-%d.csv", (int)getpid());
}
static void teardown(void) {
  unlink(path);
  arena_free(arena);
}

static int read_lines(const char *text, const Schedule **out) {
  FILE *file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  fputs(text, file);
  fclose(file);
  return tune_read_file(arena, path, out, &diags);
}

START_TEST(a_problem_is_extents_a_type_and_knobs) {
  Schedule got;
  ck_assert(tune_read_problem("64,8192,100,bf16,B_COL=1", &got, &diags));
  ck_assert_int_eq(got.value[KNOB_M], 64);
  ck_assert_int_eq(got.value[KNOB_N], 8192);
  ck_assert_int_eq(got.value[KNOB_K], 100);
  ck_assert_int_eq(got.value[KNOB_B_COL], 1);
  ck_assert(!tune_read_problem("64,8192", &got, &diags));
  ck_assert_ptr_nonnull(strstr(diags_text(arena, &diags), "\"\" for K"));
}
END_TEST

START_TEST(files_have_headings_and_remarks) {
  const Schedule *got;
  ck_assert_int_eq(read_lines("M,N,K\n\n  1,2,3  # small\n# none\n4,5,6,bf16\r\n7,8,9", &got), 3);
  ck_assert_int_eq(got[0].value[KNOB_K], 3);
  ck_assert_int_eq(got[1].value[KNOB_M], 4);
  ck_assert_int_eq(got[2].value[KNOB_N], 8);
}
END_TEST

// A line is one line however long it is.
START_TEST(long_lines_are_read_whole) {
  const Schedule *got;
  char remark[3000];
  memset(remark, '7', sizeof remark);
  remark[sizeof remark - 1] = '\0';
  ck_assert_int_eq(read_lines(arena_printf(arena, "1,2,3 # %s\n4,5,6\n", remark), &got), 2);
  ck_assert_int_eq(got[1].value[KNOB_M], 4);
}
END_TEST

START_TEST(a_problem_too_many_is_told) {
  const Schedule *got;
  Str lines = str_new(arena);
  for (int i = 0; i < 4097; i++) str_add(&lines, "8,8,8\n");
  ck_assert_int_eq(read_lines(lines.text, &got), -1);
  ck_assert_str_eq(diags.first->text, "line 4097: more than 4096 problems");
}
END_TEST

// As spreadsheets write them: a mark of the encoding, a heading, blanks behind commas and tabs.
START_TEST(tables_of_spreadsheets_are_read) {
  const Schedule *got;
  ck_assert_int_eq(read_lines("\xef\xbb\xbfM,N,K,DTYPE\r\n64, 128,\t256 , bf16, B_COL=1\r\n", &got),
                   1);
  ck_assert_int_eq(got[0].value[KNOB_N], 128);
  ck_assert_int_eq(got[0].value[KNOB_K], 256);
  ck_assert_int_eq(got[0].value[KNOB_B_COL], 1);
  ck_assert_int_eq(read_lines("# shapes\n\nm,n,k\n1,2,3\n", &got), 1);
  ck_assert_int_eq(read_lines("1,2,3\nM,N,K\n", &got), -1);
  ck_assert_int_eq(read_lines("1 2,2,3\n", &got), -1);
}
END_TEST

// All of them, so that a file is mended in one go; a file of something else has no end of them.
START_TEST(all_bad_lines_are_named) {
  const Schedule *got;
  ck_assert_int_eq(read_lines("1,2,3\n1,x,3\n4,5,6,bf17\n7,8,9\n7,8\n", &got), -1);
  ck_assert_int_eq(diags.count, 3);
  ck_assert_int_eq(strncmp(diags.first->text, "line 2: ", 8), 0);
  ck_assert_int_eq(strncmp(diags.first->next->text, "line 3: DTYPE=bf17", 18), 0);
  ck_assert_str_eq(diags.first->next->nearest, "DTYPE=bf16");
  ck_assert_int_eq(strncmp(diags.last->text, "line 5: ", 8), 0);
  diags = diags_new(arena);
  Str lines = str_new(arena);
  for (int i = 0; i < 100; i++) str_add(&lines, "x\n");
  ck_assert_int_eq(read_lines(lines.text, &got), -1);
  ck_assert_int_eq(diags.count, 21);
  ck_assert_str_eq(diags.last->text, "line 21: more lines like these");
}
END_TEST

START_TEST(a_folder_is_no_file_of_problems) {
  const Schedule *got;
  ck_assert_int_eq(tune_read_file(arena, "/tmp", &got, &diags), -1);
  ck_assert_str_eq(diags.first->text, "--file /tmp cannot be read: it is a folder, not a file");
}
END_TEST

START_TEST(a_bad_line_is_named) {
  const Schedule *got;
  ck_assert_int_eq(read_lines("1,2,3\n1,x,3\n", &got), -1);
  ck_assert_ptr_nonnull(strstr(diags_text(arena, &diags), "line 2"));
  diags = diags_new(arena);
  ck_assert_int_eq(read_lines("# nothing\n", &got), -1);
  ck_assert_ptr_nonnull(strstr(diags_text(arena, &diags), "no problem"));
}
END_TEST

Suite *suite_tune_input(void) {
  Suite *suite = suite_create("tune_input");
  TCase *tests = tcase_create("tune_input");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, a_problem_is_extents_a_type_and_knobs);
  tcase_add_test(tests, files_have_headings_and_remarks);
  tcase_add_test(tests, long_lines_are_read_whole);
  tcase_add_test(tests, a_problem_too_many_is_told);
  tcase_add_test(tests, tables_of_spreadsheets_are_read);
  tcase_add_test(tests, all_bad_lines_are_named);
  tcase_add_test(tests, a_folder_is_no_file_of_problems);
  tcase_add_test(tests, a_bad_line_is_named);
  suite_add_tcase(suite, tests);
  return suite;
}
