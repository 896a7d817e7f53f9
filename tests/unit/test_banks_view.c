// The banks view: pictures side by side where there is room, and addresses of one's own by every
// door.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/palette.h"
#include "tui/frame/pins.h"
#include "tui/frame/view.h"
#include "tui/views/memory/banks_view.h"

Suite *suite_banks_view(void);

static Arena *arena;
static Diags diags;
static Session *session;
static Canvas *canvas;

static void setup(void) {
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);
  arena = arena_new("test");
  diags = diags_new(arena);
  session = explorer_open(&(SessionOptions){.rung = "padded"}, &diags);
  ck_assert_ptr_nonnull(session);
  canvas = canvas_new(arena, 40, 120, false);
  view_show(session, view_find("banks"));
  drive_frame(session, canvas);
}

static void teardown(void) {
  explorer_close(session);
  arena_free(arena);
  unsetenv("GEMMVIEW_DATA");
}

static void keys(const char *names) {
  ck_assert_msg(drive_keys(session, canvas, names, &diags), "%s", names);
}

static void run(const char *line) {
  ck_assert_msg(palette_run(session, line, &diags), "%s: %s", line, diags_text(arena, &diags));
  drive_frame(session, canvas);
}

static void paste(const char *text) {
  view_paste(session, text);
  drive_frame(session, canvas);
}

static bool shows(const char *text) { return strstr(export_text(arena, canvas), text) != NULL; }

static void size(int rows, int cols) {
  canvas_resize(canvas, rows, cols);
  drive_frame(session, canvas);
}

// b <- B_s: its rows of 132 are too wide for the space beside the card at 120 columns.
START_TEST(room_that_is_there_is_used) {
  keys("g j j j");
  size(24, 80);
  ck_assert(!shows("B_s [16 x 128]") && !shows("ln  byte bank"));
  size(40, 120);
  ck_assert(shows("ln  byte bank"));
  ck_assert(shows("ln = lane"));
  pins_none(session);
  size(60, 200);
  ck_assert(shows("ln  byte bank"));
  ck_assert(shows("B_s [16 x 128]"));
  ck_assert(shows("cell = bank 0-9 a-v; bright: read in this phase"));
  ck_assert(shows("q1 = quarter-warp 1"));
}
END_TEST

// The sentence of explore's card stands here, too.
START_TEST(an_access_says_why) {
  keys("g j j j");
  ck_assert_msg(
      shows("Lanes are 32 bytes apart: the 8 lanes of a quarter-warp use 16 of the 32 banks"),
      "%.1200s", export_text(arena, canvas));
  while (session_idle(session)) {
  }
  drive_frame(session, canvas);
  ck_assert(shows("CELL_GROUP 4 it takes 4 wavefronts."));
}
END_TEST

START_TEST(a_conflict_leads_to_the_solver) {
  keys("j Enter");
  ck_assert_int_eq(session->at.view, view_find("swizzle"));
  ck_assert_msg(shows("bound"), "%.1200s", export_text(arena, canvas));
}
END_TEST

START_TEST(an_expression_comes_in_by_the_prompt) {
  view_show(session, view_find("explore"));
  run("banks lds32 (tid % 8) * 32 + lane/8");
  ck_assert_str_eq(view_table[session->at.view].name, "banks");
  ck_assert(shows("YOURS  LDS  (tid % 8) * 32 + lane/8  index of f32, 4 B each"));
  ck_assert(shows("8-WAY  8 wavefronts, ideal 1"));
  ck_assert(shows("write  i ^ ((i >> 3) & 28)"));
  ck_assert(shows("or     (tid % 8) * 36 + lane/8"));
  ck_assert(shows("rows of 36, not 32"));
  keys("o");  // 8 bytes at an index of floats: lane 8's is not aligned, so 4 of another kind
  ck_assert(!shows("YOURS  LDS  "));
  keys("Y");
  ck_assert_ptr_nonnull(session->wishes.copy);
  keys("Backspace");
  ck_assert(!shows("YOURS"));
}
END_TEST

// One's own at every size, with and without a replacement, on a kernel without shared memory too.
START_TEST(own_addresses_have_room_everywhere) {
  static const char *const lines[] = {"banks lane * 32", "banks lds128 bytes lane * 16",
                                      "banks cpasync16 bytes lane * 16"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    run(lines[i]);
    for (int rows = VIEW_ROWS_MIN; rows < 70; rows += 7)
      for (int cols = VIEW_COLS_MIN; cols < 210; cols += 11) {
        size(rows, cols);
        ck_assert_msg(shows("YOURS"), "%d x %d", cols, rows);
        keys("v l");
      }
  }
  size(40, 120);
  run("rung naive");
  ck_assert(shows("YOURS"));
  keys("k");
  ck_assert(!shows("YOURS") && shows("C <- acc"));
  keys("j");
  ck_assert(shows("YOURS"));
  keys("Backspace");
  ck_assert(!shows("YOURS") && shows("a <- A  LDG"));
}
END_TEST

// An access to global memory has no phases: stepping through them once followed NULL.
START_TEST(global_memory_has_no_phases) {
  keys("G");
  ck_assert(shows("SITE 7") && session_site(session) == NULL);
  keys("Left Right v v v");
  ck_assert(shows("SITE 7"));
  run("rung naive");
  keys("Left Right v p");
  ck_assert(shows("a <- A  LDG"));
}
END_TEST

// The list of sites goes on to one's own, and back.
START_TEST(own_addresses_are_a_row_of_the_list) {
  run("banks lane * 32");
  ck_assert(((Own *)view_own(session, &banks_view))->shown);
  keys("k");
  ck_assert(!((Own *)view_own(session, &banks_view))->shown);
  ck_assert(shows("SITE 7"));
  ck_assert(shows("LDS  lane * 32"));
  keys("j");
  ck_assert(shows("YOURS"));
  keys("j g");
  ck_assert(shows("SITE 1"));
  keys("G s");
  ck_assert(shows("SITE 2"));
}
END_TEST

START_TEST(a_debugger_s_addresses_are_pasted) {
  paste(
      "$3 = (@generic float * @local [32]) {0x7fffd9000400 <row>, 0x7fffd9000480 <row+128> "
      "<repeats 31 times>}");
  ck_assert_msg(shows("2-WAY  2 wavefronts, ideal 1"), "%.1200s", export_text(arena, canvas));
  Str lines = str_new(arena);
  for (int lane = 0; lane < BANK_LANES; lane++)
    str_printf(&lines, "lane %d: 0x%llx\n", lane, 0x7f3f4c000000ULL + 128ULL * (unsigned)lane);
  paste(lines.text);
  ck_assert(shows("32-WAY  32 wavefronts, ideal 1"));
  ck_assert(shows("write  addr ^ ((addr >> "));
  // The same through the prompt, where lines have become one.
  keys("e");
  while (session->prompt.field.text[0]) keys("Ctrl-U");
  paste(lines.text);
  keys("Enter");
  ck_assert(shows("32-WAY  32 wavefronts, ideal 1"));
}
END_TEST

// What cannot be read is said, and what was there stays.
START_TEST(a_wrong_paste_keeps_what_was_there) {
  run("banks lds128 bytes lane*16");
  paste("lane * 16 +");
  ck_assert(shows("it ends before a number or a variable"));
  ck_assert(shows("lane*16"));
  ck_assert(!palette_run(session, "banks lds32 0 4 8", &diags));
  ck_assert_str_eq(((Own *)view_own(session, &banks_view))->access.text, "lane*16");
}
END_TEST

START_TEST(the_command_line_s_words_mean_the_same) {
  run("banks --op lds128 --addr 'lane*16'");
  ck_assert(shows("byte offsets"));
  ck_assert(shows("free  4 wavefronts, ideal 4"));
  ck_assert(shows("Nothing to gain"));
  const ViewBody *body = view_table[session->at.view].body;
  ck_assert(!body->takes("--list") && !body->takes("--op lds32 --addr lane*4 --json"));
  ck_assert(body->takes("lds32 lane - -lane"));
}
END_TEST

Suite *suite_banks_view(void) {
  Suite *suite = suite_create("banks_view");
  TCase *tcase = tcase_create("banks_view");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, room_that_is_there_is_used);
  tcase_add_test(tcase, an_access_says_why);
  tcase_add_test(tcase, a_conflict_leads_to_the_solver);
  tcase_add_test(tcase, an_expression_comes_in_by_the_prompt);
  tcase_add_test(tcase, own_addresses_have_room_everywhere);
  tcase_add_test(tcase, global_memory_has_no_phases);
  tcase_add_test(tcase, own_addresses_are_a_row_of_the_list);
  tcase_add_test(tcase, a_debugger_s_addresses_are_pasted);
  tcase_add_test(tcase, a_wrong_paste_keeps_what_was_there);
  tcase_add_test(tcase, the_command_line_s_words_mean_the_same);
  suite_add_tcase(suite, tcase);
  return suite;
}
