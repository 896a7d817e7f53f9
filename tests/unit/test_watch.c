// Files that are looked at for saves: written in place, renamed over, gone for a while, listed
// anew.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/watch.h"

Suite *suite_watch(void);

static Arena *arena;
static char folder[40];
static const char *one, *two;
static WatchList list;

static void save(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  fputs(text, file);
  fclose(file);
}

static void setup(void) {
  arena = arena_new("test");
  snprintf(folder, sizeof folder, "/tmp/gemmview-watch-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  one = arena_printf(arena, "%s/one.cu", folder);
  two = arena_printf(arena, "%s/two.h", folder);
  save(one, "1");
  save(two, "2");
  list = watch_new();
  watch_set(&list, (const char *const[]){one, two}, 2);
}

static void teardown(void) {
  watch_free(&list);
  unlink(one);
  unlink(two);
  rmdir(folder);
  arena_free(arena);
}

START_TEST(every_save_is_told_once) {
  ck_assert(!watch_saved(&list));
  save(two, "22");
  ck_assert(watch_saved(&list));
  ck_assert(!watch_saved(&list));
  const char *other = arena_printf(arena, "%s/other", folder);
  save(other, "3");
  ck_assert_int_eq(rename(other, one), 0);
  ck_assert(watch_saved(&list));
  ck_assert(!watch_saved(&list));
}
END_TEST

START_TEST(what_is_being_written_is_waited_for) {
  unlink(one);
  ck_assert(!watch_saved(&list));
  save(one, "");
  ck_assert(!watch_saved(&list));
  save(one, "again");
  ck_assert(watch_saved(&list));
}
END_TEST

// A save between a run and the list that it gives is a save still.
START_TEST(a_new_list_forgets_nothing) {
  save(two, "222");
  watch_set(&list, (const char *const[]){two, one, two}, 3);
  ck_assert_int_eq(list.n, 2);
  ck_assert(watch_saved(&list));
  ck_assert_str_eq(watch_text(arena, &list), "two.h and one.cu");
  watch_set(&list, (const char *const[]){"/a", "b/c", "d", "e", "f"}, 5);
  ck_assert_str_eq(watch_text(arena, &list), "a, c, d and 2 more");
  ck_assert(!watch_saved(&list));
}
END_TEST

Suite *suite_watch(void) {
  Suite *suite = suite_create("watch");
  TCase *tcase = tcase_create("files");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, every_save_is_told_once);
  tcase_add_test(tcase, what_is_being_written_is_waited_for);
  tcase_add_test(tcase, a_new_list_forgets_nothing);
  suite_add_tcase(suite, tcase);
  return suite;
}
