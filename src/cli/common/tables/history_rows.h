// Rows of the history on standard output: a table, one JSON object or CSV.
#pragma once
#include "kernels/device/history/history.h"

typedef struct HistoryRowsAsked {
  const char *command;  // as the JSON names it
  int (*select)(History *history, Arena *arena, HistoryRow *rows, int max);
  const char *none;  // what the table says when there are no rows
  int max;
  bool json, csv;  // not both; neither: a table
} HistoryRowsAsked;

// The user's history; NULL where there is none. What is to be said of it, that it was damaged for
// example, is said on stderr.
History *history_opened(Arena *arena);
// An exit status: CLI_OK, CLI_USAGE where both forms are asked for, or CLI_MISSING without a
// history.
int history_rows_print(Arena *arena, const HistoryRowsAsked *asked);
