// No text ends at the right edge as another one: 4096 cut to 40.
//
// Each view is drawn at many widths and once at the greatest. A word that touches the right edge
// and begins a longer one there, behind the same word, lost the rest. The digits and letters that
// pictures are made of have styles of their own, and end where their box does.
#include <check.h>
#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/pins.h"
#include "tui/frame/view.h"

enum { FIRST_COLS = 60, LAST_COLS = 130, ROWS = 30, WIDE_ROWS = 60, WIDE_COLS = 200 };

static const struct {
  const char *ladder, *rung;
} rungs[] = {
    {"fp32", "11"}, {"tf32", "1"}, {"hopper", "16"}, {"attention", "10"}, {"tensor_scaled", "4"}};
enum { N_RUNGS = sizeof rungs / sizeof rungs[0] };

static bool is_of_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

// The word that ends in front of `end`, and where it begins.
static size_t word_before(const char *row, size_t end) {
  while (end > 0 && is_of_word(row[end - 1])) end--;
  return end;
}

static size_t blanks_before(const char *row, size_t end) {
  while (end > 0 && row[end - 1] == ' ') end--;
  return end;
}

// A bank or a slab, or the word that a row of a slab begins with.
static bool is_of_picture(Style style) {
  const int role = style & 0xFF, over = style >> 8;
  return (role >= STYLE_ADDRESS_0 && role <= STYLE_ADDRESS_31) || over == STYLE_LINKED;
}

// What a row ends in, as "word word" with one blank; "" where that is not text.
static const char *ending(Arena *arena, const Canvas *canvas, int row) {
  const Cell *last = canvas_cell(canvas, row, canvas->cols - 1);
  if (!is_of_word(last->text[0]) || is_of_picture(last->style)) return "";
  const char *text = export_row(arena, canvas, row);
  const size_t end = strlen(text), word = word_before(text, end), gap = blanks_before(text, word);
  const size_t before = word_before(text, gap);
  if (gap == word || before == gap) return "";
  return arena_printf(arena, "%.*s %s", (int)(gap - before), text + before, text + word);
}

// The screen with one blank wherever there are several.
static char *words_of(Arena *arena, const Canvas *canvas) {
  Str words = str_new(arena);
  for (int row = 0; row < canvas->rows; row++) {
    for (const char *at = export_row(arena, canvas, row); *at; at++)
      if (*at != ' ' || at[1] != ' ') str_add_char(&words, *at);
    str_add_char(&words, '\n');
  }
  return words.text;
}

// Whether the text begins a longer one and is nowhere one of its own.
static bool is_cut(const char *words, const char *text) {
  const size_t n = strlen(text);
  bool longer = false;
  for (const char *at = words; (at = strstr(at, text)); at++) {
    if (at > words && is_of_word(at[-1])) continue;
    if (!is_of_word(at[n])) return false;
    longer = true;
  }
  return longer;
}

static void check_view(Arena *arena, Session *session, int view) {
  Canvas *wide = canvas_new(arena, WIDE_ROWS, WIDE_COLS, false);
  view_show(session, view);
  pins_none(session);
  drive_frame(session, wide);
  const char *words = words_of(arena, wide);
  Canvas *canvas = canvas_new(arena, ROWS, LAST_COLS, false);
  for (int cols = FIRST_COLS; cols <= LAST_COLS; cols++) {
    canvas_resize(canvas, ROWS, cols);
    drive_frame(session, canvas);
    for (int row = 0; row < ROWS; row++) {
      const char *text = ending(arena, canvas, row);
      ck_assert_msg(!*text || !is_cut(words, text), "%s at %d columns: %s", view_table[view].name,
                    cols, export_row(arena, canvas, row));
    }
  }
}

START_TEST(no_text_ends_as_another) {
  Arena *arena = arena_new("test"), *screens = arena_new("screens");
  Diags diags = diags_new(arena);
  Session *session =
      explorer_open(&(SessionOptions){.ladder = rungs[_i].ladder, .rung = rungs[_i].rung}, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  for (int view = 0; view < view_count; view++) {
    check_view(screens, session, view);
    arena_reset(screens);
  }
  explorer_close(session);
  arena_free(screens);
  arena_free(arena);
}
END_TEST

Suite *suite_right_edge(void);
Suite *suite_right_edge(void) {
  Suite *suite = suite_create("right_edge");
  TCase *tcase = tcase_create("right_edge");
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, no_text_ends_as_another, 0, N_RUNGS);
  suite_add_tcase(suite, tcase);
  return suite;
}
