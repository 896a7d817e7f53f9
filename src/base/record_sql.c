// A table of members walked for SQL: how a column is declared, written and read follows from the
// member's kind.
//
//   INT INT64   INTEGER NOT NULL          COUNT                  INTEGER, below 0 is NULL
//   TEXT        TEXT NOT NULL             MAYBE_TEXT CODE        TEXT
//   DOUBLE      REAL                      POSITIVE MEASURE       REAL, not known is NULL
//
// Example, POSITIVE: 3.1e6 is stored as it is, 0 as NULL; NULL, −1 and 1e301 are read as 0.
#include "base/record_sql.h"

#include <assert.h>
#include <limits.h>

#include "base/str.h"

#define UNLIKELY 1e300

static const char *const types[] = {
    [RECORD_INT] = "INTEGER NOT NULL", [RECORD_INT64] = "INTEGER NOT NULL",
    [RECORD_COUNT] = "INTEGER",        [RECORD_TEXT] = "TEXT NOT NULL",
    [RECORD_MAYBE_TEXT] = "TEXT",      [RECORD_CODE] = "TEXT",
    [RECORD_DOUBLE] = "REAL",          [RECORD_POSITIVE] = "REAL",
    [RECORD_MEASURE] = "REAL",         [RECORD_UINT32S] = NULL,
};

const char *record_sql_columns(Arena *arena, const Record *record, int version) {
  Str out = str_new(arena);
  for (int i = 0; i < record->n; i++) {
    const RecordField *field = &record->fields[i];
    if (field->since > version) continue;
    str_printf(&out, "%s%s %s", out.length ? ", " : "", field->key, types[field->kind]);
  }
  return out.text;
}

const char *record_sql_added(Arena *arena, const Record *record, int version, const char *table) {
  Str out = str_new(arena);
  for (int i = 0; i < record->n; i++) {
    const RecordField *field = &record->fields[i];
    if (field->since != version) continue;
    str_printf(&out, "ALTER TABLE %s ADD COLUMN %s %s; ", table, field->key, types[field->kind]);
  }
  return out.text;
}

const char *record_sql_names(Arena *arena, const Record *record) {
  Str out = str_new(arena);
  for (int i = 0; i < record->n; i++)
    str_printf(&out, "%s%s", i ? ", " : "", record->fields[i].key);
  return out.text;
}

const char *record_sql_marks(Arena *arena, const Record *record) {
  Str out = str_new(arena);
  for (int i = 0; i < record->n; i++) str_add(&out, i ? ",?" : "?");
  return out.text;
}

// ---- writing ------------------------------------------------------------------------------------

static void bind_text(sqlite3_stmt *query, int at, const char *text) {
  if (text)
    sqlite3_bind_text(query, at, text, -1, SQLITE_TRANSIENT);
  else
    sqlite3_bind_null(query, at);
}

static void bind_double(sqlite3_stmt *query, int at, double value, bool known) {
  if (known && value < UNLIKELY)
    sqlite3_bind_double(query, at, value);
  else
    sqlite3_bind_null(query, at);
}

static void bind_field(Arena *arena, sqlite3_stmt *query, int at, const RecordField *field,
                       const void *from) {
  const char *text;
  switch (field->kind) {
    case RECORD_INT:
      sqlite3_bind_int(query, at, *(const int *)from);
      return;
    case RECORD_INT64:
      sqlite3_bind_int64(query, at, *(const int64_t *)from);
      return;
    case RECORD_COUNT:
      if (*(const int *)from >= 0)
        sqlite3_bind_int(query, at, *(const int *)from);
      else
        sqlite3_bind_null(query, at);
      return;
    case RECORD_TEXT:
      text = *(const char *const *)from;
      return bind_text(query, at, text ? text : "");
    case RECORD_MAYBE_TEXT:
      return bind_text(query, at, *(const char *const *)from);
    case RECORD_CODE:
      return bind_text(query, at, field->code->write(arena, from));
    case RECORD_DOUBLE:
      return bind_double(query, at, *(const double *)from, true);
    case RECORD_POSITIVE:
      return bind_double(query, at, *(const double *)from, *(const double *)from > 0);
    case RECORD_MEASURE:
      return bind_double(query, at, *(const double *)from, *(const double *)from >= 0);
    default:
      assert(false && "a column");
  }
}

void record_sql_bind(Arena *arena, sqlite3_stmt *query, int at, const Record *record,
                     const void *from) {
  for (int i = 0; i < record->n; i++)
    bind_field(arena, query, at + i, &record->fields[i],
               (const char *)from + record->fields[i].offset);
}

// ---- reading ------------------------------------------------------------------------------------

static const char *read_text(Arena *arena, sqlite3_stmt *query, int at) {
  const unsigned char *text = sqlite3_column_text(query, at);
  return text ? str_line(arena, (const char *)text) : NULL;
}

static double read_double(sqlite3_stmt *query, int at, RecordKind kind) {
  const double value = sqlite3_column_double(query, at);
  const bool there = sqlite3_column_type(query, at) != SQLITE_NULL && value < UNLIKELY;
  if (kind == RECORD_MEASURE) return there && value >= 0 ? value : -1;
  if (kind == RECORD_POSITIVE) return there && value > 0 ? value : 0;
  return value;
}

static int read_count(sqlite3_stmt *query, int at) {
  const int64_t value = sqlite3_column_int64(query, at);
  const bool there = sqlite3_column_type(query, at) != SQLITE_NULL;
  return there && value >= 0 && value <= INT_MAX ? (int)value : -1;
}

static void read_field(Arena *arena, sqlite3_stmt *query, int at, const RecordField *field,
                       void *to) {
  const char *text;
  switch (field->kind) {
    case RECORD_INT:
      *(int *)to = sqlite3_column_int(query, at);
      return;
    case RECORD_INT64:
      *(int64_t *)to = sqlite3_column_int64(query, at);
      return;
    case RECORD_COUNT:
      *(int *)to = read_count(query, at);
      return;
    case RECORD_TEXT:
      text = read_text(arena, query, at);
      *(const char **)to = text ? text : "";
      return;
    case RECORD_MAYBE_TEXT:
      *(const char **)to = read_text(arena, query, at);
      return;
    case RECORD_CODE:
      text = read_text(arena, query, at);
      if (text) field->code->read(text, to);
      return;
    case RECORD_DOUBLE:
    case RECORD_POSITIVE:
    case RECORD_MEASURE:
      *(double *)to = read_double(query, at, field->kind);
      return;
    default:
      assert(false && "a column");
  }
}

void record_sql_read(Arena *arena, sqlite3_stmt *query, int at, const Record *record, void *to) {
  for (int i = 0; i < record->n; i++)
    read_field(arena, query, at + i, &record->fields[i], (char *)to + record->fields[i].offset);
}
