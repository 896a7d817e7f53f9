// Inline PTX in words: each constraint told once, in its own direction, and nothing of other lines.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "kernels/toolchain/machine/asm_words.h"

Suite *suite_asm_words(void);

static const struct {
  const char *line, *says, *hides;
} lines[] = {
    {"asm volatile(\"cp.async.commit_group;\" ::: \"memory\");", "kept in its place", "%0"},
    {"asm volatile(\"cp.async.commit_group;\" ::: \"memory\");", "\"memory\": it touches", "read:"},
    {"asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\"", "%0, %1: the operands",
     "memory"},
    {"             :: \"r\"(to), \"l\"(from_global) : \"memory\");",
     "\"r\" read: a 32-bit register   \"l\" read: a 64-bit register, such as a global address",
     "written"},
    {": \"=r\"(to[0]), \"=r\"(to[1])", "\"=r\" written: a 32-bit register", "\"r\" read"},
    {": \"+f\"(c[0]), \"+f\"(c[1])", "\"+f\" read and written: a 32-bit float", "   "},
    {"asm(\"cvt.rn.f16x2.f32 %0, %1, %2;\" : \"=r\"(v[0]) : \"f\"(from[1]));",
     "\"=r\" written: a 32-bit register   \"f\" read", "volatile"},
    {"asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(n) : \"memory\");", "\"n\" read: a constant",
     NULL},
};

START_TEST(lines_are_told) {
  char out[ASM_WORDS_BYTES];
  ck_assert(asm_words(lines[_i].line, out));
  ck_assert_msg(strstr(out, lines[_i].says) != NULL, "%s", out);
  if (lines[_i].hides) ck_assert_msg(!strstr(out, lines[_i].hides), "%s", out);
}
END_TEST

START_TEST(other_lines_have_none) {
  static const char *const others[] = {
      "", "acc[0] += a * b;", "\"", "\"=", "\"=r", "\"rr\"", "// a \"r\" in a comment is no harm"};
  char out[ASM_WORDS_BYTES];
  for (size_t i = 0; i + 1 < sizeof others / sizeof *others; i++) {
    ck_assert_msg(!asm_words(others[i], out), "%s", others[i]);
    ck_assert_str_eq(out, "");
  }
}
END_TEST

// A text of one's own may be any length; the words stay within their bytes.
START_TEST(a_long_line_is_cut) {
  Arena *arena = arena_new("test");
  Str line = str_new(arena);
  str_add(&line, "asm volatile(\"%0\"");
  for (int i = 0; i < 1000; i++) str_add(&line, ": \"=r\"(x) \"+l\"(y) \"n\"(z) \"d\"(w) \"h\"(v)");
  str_add(&line, ": \"memory\"");
  char out[ASM_WORDS_BYTES + 1];
  out[ASM_WORDS_BYTES] = 'x';
  ck_assert(asm_words(line.text, out));
  ck_assert_uint_lt(strlen(out), ASM_WORDS_BYTES);
  ck_assert_int_eq(out[ASM_WORDS_BYTES], 'x');
  arena_free(arena);
}
END_TEST

Suite *suite_asm_words(void) {
  Suite *suite = suite_create("asm_words");
  TCase *tcase = tcase_create("asm words");
  tcase_add_loop_test(tcase, lines_are_told, 0, (int)(sizeof lines / sizeof *lines));
  tcase_add_test(tcase, other_lines_have_none);
  tcase_add_test(tcase, a_long_line_is_cut);
  suite_add_tcase(suite, tcase);
  return suite;
}
