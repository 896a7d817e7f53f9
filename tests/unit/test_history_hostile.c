// A history in a folder that others may write to, and a damaged one that many find at once.
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli_harness.h"
#include "kernels/device/history/history_sql.h"
#include "kernels/worker/client.h"
#include "stress.h"

static Arena *arena;
static char folder[64], path[96];

static void setup(void) {
  arena = arena_new("test hostile history");
  strcpy(folder, "/tmp/gemmview-hostile-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/history.db", folder);
}

static void teardown(void) {
  unsetenv("GEMMVIEW_CLASSROOM");
  char *command = arena_printf(arena, "rm -rf '%s'", folder);
  ck_assert_int_eq(system(command), 0);
  arena_free(arena);
}

static void write_file(const char *name, const char *text, mode_t mode) {
  FILE *file = fopen(name, "we");
  ck_assert(file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(name, mode) == 0);
}

static unsigned mode_of(const char *name) {
  struct stat info;
  ck_assert_int_eq(stat(name, &info), 0);
  return info.st_mode & 07777;
}

static void run_sql(const char *sql) {
  sqlite3 *db = NULL;
  char *error = NULL;
  ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
  ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &error) == SQLITE_OK, "%s", error);
  sqlite3_close(db);
}

// What opening says where it must not succeed.
static const char *refusal(void) {
  Diags diags = diags_new(arena);
  ck_assert_ptr_null(history_open(arena, path, &diags));
  ck_assert_int_eq(diags.count, 1);
  return diags.first->text;
}

// ---- links --------------------------------------------------------------------------------------

// A private key that a planted link led to once became readable for all.
START_TEST(a_link_in_a_shared_folder_opens_nobodys_file) {
  char *key = arena_printf(arena, "%s/key", folder);
  write_file(key, "", 0600);  // an empty file is a good database
  ck_assert_int_eq(symlink(key, path), 0);
  setenv("GEMMVIEW_CLASSROOM", folder, 1);
  ck_assert_ptr_nonnull(strstr(refusal(), "it is a link"));
  ck_assert_uint_eq(mode_of(key), 0600);
  struct stat info;
  ck_assert(stat(key, &info) == 0 && info.st_size == 0);
}
END_TEST

START_TEST(a_link_to_nowhere_makes_nothing) {
  char *elsewhere = arena_printf(arena, "%s/elsewhere", folder);
  ck_assert_int_eq(symlink(elsewhere, path), 0);
  setenv("GEMMVIEW_CLASSROOM", folder, 1);
  refusal();
  ck_assert_int_ne(access(elsewhere, F_OK), 0);
}
END_TEST

START_TEST(only_a_file_of_our_own_making_is_opened_to_the_group) {
  setenv("GEMMVIEW_CLASSROOM", folder, 1);
  write_file(path, "", 0600);
  Diags diags = diags_new(arena);
  history_close(history_open(arena, path, &diags));
  ck_assert_uint_eq(mode_of(path), 0600);
  ck_assert_int_eq(unlink(path), 0);
  mode_t mask = umask(077);
  history_close(history_open(arena, path, &diags));
  umask(mask);
  ck_assert_uint_eq(mode_of(path), 0664);
  ck_assert_int_eq(diags.count, 0);
}
END_TEST

START_TEST(a_folder_and_a_file_of_ones_own_may_be_links) {
  char *real = arena_printf(arena, "%s/real", folder), *link = arena_printf(arena, "%s/l", folder);
  ck_assert(mkdir(real, 0700) == 0 && symlink("real", link) == 0);
  Diags diags = diags_new(arena);
  char *through = arena_printf(arena, "%s/history.db", link);
  history_close(history_open(arena, through, &diags));
  ck_assert_int_eq(symlink(through, path), 0);
  history_close(history_open(arena, path, &diags));
  ck_assert_int_eq(diags.count, 0);
}
END_TEST

// ---- schemas ------------------------------------------------------------------------------------

// A view of all columns that has no end.
static const char *endless(void) {
  Str out = str_new(arena);
  str_add(
      &out,
      "CREATE VIEW measurement AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
      " SELECT i AS id");
  const char *at = history_sql_names(arena);
  for (size_t n; *at; at += n + strspn(at + n, ", ")) {
    n = strcspn(at, ",");
    str_printf(&out, ", 1 AS %.*s", (int)n, at);
  }
  str_add(&out, " FROM n;");
  return out.text;
}

START_TEST(tables_of_others_are_refused) {
  const char *const schemas[] = {
      endless(),
      "CREATE TABLE measurement (id INTEGER)",
      "CREATE TRIGGER t AFTER INSERT ON measurement BEGIN DELETE FROM measurement; END",
      "CREATE TABLE other (x)",
  };
  for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
    unlink(path);
    history_close(history_open(arena, path, NULL));
    if (i < 2) run_sql("DROP TABLE measurement");
    run_sql(schemas[i]);
    ck_assert_ptr_nonnull(strstr(refusal(), "its tables are not those of a history"));
  }
}
END_TEST

// Put in its place behind the back of somebody who has it open.
START_TEST(a_view_without_end_is_given_up) {
  HistoryRow rows[10];
  History *history = history_open(arena, path, NULL);
  run_sql(arena_printf(arena, "DROP TABLE measurement; %s", endless()));
  int64_t began = clock_ms();
  history_recent(history, arena, rows, 10);
  ck_assert_ptr_nonnull(strstr(history_failure(history), "did not answer in time"));
  ck_assert_double_lt((double)(clock_ms() - began), stress_wall(10000));
  history_close(history);
}
END_TEST

START_TEST(a_query_ends_when_the_program_does) {
  HistoryRow rows[10];
  atomic_bool stop = false;
  History *history = history_open_until(arena, path, &stop, NULL);
  run_sql(arena_printf(arena, "DROP TABLE measurement; %s", endless()));
  atomic_store(&stop, true);
  int64_t began = clock_ms();
  history_recent(history, arena, rows, 10);
  ck_assert_double_lt((double)(clock_ms() - began), stress_wall(1000));
  history_close(history);
}
END_TEST

// Somebody who never lets go of the file, while the client is asked to end.
START_TEST(ending_does_not_wait_for_a_locked_history) {
  static const char *const worker[] = {"/bin/cat", NULL};
  static const char *const *const workers[] = {worker};
  history_close(history_open(arena, path, NULL));
  sqlite3 *db = NULL;
  ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
  ck_assert_int_eq(
      sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE", NULL, NULL, NULL),
      SQLITE_OK);
  Client *client = client_start(
      &(ClientOptions){.workers = workers, .n_workers = 1, .history_path = path, .version = "1"});
  ck_assert_ptr_nonnull(client);
  client_ask_history(client, 10);
  usleep(100000);
  int64_t began = clock_ms();
  client_stop(client);
  ck_assert_double_lt((double)(clock_ms() - began), stress_wall(1000));
  sqlite3_close(db);
}
END_TEST

START_TEST(the_command_says_what_it_could_not_read) {
  if (!cli_has_program()) return;
  history_close(history_open(arena, path, NULL));
  run_sql(arena_printf(arena, "DROP TABLE measurement; %s", endless()));
  CliRun run = cli_shell(arena, arena_printf(arena, "GEMMVIEW_CLASSROOM='%s' timeout 30 %s history",
                                             folder, getenv("GEMMVIEW")));
  ck_assert_int_eq(run.status, 3);
  ck_assert_ptr_nonnull(strstr(run.err, "its tables are not those of a history"));
}
END_TEST

// ---- damage found by many -----------------------------------------------------------------------

enum { FINDERS = 12 };

static _Noreturn void find_damage(int go) {
  Arena *own = arena_new("finder");
  char byte;
  HistoryRow row = {.when_unix = 1, .user = "ana", .state = "BM=1", .status = "ok"};
  if (read(go, &byte, 1) != 0) _exit(4);
  History *history = history_open(own, path, NULL);
  _exit(history && history_add(history, &row, NULL) ? 0 : 3);
}

// Twelve at once: the damaged file stays, whole, and no row of the new one is lost.
START_TEST(a_damaged_file_found_by_twelve_is_put_aside_once) {
  const int n_rounds = stress_count(4, 100);
  for (int round = 0; round < n_rounds; round++) {
    char *text = arena_printf(arena, "%0*d", 8192, round);
    int go[2], status = 0;
    unlink(path);
    write_file(path, text, 0600);
    ck_assert_int_eq(pipe(go), 0);
    for (int i = 0; i < FINDERS; i++) {
      if (fork() != 0) continue;
      close(go[1]);
      find_damage(go[0]);
    }
    close(go[0]), close(go[1]);
    for (int i = 0; i < FINDERS; i++) {
      ck_assert_int_gt(wait(&status), 0);
      ck_assert_int_eq(status, 0);
    }
    HistoryRow rows[FINDERS + 1];
    History *history = history_open(arena, path, NULL);
    ck_assert_int_eq(history_recent(history, arena, rows, FINDERS + 1), FINDERS);
    history_close(history);
    char *count =
        arena_printf(arena, "test $(cat '%s'.damaged-* | wc -c) = %d", path, 8192 * (round + 1));
    ck_assert_int_eq(system(count), 0);
  }
}
END_TEST

Suite *suite_history_hostile(void);
Suite *suite_history_hostile(void) {
  Suite *suite = suite_create("history_hostile");
  TCase *tests = tcase_create("history_hostile");
  tcase_set_timeout(tests, 600);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, a_link_in_a_shared_folder_opens_nobodys_file);
  tcase_add_test(tests, a_link_to_nowhere_makes_nothing);
  tcase_add_test(tests, only_a_file_of_our_own_making_is_opened_to_the_group);
  tcase_add_test(tests, a_folder_and_a_file_of_ones_own_may_be_links);
  tcase_add_test(tests, tables_of_others_are_refused);
  tcase_add_test(tests, a_view_without_end_is_given_up);
  tcase_add_test(tests, a_query_ends_when_the_program_does);
  tcase_add_test(tests, ending_does_not_wait_for_a_locked_history);
  tcase_add_test(tests, the_command_says_what_it_could_not_read);
  tcase_add_test(tests, a_damaged_file_found_by_twelve_is_put_aside_once);
  suite_add_tcase(suite, tests);
  return suite;
}
