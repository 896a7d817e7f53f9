// The facts of an SM that the clock goes by, each with other numbers in its place: which of them
// are taken. tests/golden/told/facts.txt has a line for each fact of data/clock/sm_90.json.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "clock/clock_machine.h"
#include "golden.h"

Suite *suite_told_facts(void);

static const char *const numbers[] = {"-1",  "0",    "0.001", "0.5",  "1",    "1.5",   "2",
                                      "8",   "9",    "16",    "17",   "64",   "65",    "256",
                                      "257", "1000", "1024",  "1025", "4096", "10000", "10001",
                                      "1e5", "1e6",  "1e7",   "1e9"};

static bool is_taken(const char *text) {
  Arena *arena = arena_new("facts");
  ClockMachine machine = {0};
  Diags diags = diags_new(arena);
  const JsonValue *root = json_parse(arena, text, strlen(text), &diags, "facts");
  const bool taken = root && clock_machine_read(root, &machine, &diags);
  arena_free(arena);
  return taken;
}

START_TEST(numbers_out_of_range_are_refused) {
  Arena *arena = arena_new("test");
  Str out = str_new(arena);
  const EmbeddedFile *file = embed_find(arena, "clock/sm_90.json");
  ck_assert_ptr_nonnull(file);
  const char *text = arena_strndup(arena, file->text, file->size);
  ck_assert(is_taken(text));
  for (const char *at = text; (at = strstr(at, "\"value\":")) != NULL;) {
    at += strlen("\"value\":");
    char *end = NULL;
    const double value = strtod(at, &end);
    str_printf(&out, "%g:", value);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
      if (is_taken(arena_printf(arena, "%.*s %s%s", (int)(at - text), text, numbers[i], end)))
        str_printf(&out, " %s", numbers[i]);
    str_add(&out, "\n");
  }
  golden_check("told/facts.txt", out.text);
  arena_free(arena);
}
END_TEST

Suite *suite_told_facts(void) {
  Suite *suite = suite_create("told_facts");
  TCase *tcase = tcase_create("facts");
  tcase_add_test(tcase, numbers_out_of_range_are_refused);
  suite_add_tcase(suite, tcase);
  return suite;
}
