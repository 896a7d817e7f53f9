// Editing one line.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "canvas_random.h"
#include "tui/canvas/export.h"
#include "tui/canvas/textfield.h"
#include "tui/canvas/utf8.h"

static TextField field;

static void setup(void) { memset(&field, 0, sizeof field); }

static TextFieldResult press(const char *names) {
  TextFieldResult result = TEXTFIELD_IGNORED;
  char copy[256], *state = NULL;
  strcpy(copy, names);
  for (char *name = strtok_r(copy, " ", &state); name; name = strtok_r(NULL, " ", &state))
    result = textfield_key(&field, key_parse(name, NULL));
  return result;
}

START_TEST(keys_edit_as_in_a_shell) {
  static const struct {
    const char *text, *keys, *wanted;
    int cursor;
  } cases[] = {
      {"", "B M = 6 4", "BM=64", 5},
      {"BM=64", "Backspace Backspace 8", "BM=8", 4},
      {"BM=64", "Home x", "xBM=64", 1},
      {"BM=64", "Left Left Del", "BM=4", 3},
      {"set BM=64", "Ctrl-W", "set BM=", 7},
      {"set BM=64", "Ctrl-W Ctrl-W", "set ", 4},
      {"set BM=64", "Ctrl-U", "", 0},
      {"set BM=64", "Ctrl-A Ctrl-K Ctrl-Y Ctrl-Y", "set BM=64set BM=64", 18},
      {"set BM=64", "Alt-b Alt-b", "set BM=64", 4},
      {"set BM=64", "Home Ctrl-Right", "set BM=64", 3},
      {"set BM=64", "Home Alt-f Alt-f", "set BM=64", 6},
      {"8×4", "Left Backspace x", "8x4", 2},
      {"漢e\u0301", "Backspace", "漢", 3},
      {"漢e\u0301", "Home Right Right Left Backspace", "e\u0301", 0},
      {"ab", "Home Left Left Backspace", "ab", 0},
      {"ab", "End Right Del Ctrl-K Ctrl-D", "ab", 2},
      {"q", "q h j 0", "qqhj0", 5},
      {"a", "Space é", "a é", 4},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    setup();
    textfield_set(&field, cases[i].text);
    press(cases[i].keys);
    ck_assert_str_eq(field.text, cases[i].wanted);
    ck_assert_int_eq(field.cursor, cases[i].cursor);
  }
}
END_TEST

START_TEST(results_say_what_happened) {
  ck_assert_int_eq(press("a"), TEXTFIELD_CHANGED);
  ck_assert_int_eq(press("Left"), TEXTFIELD_MOVED);
  ck_assert_int_eq(press("Tab"), TEXTFIELD_COMPLETE);
  ck_assert_int_eq(press("Esc"), TEXTFIELD_CANCELLED);
  ck_assert_int_eq(press("Enter"), TEXTFIELD_ACCEPTED);
  ck_assert_int_eq(press("F1"), TEXTFIELD_IGNORED);
  ck_assert_int_eq(press("Up"), TEXTFIELD_IGNORED);
  ck_assert_int_eq(press("Del Backspace"), TEXTFIELD_CANCELLED);
}
END_TEST

START_TEST(history_is_leafed_through) {
  TextHistory *history = calloc(1, sizeof *history);
  field.history = history;
  for (const char *line = "abc"; *line; line++) {
    textfield_set(&field, "");
    textfield_key(&field, (Key)*line);
    press("Enter");
  }
  press("Enter");
  textfield_set(&field, "dra");
  press("f t Up");
  ck_assert_str_eq(field.text, "c");
  press("Up Up Up Up");
  ck_assert_str_eq(field.text, "a");
  press("Down");
  ck_assert_str_eq(field.text, "b");
  press("Down Down Down");
  ck_assert_str_eq(field.text, "draft");
  for (int i = 0; i < 100; i++) {
    char line[8] = {(char)('A' + i % 26), (char)('a' + i / 26), 0};
    text_history_add(history, line);
    text_history_add(history, line);
  }
  for (int i = 0; i < 50; i++) press("Up");
  ck_assert_int_eq(history->count, TEXTFIELD_HISTORY);
  ck_assert_str_eq(field.text, "Qc");
  free(history);
}
END_TEST

START_TEST(pasted_text_becomes_one_clean_line) {
  ck_assert(textfield_insert(&field, "0 16\n32\t48\033[31m\x01\xff\xC2\x9B!"));
  ck_assert_str_eq(field.text, "0 16 32 48[31m!");
  char much[TEXTFIELD_BYTES + 10];
  memset(much, 'x', sizeof much - 1);
  much[sizeof much - 1] = 0;
  ck_assert(!textfield_insert(&field, much));
  ck_assert_str_eq(field.text, "0 16 32 48[31m!");
  much[TEXTFIELD_BYTES - 1 - strlen(field.text)] = 0;
  ck_assert(textfield_insert(&field, much));
  ck_assert_uint_eq(strlen(field.text), TEXTFIELD_BYTES - 1);
  ck_assert_int_eq(press("a"), TEXTFIELD_MOVED);
}
END_TEST

START_TEST(the_cursor_is_always_in_view) {
  Arena *arena = arena_new("test");
  Canvas *canvas = canvas_new(arena, 3, 12, false);
  Rect in = {1, 1, 2, 10};
  textfield_set(&field, "set BM=64");
  textfield_draw(&field, canvas, in, STYLE_FIELD, ":");
  ck_assert_str_eq(export_text(arena, canvas), "\n :et BM=64\n\n");
  ck_assert(canvas->cursor_shown);
  ck_assert_int_eq(canvas->cursor_col, 10);
  press("Home");
  canvas_clear(canvas);
  textfield_draw(&field, canvas, in, STYLE_FIELD, ":");
  ck_assert_str_eq(export_text(arena, canvas), "\n :set BM=64\n\n");
  ck_assert_int_eq(canvas->cursor_col, 2);
  textfield_set(&field, "set BM=64 BN=128");
  for (int i = 0; i < 7; i++) press("Left");
  canvas_clear(canvas);
  textfield_draw(&field, canvas, in, STYLE_FIELD, ":");
  ck_assert_str_eq(export_text(arena, canvas), "\n :t BM=64 …\n\n");  // not over the cursor
  ck_assert_int_eq(canvas->cursor_col, 9);
  textfield_draw(&field, canvas, (Rect){0, 0, 1, 1}, STYLE_FIELD, "prompt");
  textfield_draw(&field, canvas, (Rect){0, 0, 0, 0}, STYLE_FIELD, "prompt");
  arena_free(arena);
}
END_TEST

START_TEST(arbitrary_keys_keep_it_sound) {
  Random random = random_new(5);
  TextHistory *history = calloc(1, sizeof *history);
  field.history = history;
  for (int i = 0; i < 200000; i++) {
    static const Key some[] = {0x6F22, 0x301, 0xE9, 'a', ' ', '=', KEY_CTRL | 'w', KEY_CTRL | 'y'};
    uint32_t bits = random_bits(&random);
    Key key = bits % 3 ? some[bits / 8 % 8]
                       : (Key)random_between(&random, KEY_FIRST, KEY_LIMIT) |
                             (bits & 8 ? (Key)KEY_CTRL : 0u) | (bits & 16 ? (Key)KEY_ALT : 0u);
    textfield_key(&field, key);
    int length = (int)strlen(field.text);
    bool sound = field.cursor >= 0 && field.cursor <= length && length < TEXTFIELD_BYTES &&
                 (field.text[field.cursor] & 0xC0) != 0x80;
    if (!sound) ck_abort_msg("key %d, cursor %d of %d", i, field.cursor, length);
  }
  free(history);
}
END_TEST

Suite *suite_textfield(void);
Suite *suite_textfield(void) {
  Suite *suite = suite_create("textfield");
  TCase *tcase = tcase_create("textfield");
  tcase_add_checked_fixture(tcase, setup, NULL);
  tcase_add_test(tcase, keys_edit_as_in_a_shell);
  tcase_add_test(tcase, results_say_what_happened);
  tcase_add_test(tcase, history_is_leafed_through);
  tcase_add_test(tcase, pasted_text_becomes_one_clean_line);
  tcase_add_test(tcase, the_cursor_is_always_in_view);
  tcase_add_test(tcase, arbitrary_keys_keep_it_sound);
  suite_add_tcase(suite, tcase);
  return suite;
}
