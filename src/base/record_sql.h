// Structs as rows of an SQL table, by the table of members that makes their JSON (record_json.h).
//
//   {"when_unix", RECORD_INT64, …}, {"time_ns", RECORD_POSITIVE, …}, {"loops", RECORD_CODE, since
//   3}
//
//   record_sql_columns(arena, &record, 2)   "when_unix INTEGER NOT NULL, time_ns REAL"
//   record_sql_added(arena, &record, 3, "t")  "ALTER TABLE t ADD COLUMN loops TEXT; "
//   record_sql_names(arena, &record)        "when_unix, time_ns, loops"
//
// All that is not known is NULL in the table and the kind's own mark in memory. Kinds with members
// of their own, and arrays, are no columns.
#pragma once
#include <sqlite3.h>

#include "base/record_json.h"

// The columns that a file of that version has, as CREATE TABLE declares them.
const char *record_sql_columns(Arena *arena, const Record *record, int version);
// All that gives a table the columns that came with that version; "" where none did.
const char *record_sql_added(Arena *arena, const Record *record, int version, const char *table);
// All of their names, for SELECT, and a question mark for each, for INSERT.
const char *record_sql_names(Arena *arena, const Record *record);
const char *record_sql_marks(Arena *arena, const Record *record);

// The members as parameters at, at + 1, …; NULL texts are written as "".
void record_sql_bind(Arena *arena, sqlite3_stmt *query, int at, const Record *record,
                     const void *from);
// The members from columns at, at + 1, …; others may have written them, so texts are one line of
// harmless characters, and a number that cannot be is not known.
void record_sql_read(Arena *arena, sqlite3_stmt *query, int at, const Record *record, void *to);
