// gemmview history: what was timed on this machine, by anyone who shares its history, newest first.
//
//   when                  who       TFLOP/s  cuBLAS  GPU          state
//   2026-11-22T03:54:03Z  ana         50.10   0.976  NVIDIA H200  BM=16,BN=16,…
//
// The explorer and bench, ladder and sweep write it; kernels/device/history.h says where it lies.
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "cli/common/cli.h"
#include "cli/common/cli_timing.h"
#include "cli/common/options.h"
#include "kernels/device/history.h"

enum { ROWS_DEFAULT = 20, ROWS_MAX = 100000 };

typedef struct HistoryOptions {
  bool json, csv;
  int max;
} HistoryOptions;

static const Option options[] = {
    {.name = "max",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(HistoryOptions, max),
     .lo = 1,
     .hi = ROWS_MAX},
    OPTION_JSON(HistoryOptions),
    OPTION_CSV(HistoryOptions),
};

// Text that others wrote into the file cannot begin a line of its own.
static const char *one_line(Arena *arena, const char *text) {
  char *line = arena_strdup(arena, text);
  for (char *at = line; *at; at++)
    if (*at == '\n' || *at == '\t') *at = ' ';
  return line;
}

static void print_text(Arena *arena, const HistoryRow *rows, int n) {
  if (n == 0) puts("nothing was timed on this machine yet");
  if (n)
    printf("%-20s  %-10s  %8s  %6s  %-16s  state\n", "when", "who", "TFLOP/s", "cuBLAS", "GPU");
  for (int i = 0; i < n; i++) {
    const HistoryRow *row = &rows[i];
    const char *speed = row->time_ns > 0 ? arena_printf(arena, "%.2f", row->tflops) : row->status;
    printf("%-20s  %-10s  %8s  %6s  %-16s  %s\n", history_date(arena, row),
           one_line(arena, row->user), one_line(arena, speed),
           cli_ratio_text(arena, history_ratio(row)), one_line(arena, row->gpu),
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

static void put_row(JsonWriter *w, Arena *arena, const HistoryRow *row) {
  json_begin_object(w);
  json_member_string(w, "when", history_date(arena, row));
  json_member_string(w, "user", row->user);
  json_member_string(w, "host", row->host);
  json_member_string(w, "gpu", row->gpu);
  json_member_string(w, "driver", row->driver);
  json_member_string(w, "problem", row->problem);
  json_member_string(w, "state", row->state);
  json_member_string(w, "status", row->status);
  json_member_double(w, "time_ns", known(row->time_ns));
  json_member_double(w, "cublas_time_ns", known(row->cublas_time_ns));
  json_member_double(w, "tflops", known(row->tflops));
  json_member_double(w, "cublas_ratio", known(history_ratio(row)));
  json_member_double(w, "spread", row->time_ns > 0 ? row->spread : (double)NAN);
  json_member_double(w, "sm_mhz", known(row->sm_mhz));
  json_member_double(w, "memory_mhz", known(row->memory_mhz));
  json_member_string(w, "method", row->method);
  json_end_object(w);
}

static void print_json(Arena *arena, const HistoryRow *rows, int n) {
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  json_begin_document(&w);
  json_member_string(&w, "command", "history");
  json_key(&w, "rows");
  json_begin_array(&w);
  for (int i = 0; i < n; i++) put_row(&w, arena, &rows[i]);
  json_end_array(&w);
  json_end_object(&w);
  puts(out.text);
}

int cmd_history(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  HistoryOptions given = {.max = ROWS_DEFAULT};
  int n_options = sizeof options / sizeof options[0];
  if (!options_parse(options, n_options, &given, &argc, argv, &diags)) return cli_fail(&diags);
  if (argc > 1)
    return cli_error(CLI_USAGE, "\"%s\" is left over: gemmview history takes options only",
                     str_sanitise(arena, argv[1]));
  if (given.json && given.csv) return cli_error(CLI_USAGE, "--json and --csv exclude each other");
  History *history = history_open(arena, NULL, &diags);
  if (!history) return cli_error(CLI_MISSING, "%s", diags.first->text);
  HistoryRow *rows = ARENA_ARRAY(arena, HistoryRow, given.max);
  int n = history_recent(history, arena, rows, given.max);
  const char *failure = history_failure(history);
  (given.json ? print_json : given.csv ? print_csv : print_text)(arena, rows, n);
  history_close(history);
  return failure ? cli_error(CLI_MISSING, "the history: %s", failure) : CLI_OK;
}
