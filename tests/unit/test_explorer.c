// The explorer in front of a terminal emulator: keys in, screens out, the terminal left as it was.
//
// No worker is started here: test_worker and test_client have theirs, and these screens must not
// depend on what is installed.
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "cli_harness.h"
#include "tui/app.h"
#include "vterm_harness.h"

static Arena *arena;

static void setup(void) {
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);
  arena = arena_new("test");
}

static void teardown(void) {
  arena_free(arena);
  unsetenv("GEMMVIEW_DATA");
}

static int run_explorer(void *argument) {
  Diags diags = diags_new(arena);
  AppOptions options = *(const AppOptions *)argument;
  return (int)app_run(&options, &diags);
}

static AppOptions padded(void) {
  return (AppOptions){.session = {.rung = "padded"}, .terminal = {.color = "256"}};
}

static VtProgram *start(int rows, int cols, AppOptions *options) {
  return vt_start(rows, cols, (VtEnv){.term = "xterm-256color"}, run_explorer, options);
}

START_TEST(quits_with_the_state_line) {
  AppOptions options = padded();
  VtProgram *p = start(24, 80, &options);
  vt_expect(p, "SITE 4/7");
  vt_keys(p, "Right");
  vt_expect(p, "+1 edit");
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  ck_assert(vt_restored(p));
  vt_expect(p, "gemmview -k 'AUTO=0,BM=32,BN=16,FM=8,FN=8,BK=16");
  ck_assert_int_eq(WEXITSTATUS(p->status), APP_QUIT);
  vt_finish(p);
}
END_TEST

// One such byte once ended it with status 130.
START_TEST(bytes_that_are_no_keys_end_nothing) {
  static const char *const bytes[] = {"\xE9", "\x80", "\xC3", "\xA9", "\xFF"};
  AppOptions options = padded();
  VtProgram *p = start(24, 80, &options);
  vt_expect(p, "SITE 4/7");
  for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
    vt_send(p, bytes[i], 1);
    vt_pump(p, 150);
  }
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  ck_assert_int_eq(WEXITSTATUS(p->status), APP_QUIT);
  vt_finish(p);
}
END_TEST

START_TEST(advice_appears_by_itself) {
  AppOptions options = padded();
  VtProgram *p = start(24, 80, &options);
  vt_expect(p, "try CELL_GROUP 4");
  vt_keys(p, ":");
  vt_send(p, "CELL_GROUP=4\r", 13);
  vt_expect(p, "free");
  vt_keys(p, "u");
  vt_expect(p, "2-WAY");
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  vt_finish(p);
}
END_TEST

// A picture is of the screen that one looked at, not of the prompt that asked for its name.
START_TEST(a_picture_has_the_keys_and_no_prompt) {
  char path[] = "/tmp/gemmview-picture-XXXXXX", name[64], text[16384];
  ck_assert(mkdtemp(path) != NULL);
  snprintf(name, sizeof name, "%s/screen.txt", path);
  AppOptions options = padded();
  VtProgram *p = start(24, 80, &options);
  vt_expect(p, "SITE 4/7");
  vt_keys(p, "Ctrl-S Ctrl-U");
  vt_send(p, "save-display ", 13);
  vt_send(p, name, strlen(name));
  vt_keys(p, "Enter");
  vt_expect(p, "saved /tmp/");
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  vt_finish(p);
  FILE *file = fopen(name, "r");
  ck_assert(file != NULL);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  ck_assert(strstr(text, "q quit") != NULL && strstr(text, "KNOBS") != NULL);
  ck_assert(strstr(text, "save-display") == NULL);
  ck_assert_int_eq(unlink(name) | rmdir(path), 0);
}
END_TEST

START_TEST(resizes_and_comes_back) {
  AppOptions options = padded();
  VtProgram *p = start(24, 80, &options);
  vt_expect(p, "SITE 4/7");
  vt_resize(p, 8, 30);
  vt_expect(p, "needs 40x12");
  vt_resize(p, 60, 200);
  vt_expect(p, "─ pipeline ");
  vt_resize(p, 24, 80);
  vt_expect(p, "1024 tiles");
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  ck_assert(vt_restored(p));
  vt_finish(p);
}
END_TEST

START_TEST(every_view_and_back) {
  static const char *const shows[] = {"PASS", "wavef.", "CUDA", "LIMIT", "KNOBS"};
  AppOptions options = padded();
  VtProgram *p = start(24, 80, &options);
  vt_expect(p, "KNOBS");
  static const char *const keys[] = {"2", "3", "4", "5", "1"};
  for (int i = 0; i < 5; i++) {
    vt_keys(p, keys[i]);
    vt_expect(p, shows[i]);
  }
  vt_keys(p, "?");
  vt_expect(p, "Everywhere");
  vt_keys(p, "Esc");
  vt_expect(p, "KNOBS");
  vt_keys(p, "c");
  vt_expect(p, "A = ");
  vt_keys(p, "q");
  vt_expect(p, " 6 of 13 · padded ");
  ck_assert(!p->ended);
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  vt_finish(p);
}
END_TEST

START_TEST(nothing_measured_is_said_so) {
  AppOptions options = padded();
  VtProgram *p = start(24, 80, &options);
  vt_expect(p, "recorded");
  vt_keys(p, "b");
  vt_expect(p, "no worker");
  vt_keys(p, "4 l");
  vt_expect(p, "gemmview doctor");
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  vt_finish(p);
}
END_TEST

START_TEST(copies_the_state) {
  AppOptions options = padded();
  unsetenv("TMUX");
  VtProgram *p = start(24, 80, &options);
  vt_expect(p, "KNOBS");
  vt_keys(p, "y");
  vt_expect(p, "BM=16,BN=16");
  ck_assert(vt_saw(p->screen, "\033]52;c;"));
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  vt_finish(p);
}
END_TEST

// One key press at 120x40 is less than 6 KB to the terminal: people use it over ssh.
START_TEST(a_key_is_few_bytes) {
  AppOptions options = padded();
  VtProgram *p = start(40, 120, &options);
  vt_expect(p, "try CELL_GROUP 4");
  static const char *const keys[] = {"Down", "Right", "Right", "u", "]", "[", "3", "1", "c", "c"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    size_t before = p->screen->bytes;
    vt_keys(p, keys[i]);
    vt_pump(p, 50);
    size_t bytes = p->screen->bytes - before;
    // The advice that comes after a change of the schedule is a second frame; another rung is
    // another text nearly everywhere.
    const bool rung = *keys[i] == '[' || *keys[i] == ']';
    ck_assert_msg(bytes < (rung ? 3 : 2) * 6000, "%s: %zu bytes", keys[i], bytes);
  }
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  vt_finish(p);
}
END_TEST

START_TEST(a_script_begins_it) {
  AppOptions options = padded();
  options.script = "tests/screens/first_minute.keys";
  VtProgram *p = start(24, 80, &options);
  vt_expect(p, " 6 of 13 · padded");
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  ck_assert_int_eq(WEXITSTATUS(p->status), APP_QUIT);
  vt_finish(p);
}
END_TEST

// The terminal goes away; the next one begins where that was, once.
START_TEST(a_lost_session_is_taken_up_again) {
  char folder[] = "build/resume-XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(folder));
  char *state = realpath(folder, NULL);
  setenv("XDG_STATE_HOME", state, 1);
  AppOptions options = padded();
  options.resumes = true;
  VtProgram *p = start(24, 80, &options);
  vt_expect(p, "KNOBS");
  vt_send(p, ":CELL_GROUP=4\r", 14);
  vt_expect(p, "+1 edit");
  vt_keys(p, "c 3");
  vt_expect(p, "A  SITE");
  kill(p->pid, SIGHUP);
  ck_assert(vt_wait_end(p));
  vt_finish(p);
  options.session.rung = NULL;
  p = start(24, 80, &options);
  vt_expect(p, "back where the connection was lost");
  vt_expect(p, "+1 edit");
  vt_expect(p, "A  SITE");
  vt_expect(p, "A = CELL_GROUP=0");
  vt_keys(p, "q q");
  ck_assert(vt_wait_end(p));
  vt_expect(p, "CELL_GROUP=4");
  vt_finish(p);
  p = start(24, 80, &options);  // q keeps nothing
  vt_expect(p, "KNOBS");
  ck_assert(!vt_shows(p, "+1 edit"));
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  vt_finish(p);
  rmdir(arena_printf(arena, "%s/gemmview", state));
  ck_assert_int_eq(rmdir(state), 0);
  free(state);
  unsetenv("XDG_STATE_HOME");
}
END_TEST

// A state file that nobody wrote this way is no reason to stop.
START_TEST(a_spoilt_session_is_left_out) {
  char folder[] = "build/resume-XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(folder));
  char *state = realpath(folder, NULL);
  setenv("XDG_STATE_HOME", state, 1);
  mkdir(arena_printf(arena, "%s/gemmview", state), 0700);
  FILE *file = fopen(arena_printf(arena, "%s/gemmview/lost.keys", state), "wb");
  fputs(":ladder nothing\n:state XX=1\n\033[2J\n:view banks\n:rung", file);
  fclose(file);
  AppOptions options = padded();
  options.resumes = true;
  VtProgram *p = start(24, 80, &options);
  vt_expect(p, "wavef.");
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  ck_assert_int_eq(WEXITSTATUS(p->status), APP_QUIT);
  vt_finish(p);
  rmdir(arena_printf(arena, "%s/gemmview", state));
  ck_assert_int_eq(rmdir(state), 0);
  free(state);
  unsetenv("XDG_STATE_HOME");
}
END_TEST

// Commands of the command line run beside the screen; leaving ends them.
START_TEST(every_verb_works_at_the_prompt) {
  char *program = getenv("GEMMVIEW");
  if (!program) return;
  setenv("XDG_CONFIG_HOME", cli_own_folder(arena), 1);
  char *const argv[] = {program, "--no-worker", "--rung", "padded", NULL};
  VtProgram *p = vt_exec(24, 80, (VtEnv){.term = "xterm-256color"}, argv);
  vt_expect(p, "KNOBS");
  static const struct {
    const char *line, *shows;
  } verbs[] = {
      {":check\r", "holds  knob_of_program"},
      {":check nowhere.txt\r", "nowhere.txt cannot be read"},
      {":banks --op lds128 --addr 'lane*32' --ascii\r", "conflicts    4"},
      {":resources\r", "ended with status"},
      {":loops --pass tile\r", "ended with status 0"},
      {":fragment m16n8k16.f16 A --lane 7\r", "ended with status 0"},
      {":check -k BM=\r", "ended with status 2"},
  };
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
    vt_send(p, verbs[i].line, strlen(verbs[i].line));
    // What comes later is below: G goes there again and again, g back to the head.
    for (int tries = 0; tries < 100 && !vt_shows(p, verbs[i].shows); tries++) {
      vt_keys(p, tries % 4 ? "G" : "g");
      vt_pump(p, 60);
    }
    vt_expect(p, verbs[i].shows);
    vt_keys(p, "q");
    vt_expect(p, "KNOBS");
  }
  // Addresses alone are drawn in the view.
  vt_send(p, ":banks --op lds128 --addr 'lane*32'\r", 36);
  vt_expect(p, "YOURS  LDS.128  lane*32");
  vt_keys(p, "1");
  vt_expect(p, "KNOBS");
  vt_send(p, ":selftest\r", 10);
  vt_expect(p, "running; q ends it");
  vt_keys(p, "q");
  vt_expect(p, "KNOBS");
  vt_send(p, ":chekc\r", 7);
  vt_expect(p, "nearest: check");
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  ck_assert(vt_restored(p));
  vt_finish(p);
  unsetenv("XDG_CONFIG_HOME");
}
END_TEST

// It once wrote a file called "-o x.cu".
START_TEST(export_with_options_is_the_command_lines) {
  char *program = getenv("GEMMVIEW");
  if (!program) return;
  char folder[] = "/tmp/gemmview-export-XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(folder));
  setenv("XDG_CONFIG_HOME", folder, 1);
  char *const argv[] = {program, "--no-worker", "--rung", "padded", NULL};
  VtProgram *p = vt_exec(24, 80, (VtEnv){.term = "xterm-256color"}, argv);
  vt_expect(p, "KNOBS");
  char *line = arena_printf(arena, ":export -o %s/x.cu\r", folder);
  vt_send(p, line, strlen(line));
  vt_expect(p, "ended with status 0");
  vt_keys(p, "q q");
  ck_assert(vt_wait_end(p));
  vt_finish(p);
  ck_assert_int_eq(unlink(arena_printf(arena, "%s/x.cu", folder)), 0);
  ck_assert_msg(rmdir(folder) == 0, "something else was written");
  unsetenv("XDG_CONFIG_HOME");
}
END_TEST

Suite *suite_explorer(void);
Suite *suite_explorer(void) {
  Suite *suite = suite_create("explorer");
  TCase *tcase = tcase_create("explorer");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, quits_with_the_state_line);
  tcase_add_test(tcase, a_picture_has_the_keys_and_no_prompt);
  tcase_add_test(tcase, bytes_that_are_no_keys_end_nothing);
  tcase_add_test(tcase, advice_appears_by_itself);
  tcase_add_test(tcase, resizes_and_comes_back);
  tcase_add_test(tcase, every_view_and_back);
  tcase_add_test(tcase, nothing_measured_is_said_so);
  tcase_add_test(tcase, copies_the_state);
  tcase_add_test(tcase, a_key_is_few_bytes);
  tcase_add_test(tcase, a_script_begins_it);
  tcase_add_test(tcase, every_verb_works_at_the_prompt);
  tcase_add_test(tcase, export_with_options_is_the_command_lines);
  tcase_add_test(tcase, a_lost_session_is_taken_up_again);
  tcase_add_test(tcase, a_spoilt_session_is_left_out);
  suite_add_tcase(suite, tcase);
  return suite;
}
