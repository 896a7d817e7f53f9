// Clipping, wide characters, lines that join, and the calls views build on.
#include <check.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "canvas_random.h"
#include "tui/canvas/export.h"
#include "tui/canvas/fmt.h"
#include "tui/canvas/utf8.h"

static Arena *arena;

static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static Canvas *make(int rows, int cols) { return canvas_new(arena, rows, cols, false); }

#define ck_row(canvas, row, text) ck_assert_str_eq(export_row(arena, canvas, row), text)

static void fill_with_tildes(Canvas *canvas) {
  canvas_clear(canvas);
  for (int row = 0; row < canvas->rows; row++)
    canvas_repeat(canvas, canvas_rect(canvas), row, 0, STYLE_BAD, GLYPH_ALMOST, canvas->cols);
}

// The promise of canvas.h: whatever is drawn with `in`, cells outside `in` stay as they were.
static void check_nothing_outside(Canvas *canvas, Random *random) {
  const Cell *tilde = canvas_cell(canvas, 0, 0);
  Cell before = *tilde;
  Rect in = {random_between(random, -3, canvas->rows), random_between(random, -3, canvas->cols),
             random_between(random, -1, canvas->rows), random_between(random, -1, canvas->cols)};
  for (int i = 0; i < 6; i++) random_draw(random, arena, canvas, in);
  for (int row = 0; row < canvas->rows; row++)
    for (int col = 0; col < canvas->cols; col++)
      if (!rect_contains(in, row, col) &&
          memcmp(canvas_cell(canvas, row, col), &before, sizeof before))
        ck_abort_msg("%d x %d, rectangle %d,%d %dx%d: row %d, column %d was written", canvas->rows,
                     canvas->cols, in.row, in.col, in.rows, in.cols, row, col);
}

START_TEST(nothing_is_drawn_outside_the_rectangle) {
  Random random = random_new(1);
  for (int i = 0; i < 600; i++) {
    arena_reset(arena);
    int rows = i < 120 ? i + 1 : random_between(&random, 1, 120);
    int cols = i < 250 ? i + 1 : random_between(&random, 1, i % 3 ? 250 : 5);
    Canvas *canvas = canvas_new(arena, rows, cols, i % 5 == 0);
    for (int round = 0; round < 3; round++) {
      fill_with_tildes(canvas);
      // The rectangle may hold the corner; keep what the other cells look like.
      *(Cell *)canvas_cell(canvas, 0, 0) = *canvas_cell(canvas, rows - 1, cols - 1);
      check_nothing_outside(canvas, &random);
    }
    const char *fault = i % 8 ? NULL : canvas_fault(arena, canvas);
    ck_assert_msg(!fault, "%s", fault);
  }
}
END_TEST

START_TEST(any_drawing_leaves_sound_cells) {
  for (int seed = 0; seed < 400; seed++) {
    arena_reset(arena);
    Canvas *canvas = canvas_new(arena, 1 + seed % 40, 1 + seed * 7 % 90, seed % 4 == 0);
    canvas_scribble(canvas, (uint64_t)seed, 60);
    const char *fault = canvas_fault(arena, canvas);
    ck_assert_msg(!fault, "seed %d: %s", seed, fault);
  }
}
END_TEST

START_TEST(extreme_arguments_do_nothing_bad) {
  static const int odd[] = {INT_MIN, INT_MIN + 1, -1, 0, 1, 79, 80, INT_MAX - 1, INT_MAX};
  enum { ODD = sizeof odd / sizeof odd[0] };
  Canvas *canvas = make(24, 80);
  for (int a = 0; a < ODD; a++)
    for (int b = 0; b < ODD; b++)
      for (int c = 0; c < ODD; c++) {
        Rect in = {odd[a], odd[b], odd[c], odd[(a + b) % ODD]};
        canvas_text(canvas, in, odd[b], odd[c], STYLE_OK, "漢x");
        canvas_fit(canvas, in, odd[c], odd[a], odd[b], ALIGN_RIGHT, STYLE_OK, "漢字");
        canvas_hline(canvas, in, odd[a], odd[b], odd[c], STYLE_OK);
        canvas_vline(canvas, in, odd[c], odd[b], odd[a], STYLE_OK);
        canvas_frame(canvas, in, STYLE_OK, STYLE_OK, "title");
        canvas_bar(canvas, in, odd[a], odd[b], odd[c], 0.5, STYLE_OK);
        canvas_repeat(canvas, in, odd[a], odd[b], STYLE_OK, GLYPH_CHECK, odd[c]);
        canvas_fill(canvas, in, STYLE_OK);
        canvas_spot(canvas, in, 1, 2);
        canvas_set_cursor(canvas, in, odd[b], odd[c]);
      }
  const char *fault = canvas_fault(arena, canvas);
  ck_assert_msg(!fault, "%s", fault);
}
END_TEST

START_TEST(sizes_are_limited) {
  Canvas *canvas = make(0, -4);
  ck_assert_int_eq(canvas->rows, 1);
  ck_assert_int_eq(canvas->cols, 1);
  canvas_resize(canvas, INT_MAX, INT_MAX);
  ck_assert_int_eq(canvas->rows, CANVAS_ROWS_MAX);
  ck_assert_int_eq(canvas->cols, CANVAS_COLS_MAX);
  canvas_text(canvas, canvas_rect(canvas), CANVAS_ROWS_MAX - 1, CANVAS_COLS_MAX - 1, STYLE_OK, "x");
  ck_assert_str_eq(canvas_cell(canvas, CANVAS_ROWS_MAX - 1, CANVAS_COLS_MAX - 1)->text, "x");
  ck_assert_ptr_null(canvas_cell(canvas, CANVAS_ROWS_MAX, 0));
}
END_TEST

START_TEST(drawing_does_not_allocate) {
  Canvas *canvas = make(40, 120);
  size_t used = arena_used(arena);
  Arena *other = arena_new("texts");
  Random random = random_new(7);
  for (int i = 0; i < 500; i++) random_draw(&random, other, canvas, (Rect){2, 3, 30, 90});
  canvas_resize(canvas, 24, 80);
  canvas_resize(canvas, 40, 120);
  arena_free(other);
  ck_assert_uint_eq(arena_used(arena), used);
}
END_TEST

START_TEST(a_wide_character_is_whole_or_absent) {
  Canvas *canvas = make(1, 6);
  Rect in = {0, 1, 1, 4};
  canvas_text(canvas, in, 0, 0, STYLE_TEXT, "a漢b漢");
  ck_row(canvas, 0, " a漢…");
  canvas_text(canvas, in, 0, -1, STYLE_TEXT, "漢漢漢");
  ck_row(canvas, 0, "  漢…");
  canvas_text(canvas, canvas_rect(canvas), 0, 3, STYLE_TEXT, "x");
  ck_row(canvas, 0, "   x…");
  canvas_text(canvas, canvas_rect(canvas), 0, 0, STYLE_TEXT, "漢漢漢");
  canvas_text(canvas, canvas_rect(canvas), 0, 1, STYLE_TEXT, "漢");
  ck_row(canvas, 0, " 漢 漢");
  ck_assert_ptr_null(canvas_fault(arena, canvas));
}
END_TEST

START_TEST(one_combining_character_joins_its_base) {
  Canvas *canvas = make(1, 8);
  int end = canvas_text(canvas, canvas_rect(canvas), 0, 0, STYLE_TEXT, "e\u0301\u0302x\u0301");
  ck_assert_int_eq(end, 2);
  ck_row(canvas, 0, "e\u0301x\u0301");
  canvas_text(canvas, canvas_rect(canvas), 0, 4, STYLE_TEXT, "\u0301a");
  ck_row(canvas, 0, "e\u0301x\u0301  a");
}
END_TEST

START_TEST(nothing_in_a_text_can_act_on_a_terminal) {
  Canvas *canvas = make(1, 30);
  int end = canvas_text(canvas, canvas_rect(canvas), 0, 0, STYLE_TEXT,
                        "a\033[2Jb\nc\td\x7f\xC2\x9B\xff\xe2\x82\u202e\u200b\ufeff\U000e0041.");
  ck_row(canvas, 0, "a?[2Jb?c?d?????????.");
  ck_assert_int_eq(end, utf8_columns("a?[2Jb?c?d?????????."));
}
END_TEST

START_TEST(ascii_mode_keeps_every_column) {
  Canvas *canvas = canvas_new(arena, 2, 20, true);
  int end = canvas_text(canvas, canvas_rect(canvas), 0, 0, STYLE_TEXT, "4096×4096 → ✓ Ж漢…é");
  ck_row(canvas, 0, "4096x4096 > v ???~?");
  ck_assert_int_eq(end, 19);
  canvas_fit(canvas, canvas_rect(canvas), 1, 0, 6, ALIGN_LEFT, STYLE_TEXT, "abcdefgh");
  ck_row(canvas, 1, "abcde~");
}
END_TEST

START_TEST(text_is_cut_by_columns) {
  Canvas *canvas = make(8, 12);
  Rect all = canvas_rect(canvas);
  ck_assert_int_eq(canvas_fit(canvas, all, 0, 1, 6, ALIGN_LEFT, STYLE_TEXT, "wavefronts"), 7);
  canvas_fit(canvas, all, 1, 0, 6, ALIGN_LEFT, STYLE_TEXT, "漢漢漢漢");
  canvas_fit(canvas, all, 2, 0, 6, ALIGN_RIGHT, STYLE_TEXT, "ab");
  canvas_fit(canvas, all, 3, 0, 6, ALIGN_CENTRE, STYLE_TEXT, "ab");
  canvas_fit(canvas, all, 4, 0, 1, ALIGN_LEFT, STYLE_TEXT, "ab");
  canvas_fit(canvas, all, 5, 0, 2, ALIGN_RIGHT, STYLE_TEXT, "ab");
  canvas_text(canvas, all, 6, 0, STYLE_TEXT, "------------");
  canvas_fit(canvas, all, 6, 2, 5, ALIGN_LEFT, STYLE_TEXT, "x");
  canvas_fit(canvas, (Rect){7, 0, 1, 4}, 0, 0, 8, ALIGN_LEFT, STYLE_TEXT, "abcdefghijk");
  ck_row(canvas, 0, " wavef…");
  ck_row(canvas, 1, "漢漢…");
  ck_row(canvas, 2, "    ab");
  ck_row(canvas, 3, "  ab");
  ck_row(canvas, 4, "…");
  ck_row(canvas, 5, "ab");
  ck_row(canvas, 6, "--x    -----");
  ck_row(canvas, 7, "abc…");
}
END_TEST

START_TEST(what_is_lost_at_the_edge_is_said) {
  Canvas *canvas = make(8, 8);
  Rect in = {0, 1, 8, 6};
  canvas_text(canvas, in, 0, 0, STYLE_TEXT, "409600");
  canvas_text(canvas, in, 1, 0, STYLE_TEXT, "4096000");
  canvas_text(canvas, in, 2, canvas_text(canvas, in, 2, 0, STYLE_TEXT, "for 40"), STYLE_TEXT, "96");
  canvas_text(canvas, in, 3, 0, STYLE_TEXT, "in 4  \u0301  ");
  canvas_repeat(canvas, in, 4, 0, STYLE_TEXT, GLYPH_SHADE_LIGHT, 9);
  canvas_text(canvas, (Rect){5, 1, 1, 0}, 0, 0, STYLE_TEXT, "none");
  canvas_text(canvas, in, 6, -2, STYLE_TEXT, "a row of words");
  canvas_fit(canvas, in, 7, 0, 7, ALIGN_LEFT, STYLE_TEXT, "40960000");
  ck_row(canvas, 0, " 409600");
  ck_row(canvas, 1, " 40960…");
  ck_row(canvas, 2, " for 4…");
  ck_row(canvas, 3, " in 4  \u0301");
  ck_row(canvas, 4, " ░░░░░░");
  ck_row(canvas, 5, "");
  ck_row(canvas, 6, " row o…");
  ck_row(canvas, 7, " 40960…");
}
END_TEST

START_TEST(a_label_is_whole_or_absent) {
  Canvas *canvas = make(2, 8);
  Rect in = {0, 0, 2, 6};
  ck_assert_int_eq(canvas_label(canvas, in, 0, 2, STYLE_TEXT, "4096"), 6);
  ck_assert_int_eq(canvas_label(canvas, in, 1, 3, STYLE_TEXT, "4096"), 7);
  ck_row(canvas, 0, "  4096");
  ck_row(canvas, 1, "");
}
END_TEST

START_TEST(text_is_wrapped_at_blanks) {
  static const char text[] = "eight in a row put lanes 0 and 4\non the same banks";
  Canvas *canvas = make(8, 20);
  ck_assert_int_eq(canvas_wrap(canvas, (Rect){1, 1, 6, 12}, STYLE_TEXT, text), 6);
  ck_row(canvas, 1, " eight in a");
  ck_row(canvas, 2, " row put");
  ck_row(canvas, 3, " lanes 0 and");
  ck_row(canvas, 4, " 4");
  ck_row(canvas, 5, " on the same");
  ck_row(canvas, 6, " banks");
  canvas_clear(canvas);
  ck_assert_int_eq(canvas_wrap(canvas, (Rect){1, 1, 2, 12}, STYLE_TEXT, text), 6);
  ck_row(canvas, 2, " row put…");
  canvas_clear(canvas);
  ck_assert_int_eq(canvas_wrap(canvas, (Rect){1, 1, 3, 11}, STYLE_TEXT, text), 6);
  ck_row(canvas, 3, " lanes 0…");
  ck_assert_int_eq(canvas_wrap_rows("abcdefgh", 3), 3);
  ck_assert_int_eq(canvas_wrap_rows("漢漢漢", 1), 3);
  ck_assert_int_eq(canvas_wrap_rows("", 9), 0);
  ck_assert_int_eq(canvas_wrap_rows("a\n\nb", 9), 3);
  ck_assert_int_eq(canvas_wrap_rows("abc", 0), 0);
}
END_TEST

// A sentence that has no room ends with a clause, and no bracket is left open.
START_TEST(sentences_are_cut_at_a_clause) {
  static const char text[] =
      "The producer fetches slabs, up to four ahead (the ring has four slots); the others "
      "multiply.";
  Canvas *canvas = make(6, 90);
  const Rect all = canvas_rect(canvas);
  canvas_fit(canvas, all, 0, 0, 76, ALIGN_LEFT, STYLE_TEXT, text);
  canvas_fit(canvas, all, 1, 0, 60, ALIGN_LEFT, STYLE_TEXT, text);
  canvas_fit(canvas, all, 2, 0, 52, ALIGN_LEFT, STYLE_TEXT,
             "A_s[k_o % 4, m_r * 64, k_i * 16] * B_s[k_o % 4, 0, 0]");
  canvas_wrap(canvas, (Rect){3, 0, 1, 60}, STYLE_TEXT, text);
  canvas_fit(canvas, all, 4, 0, 70, ALIGN_LEFT, STYLE_TEXT,
             "Neighbours run on neighbouring tiles. This gains nothing: each fetches all slabs.");
  ck_row(canvas, 0, "The producer fetches slabs, up to four ahead (the ring has four slots); …");
  ck_row(canvas, 1, "The producer fetches slabs, up to four ahead …");
  ck_row(canvas, 2, "A_s[k_o % 4, m_r * 64, k_i * 16] * B_s[k_o % 4, 0,…");
  ck_row(canvas, 3, "The producer fetches slabs, up to four ahead …");
  ck_row(canvas, 4, "Neighbours run on neighbouring tiles. …");
  canvas_fit(canvas, all, 5, 0, 60, ALIGN_LEFT, STYLE_TEXT,
             "depth of one slab along K (elements; atoms where an ATOM_KIND is set)");
  ck_row(canvas, 5, "depth of one slab along K …");
}
END_TEST

// The first kernel of a ladder has 0.004 of cuBLAS, not 0.00.
START_TEST(a_small_share_is_not_zero) {
  char out[FMT_MAX];
  ck_assert_str_eq(fmt_ratio(out, 0.72), "0.72");
  ck_assert_str_eq(fmt_ratio(out, 0.0041), "0.004");
  ck_assert_str_eq(fmt_ratio(out, 0), "?");
}
END_TEST

START_TEST(lines_join) {
  Canvas *canvas = make(7, 12);
  Rect all = {0, 0, 7, 12};
  canvas_frame(canvas, all, STYLE_BORDER, STYLE_TITLE, NULL);
  canvas_hline(canvas, all, 3, 0, 12, STYLE_BORDER);
  canvas_vline(canvas, all, 0, 5, 7, STYLE_BORDER);
  canvas_vline(canvas, all, 3, 8, 4, STYLE_BORDER);
  ck_assert_str_eq(export_text(arena, canvas),
                   "┌────┬─────┐\n"
                   "│    │     │\n"
                   "│    │     │\n"
                   "├────┼──┬──┤\n"
                   "│    │  │  │\n"
                   "│    │  │  │\n"
                   "└────┴──┴──┘\n");
}
END_TEST

START_TEST(frames_carry_titles_and_shrink) {
  Canvas *canvas = make(3, 16);
  canvas_frame(canvas, canvas_rect(canvas), STYLE_BORDER, STYLE_TITLE, "LOOPS");
  ck_row(canvas, 0, "┌─ LOOPS ──────┐");
  canvas_clear(canvas);
  canvas_frame(canvas, canvas_rect(canvas), STYLE_BORDER, STYLE_TITLE, "A VERY LONG TITLE");
  ck_row(canvas, 0, "┌─ A VERY LO… ─┐");
  canvas_clear(canvas);
  canvas_frame(canvas, (Rect){0, 0, 1, 4}, STYLE_BORDER, STYLE_TITLE, "x");
  canvas_frame(canvas, (Rect){0, 6, 3, 1}, STYLE_BORDER, STYLE_TITLE, "x");
  ck_row(canvas, 0, "────  │");
  ck_row(canvas, 2, "      │");
}
END_TEST

START_TEST(text_over_a_line_forgets_it) {
  Canvas *canvas = make(2, 5);
  canvas_hline(canvas, canvas_rect(canvas), 0, 0, 5, STYLE_BORDER);
  canvas_text(canvas, canvas_rect(canvas), 0, 2, STYLE_TEXT, "x");
  canvas_vline(canvas, canvas_rect(canvas), 0, 2, 2, STYLE_BORDER);
  ck_row(canvas, 0, "──│──");
}
END_TEST

START_TEST(bars_fill_by_eighths) {
  Canvas *canvas = make(6, 12);
  Rect all = canvas_rect(canvas);
  canvas_bar(canvas, all, 0, 0, 4, 1.0, STYLE_BAR);
  canvas_bar(canvas, all, 1, 0, 4, 0.5 + 1.0 / 32, STYLE_BAR);
  canvas_bar(canvas, all, 2, 0, 4, 1e-9, STYLE_BAR);
  canvas_bar(canvas, all, 3, 0, 4, (double)NAN, STYLE_BAR);
  canvas_bar(canvas, all, 4, 0, 4, 7, STYLE_BAR);
  canvas_spark(canvas, all, 5, 0, (double[]){0, 1, (double)NAN, 4, 8, 16}, 6, 8, STYLE_BAR);
  ck_row(canvas, 0, "████");
  ck_row(canvas, 1, "██▏");
  ck_row(canvas, 2, "▏");
  ck_row(canvas, 3, "");
  ck_row(canvas, 4, "████");
  ck_row(canvas, 5, " ▁ ▄██");
}
END_TEST

START_TEST(styles_lie_over_each_other) {
  Canvas *canvas = make(1, 4);
  canvas_text(canvas, canvas_rect(canvas), 0, 0, STYLE_TIER_WARP, "warp");
  canvas_over(canvas, (Rect){0, 1, 1, 2}, STYLE_CURSOR);
  ck_assert_uint_eq(canvas_cell(canvas, 0, 0)->style, STYLE_TIER_WARP);
  ck_assert_uint_eq(canvas_cell(canvas, 0, 1)->style, style_over(STYLE_TIER_WARP, STYLE_CURSOR));
  canvas_over(canvas, (Rect){0, 1, 1, 1}, STYLE_TEXT);
  ck_assert_uint_eq(canvas_cell(canvas, 0, 1)->style, STYLE_TIER_WARP);
  ck_row(canvas, 0, "warp");
}
END_TEST

START_TEST(the_last_spot_on_a_cell_counts) {
  Canvas *canvas = make(10, 10);
  canvas_spot(canvas, (Rect){0, 0, 10, 10}, 1, 0);
  canvas_spot(canvas, (Rect){2, 2, 3, 3}, 2, 7);
  ck_assert_int_eq(canvas_spot_at(canvas, 3, 3)->what, 2);
  ck_assert_int_eq(canvas_spot_at(canvas, 3, 3)->value, 7);
  ck_assert_int_eq(canvas_spot_at(canvas, 5, 5)->what, 1);
  for (int i = 0; i < 2 * CANVAS_SPOTS; i++) canvas_spot(canvas, (Rect){0, 0, 1, 1}, 3, i);
  canvas_clear(canvas);
  ck_assert_ptr_null(canvas_spot_at(canvas, 3, 3));
}
END_TEST

START_TEST(the_cursor_shows_only_inside) {
  Canvas *canvas = make(10, 10);
  canvas_set_cursor(canvas, (Rect){2, 2, 3, 3}, 1, 1);
  ck_assert(canvas->cursor_shown && canvas->cursor_row == 3 && canvas->cursor_col == 3);
  canvas_set_cursor(canvas, (Rect){2, 2, 3, 3}, 1, 3);
  ck_assert(!canvas->cursor_shown);
}
END_TEST

START_TEST(rectangles_are_cut_without_overlap) {
  Random random = random_new(3);
  for (int i = 0; i < 20000; i++) {
    Rect whole = {random_between(&random, 0, 9), random_between(&random, 0, 9),
                  random_between(&random, 0, 120), random_between(&random, 0, 250)};
    Rect rest = whole, parts[5];
    for (int p = 0; p < 4; p++) {
      int n = random_between(&random, -2, 100);
      parts[p] = p == 0   ? rect_take_top(&rest, n)
                 : p == 1 ? rect_take_left(&rest, n)
                 : p == 2 ? rect_take_bottom(&rest, n)
                          : rect_take_right(&rest, n);
    }
    parts[4] = rest;
    int cells = 0;
    for (int p = 0; p < 5; p++) {
      ck_assert(parts[p].rows >= 0 && parts[p].cols >= 0);
      cells += parts[p].rows * parts[p].cols;
      if (!rect_empty(parts[p])) ck_assert(rect_equal(rect_intersect(whole, parts[p]), parts[p]));
      for (int q = 0; q < p; q++) ck_assert(rect_empty(rect_intersect(parts[p], parts[q])));
    }
    ck_assert_int_eq(cells, whole.rows * whole.cols);
  }
}
END_TEST

START_TEST(an_inset_may_leave_nothing) {
  ck_assert(rect_equal(rect_inset((Rect){0, 0, 1, 9}, 1, 1), (Rect){1, 1, 0, 7}));
}
END_TEST

Suite *suite_canvas(void);
Suite *suite_canvas(void) {
  Suite *suite = suite_create("canvas");
  TCase *tcase = tcase_create("canvas");
  tcase_set_timeout(tcase, 120);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, nothing_is_drawn_outside_the_rectangle);
  tcase_add_test(tcase, any_drawing_leaves_sound_cells);
  tcase_add_test(tcase, extreme_arguments_do_nothing_bad);
  tcase_add_test(tcase, sizes_are_limited);
  tcase_add_test(tcase, drawing_does_not_allocate);
  tcase_add_test(tcase, a_wide_character_is_whole_or_absent);
  tcase_add_test(tcase, one_combining_character_joins_its_base);
  tcase_add_test(tcase, nothing_in_a_text_can_act_on_a_terminal);
  tcase_add_test(tcase, ascii_mode_keeps_every_column);
  tcase_add_test(tcase, text_is_cut_by_columns);
  tcase_add_test(tcase, what_is_lost_at_the_edge_is_said);
  tcase_add_test(tcase, a_label_is_whole_or_absent);
  tcase_add_test(tcase, text_is_wrapped_at_blanks);
  tcase_add_test(tcase, sentences_are_cut_at_a_clause);
  tcase_add_test(tcase, a_small_share_is_not_zero);
  tcase_add_test(tcase, lines_join);
  tcase_add_test(tcase, frames_carry_titles_and_shrink);
  tcase_add_test(tcase, text_over_a_line_forgets_it);
  tcase_add_test(tcase, bars_fill_by_eighths);
  tcase_add_test(tcase, styles_lie_over_each_other);
  tcase_add_test(tcase, the_last_spot_on_a_cell_counts);
  tcase_add_test(tcase, the_cursor_shows_only_inside);
  tcase_add_test(tcase, rectangles_are_cut_without_overlap);
  tcase_add_test(tcase, an_inset_may_leave_nothing);
  suite_add_tcase(suite, tcase);
  return suite;
}
