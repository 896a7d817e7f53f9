// The tables that Nsight Compute writes as CSV: ncu --page source --csv.
//
// The head may stand behind other lines: the first row that names every column that is needed is
// it, in whatever order. Fields are divided by commas, or as spreadsheets of other languages save
// them by semicolons or tabs. Where the semicolon divides, the comma is the decimal sign and the
// dot stands between thousands: "12.288" is there what "12,288" is elsewhere.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { NCU_COLUMNS_MAX = 12 };

// A column by the names that versions of the tool have given it.
typedef struct NcuColumn {
  const char *const *names;  // NULL-terminated
  bool needed;
} NcuColumn;

typedef struct NcuRow {
  const char *field[NCU_COLUMNS_MAX];  // NULL: the table has no such column, or the row ends before
} NcuRow;

typedef struct NcuTable {
  bool found;  // a row is its head
  char divider;
  bool has[NCU_COLUMNS_MAX];
  int n;
  const NcuRow *row;
} NcuTable;

NcuTable ncu_table_read(Arena *arena, const char *text, const NcuColumn *columns, int n);
// A count; -1 for what is no number. What stands behind the decimal sign is nothing.
int64_t ncu_number(const NcuTable *table, const NcuRow *row, int column);
