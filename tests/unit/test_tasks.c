// What people come for, in few keys: each file of tests/tasks is one task from a fresh start, with
// no configuration and no GPU. Its first line says its number of keys; a text or a number that is
// typed counts as one. The keys are replayed, and what must be seen is seen.
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli_harness.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/views/own/own_work.h"

Suite *suite_tasks(void);

enum { KEYS_MAX = 12, OWN_KEYS_MAX = 6, TASKS_MAX = 32 };

static Arena *arena;
static Diags diags;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
}

static void teardown(void) { arena_free(arena); }

static const char *const tasks[] = {"conflict",    "swizzle", "element",  "before_after",
                                    "ring",        "limit",   "followed", "export",
                                    "own_example", "lesson",  "search",   "slide"};

static int count_words(const char *text) {
  int n = 0;
  for (bool inside = false; *text && *text != '\n'; text++) {
    if (*text != ' ' && !inside) n++;
    inside = *text != ' ';
  }
  return n;
}

// Names of keys, and one for each text that is typed.
static int count_keys(const char *script) {
  int n = 0;
  for (const char *line = script; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
    if (str_starts(line, "keys ")) n += count_words(line + 5);
    if (str_starts(line, "type ")) n++;
  }
  return n;
}

START_TEST(a_task_takes_few_keys) {
  const char *path = arena_printf(arena, "tests/tasks/%s.keys", tasks[_i]);
  char script[2048] = "";
  FILE *file = fopen(path, "r");
  ck_assert_msg(file != NULL, "%s", path);
  ck_assert_uint_lt(fread(script, 1, sizeof script - 1, file), sizeof script - 1);
  fclose(file);
  int said = 0;
  ck_assert_int_eq(sscanf(script, "# %d keys: ", &said), 1);
  ck_assert_int_eq(count_keys(script), said);
  ck_assert_int_le(said, strcmp(tasks[_i], "own_example") == 0 ? OWN_KEYS_MAX : KEYS_MAX);
  Session *session = explorer_open(&(SessionOptions){.state = NULL}, &diags);
  ck_assert_ptr_nonnull(session);
  if (cli_has_program()) opened_run_program(own_work(session)->run, getenv("GEMMVIEW"));
  Canvas *canvas = canvas_new(arena, 40, 120, false);
  drive_frame(session, canvas);
  bool ok = drive_script_file(session, canvas, path, &diags);
  if (!ok) fputs(export_text(arena, canvas), stderr);
  ck_assert_msg(ok, "%s: %s", path, diags_text(arena, &diags));
  explorer_close(session);
}
END_TEST

START_TEST(every_task_is_replayed) {
  DIR *folder = opendir("tests/tasks");
  ck_assert_ptr_nonnull(folder);
  size_t n = 0;
  for (struct dirent *entry; (entry = readdir(folder));)
    n += strstr(entry->d_name, ".keys") != NULL;
  closedir(folder);
  ck_assert_uint_eq(n, sizeof tasks / sizeof *tasks);
}
END_TEST

Suite *suite_tasks(void) {
  Suite *suite = suite_create("tasks");
  TCase *tcase = tcase_create("tasks");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, a_task_takes_few_keys, 0, sizeof tasks / sizeof *tasks);
  tcase_add_test(tcase, every_task_is_replayed);
  suite_add_tcase(suite, tcase);
  return suite;
}
