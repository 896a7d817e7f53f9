// gemmview tuned: the best kernel that this machine's history has of each problem on each GPU.
//
//   when                  who       TFLOP/s  cuBLAS  GPU          state
//   2026-11-23T13:54:03Z  ana         52.90   1.010  NVIDIA H200  AUTO=0,M=4096,N=4096,…
//
// Right ones only, by their time, whatever stood beside them; the brief turns of a search count
// where nothing else was timed (history_best).
#include "cli/common/cli.h"
#include "cli/common/history_rows.h"
#include "cli/common/options.h"

enum { ROWS_MAX = 100000 };

typedef struct TunedOptions {
  bool json, csv;
} TunedOptions;

static const Option options[] = {OPTION_JSON(TunedOptions), OPTION_CSV(TunedOptions)};

int cmd_tuned(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  TunedOptions given = {0};
  const int n_options = sizeof options / sizeof options[0];
  if (!options_parse(options, n_options, &given, &argc, argv, &diags)) return cli_fail(&diags);
  if (argc > 1)
    return cli_error(CLI_USAGE, "\"%s\" is left over: gemmview tuned takes options only",
                     str_sanitise(arena, argv[1]));
  return history_rows_print(arena, &(HistoryRowsAsked){"tuned", history_best,
                                                       "no kernel that is right was timed here yet",
                                                       ROWS_MAX, given.json, given.csv});
}
