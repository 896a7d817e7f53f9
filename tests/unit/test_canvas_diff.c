// What is sent to a terminal, replayed by a terminal emulator, is what the canvas shows.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "canvas_random.h"
#include "tui/canvas/canvas_diff.h"
#include "tui/canvas/export.h"
#include "tui/canvas/sgr.h"
#include "vterm_harness.h"

static Arena *arena;
static const Theme *theme;

static void setup(void) {
  arena = arena_new("test");
  Diags diags = diags_new(arena);
  theme = theme_find(arena, "default", &diags);
}
static void teardown(void) { arena_free(arena); }

static void move_absolutely(Str *out, int row, int col) {
  str_printf(out, "\033[%d;%dH", row + 1, col + 1);
}

// Ten canvases after each other, each drawn as the difference to the one before.
static void check_sequence(uint64_t seed, const Present *how, int rows, int cols, bool ascii) {
  VtScreen *vt = vt_new(rows, cols);
  Canvas *before = NULL;
  for (int step = 0; step < 10; step++) {
    Canvas *canvas = canvas_new(arena, rows, cols, ascii);
    if (before && step % 3) {
      memcpy(canvas->cells, before->cells, sizeof(Cell) * (size_t)(rows * cols));
      canvas_scribble(canvas, seed * 100 + (uint64_t)step, 2);
    } else {
      canvas_scribble(canvas, seed * 100 + (uint64_t)step, 25);
    }
    Str out = str_new(arena);
    present_difference(&out, how, before, canvas, rows, cols);
    vt_feed(vt, out.text, out.length);
    const char *differs = vt_differs(arena, vt, canvas, how->theme, how->depth, how->eight);
    ck_assert_msg(!differs, "seed %d, step %d: %s", (int)seed, step, differs);
    before = canvas;
  }
  ck_assert_int_eq(vt->unknown, 0);
  vt_free(vt);
}

START_TEST(differences_replay_to_the_canvas) {
  static const char *const themes[] = {"default", "mono", "light", "colour-blind"};
  for (int seed = 0; seed < 96; seed++) {
    arena_reset(arena);
    Diags diags = diags_new(arena);
    ColorDepth depth = (ColorDepth)(seed % 4);
    Present how = {.theme = theme_find(arena, themes[seed / 4 % 4], &diags),
                   .depth = depth,
                   .eight = depth == DEPTH_16 && seed % 8 == 1,
                   .can_erase = seed % 3 != 0,
                   .move = seed % 5 ? NULL : move_absolutely};
    ck_assert_ptr_nonnull(how.theme);
    check_sequence((uint64_t)seed, &how, 1 + seed % 30, 1 + seed * 11 % 100, seed % 6 == 5);
  }
}
END_TEST

START_TEST(ansi_text_replays_to_the_canvas) {
  for (int seed = 0; seed < 60; seed++) {
    arena_reset(arena);
    Diags diags = diags_new(arena);
    ColorDepth depth = (ColorDepth)(seed % 4);
    const Theme *mine = theme_find(arena, seed % 2 ? "default" : "colour-blind", &diags);
    int rows = 1 + seed % 30, cols = 2 + seed * 11 % 100;
    Canvas *canvas = canvas_new(arena, rows, cols, seed % 6 == 5);
    canvas_scribble(canvas, (uint64_t)seed, 40);
    VtScreen *vt = vt_new(rows + 1, cols + 1);
    for (const char *at = export_ansi(arena, canvas, mine, depth); *at; at++)
      if (*at == '\n')
        vt_feed(vt, "\r\n", 2);
      else
        vt_feed(vt, at, 1);
    const char *differs = vt_differs(arena, vt, canvas, mine, depth, false);
    ck_assert_msg(!differs, "seed %d: %s", seed, differs);
    vt_free(vt);
  }
}
END_TEST

static Canvas *nest(int bk) {
  Canvas *canvas = canvas_new(arena, 24, 80, false);
  canvas_frame(canvas, canvas_rect(canvas), STYLE_BORDER, STYLE_TITLE, "LOOPS");
  canvas_printf(canvas, canvas_rect(canvas), 4, 10, STYLE_TEXT, "BK  %d", bk);
  return canvas;
}

static const char *difference(const Canvas *before, const Canvas *after) {
  Present how = {.theme = theme, .depth = DEPTH_256, .can_erase = true};
  Str out = str_new(arena);
  present_difference(&out, &how, before, after, 24, 80);
  return out.text;
}

START_TEST(a_changed_number_costs_nine_bytes) {
  ck_assert_str_eq(difference(nest(32), nest(16)), "\033[5;15H16");
  ck_assert_str_eq(difference(nest(16), nest(16)), "");
}
END_TEST

START_TEST(what_lies_between_is_repeated_or_jumped_over) {
  Canvas *before = nest(1), *after = nest(1);
  canvas_text(after, canvas_rect(after), 4, 10, STYLE_TEXT, "b  ");
  canvas_text(after, canvas_rect(after), 4, 13, STYLE_TEXT, "7");
  canvas_text(after, canvas_rect(after), 4, 40, STYLE_TEXT, "x");
  ck_assert_str_eq(difference(before, after), "\033[5;11Hb  7\033[26Cx");
}
END_TEST

START_TEST(blank_tails_are_erased) {
  Canvas *before = canvas_new(arena, 2, 40, false), *after = canvas_new(arena, 2, 40, false);
  canvas_text(before, canvas_rect(before), 1, 0, STYLE_TEXT, "a long line of text");
  canvas_text(after, canvas_rect(after), 1, 0, STYLE_TEXT, "a");
  Present how = {.theme = theme, .depth = DEPTH_16, .can_erase = true};
  Str out = str_new(arena);
  present_difference(&out, &how, before, after, 2, 40);
  ck_assert_str_eq(out.text, "\033[2;2H\033[K");
}
END_TEST

START_TEST(styles_that_look_alike_cost_nothing) {
  Canvas *before = nest(1), *after = nest(1);
  canvas_restyle(after, canvas_rect(after), STYLE_NUMBER);
  canvas_frame(after, canvas_rect(after), STYLE_BORDER, STYLE_TITLE, "LOOPS");
  ck_assert_str_eq(difference(before, after), "");
}
END_TEST

START_TEST(a_smaller_terminal_gets_what_fits) {
  Present how = {.theme = theme, .depth = DEPTH_16, .can_erase = true};
  Canvas *canvas = canvas_new(arena, 24, 80, false);
  canvas_scribble(canvas, 5, 60);
  VtScreen *vt = vt_new(7, 13);
  Str out = str_new(arena);
  present_difference(&out, &how, NULL, canvas, 7, 13);
  vt_feed(vt, out.text, out.length);
  for (int row = 0; row < 7; row++)
    for (int col = 0; col < 12; col++) {
      VTermScreenCell cell;
      vterm_screen_get_cell(vt->screen, (VTermPos){.row = row, .col = col}, &cell);
      uint32_t first = (uint8_t)canvas_cell(canvas, row, col)->text[0];
      if (first >= 0x20 && first < 0x80)
        ck_assert_uint_eq(cell.chars[0] ? cell.chars[0] : ' ', first);
    }
  vt_free(vt);
}
END_TEST

static const char *sgr(Look from, Look to) {
  Str out = str_new(arena);
  sgr_change(&out, from, to, false);
  return out.text;
}

START_TEST(the_shorter_sequence_is_taken) {
  Color red = {.kind = COLOR_INDEX, .index = 1}, green = {.kind = COLOR_INDEX, .index = 2};
  Color bright = {.kind = COLOR_INDEX, .index = 12}, sky = {COLOR_RGB, 0, 86, 180, 233};
  ck_assert_str_eq(sgr((Look){0}, (Look){.fg = red}), "\033[31m");
  ck_assert_str_eq(sgr((Look){.fg = red}, (Look){0}), "\033[m");
  ck_assert_str_eq(sgr((Look){.fg = red, .attributes = LOOK_BOLD}, (Look){.fg = green}),
                   "\033[;32m");
  ck_assert_str_eq(sgr((Look){.fg = green}, (Look){.fg = green, .attributes = LOOK_BOLD}),
                   "\033[1m");
  ck_assert_str_eq(sgr((Look){.attributes = LOOK_BOLD | LOOK_DIM}, (Look){.attributes = LOOK_DIM}),
                   "\033[;2m");
  ck_assert_str_eq(sgr((Look){0}, (Look){.fg = sky, .bg = bright}), "\033[38;2;86;180;233;104m");
}
END_TEST

Suite *suite_canvas_diff(void);
Suite *suite_canvas_diff(void) {
  Suite *suite = suite_create("canvas_diff");
  TCase *tcase = tcase_create("present");
  tcase_set_timeout(tcase, 120);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, differences_replay_to_the_canvas);
  tcase_add_test(tcase, ansi_text_replays_to_the_canvas);
  tcase_add_test(tcase, a_changed_number_costs_nine_bytes);
  tcase_add_test(tcase, what_lies_between_is_repeated_or_jumped_over);
  tcase_add_test(tcase, blank_tails_are_erased);
  tcase_add_test(tcase, styles_that_look_alike_cost_nothing);
  tcase_add_test(tcase, a_smaller_terminal_gets_what_fits);
  tcase_add_test(tcase, the_shorter_sequence_is_taken);
  suite_add_tcase(suite, tcase);
  return suite;
}
