// All that the history's file has, version by version, and its rows: SQL made of history.def.
//
// Version 1 had measurements only, version 2 no registers among them; the first program that knows
// more gives a file what it lacks. A column that is new is a row of history.def, with the next
// version.
#pragma once
#include "base/record_sql.h"
#include "kernels/device/history/history.h"

enum { HISTORY_VERSION = 3, HISTORY_OBJECTS_MAX = 3 };

// All that made the tables and indices of such a file, as SQLite writes it down; returns the
// number.
int history_sql_objects(Arena *arena, int version, const char *texts[HISTORY_OBJECTS_MAX]);
// All that makes a file of the next version.
const char *history_sql_step(Arena *arena, int version);

// The columns of a measurement by name, and what adds one: its parameters are a row, from 1 on.
const char *history_sql_names(Arena *arena);
const char *history_sql_insert(Arena *arena);
void history_sql_bind(Arena *arena, sqlite3_stmt *query, const HistoryRow *row);
// A row of "id" and history_sql_names().
void history_sql_read(Arena *arena, sqlite3_stmt *query, HistoryRow *row);

// The same of a calibration, of which "*" are the columns. False: it is none that could be.
const char *history_sql_replace_fit(Arena *arena);
void history_sql_bind_fit(Arena *arena, sqlite3_stmt *query, const HistoryCalibration *fit);
bool history_sql_read_fit(Arena *arena, sqlite3_stmt *query, HistoryCalibration *fit);
