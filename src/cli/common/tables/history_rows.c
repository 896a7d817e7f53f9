#include "cli/common/tables/history_rows.h"

#include <stdio.h>

#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli/common/tables/cli_timing.h"
#include "cli/common/tables/text_table.h"

typedef struct HistoryRowsShown {
  const char *command;
  int n;
  const HistoryRow *row;
} HistoryRowsShown;

#define FORM_FILE "cli/common/tables/history_rows.form"
#include "base/form_make.h"

// A row without a time says what went wrong.
static const char *speed_text(Arena *arena, const void *it) {
  const HistoryRow *row = it;
  return row->time_ns > 0 ? arena_printf(arena, "%.2f", row->tflops) : row->status;
}

static const char *share_text(Arena *arena, const void *it) {
  return cli_ratio_text(arena, history_ratio(it));
}

static const char *gpu_text(Arena *arena, const void *it) { return history_gpu(arena, it); }

static void print_text(Arena *arena, const HistoryRow *rows, int n) {
  static const TextColumn columns[] = {
      {"when", "when", .least = 20},
      {"user", "who", .least = 10},
      {"tflops", "TFLOP/s", .least = 8, .right = true, .text = speed_text},
      {"cublas_ratio", "cuBLAS", .least = 6, .right = true, .text = share_text},
      {"gpu", "GPU", .least = 16, .text = gpu_text},
      {"state", "state", .least = 0}};
  text_table_print(arena, &(TextTable){&history_row_form, TEXT_COLUMNS(columns), "  "}, rows,
                   sizeof *rows, n, NULL);
}

#define COLUMNS                                                                           \
  "when,user,host,gpu,driver,problem,status,time_ns,cublas_time_ns,tflops,spread,sm_mhz," \
  "memory_mhz,method,state"

static void print_csv(Arena *arena, const HistoryRow *rows, int n) {
  form_csv_heading(stdout, COLUMNS);
  for (int i = 0; i < n; i++)
    form_csv_row(stdout, arena, &history_row_form, COLUMNS, &rows[i], NULL);
}

History *history_opened(Arena *arena) {
  Diags diags = diags_new(arena);
  History *history = history_open(arena, NULL, &diags);
  if (diags.first) cli_error(0, "%s", diags.first->text);
  return history;
}

int history_rows_print(Arena *arena, const HistoryRowsAsked *asked) {
  if (asked->json && asked->csv) return cli_error(CLI_USAGE, "--json and --csv exclude each other");
  History *history = history_opened(arena);
  if (!history) return CLI_MISSING;
  HistoryRow *rows = ARENA_ARRAY(arena, HistoryRow, asked->max);
  const int n = asked->select(history, arena, rows, asked->max);
  const char *failure = history_failure(history);
  if (asked->json)
    cli_print_document(arena, &history_form, &(HistoryRowsShown){asked->command, n, rows}, NULL);
  else if (asked->csv)
    print_csv(arena, rows, n);
  else if (n)
    print_text(arena, rows, n);
  else
    puts(asked->none);
  history_close(history);
  return failure ? cli_error(CLI_MISSING, "the history: %s", failure) : CLI_OK;
}
