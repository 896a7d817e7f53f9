// A kernel whose machine code alone is run, in the views: its instructions with what they executed
// and cost, their control words, the clock's answer, and documents that nobody wrote.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "base/str.h"
#include "cli_harness.h"
#include "golden.h"
#include "kernels/toolchain/machine/sass.h"
#include "own_harness.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/palette.h"
#include "tui/frame/view.h"
#include "tui/views/own/own_work.h"

Suite *suite_own_machine(void);

#define K01                                                                                     \
  "tests/data/machine/open/k01.cubin --launch grid=8x7,block=32x8 --arg mem:200000:zero --arg " \
  "mem:200000 --arg 250 --arg 200"
#define DOTS                                                                               \
  "tests/data/cubins/sm_90a.cubin --kernel dots --launch grid=1,block=256 --arg mem:4096 " \
  "--arg mem:4096 --arg 64"

static void setup(void) { own_enter(40, 120); }

static bool can_run(void) { return cli_has_program() && sass_find_tool(own_arena); }

static const struct {
  const char *name, *words, *keys;
  int rows, cols;
} screens[] = {
    {"own_machine_80x24", K01, "", 24, 80},
    {"own_machine_control", K01, "Tab Tab", 40, 120},
    {"own_machine_clocks", DOTS, "Tab Tab Tab j j j j j", 40, 120},
    {"own_machine_listing", DOTS, "o Tab Tab", 24, 80},
    {"own_machine_source", DOTS, "4", 40, 120},
    {"own_machine_banks", K01, "3", 24, 80},
    {"own_machine_why", DOTS, "W", 40, 120},
    {"own_machine_why_80x24", DOTS, "W", 24, 80},
    {"own_machine_why_whole", K01, "W", 40, 120},
};

START_TEST(test_screens) {
  if (!can_run()) return;
  canvas_resize(own_canvas, screens[_i].rows, screens[_i].cols);
  own_open(screens[_i].words);
  if (*screens[_i].keys) own_keys(screens[_i].keys);
  golden_check(arena_printf(own_arena, "screens/%s.txt", screens[_i].name), own_shown());
}
END_TEST

// What the screen counts is what the command counts: instructions by warps, each line's own.
START_TEST(test_counts_are_those_of_the_run) {
  if (!can_run()) return;
  own_open(DOTS);
  const Opened *o = own_work(own_session)->opened;
  ck_assert(o->is_machine_code && o->n_code > 20);
  int64_t all = 0, in_lines = 0;
  for (int i = 0; i < o->n_code; i++) all += o->code[i].executed;
  const int listing = o->n_sources - 1;
  const OpenedLine *lines = opened_lines(own_arena, o, listing, true, NULL);
  for (int i = 1; i <= o->sources[listing].n; i++) in_lines += lines[i].executed;
  ck_assert_int_eq(all, in_lines);
  const ClockAnswer *clock = own_clock(own_session);
  ck_assert_ptr_nonnull(clock);
  for (int i = 0; i < o->n_code; i++)  // one block was run, and is the whole grid
    ck_assert_int_eq(o->code[i].executed, (int64_t)clock->executed[i]);
}
END_TEST

// The answer that another process wrote is that of the command, number by number.
START_TEST(test_the_clock_is_that_of_the_command) {
  if (!can_run()) return;
  own_open(DOTS);
  const ClockAnswer *clock = own_clock(own_session);
  ck_assert_ptr_nonnull(clock);
  const CliRun run = cli_run(own_arena, "open " DOTS " --why --json");
  ck_assert_int_eq(run.status, 0);
  const JsonValue *root = json_parse(own_arena, run.out, strlen(run.out), &own_diags, "why"),
                  *list = json_object_get(root, "instructions");
  ck_assert_int_eq(json_count(list), clock->code.n);
  for (int i = 0; i < clock->code.n; i++) {
    const JsonValue *row = json_at(list, i);
    double lost = -1;
    int stall = -1, wait = -1;
    json_require_double(row, "lost", &lost, &own_diags);
    json_require_int(row, "stall", 0, 15, &stall, &own_diags);
    json_require_int(row, "wait_mask", 0, 63, &wait, &own_diags);
    ck_assert_double_eq(lost, clock->lost[i]);
    ck_assert_int_eq(stall, clock->code.inst[i].stall);
    ck_assert_int_eq(wait, (int)clock->code.inst[i].wait);
  }
  ck_assert_int_eq(own_diags.count, 0);
  ck_assert_int_eq(clock->n_loops, 1);
  ck_assert_int_gt(clock->window.clocks, 0);
}
END_TEST

// o goes from the loop to the whole kernel and back; Enter to the instruction at fault.
START_TEST(test_why_goes_about_in_it) {
  if (!can_run()) return;
  own_open(DOTS);
  own_keys("W");
  ck_assert(own_shows("WHY  loop ") && own_shows(" a turn"));
  own_keys("o");
  ck_assert(own_shows("WHY  kernel 0000-") && own_shows("from launch to end") &&
            !own_shows(" a turn"));
  own_keys("o w Enter");
  ck_assert(own_shows("WHY  loop ") && own_shows("LDS"));
  own_keys("e");
  ck_assert(own_session->at.view == view_find("source") && own_shows("fmaf(s[i], s[i + 32], sum)"));
  own_keys("W Esc");
  ck_assert_int_eq(own_session->at.view, view_find("own"));
  own_keys("1 W");  // the schedule's view was looked at: its kernel is the one again
  ck_assert(!own_shows("dots"));
}
END_TEST

// Of the three texts of view source PTX is not there, and the machine code is.
START_TEST(test_the_machine_code_is_a_text) {
  if (!can_run()) return;
  own_open(DOTS);
  own_keys("4 Right");
  ck_assert_msg(own_shows("There is no PTX: machine code was opened."), "%s", own_shown());
  own_keys("Right");
  ck_assert_msg(own_shows("SASS") && own_shows("LDS") && !own_shows("/*00"), "%s", own_shown());
}
END_TEST

START_TEST(test_a_run_of_ptx_says_how) {
  if (!cli_has_program()) return;
  own_open(
      "tests/data/open/k01.ptx --predict --launch grid=8x7,block=32x8 --arg mem:200000:zero "
      "--arg mem:200000 --arg 250 --arg 200");
  ck_assert(!own_shows("executed"));
  own_keys("W");
  ck_assert_msg(own_shows("no machine code was played") && own_shows("--machine"), "%s",
                own_shown());
}
END_TEST

START_TEST(test_every_size) {
  if (!can_run()) return;
  own_open(DOTS);
  for (int pane = 0; pane < OWN_PANES + 1; pane++) {
    if (pane == OWN_PANES) own_keys("W");
    for (int rows = 10; rows <= 64; rows += 9)
      for (int cols = 36; cols <= 220; cols += 23) {
        canvas_resize(own_canvas, rows, cols);
        drive_frame(own_session, own_canvas);
        if (rows >= VIEW_ROWS_MIN && cols >= VIEW_COLS_MIN) ck_assert(own_shows("dots"));
      }
    view_run(own_session, "pane-next", NULL);
  }
}
END_TEST

// Documents with a byte changed: refused with a sentence, or read and drawn.
START_TEST(test_documents_that_nobody_wrote) {
  if (!can_run()) return;
  const CliRun run = cli_run(own_arena, "open " DOTS " --detail");
  ck_assert_int_eq(run.status, 0);
  const char *clock = strstr(run.out, "\"clock\":");
  ck_assert_ptr_nonnull(clock);
  const size_t n = strlen(run.out), from = (size_t)(clock - run.out);
  OwnWork *work = own_work(own_session);
  uint64_t seed = 11;
  for (int i = 0; i < 300; i++) {
    char *text = arena_strdup(own_arena, run.out);
    const size_t at = from + (size_t)(random_next(&seed) % (n - from));
    static const char signs[] = "0123456789-[]{},\"ne";
    text[at] = signs[random_next(&seed) % (sizeof signs - 1)];
    if (!own_work_take(work, text, n)) ck_assert(*work->error != '\0');
    if (!work->opened) continue;
    drive_frame(own_session, own_canvas);
    own_keys("W o w Enter Right Right O Tab j");
  }
}
END_TEST

Suite *suite_own_machine(void) {
  Suite *suite = suite_create("own_machine");
  TCase *tcase = tcase_create("views");
  tcase_add_checked_fixture(tcase, setup, own_leave);
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, test_screens, 0, (int)(sizeof screens / sizeof *screens));
  tcase_add_test(tcase, test_counts_are_those_of_the_run);
  tcase_add_test(tcase, test_the_clock_is_that_of_the_command);
  tcase_add_test(tcase, test_why_goes_about_in_it);
  tcase_add_test(tcase, test_the_machine_code_is_a_text);
  tcase_add_test(tcase, test_a_run_of_ptx_says_how);
  tcase_add_test(tcase, test_every_size);
  tcase_add_test(tcase, test_documents_that_nobody_wrote);
  suite_add_tcase(suite, tcase);
  return suite;
}
