// Two tables, each of a table of members: a row of history.def is a column, and a member of
// HistoryRow.
//
// SQLite keeps the text that made a table, and adds to it what ALTER TABLE adds. So a file of
// version 3 has the same text whether it was made at once or grew:
//
//   version 2    CREATE TABLE measurement (id INTEGER PRIMARY KEY, …, method TEXT NOT NULL)
//   a step       ALTER TABLE measurement ADD COLUMN registers INTEGER; …
//   version 3    CREATE TABLE measurement (id INTEGER PRIMARY KEY, …, method TEXT NOT NULL,
//   registers …)
#include "kernels/device/history/history_sql.h"

#include <time.h>

#include "base/str.h"

// ---- measurements -------------------------------------------------------------------------------

static const char *code_text(Arena *arena, const void *code) {
  const CompiledCode *from = code;
  return from->inner.multiplies > 0 ? compiled_code_text(arena, from) : NULL;
}

static void code_read(const char *text, void *code) { compiled_code_read(text, code); }

static const RecordCode loops_code = {code_text, code_read};

static const RecordField row_fields[] = {
#define SHOWN(version, kind, name, help) STORED(version, kind, name, name)
#define STORED(version, its_kind, name, member) \
  {.key = #name,                                \
   .kind = RECORD_##its_kind,                   \
   .offset = offsetof(HistoryRow, member),      \
   .code = &loops_code,                         \
   .since = version},
#define DERIVED(kind, name, help, value)
#include "kernels/device/history/history.def"
#undef SHOWN
#undef STORED
#undef DERIVED
};
static const Record row_record = RECORD_OF(HistoryRow, row_fields);

const char *history_sql_names(Arena *arena) { return record_sql_names(arena, &row_record); }

const char *history_sql_insert(Arena *arena) {
  return arena_printf(arena, "INSERT INTO measurement (%s) VALUES (%s)", history_sql_names(arena),
                      record_sql_marks(arena, &row_record));
}

void history_sql_bind(Arena *arena, sqlite3_stmt *query, const HistoryRow *row) {
  HistoryRow stored = *row;
  if (!stored.when_unix) stored.when_unix = (int64_t)time(NULL);
  if (stored.compiled.registers <= 0)
    stored.compiled = (CompiledKernel){.registers = -1, .spill_bytes = -1};
  record_sql_bind(arena, query, 1, &row_record, &stored);
}

// For a row without registers, or with such as no thread has, nothing is known.
void history_sql_read(Arena *arena, sqlite3_stmt *query, HistoryRow *row) {
  *row = (HistoryRow){.id = sqlite3_column_int64(query, 0)};
  record_sql_read(arena, query, 1, &row_record, row);
  const CompiledKernel *compiled = &row->compiled;
  const bool known =
      compiled->registers > 0 && compiled->registers <= 255 && compiled->spill_bytes >= 0;
  if (!known) row->compiled = (CompiledKernel){0};
}

// ---- calibrations -------------------------------------------------------------------------------

typedef struct StoredFit {
  const char *gpu, *family;
  int law;
  int64_t when_unix;
  int points;
  double error, rank;
  const char *factors;
} StoredFit;

static const RecordField fit_fields[] = {
    RECORD_FIELD(StoredFit, gpu, RECORD_TEXT),    RECORD_FIELD(StoredFit, family, RECORD_TEXT),
    RECORD_FIELD(StoredFit, law, RECORD_INT),     RECORD_FIELD(StoredFit, when_unix, RECORD_INT64),
    RECORD_FIELD(StoredFit, points, RECORD_INT),  RECORD_FIELD(StoredFit, error, RECORD_DOUBLE),
    RECORD_FIELD(StoredFit, rank, RECORD_DOUBLE), RECORD_FIELD(StoredFit, factors, RECORD_TEXT),
};
static const Record fit_record = RECORD_OF(StoredFit, fit_fields);

const char *history_sql_replace_fit(Arena *arena) {
  return arena_printf(arena, "INSERT OR REPLACE INTO calibration VALUES (%s)",
                      record_sql_marks(arena, &fit_record));
}

void history_sql_bind_fit(Arena *arena, sqlite3_stmt *query, const HistoryCalibration *fit) {
  const StoredFit stored = {.gpu = fit->gpu,
                            .family = calibration_family_name(fit->family),
                            .law = CALIBRATION_LAW,
                            .when_unix = fit->when_unix ? fit->when_unix : (int64_t)time(NULL),
                            .points = fit->fit.n,
                            .error = fit->fit.error,
                            .rank = fit->fit.order,
                            .factors = calibration_text(arena, &fit->fit)};
  record_sql_bind(arena, query, 1, &fit_record, &stored);
}

// The file may be anybody's: what cannot be a fit is none.
bool history_sql_read_fit(Arena *arena, sqlite3_stmt *query, HistoryCalibration *out) {
  static const double error_max = 1e300;
  StoredFit stored;
  record_sql_read(arena, query, 0, &fit_record, &stored);
  *out = (HistoryCalibration){
      .when_unix = stored.when_unix,
      .gpu = stored.gpu,
      .family = calibration_family_find(stored.family),
      .fit = {.n = stored.points, .error = stored.error, .order = stored.rank}};
  const Calibration *fit = &out->fit;
  return out->family < CALIBRATION_FAMILIES && fit->n >= CALIBRATION_POINTS_MIN &&
         fit->error >= 0 && fit->error < error_max && fit->order >= -1 && fit->order <= 1 &&
         calibration_read(stored.factors, &out->fit);
}

// ---- the file -----------------------------------------------------------------------------------

enum { CALIBRATIONS_SINCE = 2 };

#define INDEX "CREATE INDEX by_kernel ON measurement (text_hash, problem, gpu_uuid, when_unix)"

static const char *measurement_table(Arena *arena, int version) {
  return arena_printf(arena, "CREATE TABLE measurement (id INTEGER PRIMARY KEY, %s)",
                      record_sql_columns(arena, &row_record, version));
}

// Without rowids the key needs no index that would stand among the tables.
static const char *calibration_table(Arena *arena) {
  return arena_printf(arena,
                      "CREATE TABLE calibration (%s, PRIMARY KEY (gpu, family)) WITHOUT ROWID",
                      record_sql_columns(arena, &fit_record, HISTORY_VERSION));
}

int history_sql_objects(Arena *arena, int version, const char *texts[HISTORY_OBJECTS_MAX]) {
  int n = 0;
  texts[n++] = measurement_table(arena, version);
  texts[n++] = INDEX;
  if (version >= CALIBRATIONS_SINCE) texts[n++] = calibration_table(arena);
  return n;
}

const char *history_sql_step(Arena *arena, int version) {
  const char *made = "";
  const int next = version + 1;
  if (next == 1) made = arena_printf(arena, "%s; " INDEX "; ", measurement_table(arena, 1));
  if (next == CALIBRATIONS_SINCE) made = arena_printf(arena, "%s; ", calibration_table(arena));
  if (next > 1)
    made = arena_printf(arena, "%s%s", made,
                        record_sql_added(arena, &row_record, next, "measurement"));
  return arena_printf(arena, "%sPRAGMA user_version = %d;", made, next);
}
