// One version: what the program says is what the changelog tells of first. The packages take theirs
// from the program, and tests/install/run.sh looks for them under the changelog's.
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli_harness.h"

Suite *suite_version(void);

static Arena *arena;

static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// The first heading "## 0.1.0" or "## 0.1.0 (2026-11-22)".
static const char *newest_in_changelog(void) {
  char line[256], version[64] = "";
  FILE *file = fopen("CHANGELOG.md", "r");
  ck_assert_ptr_nonnull(file);
  while (!*version && fgets(line, sizeof line, file)) sscanf(line, "## %63s", version);
  fclose(file);
  return arena_printf(arena, "%s", version);
}

START_TEST(the_changelog_begins_with_it) { ck_assert_str_eq(newest_in_changelog(), cli_version); }
END_TEST

START_TEST(the_program_and_its_man_page_say_it) {
  if (!cli_has_program()) return;
  const CliRun version = cli_run(arena, "--version"), man = cli_run(arena, "completion man");
  ck_assert_str_eq(version.out, arena_printf(arena, "gemmview %s\n", cli_version));
  ck_assert_ptr_nonnull(strstr(man.out, arena_printf(arena, "\"gemmview %s\"", cli_version)));
}
END_TEST

Suite *suite_version(void) {
  Suite *suite = suite_create("version");
  TCase *tests = tcase_create("version");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, the_changelog_begins_with_it);
  tcase_add_test(tests, the_program_and_its_man_page_say_it);
  suite_add_tcase(suite, tests);
  return suite;
}
