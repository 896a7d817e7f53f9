// Two tables in write-ahead mode (history_sql.h), one short transaction for each measurement.
//
// With journal_mode WAL readers never wait for a writer, and with synchronous FULL a row that was
// added is on the disk: kill −9 can lose the row that is being written and nothing else. Writers
// wait for each other at most WRITERS_PATIENCE_MS. The schema carries a number (user_version); a
// file of a newer program is read by that program alone, one with tables of another program
// by none, and a damaged one is put aside under a name of its own when it is this user's,
// so that the next start has a history again (history_file.h). Worked example:
//
//   ana   history_add(…, "9f3c…", problem, GPU)              when 12:00:10
//   ben   history_shared("9f3c…", problem, GPU) at 12:03:20  → ana's row: "ana, 3 min ago"
//   ben   the same at 12:10:11                               → nothing: older than 600 s
//
// WAL needs memory shared between the processes and locks that work; network file systems have
// neither, hence the local folder.
#include "kernels/device/history/history.h"

#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "kernels/device/history/history_file.h"
#include "kernels/device/history/history_sql.h"

enum {
  PATIENCE_MS = 2000,          // for what is asked
  WRITERS_PATIENCE_MS = 4000,  // for a turn among writers, which a loaded machine makes slow
  MENDERS_PATIENCE_MS = 20000,
  BUSY_TICK_MS = 5,
  STEPS_BETWEEN_LOOKS = 1000,
  ROW_BYTES_MAX = 1 << 16,
  CLOCKS_DIFFER_S = 5
};

struct History {
  sqlite3 *db;
  const char *path;
  const atomic_bool *stop;  // the program wants to end; NULL: it waits
  int64_t deadline_ms;      // of what is being asked
  const char *failure;      // of what was asked last; NULL: it was answered
};

static void report(Diags *diags, const char *path, const char *what) {
  if (diags) diag_add(diags, "history", "history %s: %s; going on without it", path, what);
}

// ---- opening ------------------------------------------------------------------------------------

// The file may be anybody's, and so may its schema: a view that never ends in the table's place, a
// lock that is never given up. Every statement has until `deadline_ms`, and none goes on once the
// program wants to end.
static bool may_go_on(const History *history) {
  return clock_ms() < history->deadline_ms && !(history->stop && atomic_load(history->stop));
}

static int on_progress(void *history) { return !may_go_on(history); }

static int on_busy(void *history, int n_tries) {
  (void)n_tries;
  poll(NULL, 0, BUSY_TICK_MS);
  return may_go_on(history);
}

static void begin(History *history, int patience_ms) {
  history->deadline_ms = clock_ms() + patience_ms;
}

static int ask_number(sqlite3 *db, const char *sql, const char *text, int64_t *number) {
  sqlite3_stmt *query = NULL;
  int failed = sqlite3_prepare_v2(db, sql, -1, &query, NULL);
  if (!failed && text) failed = sqlite3_bind_text(query, 1, text, -1, SQLITE_STATIC);
  if (!failed && sqlite3_step(query) == SQLITE_ROW) *number = sqlite3_column_int64(query, 0);
  int ended = sqlite3_finalize(query);
  return failed ? failed : ended;
}

// Accepts only what a file of that version has: a trigger would run when a row is added.
static int check_schema(Arena *arena, sqlite3 *db, int64_t version) {
  const char *wanted[HISTORY_OBJECTS_MAX];
  const int n_wanted = history_sql_objects(arena, (int)version, wanted);
  int64_t n_ours = 0, n_all = 0;
  int failed = ask_number(db, "SELECT count(*) FROM sqlite_master", NULL, &n_all);
  for (int i = 0; !failed && i < n_wanted; i++) {
    int64_t found = 0;
    failed = ask_number(db, "SELECT count(*) FROM sqlite_master WHERE sql = ?", wanted[i], &found);
    n_ours += found;
  }
  return failed ? failed : n_ours == n_wanted && n_all == n_wanted ? SQLITE_OK : SQLITE_MISMATCH;
}

static int use_wal(sqlite3 *db) {
  int failed = sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
  return failed ? failed : sqlite3_exec(db, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
}

// The version, and whether the file is as it says: both of one moment, for another process may give
// it the next one in between.
static int look_at_version(Arena *arena, sqlite3 *db, int64_t *version) {
  int failed = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
  if (failed) return failed;
  failed = ask_number(db, "PRAGMA user_version", NULL, version);
  if (!failed && *version > HISTORY_VERSION) failed = SQLITE_SCHEMA;
  if (!failed && *version > 0) failed = check_schema(arena, db, *version);
  sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
  return failed;
}

// Another process may have done it meanwhile: the version is asked for once more, under the lock.
static int renew(Arena *arena, sqlite3 *db) {
  int64_t version = 0;
  int failed = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
  if (failed) return failed;
  failed = ask_number(db, "PRAGMA user_version", NULL, &version);
  for (; !failed && version < HISTORY_VERSION; version++)
    failed = sqlite3_exec(db, history_sql_step(arena, (int)version), NULL, NULL, NULL);
  if (!failed) failed = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
  if (failed) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
  return failed;
}

static int set_up(Arena *arena, History *history) {
  sqlite3 *db = history->db;
  int64_t version = 0;
  sqlite3_busy_handler(db, on_busy, history);
  sqlite3_progress_handler(db, STEPS_BETWEEN_LOOKS, on_progress, history);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, ROW_BYTES_MAX);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  int failed = use_wal(db);
  if (!failed) failed = look_at_version(arena, db, &version);
  if (failed || version == HISTORY_VERSION) return failed;
  failed = renew(arena, db);
  return failed ? failed : check_schema(arena, db, HISTORY_VERSION);
}

static int try_open(Arena *arena, History *history) {
  const int flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_NOFOLLOW;
  const char *real = NULL;
  begin(history, WRITERS_PATIENCE_MS);
  if (!history_file_prepare(arena, history->path, &real)) return SQLITE_CANTOPEN;
  int failed = sqlite3_open_v2(real, &history->db, flags, NULL);
  if (failed) failed = sqlite3_extended_errcode(history->db);
  if (!failed) failed = set_up(arena, history);
  if (!failed) return SQLITE_OK;
  sqlite3_close(history->db);
  history->db = NULL;
  return failed;
}

static bool is_damage(int failed) {
  return (failed & 0xFF) == SQLITE_CORRUPT || (failed & 0xFF) == SQLITE_NOTADB;
}

static void tell_aside(Arena *arena, const char *path, Diags *diags) {
  const char *name = "";
  history_file_count_aside(arena, path, &name);
  diag_add(diags, "history", "history %s was damaged: it was put aside as %s, a new one begins",
           path, name);
}

static int take_turn(Arena *arena, History *history, HistoryTurn kind, int patience_ms) {
  int turn;
  begin(history, patience_ms);
  while ((turn = history_file_turn(arena, history->path, kind)) == HISTORY_TURN_TAKEN &&
         may_go_on(history))
    poll(NULL, 0, BUSY_TICK_MS);
  return turn;
}

// Puts a damaged file aside, unless another process mended it while this one waited for its turn.
static int mend(Arena *arena, History *history, Diags *diags) {
  const int turn = take_turn(arena, history, HISTORY_MENDS, MENDERS_PATIENCE_MS);
  if (turn < 0) return SQLITE_CORRUPT;
  int failed = try_open(arena, history);
  if (is_damage(failed) && history_file_put_aside(arena, history->path)) {
    if (diags) tell_aside(arena, history->path, diags);
    failed = try_open(arena, history);
  }
  history_file_end_turn(turn);
  return failed;
}

// While the turn lasts the file is put aside by nobody. Where none is to be had it is opened so.
static int open_in_turn(Arena *arena, History *history) {
  const int turn = take_turn(arena, history, HISTORY_OPENS, WRITERS_PATIENCE_MS);
  const int failed = try_open(arena, history);
  history_file_end_turn(turn);
  return failed;
}

// Two that make a new file at once may each hold what the other wants; SQLite then tells one of
// them at once that the file is busy, and it begins anew.
static int open_or_mend(Arena *arena, History *history, Diags *diags) {
  const int64_t until = clock_ms() + WRITERS_PATIENCE_MS;
  for (;;) {
    int failed = open_in_turn(arena, history);
    if (is_damage(failed)) failed = mend(arena, history, diags);
    bool stopped = history->stop && atomic_load(history->stop);
    if ((failed & 0xFF) != SQLITE_BUSY || stopped || clock_ms() >= until) return failed;
    poll(NULL, 0, BUSY_TICK_MS);
  }
}

static const char *reason(int failed) {
  if (failed == SQLITE_CANTOPEN_SYMLINK) return "it is a link, and its folder is shared";
  switch (failed & 0xFF) {
    case SQLITE_SCHEMA:
      return "it was made by a newer gemmview";
    case SQLITE_MISMATCH:
      return "its tables are not those of a history";
    case SQLITE_INTERRUPT:
      return "it did not answer in time";
    default:
      return sqlite3_errstr(failed);
  }
}

History *history_open_until(Arena *arena, const char *path, const atomic_bool *stop, Diags *diags) {
  History *history = ARENA_NEW(arena, History);
  history->path = path ? arena_strdup(arena, path) : history_file_path(arena);
  history->stop = stop;
  if (!history->path) {
    report(diags, "(nowhere)", "no folder for it: set XDG_STATE_HOME or HOME");
    return NULL;
  }
  const char *why_not = history_file_why_not(arena, history->path);
  if (why_not) {
    report(diags, history->path, why_not);
    return NULL;
  }
  int failed = open_or_mend(arena, history, diags);
  if (!failed) return history;
  history_close(history);
  report(diags, history->path, reason(failed));
  return NULL;
}

History *history_open(Arena *arena, const char *path, Diags *diags) {
  return history_open_until(arena, path, NULL, diags);
}

void history_close(History *history) {
  if (!history) return;
  sqlite3_close(history->db);
  history->db = NULL;
}

const char *history_path(const History *history) { return history ? history->path : NULL; }

// ---- writing ------------------------------------------------------------------------------------

static void bind_text(sqlite3_stmt *query, int at, const char *text) {
  sqlite3_bind_text(query, at, text ? text : "", -1, SQLITE_TRANSIENT);
}

// Runs one statement that changes the file, with what `bind` binds of `row`.
static bool change(History *history, const char *(*sql)(Arena *),
                   void (*bind)(Arena *, sqlite3_stmt *, const void *), const void *row,
                   Diags *diags) {
  sqlite3_stmt *query = NULL;
  if (!history || !history->db) return false;
  begin(history, WRITERS_PATIENCE_MS);
  Arena *scratch = arena_new("row");
  int failed = sqlite3_prepare_v2(history->db, sql(scratch), -1, &query, NULL);
  if (!failed) {
    bind(scratch, query, row);
    failed = sqlite3_step(query) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(history->db);
  }
  sqlite3_finalize(query);
  arena_free(scratch);
  if (failed) report(diags, history->path, reason(failed));
  return failed == SQLITE_OK;
}

static void bind_row(Arena *arena, sqlite3_stmt *query, const void *row) {
  history_sql_bind(arena, query, row);
}

bool history_add(History *history, const HistoryRow *row, Diags *diags) {
  return change(history, history_sql_insert, bind_row, row, diags);
}

// ---- reading ------------------------------------------------------------------------------------

static void end(History *history, int failed) { history->failure = failed ? reason(failed) : NULL; }

const char *history_failure(const History *history) { return history ? history->failure : NULL; }

typedef struct KernelQuery {
  const char *text_hash, *problem, *gpu_uuid;
  int64_t since_unix, until_unix;
  bool plain;  // right, beside cuBLAS, nothing flushed; else any
} KernelQuery;

static bool select_rows(History *history, Arena *arena, const char *from, sqlite3_stmt **query) {
  const char *sql = arena_printf(arena, "SELECT id, %s%s", history_sql_names(arena), from);
  return sqlite3_prepare_v2(history->db, sql, -1, query, NULL) == SQLITE_OK;
}

static bool find_kernel(History *history, Arena *arena, const KernelQuery *asked, HistoryRow *row) {
  static const char where[] =
      " FROM measurement WHERE text_hash = ? AND problem = ? AND gpu_uuid = ?"
      " AND when_unix BETWEEN ? AND ? AND (NOT ? OR (status = 'ok' AND time_ns > 0"
      " AND cublas_time_ns > 0 AND method LIKE '%L2 warm%' "
      "AND method NOT LIKE 'hot:%'))"
      " ORDER BY when_unix DESC, id DESC LIMIT 1";
  sqlite3_stmt *query = NULL;
  if (!history || !history->db) return false;
  begin(history, PATIENCE_MS);
  bool found = select_rows(history, arena, where, &query);
  if (found) {
    bind_text(query, 1, asked->text_hash);
    bind_text(query, 2, asked->problem);
    bind_text(query, 3, asked->gpu_uuid);
    sqlite3_bind_int64(query, 4, asked->since_unix);
    sqlite3_bind_int64(query, 5, asked->until_unix);
    sqlite3_bind_int(query, 6, asked->plain);
    found = sqlite3_step(query) == SQLITE_ROW;
    if (found) history_sql_read(arena, query, row);
  }
  end(history, sqlite3_finalize(query));
  return found;
}

bool history_latest(History *history, Arena *arena, const char *text_hash, const char *problem,
                    const char *gpu_uuid, HistoryRow *row) {
  const KernelQuery asked = {text_hash, problem, gpu_uuid, INT64_MIN, INT64_MAX, false};
  return find_kernel(history, arena, &asked, row);
}

bool history_shared(History *history, Arena *arena, const char *text_hash, const char *problem,
                    const char *gpu_uuid, HistoryRow *row) {
  const int64_t now = (int64_t)time(NULL);
  const KernelQuery asked = {
      text_hash, problem, gpu_uuid, now - HISTORY_SHARED_SECONDS, now + CLOCKS_DIFFER_S, true};
  return find_kernel(history, arena, &asked, row);
}

// Answers of any number of rows: `from` has two texts to bind, or none, and the limit behind them.
static int find_rows(History *history, Arena *arena, const char *from, const char *const *texts,
                     HistoryRow *rows, int max) {
  sqlite3_stmt *query = NULL;
  int n = 0;
  if (!history || !history->db) return 0;
  begin(history, PATIENCE_MS);
  if (select_rows(history, arena, from, &query)) {
    for (int i = 0; texts && i < 2; i++) bind_text(query, 1 + i, texts[i]);
    sqlite3_bind_int(query, texts ? 3 : 1, max);
    while (n < max && sqlite3_step(query) == SQLITE_ROW) history_sql_read(arena, query, &rows[n++]);
  }
  end(history, sqlite3_finalize(query));
  return n;
}

int history_recent(History *history, Arena *arena, HistoryRow *rows, int max) {
  return find_rows(history, arena, " FROM measurement ORDER BY id DESC LIMIT ?", NULL, rows, max);
}

int history_of_problem(History *history, Arena *arena, const char *gpu, const char *problem,
                       HistoryRow *rows, int max) {
  const char *const texts[] = {gpu, problem};
  return find_rows(history, arena,
                   " FROM measurement WHERE gpu = ? AND problem = ?"
                   " ORDER BY id DESC LIMIT ?",
                   texts, rows, max);
}

// The best first. A GPU that has had 10 ms of work is cool, so what it did in brief turns is taken
// to be a tenth longer.
#define BEST_FIRST \
  "time_ns * CASE WHEN method LIKE 'brief:%' THEN 1.1 ELSE 1 END, method NOT LIKE 'hot:%', id"

int history_best(History *history, Arena *arena, HistoryRow *rows, int max) {
  return find_rows(history, arena,
                   " FROM (SELECT *, row_number() OVER"
                   " (PARTITION BY gpu, problem ORDER BY " BEST_FIRST
                   ") AS place FROM measurement WHERE status = 'ok' AND time_ns > 0)"
                   " WHERE place = 1 ORDER BY gpu, problem LIMIT ?",
                   NULL, rows, max);
}

bool history_best_of(History *history, Arena *arena, const char *gpu, const char *problem,
                     HistoryRow *row) {
  const char *const texts[] = {gpu, problem};
  return find_rows(history, arena,
                   " FROM measurement WHERE gpu = ? AND problem = ? AND status = 'ok'"
                   " AND time_ns > 0 ORDER BY " BEST_FIRST " LIMIT ?",
                   texts, row, 1) == 1;
}

// Numbers of rows times a large prime are as good as drawn, and the same in every run.
int history_sample(History *history, Arena *arena, const char *gpu, const char *but,
                   HistoryRow *rows, int max) {
  const char *const texts[] = {gpu, but};
  return find_rows(history, arena,
                   " FROM (SELECT *, row_number() OVER"
                   " (PARTITION BY problem, state ORDER BY id DESC) AS place FROM measurement"
                   " WHERE gpu = ? AND problem <> ? AND status = 'ok' AND time_ns > 0)"
                   " WHERE place = 1 ORDER BY id * 2654435761 % 4294967291 LIMIT ?",
                   texts, rows, max);
}

double history_seconds(History *history, const char *gpu, const char *problem) {
  static const char select[] =
      "SELECT sum(gap) FROM (SELECT when_unix - lag(when_unix) OVER (ORDER BY when_unix) AS gap"
      " FROM measurement WHERE gpu = ? AND problem = ?) WHERE gap BETWEEN 0 AND 60";
  sqlite3_stmt *query = NULL;
  double seconds = 0;
  if (!history || !history->db) return 0;
  begin(history, PATIENCE_MS);
  if (sqlite3_prepare_v2(history->db, select, -1, &query, NULL) == SQLITE_OK) {
    bind_text(query, 1, gpu);
    bind_text(query, 2, problem);
    if (sqlite3_step(query) == SQLITE_ROW) seconds = sqlite3_column_double(query, 0);
  }
  end(history, sqlite3_finalize(query));
  return seconds;
}

// ---- calibrations -------------------------------------------------------------------------------

static void bind_fit(Arena *arena, sqlite3_stmt *query, const void *fit) {
  history_sql_bind_fit(arena, query, fit);
}

bool history_keep_calibration(History *history, const HistoryCalibration *row, Diags *diags) {
  return change(history, history_sql_replace_fit, bind_fit, row, diags);
}

int history_calibrations(History *history, Arena *arena, const char *gpu, HistoryCalibration *rows,
                         int max) {
  static const char select[] =
      "SELECT * FROM calibration WHERE law = ? AND (?2 IS NULL OR gpu = ?2)"
      " ORDER BY gpu, family";
  sqlite3_stmt *query = NULL;
  int n = 0;
  if (!history || !history->db) return 0;
  begin(history, PATIENCE_MS);
  if (sqlite3_prepare_v2(history->db, select, -1, &query, NULL) == SQLITE_OK) {
    sqlite3_bind_int(query, 1, CALIBRATION_LAW);
    if (gpu) bind_text(query, 2, gpu);
    while (n < max && sqlite3_step(query) == SQLITE_ROW)
      n += history_sql_read_fit(arena, query, &rows[n]);
  }
  end(history, sqlite3_finalize(query));
  return n;
}

const Calibration *history_fits(Arena *arena, const HistoryCalibration *rows, int n,
                                const char *gpu) {
  Calibration *fits = ARENA_ARRAY(arena, Calibration, CALIBRATION_FAMILIES);
  for (int i = 0; i < CALIBRATION_FAMILIES; i++) fits[i] = calibration_none();
  for (int i = 0; i < n; i++)
    if (strcmp(rows[i].gpu, gpu) == 0) fits[rows[i].family] = rows[i].fit;
  return fits;
}
