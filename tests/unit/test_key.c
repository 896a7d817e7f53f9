// Names of keys, and which action a key runs.
#include <check.h>
#include <string.h>

#include "tui/canvas/keymap.h"

static Arena *arena;
static Diags diags;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
}
static void teardown(void) { arena_free(arena); }

START_TEST(names_are_read_and_printed) {
  static const struct {
    const char *read, *printed;
  } names[] = {
      {"a", "a"},
      {"A", "A"},
      {"?", "?"},
      {":", ":"},
      {"-", "-"},
      {"^", "^"},
      {"space", "Space"},
      {"Up", "Up"},
      {"UP", "Up"},
      {"PageDown", "PgDn"},
      {"Escape", "Esc"},
      {"Return", "Enter"},
      {"Ctrl-D", "Ctrl-D"},
      {"ctrl-d", "Ctrl-D"},
      {"C-d", "Ctrl-D"},
      {"^D", "Ctrl-D"},
      {"^d", "Ctrl-D"},
      {"S-Tab", "S-Tab"},
      {"Shift-Tab", "S-Tab"},
      {"M-x", "Alt-x"},
      {"Alt-X", "Alt-X"},
      {"C-S-Left", "Ctrl-S-Left"},
      {"S-C-Left", "Ctrl-S-Left"},
      {"Ctrl-Alt-S-F12", "Ctrl-Alt-S-F12"},
      {"Ctrl-I", "Tab"},
      {"Ctrl-M", "Enter"},
      {"Ctrl-[", "Esc"},
      {"Ctrl-H", "Backspace"},
      {"Ctrl-Space", "Ctrl-Space"},
      {"S-a", "A"},
      {"é", "é"},
      {"漢", "漢"},
      {"Alt--", "Alt--"},
  };
  char text[KEY_PRINT_MAX];
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    Key key = key_parse(names[i].read, &diags);
    ck_assert_msg(key != KEY_NONE, "%s", names[i].read);
    ck_assert_str_eq(key_print(key, text), names[i].printed);
    ck_assert_uint_eq(key_parse(text, NULL), key);
  }
  ck_assert_int_eq(diags.count, 0);
}
END_TEST

START_TEST(every_key_prints_a_name_that_reads_back) {
  static const Key modifiers[] = {0, KEY_CTRL, KEY_ALT, KEY_SHIFT, KEY_CTRL | KEY_ALT | KEY_SHIFT};
  char text[KEY_PRINT_MAX];
  for (Key base = KEY_FIRST + 1; base < KEY_LIMIT; base++)
    for (int m = 0; m < 5; m++)
      ck_assert_uint_eq(key_parse(key_print(base | modifiers[m], text), NULL), base | modifiers[m]);
  for (uint32_t code = 0; code < 0x300; code++) {
    Key key = key_from_character(code);
    if (code >= 0x80 && code < 0xA0) continue;
    ck_assert_msg(key_parse(key_print(key, text), NULL) == key, "%u: %s", code, text);
  }
}
END_TEST

START_TEST(what_is_no_key_is_refused) {
  static const char *const wrong[] = {"",     "Upp",    "Ctrl-",   "ab",          "F13",   "\033",
                                      "\xff", "Ctrl-é", "Hyper-a", "Ctrl-Ctrl-a", "\u0301"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    ck_assert_msg(key_parse(wrong[i], &diags) == KEY_NONE, "%s", wrong[i]);
  ck_assert_int_eq(diags.count, (int)(sizeof wrong / sizeof wrong[0]));
  diags = diags_new(arena);
  key_parse("Entr", &diags);
  ck_assert_str_eq(diags.first->nearest, "Enter");
}
END_TEST

START_TEST(text_fields_take_what_prints) {
  ck_assert(key_is_printable('q') && key_is_printable(' ') && key_is_printable(0x6F22));
  ck_assert(!key_is_printable(KEY_CODE_UP) && !key_is_printable(KEY_CTRL | 'a'));
  ck_assert(!key_is_printable(KEY_ALT | 'a') && !key_is_printable(KEY_NONE));
  ck_assert(!key_is_printable(0x9B) && !key_is_printable(0x301));
}
END_TEST

START_TEST(keys_of_the_conventions_are_reserved) {
  static const char *const reserved[] = {
      "h",  "j",    "k",   "l",     "g",   "G",      "/",      "n",      "N",      "?",
      ":",  "0",    "9",   "[",     "]",   "u",      "c",      "y",      "m",      "q",
      "Up", "PgDn", "Tab", "S-Tab", "Esc", "Ctrl-D", "Ctrl-U", "Ctrl-R", "Ctrl-L", "Ctrl-Z"};
  static const char *const free_keys[] = {"b", "p",  "e",     "s",     "x",
                                          "<", "F1", "Enter", "Space", "Alt-h"};
  for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
    ck_assert_msg(key_is_reserved(key_parse(reserved[i], NULL)), "%s", reserved[i]);
  for (size_t i = 0; i < sizeof free_keys / sizeof free_keys[0]; i++)
    ck_assert_msg(!key_is_reserved(key_parse(free_keys[i], NULL)), "%s", free_keys[i]);
}
END_TEST

static Keymap *map_of_two(void) {
  Keymap *map = keymap_new(arena);
  keymap_bind(map, KEYMAP_GLOBAL, "j", "down", NULL, &diags);
  keymap_bind(map, KEYMAP_GLOBAL, "Down", "down", NULL, &diags);
  keymap_bind(map, KEYMAP_GLOBAL, "b", "bench", NULL, &diags);
  keymap_bind(map, "banks", "b", "broadcast", NULL, &diags);
  return map;
}

START_TEST(a_view_goes_before_the_whole) {
  Keymap *map = map_of_two();
  ck_assert_str_eq(keymap_action(map, "banks", 'b'), "broadcast");
  ck_assert_str_eq(keymap_action(map, "loops", 'b'), "bench");
  ck_assert_str_eq(keymap_action(map, "banks", 'j'), "down");
  ck_assert_ptr_null(keymap_action(map, "banks", 'x'));
  ck_assert_uint_eq(keymap_key(map, "banks", "bench"), KEY_NONE);
  ck_assert_uint_eq(keymap_key(map, "loops", "bench"), 'b');
  ck_assert_str_eq(keymap_keys(arena, map, "loops", "down"), "Down j");
  // Another view binds the same key to the same action later: the key is still named here.
  ck_assert(keymap_bind(map, "banks", "Down", "down", NULL, &diags));
  ck_assert_str_eq(keymap_keys(arena, map, "loops", "down"), "Down j");
  ck_assert_str_eq(keymap_keys(arena, map, "banks", "down"), "Down j");
}
END_TEST

START_TEST(the_user_rebinds_and_frees) {
  Keymap *map = map_of_two();
  ck_assert(keymap_bind(map, KEYMAP_GLOBAL, "b", "", "config.json", &diags));
  ck_assert(keymap_bind(map, KEYMAP_GLOBAL, "F2", "bench", "config.json", &diags));
  ck_assert_ptr_null(keymap_action(map, "loops", 'b'));
  ck_assert_uint_eq(keymap_key(map, "loops", "bench"), KEY_CODE_F1 + 1);
  ck_assert_str_eq(keymap_keys(arena, map, "loops", "bench"), "F2");
  ck_assert(!keymap_bind(map, KEYMAP_GLOBAL, "Entr", "x", "config.json", &diags));
  ck_assert_ptr_nonnull(strstr(diags.first->text, "config.json: \"Entr\" is not a key"));
  ck_assert_str_eq(diags.first->nearest, "Enter");
}
END_TEST

Suite *suite_key(void);
Suite *suite_key(void) {
  Suite *suite = suite_create("key");
  TCase *tcase = tcase_create("key");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, names_are_read_and_printed);
  tcase_add_test(tcase, every_key_prints_a_name_that_reads_back);
  tcase_add_test(tcase, what_is_no_key_is_refused);
  tcase_add_test(tcase, text_fields_take_what_prints);
  tcase_add_test(tcase, keys_of_the_conventions_are_reserved);
  tcase_add_test(tcase, a_view_goes_before_the_whole);
  tcase_add_test(tcase, the_user_rebinds_and_frees);
  suite_add_tcase(suite, tcase);
  return suite;
}
