// One table in write-ahead mode, one short transaction for each measurement.
//
// With journal_mode WAL readers never wait for a writer, and with synchronous FULL a row that was
// added is on the disk: kill −9 can lose the row that is being written and nothing else. Writers
// wait for each other at most BUSY_MS. The schema carries a number (user_version); a file of a
// newer program is read by nobody but that program, a damaged one is put aside under a name of its
// own when it is this user's, so that the next start has a history again. Worked example:
//
//   ana   history_add(…, "9f3c…", problem, GPU)              when 12:00:10
//   ben   history_shared("9f3c…", problem, GPU) at 12:03:20  → ana's row: "ana, 3 min ago"
//   ben   the same at 12:10:11                               → nothing: older than 600 s
//
// WAL needs memory shared between the processes and locks that work; network file systems have
// neither, hence the local folder.
#include "kernels/history.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/user.h"

enum { SCHEMA_VERSION = 1, BUSY_MS = 2000, CLOCKS_DIFFER_S = 5 };

struct History {
  sqlite3 *db;
  const char *path;
};

// The columns, in the order of the table, of the INSERT and of every SELECT.
#define COLUMNS                                                                        \
  "when_unix, user, host, gpu, gpu_uuid, driver, state, text_hash, problem, time_ns, " \
  "cublas_time_ns, tflops, spread, sm_mhz, memory_mhz, status, method"

static const char schema[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE IF NOT EXISTS measurement (id INTEGER PRIMARY KEY, when_unix INTEGER NOT NULL,"
    " user TEXT NOT NULL, host TEXT NOT NULL, gpu TEXT NOT NULL, gpu_uuid TEXT NOT NULL,"
    " driver TEXT NOT NULL, state TEXT NOT NULL, text_hash TEXT NOT NULL, problem TEXT NOT NULL,"
    " time_ns REAL, cublas_time_ns REAL, tflops REAL, spread REAL, sm_mhz INTEGER,"
    " memory_mhz INTEGER, status TEXT NOT NULL, method TEXT NOT NULL);"
    "CREATE INDEX IF NOT EXISTS by_kernel ON measurement (text_hash, problem, gpu_uuid, when_unix);"
    "PRAGMA user_version = 1;"
    "COMMIT;";

static void report(Diags *diags, const char *path, const char *what) {
  if (diags) diag_add(diags, "history", "history %s: %s; going on without it", path, what);
}

// ---- where it is --------------------------------------------------------------------------------

// Magic numbers of statfs(2): NFS, SMB, CIFS, SMB2, AFS, Coda, Ceph, Lustre, GPFS, FUSE, 9P,
// BeeGFS.
static bool is_network_folder(const char *folder) {
  static const unsigned long kinds[] = {0x6969,     0x517B,     0xFF534D42, 0xFE534D42,
                                        0x5346414F, 0x73757245, 0x00C36400, 0x0BD00BD0,
                                        0x47504653, 0x65735546, 0x01021997, 0x19830326};
  struct statfs info;
  if (statfs(folder, &info) != 0) return false;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (((unsigned long)info.f_type & 0xFFFFFFFF) == kinds[i]) return true;
  return false;
}

// Somebody else's folder of that name is not ours to trust.
static char *local_path(Arena *arena) {
  char *folder = arena_printf(arena, "/var/tmp/gemmview-%u", (unsigned)getuid());
  struct stat info;
  mkdir(folder, 0700);
  if (lstat(folder, &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != getuid() ||
      (info.st_mode & 077) != 0)
    return NULL;
  return arena_printf(arena, "%s/history.db", folder);
}

static char *default_path(Arena *arena) {
  const char *classroom = getenv("GEMMVIEW_CLASSROOM");
  if (classroom && classroom[0] == '/') return arena_printf(arena, "%s/history.db", classroom);
  char *path = disk_path(arena, DISK_STATE, "history.db");
  if (!path || !disk_make_folders(path)) return local_path(arena);
  char *folder = arena_strdup(arena, path);
  *strrchr(folder, '/') = '\0';
  if (!is_network_folder(folder)) return path;
  char *local = local_path(arena);
  return local ? local : path;
}

// ---- opening ------------------------------------------------------------------------------------

static int read_version(sqlite3 *db) {
  sqlite3_stmt *query = NULL;
  int version = -1;
  if (sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &query, NULL) == SQLITE_OK &&
      sqlite3_step(query) == SQLITE_ROW)
    version = sqlite3_column_int(query, 0);
  sqlite3_finalize(query);
  return version;
}

static int set_up(sqlite3 *db) {
  sqlite3_busy_timeout(db, BUSY_MS);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  int failed = sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
  if (!failed) failed = sqlite3_exec(db, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
  const int version = failed ? -1 : read_version(db);
  if (version == SCHEMA_VERSION) return SQLITE_OK;
  if (version > SCHEMA_VERSION) return SQLITE_SCHEMA;
  if (!failed) failed = sqlite3_exec(db, schema, NULL, NULL, NULL);
  if (failed) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
  return failed;
}

// Several users write a classroom's file: it and its companions are as open as its folder is.
static void open_to_group(const char *path) {
  const char *classroom = getenv("GEMMVIEW_CLASSROOM");
  if (classroom && str_starts(path, classroom)) chmod(path, 0664);
}

static int try_open(sqlite3 **db, const char *path) {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  int failed = sqlite3_open_v2(path, db, flags, NULL);
  if (!failed) open_to_group(path);
  if (!failed) failed = set_up(*db);
  if (!failed) return SQLITE_OK;
  sqlite3_close(*db);
  *db = NULL;
  return failed;
}

static bool is_damage(int failed) {
  return (failed & 0xFF) == SQLITE_CORRUPT || (failed & 0xFF) == SQLITE_NOTADB;
}

// "history.db" → "history.db.damaged-1735689600"; its companions go with it.
static bool put_aside(Arena *arena, const char *path) {
  struct stat info;
  if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != getuid()) return false;
  static const char *const ends[] = {"-wal", "-shm", ""};
  bool ok = true;
  for (int i = 0; i < 3; i++) {
    const char *from = arena_printf(arena, "%s%s", path, ends[i]);
    const char *to = arena_printf(arena, "%s.damaged-%lld%s", path, (long long)time(NULL), ends[i]);
    ok = rename(from, to) == 0 || (i < 2 && errno == ENOENT);
    if (!ok) break;
  }
  return ok;
}

History *history_open(Arena *arena, const char *path, Diags *diags) {
  History *history = ARENA_NEW(arena, History);
  history->path = path ? arena_strdup(arena, path) : default_path(arena);
  if (!history->path) {
    report(diags, "(nowhere)", "no folder for it: neither XDG_STATE_HOME nor HOME is set");
    return NULL;
  }
  int failed = try_open(&history->db, history->path);
  if (is_damage(failed) && put_aside(arena, history->path)) {
    if (diags)
      diag_add(diags, "history", "history %s was damaged: it was put aside, a new one begins",
               history->path);
    failed = try_open(&history->db, history->path);
  }
  if (!failed) return history;
  report(diags, history->path,
         failed == SQLITE_SCHEMA ? "a newer gemmview made it" : sqlite3_errstr(failed));
  return NULL;
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

static void bind_double(sqlite3_stmt *query, int at, double value) {
  if (value > 0 && value < 1e300)
    sqlite3_bind_double(query, at, value);
  else
    sqlite3_bind_null(query, at);
}

static void bind_row(sqlite3_stmt *query, const HistoryRow *row) {
  const char *const texts[] = {row->user,   row->host,  row->gpu,       row->gpu_uuid,
                               row->driver, row->state, row->text_hash, row->problem};
  const double numbers[] = {row->time_ns, row->cublas_time_ns, row->tflops, row->spread};
  sqlite3_bind_int64(query, 1, row->when_unix ? row->when_unix : (int64_t)time(NULL));
  for (int i = 0; i < 8; i++) bind_text(query, 2 + i, texts[i]);
  for (int i = 0; i < 4; i++) bind_double(query, 10 + i, numbers[i]);
  sqlite3_bind_int(query, 14, row->sm_mhz);
  sqlite3_bind_int(query, 15, row->memory_mhz);
  bind_text(query, 16, row->status);
  bind_text(query, 17, row->method);
}

bool history_add(History *history, const HistoryRow *row, Diags *diags) {
  static const char insert[] =
      "INSERT INTO measurement (" COLUMNS ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
  sqlite3_stmt *query = NULL;
  if (!history || !history->db) return false;
  int failed = sqlite3_prepare_v2(history->db, insert, -1, &query, NULL);
  if (!failed) {
    bind_row(query, row);
    failed = sqlite3_step(query) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(history->db);
  }
  sqlite3_finalize(query);
  if (failed) report(diags, history->path, sqlite3_errstr(failed));
  return failed == SQLITE_OK;
}

// ---- reading ------------------------------------------------------------------------------------

// The file is shared: what others wrote is outside text.
static const char *column_text(Arena *arena, sqlite3_stmt *query, int at) {
  const unsigned char *text = sqlite3_column_text(query, at);
  return text ? str_sanitise(arena, (const char *)text) : "";
}

static void read_row(Arena *arena, sqlite3_stmt *query, HistoryRow *row) {
  const char **const texts[] = {&row->user,   &row->host,  &row->gpu,       &row->gpu_uuid,
                                &row->driver, &row->state, &row->text_hash, &row->problem};
  double *const numbers[] = {&row->time_ns, &row->cublas_time_ns, &row->tflops, &row->spread};
  row->id = sqlite3_column_int64(query, 0);
  row->when_unix = sqlite3_column_int64(query, 1);
  for (int i = 0; i < 8; i++) *texts[i] = column_text(arena, query, 2 + i);
  for (int i = 0; i < 4; i++) *numbers[i] = sqlite3_column_double(query, 10 + i);
  row->sm_mhz = sqlite3_column_int(query, 14);
  row->memory_mhz = sqlite3_column_int(query, 15);
  row->status = column_text(arena, query, 16);
  row->method = column_text(arena, query, 17);
}

typedef struct KernelQuery {
  const char *text_hash, *problem, *gpu_uuid;
  int64_t since_unix, until_unix;
  bool plain;  // right, beside cuBLAS, nothing flushed; else any
} KernelQuery;

static bool find_kernel(History *history, Arena *arena, const KernelQuery *asked, HistoryRow *row) {
  static const char select[] =
      "SELECT id, " COLUMNS
      " FROM measurement WHERE text_hash = ? AND problem = ? AND gpu_uuid = ?"
      " AND when_unix BETWEEN ? AND ? AND (NOT ? OR (status = 'ok' AND time_ns > 0"
      " AND cublas_time_ns > 0 AND method LIKE '%L2 warm%'))"
      " ORDER BY when_unix DESC, id DESC LIMIT 1";
  sqlite3_stmt *query = NULL;
  if (!history || !history->db) return false;
  bool found = sqlite3_prepare_v2(history->db, select, -1, &query, NULL) == SQLITE_OK;
  if (found) {
    bind_text(query, 1, asked->text_hash);
    bind_text(query, 2, asked->problem);
    bind_text(query, 3, asked->gpu_uuid);
    sqlite3_bind_int64(query, 4, asked->since_unix);
    sqlite3_bind_int64(query, 5, asked->until_unix);
    sqlite3_bind_int(query, 6, asked->plain);
    found = sqlite3_step(query) == SQLITE_ROW;
    if (found) read_row(arena, query, row);
  }
  sqlite3_finalize(query);
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

int history_recent(History *history, Arena *arena, HistoryRow *rows, int max) {
  static const char select[] = "SELECT id, " COLUMNS " FROM measurement ORDER BY id DESC LIMIT ?";
  sqlite3_stmt *query = NULL;
  int n = 0;
  if (!history || !history->db) return 0;
  if (sqlite3_prepare_v2(history->db, select, -1, &query, NULL) == SQLITE_OK) {
    sqlite3_bind_int(query, 1, max);
    while (n < max && sqlite3_step(query) == SQLITE_ROW) read_row(arena, query, &rows[n++]);
  }
  sqlite3_finalize(query);
  return n;
}

// ---- words --------------------------------------------------------------------------------------

double history_ratio(const HistoryRow *row) {
  return row->time_ns > 0 ? row->cublas_time_ns / row->time_ns : 0;
}

const char *history_date(Arena *arena, const HistoryRow *row) {
  static const int64_t end_of_9999 = 253402300799;
  char text[32] = "0000-00-00T00:00:00Z";
  struct tm utc;
  const time_t when = (time_t)row->when_unix;
  bool is_date = row->when_unix >= 0 && row->when_unix <= end_of_9999;
  if (is_date && gmtime_r(&when, &utc)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return arena_strdup(arena, text);
}

const char *history_age(Arena *arena, const HistoryRow *row, int64_t now_unix) {
  static const struct {
    int64_t below, seconds;
    const char *unit;
  } steps[] = {{60, 1, "s"}, {3600, 60, "min"}, {86400, 3600, "h"}, {INT64_MAX, 86400, "d"}};
  const int64_t age = now_unix - row->when_unix;
  if (age < 10) return arena_printf(arena, "%s, just now", row->user);
  int i = 0;
  while (age >= steps[i].below) i++;
  return arena_printf(arena, "%s, %lld %s ago", row->user, (long long)(age / steps[i].seconds),
                      steps[i].unit);
}

const char *history_hash(Arena *arena, const char *text) {
  return arena_printf(arena, "%016llx", (unsigned long long)hash_text(HASH_START, text));
}

const char *history_problem(Arena *arena, const Plan *plan) {
  const char *operand = plan_type_name(plan->operand_type);
  return arena_printf(arena, "%lldx%lldx%lld %s*%s+%s->%s %c%c", (long long)plan->m,
                      (long long)plan->n, (long long)plan->k, operand, operand,
                      plan_type_name(plan->accumulate_type), plan_type_name(plan->output_type),
                      plan->a_col_major ? 'T' : 'N', plan->b_col_major ? 'T' : 'N');
}

static const char *host_name(Arena *arena) {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 ? arena_strdup(arena, name) : "";
}

static const char *entry_status(const BenchEntry *entry) {
  if (entry->ok) return "ok";
  return entry->verify.ran && !entry->verify.ok ? "wrong" : "failed";
}

HistoryRow history_row(Arena *arena, const BenchResult *result, int index) {
  const BenchEntry *entry = &result->entries[index];
  const Timing *time = &entry->time;
  const double spread = time->median_ns > 0 ? (time->p75_ns - time->p25_ns) / time->median_ns : 0;
  return (HistoryRow){
      .user = user_name(arena),
      .host = host_name(arena),
      .gpu = result->gpu,
      .gpu_uuid = result->gpu_uuid,
      .driver = result->driver,
      .time_ns = entry->ok ? time->median_ns : 0,
      .cublas_time_ns = result->reference.ok ? result->reference.time.median_ns : 0,
      .tflops = entry->ok ? entry->tflops : 0,
      .spread = entry->ok ? spread : 0,
      .sm_mhz = result->before.known ? result->before.sm_mhz : -1,
      .memory_mhz = result->before.known ? result->before.memory_mhz : -1,
      .status = entry_status(entry),
      .method = result->method,
  };
}
