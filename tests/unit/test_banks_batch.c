// Batch lines: every measured line of an H200 must be reproduced, and broken lines must be named.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banks/engine/bank_batch.h"

Suite *suite_banks_batch(void);

START_TEST(agrees_with_every_measured_line) {
  FILE *file = fopen("data/facts/h200_wavefronts.jsonl", "r");
  ck_assert_ptr_nonnull(file);
  Arena *arena = arena_new("test");
  static char text[8192];
  int lines = 0;
  while (fgets(text, sizeof text, file)) {
    arena_reset(arena);
    Diags diags = diags_new(arena);
    BankLine line;
    bool read = bank_batch_read(arena, text, strlen(text), "line", &line, &diags);
    ck_assert_msg(read, "%s", diags_text(arena, &diags));
    ck_assert_int_ge(line.measured_wavefronts, 0);
    ck_assert_int_ge(line.measured_conflicts, 0);
    BankCount count = banks_count(line.op, line.addr);
    ck_assert_msg(bank_batch_agrees(&line, count), "%d: %s %s: %d wavefronts, %d conflicts", lines,
                  line.op->name, line.name, count.wavefronts, count.conflicts);
    static BankMap map;
    banks_map(&map, line.op, line.addr);
    ck_assert_int_eq(map.n_rows, line.measured_wavefronts);
    ck_assert_uint_eq(map.misaligned, 0);
    lines++;
  }
  fclose(file);
  arena_free(arena);
  ck_assert_int_eq(lines, 1633);
}
END_TEST

// The answer to one line, or the diagnostics when it cannot be read.
static char *answer(Arena *arena, const char *text) {
  Diags diags = diags_new(arena);
  BankLine line;
  if (!bank_batch_read(arena, text, strlen(text), "line 1", &line, &diags))
    return diags_text(arena, &diags);
  Str out = str_new(arena);
  bank_batch_write(&out, &line, banks_count(line.op, line.addr));
  return out.text;
}

START_TEST(a_line_in_is_a_line_out) {
  static const struct {
    const char *in, *out;
  } cases[] = {
      {"{\"op\":\"lds128\",\"name\":\"a \\\"b\\\"\",\"addr\":\"lane*16\"}",
       "{\"op\":\"lds128\",\"name\":\"a \\\"b\\\"\",\"wavefronts\":4,\"conflicts\":0,\"ideal\":4,"
       "\"ways\":1,\"phases\":4}"},
      {"{\"addr\":[0,128,256,384,512,640,768,896],\"op\":\"ldsm_x1\"}",
       "{\"op\":\"ldsm_x1\",\"wavefronts\":8,\"conflicts\":7,\"ideal\":1,\"ways\":8,\"phases\":1}"},
      {"{\"op\":\"cpasync16\",\"addr\":\"0:512:16\",\"cycles\":12}",
       "{\"op\":\"cpasync16\",\"wavefronts\":null,\"conflicts\":null,\"ideal\":null,\"ways\":null,"
       "\"phases\":null}"},
  };
  Arena *arena = arena_new("test");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    ck_assert_str_eq(answer(arena, cases[i].in), cases[i].out);
  arena_free(arena);
}
END_TEST

START_TEST(a_broken_line_is_named) {
  static const struct {
    const char *in, *says;
  } cases[] = {
      {"", "line 1"},
      {"{", "line 1"},
      {"[]", "line 1"},
      {"{\"op\":\"lds128\"}", "addr"},
      {"{\"addr\":[0]}", "op"},
      {"{\"op\":3,\"addr\":[0]}", "op"},
      {"{\"op\":\"lds129\",\"addr\":[0]}", "nearest: lds128"},
      {"{\"op\":\"lds32\",\"addr\":[0,4]}", "2 addresses, but a warp has 32 lanes"},
      {"{\"op\":\"lds32\",\"addr\":[0.5]}", "addr[0]"},
      {"{\"op\":\"lds32\",\"addr\":[1e30]}", "addr[0]"},
      {"{\"op\":\"lds32\",\"addr\":null}", "addr"},
      {"{\"op\":\"lds32\",\"addr\":\"lane*3\"}", "lane 1: 3 is not a multiple of 4"},
      {"{\"op\":\"lds32\",\"op\":\"lds32\",\"addr\":\"lane*4\"}", "op"},
      {"{\"op\":\"lds32\",\"addr\":\"lane*4\",\"name\":7}", "name"},
      {"{\"op\":\"lds32\",\"addr\":\"lane*4\"} x", "line 1"},
  };
  Arena *arena = arena_new("test");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *text = answer(arena, cases[i].in);
    ck_assert_msg(strstr(text, cases[i].says) && !strstr(text, "\"wavefronts\":"), "%s\n%s",
                  cases[i].in, text);
  }
  arena_free(arena);
}
END_TEST

// Two wavefronts, one conflict: of what was measured all is right, or was not measured (-1).
START_TEST(a_measurement_that_differs_is_seen) {
  Arena *arena = arena_new("test");
  Diags diags = diags_new(arena);
  const char *text = "{\"op\":\"lds32\",\"addr\":\"lane*8\"}";
  BankLine line;
  ck_assert(bank_batch_read(arena, text, strlen(text), "line 1", &line, &diags));
  const BankCount count = banks_count(line.op, line.addr);
  for (int wavefronts = -1; wavefronts <= 3; wavefronts++)
    for (int conflicts = -1; conflicts <= 3; conflicts++) {
      line.measured_wavefronts = wavefronts;
      line.measured_conflicts = conflicts;
      const bool right =
          (wavefronts == -1 || wavefronts == 2) && (conflicts == -1 || conflicts == 1);
      ck_assert_msg(bank_batch_agrees(&line, count) == right, "%d wavefronts, %d conflicts",
                    wavefronts, conflicts);
    }
  arena_free(arena);
}
END_TEST

Suite *suite_banks_batch(void) {
  Suite *suite = suite_create("banks_batch");
  TCase *lines = tcase_create("lines");
  tcase_add_test(lines, agrees_with_every_measured_line);
  tcase_add_test(lines, a_line_in_is_a_line_out);
  tcase_add_test(lines, a_broken_line_is_named);
  tcase_add_test(lines, a_measurement_that_differs_is_seen);
  suite_add_tcase(suite, lines);
  return suite;
}
