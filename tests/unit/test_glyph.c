// The glyph table, UTF-8 and column widths.
#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "tui/canvas/glyph.h"
#include "tui/canvas/utf8.h"

START_TEST(every_glyph_has_one_column_in_both_modes) {
  for (int i = 0; i < GLYPH_COUNT; i++) {
    const char *text = glyph_text((Glyph)i, false), *ascii = glyph_text((Glyph)i, true);
    ck_assert_msg(utf8_columns(text) == 1, "%s", glyph_name((Glyph)i));
    ck_assert_msg(strlen(ascii) == 1 && *ascii >= ' ' && *ascii < 127, "%s", glyph_name((Glyph)i));
    ck_assert_int_eq(glyph_fallback(glyph_code((Glyph)i)), *ascii);
    for (int j = 0; j < i; j++)
      ck_assert_msg(glyph_code((Glyph)i) != glyph_code((Glyph)j), "%s is there twice", text);
  }
  ck_assert_int_eq(glyph_fallback(0x416), '?');
}
END_TEST

START_TEST(bars_grow) {
  ck_assert_str_eq(glyph_bar(-3, false), " ");
  ck_assert_str_eq(glyph_bar(1, false), "▁");
  ck_assert_str_eq(glyph_bar(8, false), "█");
  ck_assert_str_eq(glyph_bar(99, true), "#");
  ck_assert_str_eq(glyph_gauge(4, false), "▌");
  ck_assert_str_eq(glyph_gauge(8, true), "#");
}
END_TEST

START_TEST(utf8_is_read_and_written) {
  char bytes[4];
  for (uint32_t code = 1; code < 0x110000; code++) {
    uint32_t back;
    if (code >= 0xD800 && code < 0xE000) continue;
    char text[5] = {0};
    int n = utf8_encode(code, text);
    if (utf8_decode(text, &back) != n || back != code) ck_abort_msg("U+%04X", code);
  }
  ck_assert_int_eq(utf8_encode(0xD800, bytes), 3);
  ck_assert_int_eq(memcmp(bytes, "\xEF\xBF\xBD", 3), 0);
}
END_TEST

START_TEST(ill_formed_bytes_are_one_replacement_each) {
  static const char *const bad[] = {
      "\x80",         "\xC0\x80",         "\xC1\xBF",         "\xE0\x80\x80",
      "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
      "\xFF",         "\xE2\x94",         "\xF0\x9F\x98",
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    uint32_t code;
    ck_assert_int_eq(utf8_decode(bad[i], &code), 1);
    ck_assert_uint_eq(code, UTF8_REPLACEMENT);
    ck_assert_int_eq(utf8_columns(bad[i]), (int)strlen(bad[i]));
  }
}
END_TEST

START_TEST(text_is_fitted_and_stepped_through) {
  static const char text[] = "e\u0301漢x";
  ck_assert_uint_eq(utf8_fit(text, 0), 0);
  ck_assert_uint_eq(utf8_fit(text, 1), 3);
  ck_assert_uint_eq(utf8_fit(text, 2), 3);
  ck_assert_uint_eq(utf8_fit(text, 3), 6);
  ck_assert_uint_eq(utf8_fit(text, 9), 7);
  ck_assert_uint_eq(utf8_next(text, 0), 3);
  ck_assert_uint_eq(utf8_next(text, 3), 6);
  ck_assert_uint_eq(utf8_previous(text, 7), 6);
  ck_assert_uint_eq(utf8_previous(text, 3), 0);
  ck_assert_uint_eq(utf8_previous(text, 0), 0);
}
END_TEST

START_TEST(widths_agree_with_the_c_library) {
  char *saved = strdup(setlocale(LC_CTYPE, NULL));
  if (setlocale(LC_CTYPE, "C.UTF-8") || setlocale(LC_CTYPE, "C.utf8")) {
    int asked = 0, differ = 0;
    for (uint32_t code = 0xA0; code < 0x2FFFF; code++) {
      int theirs = wcwidth((wchar_t)code);
      if (theirs < 0 || (code >= 0xE000 && code < 0xF900)) continue;
      asked++;
      differ += theirs != utf8_width(code);
    }
    ck_assert_int_gt(asked, 100000);
    ck_assert_int_lt(differ, asked / 200);
    for (int i = 0; i < GLYPH_COUNT; i++)
      ck_assert_int_eq(wcwidth((wchar_t)glyph_code((Glyph)i)), 1);
  }
  setlocale(LC_CTYPE, saved);
  free(saved);
}
END_TEST

Suite *suite_glyph(void);
Suite *suite_glyph(void) {
  Suite *suite = suite_create("glyph");
  TCase *tcase = tcase_create("glyph");
  tcase_add_test(tcase, every_glyph_has_one_column_in_both_modes);
  tcase_add_test(tcase, bars_grow);
  tcase_add_test(tcase, utf8_is_read_and_written);
  tcase_add_test(tcase, ill_formed_bytes_are_one_replacement_each);
  tcase_add_test(tcase, text_is_fitted_and_stepped_through);
  tcase_add_test(tcase, widths_agree_with_the_c_library);
  suite_add_tcase(suite, tcase);
  return suite;
}
