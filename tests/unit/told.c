#include "told.h"

#include "cli_harness.h"
#include "golden.h"

static const char *script;

START_TEST(answers_are_as_reviewed) {
  if (!cli_has_program()) return;
  Arena *arena = arena_new("test told");
  const CliRun run =
      cli_shell(arena, arena_printf(arena, ". tests/told/told.sh; . tests/told/%s.sh", script));
  ck_assert_str_eq(run.err, "");
  golden_check(arena_printf(arena, "told/%s.txt", script), run.out);
  arena_free(arena);
}
END_TEST

Suite *told_suite(const char *name) {
  script = name;
  Suite *suite = suite_create(name);
  TCase *tests = tcase_create(name);
  tcase_set_timeout(tests, 400);
  tcase_add_test(tests, answers_are_as_reviewed);
  suite_add_tcase(suite, tests);
  return suite;
}
