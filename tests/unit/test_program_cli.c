// Programs out of files, as a user comes by them: loops --full and interpret --dump print them,
// interpret, check and cuda read them, and what is wrong is said with its line.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "cli_harness.h"

Suite *suite_program_cli(void);

#define SMALL "AUTO=0,M=68,N=64,K=44,BM=8,BN=8,FM=4,FN=4,BK=8,STAGE=11"

static Arena *arena;

static void setup(void) { arena = arena_new("test program cli"); }
static void teardown(void) { arena_free(arena); }

static CliRun run(const char *format, const char *file) {
  CliRun ran = cli_run(arena, arena_printf(arena, format, file));
  ck_assert_msg(ran.status <= 2, "%s", ran.err);
  return ran;
}

// A file of what the command prints.
static const char *file_of(const char *name, const char *command) {
  CliRun printed = cli_run(arena, command);
  ck_assert_msg(printed.status == 0, "%s", printed.err);
  return cli_write_file(arena, name, printed.out);
}

static void says(const CliRun *ran, int status, const char *words) {
  ck_assert_msg(ran->status == status, "%d: %s%s", ran->status, ran->out, ran->err);
  ck_assert_msg(strstr(ran->out, words) || strstr(ran->err, words), "no \"%s\" in\n%s%s", words,
                ran->out, ran->err);
}

START_TEST(a_state_and_its_text_say_the_same) {
  if (!cli_has_program()) return;
  const char *file = file_of("whole.txt", "loops --full -k " SMALL);
  CliRun of_state = cli_run(arena, "interpret -k " SMALL), of_file = run("interpret %s", file);
  says(&of_file, 0, "C equals the float64 loop in all 4352 cells; no race");
  ck_assert_str_eq(of_file.out, of_state.out);
  CliRun of_stdin = cli_shell(arena, arena_printf(arena, "{ $GEMMVIEW interpret - < %s; }", file));
  ck_assert_str_eq(of_stdin.out, of_state.out);
  CliRun sound = run("check %s", file);
  says(&sound, 0, "is sound: kernel matmul, 6 blocks of 64 threads; 2048 B of shared memory");
  CliRun cuda = run("cuda %s", file);
  says(&cuda, 0, "__launch_bounds__(64)");
  CliRun lines = run("cuda %s --lines", file);
  says(&lines, 0, "STAGE");
}
END_TEST

// Of attention, the cells of all heads that were run, in words and as data.
START_TEST(cells_of_all_heads_are_counted) {
  if (!cli_has_program()) return;
  const char *broken = "-k attention/slices,HEADS=2,M=70,N=130,K=64,WM=2,FN=4 --break no_rescale";
  CliRun ran = run("interpret %s", broken);
  says(&ran, 1, " of 8960 cells of C are wrong");
  ran = run("interpret --json %s", broken);
  says(&ran, 1, "\"cells\":8960,");
  ran = run("interpret %s", "-k attention/slices,HEADS=2,M=70,N=130,K=64,WM=2,FN=4");
  says(&ran, 0, "in all 8960 cells");
}
END_TEST

// What was broken on purpose is a text; read back it is as broken, and named by its lines.
START_TEST(a_broken_program_is_a_text) {
  if (!cli_has_program()) return;
  const char *file = file_of("broken.txt", "interpret --break first_barrier --dump -k " SMALL);
  CliRun ran = run("interpret %s", file);
  says(&ran, 1, "with no barrier between");
}
END_TEST

static const struct {
  const char *edit;     // of sed, done to the text of SMALL
  const char *command;  // "-" is the edited text
  int status;
  const char *words;
} edits[] = {
    {"s/^  for m_t in 0..8 THREAD/  for m_t in 0..8 THREADS/", "check -", 2,
     "expected a tier (BLOCK, WARP, THREAD, ...), \",\" or the end of the line, found \"THREADS\""},
    {"s/BLOCK by 32/BLOCK by 0/", "interpret -", 2, "expected a number from 1 to"},
    {"s/^ *barrier.*//", "interpret -", 1, "with no barrier between"},
    {"s/acc.m_r, n_r. = 0/acc[m_r, n_r] = 1/", "interpret -", 1, "cells of C are wrong"},
    {"s/acc.m_r, n_r. = 0/acc[m_r + 1, n_r] = 0/", "check -", 1,
     "acc is accessed outside its bounds (statement"},
    {"s/acc.m_r, n_r. = 0/acc[m_r + 1, n_r] = 0/", "cuda -", 2,
     "acc is accessed outside its bounds (statement"},
    {"s/acc.m_r, n_r. = 0/acc[m_r, n_r] = 2.5/", "cuda -", 0, "= 2.5f;"},
    {"s/acc.m_r, n_r. = 0/acc[tid % 4, n_r] = 0/", "check -", 1,
     "the index of register acc differs between the lanes of a warp"},
    {"", "interpret - --pass stage", 2, "a FILE is run as it is"},
    {"", "interpret - --break wait", 2, "a FILE is run as it is"},
    {"", "interpret - -k BM=8", 2, "from a state (-k) or from a FILE, not from both"},
    {"", "cuda - --pass stage", 2, "no pass made this program"},
    {"", "check - --failing", 2, "a FILE has none"},
    {"", "check - other.txt", 2, "check takes one FILE, not \"other.txt\" too"},
    {"", "check nowhere.txt", 2, "cannot be read: No such file or directory; give a state with -k"},
    {"", "check - --json", 0, "\"ok\":true"},
    {"", "interpret - --json", 0, "\"ok\":true"},
    {"", "cuda - --json", 0, "\"state\":null"},
    {"", "interpret - --dump", 0, "# gemmview interpret "},
};

START_TEST(an_edited_text_is_told_apart) {
  if (!cli_has_program()) return;
  const char *whole = file_of("edited.txt", "loops --full -k " SMALL);
  CliRun ran = cli_shell(arena, arena_printf(arena, "{ sed '%s' %s | $GEMMVIEW %s; }",
                                             edits[_i].edit, whole, edits[_i].command));
  says(&ran, edits[_i].status, edits[_i].words);
}
END_TEST

START_TEST(what_cannot_be_asked) {
  if (!cli_has_program()) return;
  CliRun ran = cli_run(arena, "loops --full --diff -k " SMALL);
  says(&ran, 2, "--full prints the complete text of the nest: leave out the other options");
  ran = cli_run(arena, "interpret --dump --json -k " SMALL);
  says(&ran, 2, "not both");
  ran = cli_run(arena, "check - < /dev/null");
  says(&ran, 2, "stdin:1:1: expected \"problem\", found the end of the text");
}
END_TEST

Suite *suite_program_cli(void) {
  Suite *suite = suite_create("program_cli");
  TCase *tc = tcase_create("files");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, a_state_and_its_text_say_the_same);
  tcase_add_test(tc, a_broken_program_is_a_text);
  tcase_add_test(tc, cells_of_all_heads_are_counted);
  tcase_add_loop_test(tc, an_edited_text_is_told_apart, 0, sizeof edits / sizeof edits[0]);
  tcase_add_test(tc, what_cannot_be_asked);
  suite_add_tcase(suite, tc);
  return suite;
}
