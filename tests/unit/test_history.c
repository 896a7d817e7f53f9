// The history file: what is added is found, by whoever asks, for as long as it counts; and nothing
// that happens to the file or the process takes more than the last row or stops the program.
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/whole.h"
#include "kernels/device/history/history.h"
#include "model/words/knob.h"
#include "stress.h"

static Arena *arena;
static char folder[64], path[96];

static void setup(void) {
  arena = arena_new("test history");
  strcpy(folder, "/tmp/gemmview-history-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/history.db", folder);
}

static void teardown(void) {
  chmod(folder, 0700);
  char *command = arena_printf(arena, "rm -rf '%s'", folder);
  ck_assert_int_eq(system(command), 0);
  arena_free(arena);
}

static History *open_well(void) {
  Diags diags = diags_new(arena);
  History *history = history_open(arena, path, &diags);
  ck_assert_msg(history != NULL, "%s", diags_text(arena, &diags));
  return history;
}

static HistoryRow a_row(const char *user, const char *hash, int64_t when) {
  return (HistoryRow){.when_unix = when,
                      .user = user,
                      .host = "box",
                      .gpu = "NVIDIA H200",
                      .gpu_uuid = "GPU-1",
                      .driver = "580.95.05",
                      .state = "M=4096,BM=16",
                      .text_hash = hash,
                      .problem = "4096x4096x4096 f32",
                      .time_ns = 3.1e6,
                      .cublas_time_ns = 2.9e6,
                      .tflops = 44.3,
                      .spread = 0.004,
                      .sm_mhz = 1980,
                      .memory_mhz = 3201,
                      .status = "ok",
                      .method = "median of 100, L2 warm",
                      .compiled = {255, 12, {{64, 100, 2, 310.5, 1602}, {0, 40, 0, 120, 120}}}};
}

static void add(History *history, HistoryRow row) {
  Diags diags = diags_new(arena);
  ck_assert_msg(history_add(history, &row, &diags), "%s", diags_text(arena, &diags));
}

START_TEST(test_round_trip) {
  History *history = open_well();
  HistoryRow row, in = a_row("ana", "9f3c", 1735689600);
  ck_assert(!history_latest(history, arena, "9f3c", in.problem, "GPU-1", &row));
  add(history, in);
  ck_assert(history_latest(history, arena, "9f3c", in.problem, "GPU-1", &row));
  ck_assert_int_eq(row.when_unix, 1735689600);
  ck_assert_str_eq(row.user, "ana");
  ck_assert_str_eq(row.state, in.state);
  ck_assert_str_eq(row.driver, in.driver);
  ck_assert_str_eq(row.method, in.method);
  ck_assert(row.time_ns == in.time_ns && row.cublas_time_ns == in.cublas_time_ns);
  ck_assert(row.tflops == in.tflops && row.spread == in.spread);
  ck_assert_int_eq(row.sm_mhz, 1980);
  ck_assert_int_eq(row.memory_mhz, 3201);
  ck_assert_int_eq(row.compiled.registers, 255);
  ck_assert_int_eq(row.compiled.spill_bytes, 12);
  ck_assert_str_eq(compiled_code_text(arena, &row.compiled.code),
                   "64 100 2 310.5 1602 0 40 0 120 120");
  in = a_row("ana", "plain", 1735689600);
  in.compiled = (CompiledKernel){0};
  add(history, in);
  ck_assert(history_latest(history, arena, "plain", in.problem, "GPU-1", &row));
  ck_assert_int_eq(row.compiled.registers, 0);
  ck_assert_int_eq(row.compiled.spill_bytes, 0);
  ck_assert_int_eq(row.compiled.code.inner.instructions, 0);
  // Times that are all alike have a spread, of 0; -1 is not known, as clocks are.
  in.spread = 0;
  in.text_hash = "alike";
  add(history, in);
  ck_assert(history_latest(history, arena, "alike", in.problem, "GPU-1", &row));
  ck_assert(row.spread == 0);
  in.spread = in.sm_mhz = in.memory_mhz = -1;
  in.text_hash = "unknown";
  add(history, in);
  ck_assert(history_latest(history, arena, "unknown", in.problem, "GPU-1", &row));
  ck_assert(row.spread == -1 && row.sm_mhz == -1 && row.memory_mhz == -1);
  // One thing different, and it is another kernel.
  ck_assert(!history_latest(history, arena, "9f3d", in.problem, "GPU-1", &row));
  ck_assert(!history_latest(history, arena, "9f3c", "4096x4096x4095 f32", "GPU-1", &row));
  ck_assert(!history_latest(history, arena, "9f3c", in.problem, "GPU-2", &row));
  history_close(history);
}
END_TEST

START_TEST(test_shared_for_ten_minutes) {
  History *history = open_well();
  const int64_t now = (int64_t)time(NULL);
  HistoryRow row, old = a_row("ana", "aa", now - 605), young = a_row("ben", "aa", now - 590);
  HistoryRow wrong = a_row("eve", "aa", now - 1), early = a_row("zoe", "aa", now + 3600);
  HistoryRow unknown = a_row("kim", "aa", now - 1), cold = a_row("joe", "aa", now - 1);
  wrong.status = "wrong";
  unknown.time_ns = 0;
  cold.method = "median of 100, L2 flushed before each product";
  add(history, old);
  ck_assert(!history_shared(history, arena, "aa", old.problem, "GPU-1", &row));
  add(history, young);
  add(history, cold);
  add(history, unknown);
  add(history, wrong);
  ck_assert(history_shared(history, arena, "aa", old.problem, "GPU-1", &row));
  ck_assert_str_eq(row.user, "ben");
  ck_assert_str_eq(history_age(arena, &row, now), "ben, 9 min ago");
  ck_assert(history_latest(history, arena, "aa", old.problem, "GPU-1", &row));
  ck_assert_str_eq(row.user, "eve");
  // Somebody's clock is an hour ahead: that is no result of the last minutes.
  add(history, early);
  ck_assert(history_shared(history, arena, "aa", old.problem, "GPU-1", &row));
  ck_assert_str_eq(row.user, "ben");
  history_close(history);
}
END_TEST

START_TEST(test_dates) {
  HistoryRow row = {.when_unix = 1795000000};
  ck_assert_str_eq(history_date(arena, &row), "2026-11-18T11:06:40Z");
  static const int64_t no_dates[] = {INT64_MAX, INT64_MIN, -1, 253402300800};
  for (size_t i = 0; i < sizeof no_dates / sizeof *no_dates; i++) {
    row.when_unix = no_dates[i];
    ck_assert_str_eq(history_date(arena, &row), "0000-00-00T00:00:00Z");
  }
}
END_TEST

START_TEST(test_age) {
  static const struct {
    int64_t age;
    const char *says;
  } ages[] = {{0, "ana, just now"},     {-50, "ana, just now"},         {59, "ana, 59 s ago"},
              {60, "ana, 1 min ago"},   {3599, "ana, 59 min ago"},      {3600, "ana, 1 h ago"},
              {86399, "ana, 23 h ago"}, {86400 * 400, "ana, 400 d ago"}};
  for (size_t i = 0; i < sizeof ages / sizeof *ages; i++) {
    const HistoryRow row = a_row("ana", "x", 1000000000);
    ck_assert_str_eq(history_age(arena, &row, 1000000000 + ages[i].age), ages[i].says);
  }
}
END_TEST

START_TEST(test_recent) {
  History *history = open_well();
  HistoryRow rows[3];
  ck_assert_int_eq(history_recent(history, arena, rows, 3), 0);
  for (int i = 0; i < 5; i++) add(history, a_row("ana", arena_printf(arena, "%d", i), 1000 + i));
  ck_assert_int_eq(history_recent(history, arena, rows, 3), 3);
  ck_assert_str_eq(rows[0].text_hash, "4");
  ck_assert_str_eq(rows[2].text_hash, "2");
  history_close(history);
}
END_TEST

// Unknown is null in the file and 0 here; hostile text of another user loses its escapes.
START_TEST(test_unknown_and_hostile) {
  History *history = open_well();
  HistoryRow row, in = a_row("e\x1b[2Jve", "x'); DROP TABLE measurement; --", 5);
  in.tflops = 0;
  in.cublas_time_ns = 0.0 / 1.0;
  in.method = NULL;
  add(history, in);
  ck_assert(history_latest(history, arena, in.text_hash, in.problem, "GPU-1", &row));
  ck_assert_str_eq(row.user, "e?[2Jve");
  ck_assert(row.tflops == 0);
  ck_assert_str_eq(row.method, "");
  history_close(history);
}
END_TEST

START_TEST(test_nothing_is_fatal) {
  HistoryRow row = a_row("ana", "x", 1);
  Diags diags = diags_new(arena);
  ck_assert(!history_add(NULL, &row, &diags));
  ck_assert(!history_latest(NULL, arena, "x", "y", "z", &row));
  ck_assert_int_eq(history_recent(NULL, arena, &row, 1), 0);
  history_close(NULL);
}
END_TEST

static void write_file(const char *name, const char *bytes, size_t n) {
  FILE *file = fopen(name, "we");
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_eq(fwrite(bytes, 1, n, file), n);
  fclose(file);
}

START_TEST(test_damaged_file_is_put_aside) {
  char junk[8192];
  memset(junk, 'x', sizeof junk);
  write_file(path, junk, sizeof junk);
  Diags diags = diags_new(arena);
  History *history = history_open(arena, path, &diags);
  ck_assert_ptr_nonnull(history);
  ck_assert_int_eq(diags.count, 1);
  ck_assert_ptr_nonnull(strstr(diags.first->text, "damaged"));
  add(history, a_row("ana", "x", 1));
  history_close(history);
  ck_assert_int_eq(system(arena_printf(arena, "test -s '%s'.damaged-*", path)), 0);
}
END_TEST

// Any single damaged page: opened, asked and written to without a crash.
START_TEST(test_damaged_pages) {
  History *history = open_well();
  for (int i = 0; i < 200; i++) add(history, a_row("ana", arena_printf(arena, "%d", i), i));
  history_close(history);
  for (int page = 0; page < 8; page++) {
    char *copy = arena_printf(arena, "%s/copy%d.db", folder, page);
    ck_assert_int_eq(system(arena_printf(arena, "cp '%s' '%s'", path, copy)), 0);
    int fd = open(copy, O_WRONLY);
    for (int i = 0; i < 64; i++) ck_assert_int_eq(pwrite(fd, "\xa5", 1, page * 4096 + i * 61), 1);
    close(fd);
    Diags diags = diags_new(arena);
    HistoryRow rows[300];
    History *damaged = history_open(arena, copy, &diags);
    history_recent(damaged, arena, rows, 300);
    HistoryRow row = a_row("ben", "new", 9999);
    history_add(damaged, &row, &diags);
    history_close(damaged);
  }
}
END_TEST

START_TEST(test_newer_schema) {
  sqlite3 *db = NULL;
  ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
  ck_assert_int_eq(sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  Diags diags = diags_new(arena);
  ck_assert_ptr_null(history_open(arena, path, &diags));
  ck_assert_ptr_nonnull(strstr(diags.first->text, "newer"));
}
END_TEST

// The file as the first version of the program made it.
static void make_version_1(const char *more) {
  static const char version_1[] =
      "PRAGMA journal_mode = WAL;"
      "CREATE TABLE measurement (id INTEGER PRIMARY KEY, when_unix INTEGER NOT NULL,"
      " user TEXT NOT NULL, host TEXT NOT NULL, gpu TEXT NOT NULL, gpu_uuid TEXT NOT NULL,"
      " driver TEXT NOT NULL, state TEXT NOT NULL, text_hash TEXT NOT NULL, problem TEXT NOT NULL,"
      " time_ns REAL, cublas_time_ns REAL, tflops REAL, spread REAL, sm_mhz INTEGER,"
      " memory_mhz INTEGER, status TEXT NOT NULL, method TEXT NOT NULL);"
      "CREATE INDEX by_kernel ON measurement (text_hash, problem, gpu_uuid, when_unix);"
      "INSERT INTO measurement VALUES (7, 5, 'ana', 'box', 'NVIDIA H200', 'GPU-1', '580', 'BM=16',"
      " 'aa', 'p', 1000, 900, 50, 0.01, 1980, 3201, 'ok', 'short turns');"
      "PRAGMA user_version = 1;";
  sqlite3 *db = NULL;
  ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
  ck_assert_int_eq(sqlite3_exec(db, version_1, NULL, NULL, NULL), SQLITE_OK);
  ck_assert_int_eq(sqlite3_exec(db, more, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
}

static HistoryCalibration a_fit(const char *gpu, CalibrationFamily family, int n) {
  HistoryCalibration row = {.gpu = gpu, .family = family, .fit = calibration_none()};
  row.fit.n = n;
  row.fit.error = 0.157;
  row.fit.order = 0.9;
  row.fit.factor[CALIBRATION_DRAM] = 1 / 3.0;
  return row;
}

START_TEST(test_version_1_is_taken_over) {
  HistoryRow rows[4];
  HistoryCalibration fits[4];
  make_version_1("");
  for (int again = 0; again < 2; again++) {
    History *history = open_well();
    ck_assert_int_eq(history_recent(history, arena, rows, 4), 1 + again);
    ck_assert_int_eq(rows[again].id, 7);
    ck_assert_str_eq(rows[again].state, "BM=16");
    ck_assert_int_eq(rows[again].compiled.registers, 0);
    ck_assert_int_eq(rows[0].compiled.registers, again ? 255 : 0);
    ck_assert_int_eq(history_calibrations(history, arena, NULL, fits, 4), again);
    Diags diags = diags_new(arena);
    const HistoryCalibration fit = a_fit("NVIDIA H200", CALIBRATION_FAMILY_MMA, 212);
    ck_assert(history_keep_calibration(history, &fit, &diags));
    add(history, a_row("ben", "bb", 9));
    history_close(history);
  }
}
END_TEST

#define VERSION_2                                                                            \
  "CREATE TABLE calibration (gpu TEXT NOT NULL, family TEXT NOT NULL, law INTEGER NOT NULL," \
  " when_unix INTEGER NOT NULL, points INTEGER NOT NULL, error REAL, rank REAL,"             \
  " factors TEXT NOT NULL, PRIMARY KEY (gpu, family)) WITHOUT ROWID;"                        \
  "PRAGMA user_version = 2;"

// Several find it at once: one of them gives it what it lacks, and all go on.
START_TEST(test_version_2_is_taken_over_by_many) {
  enum { AT_ONCE = 8 };
  HistoryRow rows[AT_ONCE + 2];
  make_version_1(VERSION_2);
  for (int i = 0; i < AT_ONCE; i++) {
    if (fork() != 0) continue;
    Diags diags = diags_new(arena);
    const HistoryRow row = a_row("ben", "bb", 9);
    History *history = history_open(arena, path, &diags);
    const bool ok = history && history_add(history, &row, &diags);
    history_close(history);
    _exit(ok ? 0 : 1);
  }
  for (int i = 0; i < AT_ONCE; i++) {
    int status = -1;
    ck_assert(wait(&status) > 0);
    ck_assert_int_eq(status, 0);
  }
  History *history = open_well();
  ck_assert_int_eq(history_recent(history, arena, rows, AT_ONCE + 2), AT_ONCE + 1);
  ck_assert_int_eq(rows[0].compiled.registers, 255);
  ck_assert_int_eq(rows[AT_ONCE].compiled.registers, 0);
  ck_assert_str_eq(rows[AT_ONCE].method, "short turns");
  history_close(history);
}
END_TEST

START_TEST(test_version_1_with_other_tables_is_left_alone) {
  Diags diags = diags_new(arena);
  make_version_1("CREATE TABLE other (x)");
  ck_assert_ptr_null(history_open(arena, path, &diags));
  ck_assert_ptr_nonnull(strstr(diags.first->text, "not those of a history"));
}
END_TEST

START_TEST(test_calibrations) {
  Diags diags = diags_new(arena);
  History *history = open_well();
  HistoryCalibration fits[8];
  const HistoryCalibration kept[] = {
      a_fit("B", CALIBRATION_FAMILY_WGMMA, 40), a_fit("A", CALIBRATION_FAMILY_MMA, 99),
      a_fit("A", CALIBRATION_FAMILY_FMA, 77), a_fit("A", CALIBRATION_FAMILY_MMA, 212)};
  for (int i = 0; i < 4; i++) ck_assert(history_keep_calibration(history, &kept[i], &diags));
  ck_assert_int_eq(history_calibrations(history, arena, NULL, fits, 8), 3);
  ck_assert_int_eq(history_calibrations(history, arena, "A", fits, 8), 2);
  ck_assert_int_eq((int)fits[0].family, CALIBRATION_FAMILY_FMA);
  ck_assert_int_eq((int)fits[1].family, CALIBRATION_FAMILY_MMA);
  ck_assert_int_eq(fits[1].fit.n, 212);
  ck_assert(fits[1].fit.error == 0.157 && fits[1].fit.order == 0.9);
  for (int i = 0; i < CALIBRATION_FACTORS; i++)
    ck_assert(fits[1].fit.factor[i] == kept[3].fit.factor[i]);
  history_close(history);
}
END_TEST

// Factors of another law, too few of them, or such as nobody fitted, are not believed.
START_TEST(test_calibrations_that_are_none) {
  static const char *const spoils[] = {
      "UPDATE calibration SET law = law + 1",
      "UPDATE calibration SET factors = 'fma=1'",
      "UPDATE calibration SET factors = replace(factors, 'dram=', 'dram=-')",
      "UPDATE calibration SET family = 'abacus'",
      "UPDATE calibration SET points = 3",
      "UPDATE calibration SET error = 'x', rank = 7"};
  const HistoryCalibration fit = a_fit("A", CALIBRATION_FAMILY_MMA, 212);
  Diags diags = diags_new(arena);
  for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++) {
    HistoryCalibration fits[2];
    sqlite3 *db = NULL;
    History *history = open_well();
    ck_assert(history_keep_calibration(history, &fit, &diags));
    ck_assert_int_eq(history_calibrations(history, arena, "A", fits, 2), 1);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, spoils[i], NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(history_calibrations(history, arena, "A", fits, 2), 0);
    ck_assert_int_eq(sqlite3_exec(db, "DELETE FROM calibration", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    history_close(history);
  }
}
END_TEST

START_TEST(test_no_folder) {
  Diags diags = diags_new(arena);
  ck_assert_ptr_null(history_open(arena, "/dev/null/none/folder/history.db", &diags));
  ck_assert_int_eq(diags.count, 1);
  ck_assert_str_eq(diags.first->rule, "history");
}
END_TEST

// Another process that never lets go: one diagnostic after the busy timeout, then on without.
START_TEST(test_locked) {
  History *history = open_well();
  sqlite3 *db = NULL;
  ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
  ck_assert_int_eq(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
  Diags diags = diags_new(arena);
  HistoryRow row = a_row("ana", "x", 1);
  ck_assert(!history_add(history, &row, &diags));
  ck_assert_int_eq(diags.count, 1);
  ck_assert_ptr_nonnull(strstr(diags.first->text, "locked"));
  sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
  sqlite3_close(db);
  add(history, row);
  history_close(history);
}
END_TEST

// ---- several processes --------------------------------------------------------------------------

// Adds rows until killed or `most` are there, and says one byte after each that is on the disk.
static _Noreturn void child_add(int fd, const char *user, int most) {
  Arena *own = arena_new("child");
  History *history = history_open(own, path, NULL);
  for (int i = 0; history && i < most; i++) {
    HistoryRow row = a_row(user, "shared", 1000 + i);
    if (!history_add(history, &row, NULL)) _exit(3);
    if (write(fd, "+", 1) != 1) _exit(4);
  }
  _exit(history ? 0 : 2);
}

static pid_t start_child(int *fd, const char *user, int most) {
  int fds[2];
  ck_assert_int_eq(pipe(fds), 0);
  pid_t pid = fork();
  ck_assert_int_ge(pid, 0);
  if (pid == 0) child_add(fds[1], user, most);
  close(fds[1]);
  *fd = fds[0];
  return pid;
}

static int count_bytes(int fd) {
  char bytes[4096];
  int n = 0;
  for (ssize_t got; (got = read(fd, bytes, sizeof bytes)) > 0;) n += (int)got;
  close(fd);
  return n;
}

static int count_rows(const char *where) {
  sqlite3 *db = NULL;
  sqlite3_stmt *query = NULL;
  ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
  ck_assert_int_eq(sqlite3_prepare_v2(db, where, -1, &query, NULL), SQLITE_OK);
  ck_assert_int_eq(sqlite3_step(query), SQLITE_ROW);
  int n = sqlite3_column_int(query, 0);
  sqlite3_finalize(query);
  sqlite3_close(db);
  return n;
}

START_TEST(test_four_writers) {
  int fds[4], status = 0;
  pid_t pids[4];
  for (int i = 0; i < 4; i++) pids[i] = start_child(&fds[i], "ana", 25);
  for (int i = 0; i < 4; i++) {
    ck_assert_int_eq(count_bytes(fds[i]), 25);
    ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
    ck_assert_int_eq(status, 0);
  }
  ck_assert_int_eq(count_rows("SELECT count(*) FROM measurement"), 100);
}
END_TEST

// kill −9 at any moment: what was acknowledged is there, at most one row more, the file is sound.
START_TEST(test_kills) {
  const int n_kills = max_int(50, stress_count(50, 1000));
  int n_acknowledged = 0;
  srand(20250131);
  for (int i = 0; i < n_kills; i++) {
    int fd = -1, status = 0;
    pid_t pid = start_child(&fd, "ana", 1000000);
    usleep((useconds_t)stress_wall(rand() % 30000));
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFSIGNALED(status), "the writer ended by itself: %d", status);
    n_acknowledged += count_bytes(fd);
    if (i % 10 != 9) continue;
    const int n_rows =
        count_rows("SELECT count(*) FROM sqlite_master WHERE name = 'measurement'") == 0
            ? 0
            : count_rows("SELECT count(*) FROM measurement");
    ck_assert_int_ge(n_rows, n_acknowledged);
    ck_assert_int_le(n_rows, n_acknowledged + i + 1);
  }
  ck_assert_int_gt(n_acknowledged, n_kills / 10);
  ck_assert_int_eq(count_rows("SELECT count(*) FROM pragma_integrity_check"
                              " WHERE integrity_check = 'ok'"),
                   1);
}
END_TEST

// A disk that is full, played by a limit on the size of files, at every point.
static _Noreturn void child_on_full_disk(rlim_t bytes) {
  Arena *own = arena_new("child");
  Diags diags = diags_new(own);
  const struct rlimit limit = {bytes, bytes};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  History *history = history_open(own, path, &diags);
  int n = 0;
  HistoryRow row = a_row("ana", "x", 1);
  while (history && n < 1000 && history_add(history, &row, &diags)) n++;
  history_close(history);
  _exit(diags.count == 1 ? 0 : 1);
}

START_TEST(test_full_disk) {
  for (rlim_t bytes = 0; bytes < 200000; bytes += 7001) {
    pid_t pid = fork();
    int status = 0;
    if (pid == 0) child_on_full_disk(bytes);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(status == 0, "a limit of %llu bytes: status %d", (unsigned long long)bytes,
                  status);
  }
  HistoryRow row = a_row("ben", "after", 1);
  History *history = open_well();
  add(history, row);
  history_close(history);
}
END_TEST

// A row of years ago is found by its text, whose name stays as it was, and its state is the
// schedule that asks today, in whatever order the knobs stand.
START_TEST(test_old_rows_are_found) {
  History *history = open_well();
  Schedule asked = schedule_default(), kept = schedule_default();
  Diags diags = diags_new(arena);
  HistoryRow row;
  add(history, a_row("ana", "af63dc4c8601ec8c", 5));
  ck_assert(history_latest(history, arena, history_hash(arena, "a"), "4096x4096x4096 f32", "GPU-1",
                           &row));
  ck_assert(schedule_parse(&asked, "BM=16,M=4096", &diags));
  ck_assert(schedule_parse(&kept, row.state, &diags));
  ck_assert_uint_eq(schedule_identity(&asked), schedule_identity(&kept));
  history_close(history);
}
END_TEST

// `gemmview tuned` has a row for each problem: the fastest of those that are right, whether it was
// slow or fast beside cuBLAS, or nothing stood beside it. A brief time counts as a tenth longer
// than it is. Of kernels that are equally fast the one counts that was timed hot, else the first.
START_TEST(test_tuned_lists_the_best_of_each_problem) {
  const struct {
    const char *hash, *problem, *status, *method;
    double time_ns, cublas_ns;
  } kernels[] = {{"slow", "one", "ok", "short turns", 3000, 2100},
                 {"best", "one", "ok", "short turns", 2000, 1500},
                 {"hot", "one", "ok", "hot: x", 2200, 2900},
                 {"wrong", "one", "wrong", "short turns", 500, 2100},
                 {"brief", "one", "ok", "brief: x", 1900, 2100},
                 {"other", "two", "ok", "short turns", 9000, 9900},
                 {"alone", "two", "ok", "short turns", 8000, 0},
                 {"cancelled", "three", "ok", "short turns", 900, 0},
                 {"known", "three", "ok", "brief: x", 800, 0},
                 {"tied", "four", "ok", "short turns", 700, 0},
                 {"tied_hot", "four", "ok", "hot: x", 700, 0},
                 {"tied_first", "five", "ok", "short turns", 700, 0},
                 {"tied_later", "five", "ok", "short turns", 700, 0}};
  static char text[8192];
  History *history = open_well();
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    HistoryRow row = a_row("ana", kernels[i].hash, 5);
    row.problem = kernels[i].problem;
    row.status = kernels[i].status;
    row.state = kernels[i].hash;
    row.method = kernels[i].method;
    row.time_ns = kernels[i].time_ns;
    row.cublas_time_ns = kernels[i].cublas_ns;
    add(history, row);
  }
  history_close(history);
  const char *tuned =
      arena_printf(arena, "GEMMVIEW_CLASSROOM='%s' \"$GEMMVIEW\" tuned --csv", folder);
  FILE *out = popen(tuned, "r");
  const size_t n = fread(text, 1, sizeof text - 1, out);
  text[n] = 0;
  ck_assert_int_eq(pclose(out), 0);
  int lines = 0;
  for (const char *at = text; (at = strchr(at, '\n')); at++) lines++;
  ck_assert_msg(lines == 6, "%s", text);
  ck_assert_msg(strstr(text, "\"one\",\"ok\",2000,1500"), "%s", text);
  ck_assert_msg(strstr(text, "\"two\",\"ok\",8000,"), "%s", text);
  ck_assert_msg(strstr(text, "\"three\",\"ok\",800,"), "%s", text);
  ck_assert_msg(strstr(text, "\"tied_hot\"") && strstr(text, "\"tied_first\""), "%s", text);
}
END_TEST

START_TEST(test_words) {
  Plan plan = {.m = 26, .n = 4096, .k = 32, .b_col_major = true};
  ck_assert_str_eq(history_problem(arena, &plan), "26x4096x32 f32*f32+f32->f32 NT");
  ck_assert_str_eq(history_hash(arena, ""), "cbf29ce484222325");
  ck_assert_str_eq(history_hash(arena, "a"), "af63dc4c8601ec8c");
}
END_TEST

Suite *suite_history(void);
Suite *suite_history(void) {
  Suite *suite = suite_create("history");
  TCase *tests = tcase_create("history");
  tcase_set_timeout(tests, 600);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, test_round_trip);
  tcase_add_test(tests, test_shared_for_ten_minutes);
  tcase_add_test(tests, test_age);
  tcase_add_test(tests, test_dates);
  tcase_add_test(tests, test_recent);
  tcase_add_test(tests, test_unknown_and_hostile);
  tcase_add_test(tests, test_nothing_is_fatal);
  tcase_add_test(tests, test_damaged_file_is_put_aside);
  tcase_add_test(tests, test_damaged_pages);
  tcase_add_test(tests, test_newer_schema);
  tcase_add_test(tests, test_version_1_is_taken_over);
  tcase_add_test(tests, test_version_2_is_taken_over_by_many);
  tcase_add_test(tests, test_version_1_with_other_tables_is_left_alone);
  tcase_add_test(tests, test_calibrations);
  tcase_add_test(tests, test_calibrations_that_are_none);
  tcase_add_test(tests, test_no_folder);
  tcase_add_test(tests, test_locked);
  tcase_add_test(tests, test_four_writers);
  tcase_add_test(tests, test_kills);
  tcase_add_test(tests, test_full_disk);
  tcase_add_test(tests, test_old_rows_are_found);
  tcase_add_test(tests, test_tuned_lists_the_best_of_each_problem);
  tcase_add_test(tests, test_words);
  suite_add_tcase(suite, tests);
  return suite;
}
