// gemmview history: what was timed on this machine, by anyone who shares its history, newest first.
//
//   when                  who       TFLOP/s  cuBLAS  GPU          state
//   2026-11-22T03:54:03Z  ana         50.10   0.976  NVIDIA H200  BM=16,BN=16,…
//
// The explorer and bench, ladder and sweep write it; kernels/device/history/history.h says where it
// lies.
#include "cli/common/cli.h"
#include "cli/common/options.h"
#include "cli/common/tables/history_rows.h"

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

int cmd_history(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  HistoryOptions given = {.max = ROWS_DEFAULT};
  int n_options = sizeof options / sizeof options[0];
  if (!options_parse(options, n_options, &given, &argc, argv, &diags)) return cli_fail(&diags);
  if (argc > 1)
    return cli_error(CLI_USAGE, "\"%s\": gemmview history takes only options",
                     str_sanitise(arena, argv[1]));
  return history_rows_print(arena, &(HistoryRowsAsked){"history", history_recent,
                                                       "no kernel was timed on this machine "
                                                       "yet",
                                                       given.max, given.json, given.csv});
}
