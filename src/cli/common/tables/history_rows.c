#include "cli/common/tables/history_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli/common/tables/cli_timing.h"

// Text that others wrote into the file cannot begin a line of its own.
static const char *one_line(Arena *arena, const char *text) {
  char *line = arena_strdup(arena, text);
  for (char *at = line; *at; at++)
    if (*at == '\n' || *at == '\t') *at = ' ';
  return line;
}

static int most(int a, size_t b) { return (size_t)a > b ? a : (int)b; }

static void print_text(Arena *arena, const HistoryRow *rows, int n) {
  int who = 10, gpu = 16;
  for (int i = 0; i < n; i++) {
    who = most(who, strlen(rows[i].user));
    gpu = most(gpu, strlen(history_gpu(arena, &rows[i])));
  }
  printf("%-20s  %-*s  %8s  %6s  %-*s  state\n", "when", who, "who", "TFLOP/s", "cuBLAS", gpu,
         "GPU");
  for (int i = 0; i < n; i++) {
    const HistoryRow *row = &rows[i];
    const char *speed = row->time_ns > 0 ? arena_printf(arena, "%.2f", row->tflops) : row->status;
    printf("%-20s  %-*s  %8s  %6s  %-*s  %s\n", history_date(arena, row), who,
           one_line(arena, row->user), one_line(arena, speed),
           cli_ratio_text(arena, history_ratio(row)), gpu, one_line(arena, history_gpu(arena, row)),
           one_line(arena, row->state));
  }
}

static void print_csv(Arena *arena, const HistoryRow *rows, int n) {
  puts(
      "when,user,host,gpu,driver,problem,status,time_ns,cublas_time_ns,tflops,spread,sm_mhz,"
      "memory_mhz,method,state");
  for (int i = 0; i < n; i++) {
    const HistoryRow *row = &rows[i];
    printf("%s,", history_date(arena, row));
    const char *const texts[] = {row->user,   row->host,    row->gpu,
                                 row->driver, row->problem, row->status};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) cli_csv_text(texts[t], ',');
    const double numbers[] = {row->time_ns, row->cublas_time_ns, row->tflops,
                              row->spread,  (double)row->sm_mhz, (double)row->memory_mhz};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
      cli_csv_number(numbers[k], numbers[k] > 0);
    cli_csv_text(row->method, ',');
    cli_csv_text(row->state, '\n');
  }
}

static double known(double value) { return value > 0 ? value : (double)NAN; }

typedef struct HistoryRowsShown {
  const char *command;
  int n;
  const HistoryRow *row;
} HistoryRowsShown;

#define FORM_FILE "cli/common/tables/history_rows.form"
#include "base/form_make.h"

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
