// Rows of timings as cells of a table and as CSV (the declarations are in cli_timing.h).
#include <stdio.h>

#include "cli/common/cli.h"
#include "cli/common/tables/cli_timing.h"

const char *cli_time_text(Arena *arena, double ns) {
  if (!(ns > 0)) return "-";
  if (ns < 1e6) return arena_printf(arena, "%.1f us", ns / 1e3);
  return arena_printf(arena, "%.3f ms", ns / 1e6);
}

const char *cli_count_text(Arena *arena, int count) {
  return count < 0 ? "-" : arena_printf(arena, "%d", count);
}

const char *cli_ratio_text(Arena *arena, double ratio) {
  return ratio > 0 ? arena_printf(arena, "%.3f", ratio) : "-";
}

const char *cli_ratio_range_text(Arena *arena, const RecordedRow *row) {
  if (!(row->ratio_min > 0)) return "";
  return arena_printf(arena, "%.3f to %.3f", row->ratio_min, row->ratio_max);
}

const char *cli_share_text(Arena *arena, double share) {
  return share < 0 ? "-" : arena_printf(arena, "%.0f %%", 100 * share);
}

bool cli_is_wide(const RecordedRow *row) { return row->spread > CLI_SPREAD_MAX; }

// ---- CSV ----------------------------------------------------------------------------------------

#define COLUMNS                                                                        \
  "rung,m,n,k,verified,time_ns,p10_ns,p90_ns,tflops,cublas_time_ns,cublas_row,ratio,"  \
  "ratio_min,ratio_max,spread,registers,spill_bytes,occupancy,predicted_tflops,limit," \
  "state,error"

void cli_csv_heading(void) { form_csv_heading(stdout, COLUMNS); }

void cli_csv_row(Arena *arena, const RecordedRow *row) {
  form_csv_row(stdout, arena, &recorded_row_form, COLUMNS, row, NULL);
  fflush(stdout);
}
