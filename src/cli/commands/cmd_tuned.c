// gemmview tuned: the best kernel that this machine's history has of each problem on each GPU, and
// what searches there found the rooflines to be.
//
//   when                  who       TFLOP/s  cuBLAS  GPU          state
//   2026-11-23T13:54:03Z  ana         52.90   1.010  NVIDIA H200  AUTO=0,M=4096,N=4096,…
//
//   GPU          family    points  off by  order  factors (1: the data sheet)
//   NVIDIA H200  fma          800    12 %   0.94  fma=1.02 mma=1 …
//
// Right ones only, by their time, whatever stood beside them; the brief turns of a search count
// where nothing else was timed (history_best).
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "cli/common/cli.h"
#include "cli/common/history_rows.h"
#include "cli/common/options.h"

enum { ROWS_MAX = 100000, FITS_MAX = 64 * CALIBRATION_FAMILIES };

typedef struct TunedOptions {
  bool json, csv, calibrations;
} TunedOptions;

static const Option options[] = {
    OPTION_JSON(TunedOptions),
    OPTION_CSV(TunedOptions),
    {.name = "calibrations",
     .kind = OPTION_KIND_FLAG,
     .offset = offsetof(TunedOptions, calibrations)},
};

// ---- calibrations -------------------------------------------------------------------------------

static const char *date_of(Arena *arena, const HistoryCalibration *row) {
  return history_date(arena, &(HistoryRow){.when_unix = row->when_unix});
}

static void print_fits(Arena *arena, const HistoryCalibration *rows, int n) {
  if (n == 0) puts("no search has timed enough here yet to fit a roofline");
  if (n)
    printf("%-24s %-20s %6s %7s %6s  %s\n", "GPU", "family", "points", "off by", "order",
           "factors (1: the data sheet)");
  for (int i = 0; i < n; i++) {
    const Calibration *fit = &rows[i].fit;
    printf("%-24s %-20s %6d %5.0f %% %6.2f ", str_sanitise(arena, rows[i].gpu),
           calibration_family_name(rows[i].family), fit->n, 100 * (exp(fit->error) - 1),
           fit->order);
    for (int f = 0; f < CALIBRATION_FACTORS; f++)
      printf(" %s %.2f", calibration_name((CalibrationFactor)f), fit->factor[f]);
    putchar('\n');
  }
}

static void put_fit(JsonWriter *w, Arena *arena, const HistoryCalibration *row) {
  json_begin_object(w);
  json_member_string(w, "when", date_of(arena, row));
  json_member_string(w, "gpu", row->gpu);
  json_member_string(w, "family", calibration_family_name(row->family));
  json_member_int(w, "points", row->fit.n);
  json_member_double(w, "error", row->fit.error);
  json_member_double(w, "order", row->fit.order);
  json_key(w, "factors");
  json_begin_object(w);
  for (int f = 0; f < CALIBRATION_FACTORS; f++)
    json_member_double(w, calibration_name((CalibrationFactor)f), row->fit.factor[f]);
  json_end_object(w);
  json_end_object(w);
}

static void print_fits_json(Arena *arena, const HistoryCalibration *rows, int n) {
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  json_begin_document(&w);
  json_member_string(&w, "command", "tuned");
  json_key(&w, "calibrations");
  json_begin_array(&w);
  for (int i = 0; i < n; i++) put_fit(&w, arena, &rows[i]);
  json_end_array(&w);
  json_end_object(&w);
  puts(out.text);
}

static int show_calibrations(Arena *arena, bool json, Diags *diags) {
  History *history = history_open(arena, NULL, diags);
  if (!history) return cli_error(CLI_MISSING, "%s", diags->first->text);
  HistoryCalibration *rows = ARENA_ARRAY(arena, HistoryCalibration, FITS_MAX);
  const int n = history_calibrations(history, arena, NULL, rows, FITS_MAX);
  const char *failure = history_failure(history);
  (json ? print_fits_json : print_fits)(arena, rows, n);
  history_close(history);
  return failure ? cli_error(CLI_MISSING, "the history: %s", failure) : CLI_OK;
}

// ---- the command --------------------------------------------------------------------------------

int cmd_tuned(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  TunedOptions given = {0};
  const int n_options = sizeof options / sizeof options[0];
  if (!options_parse(options, n_options, &given, &argc, argv, &diags)) return cli_fail(&diags);
  if (argc > 1)
    return cli_error(CLI_USAGE, "\"%s\" is left over: gemmview tuned takes options only",
                     str_sanitise(arena, argv[1]));
  if (given.calibrations && given.csv)
    return cli_error(CLI_USAGE, "--calibrations are written as text or with --json");
  if (given.calibrations) return show_calibrations(arena, given.json, &diags);
  return history_rows_print(arena, &(HistoryRowsAsked){"tuned", history_best,
                                                       "no kernel that is right was timed here yet",
                                                       ROWS_MAX, given.json, given.csv});
}
