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

void cli_csv_heading(void) {
  puts(
      "rung,m,n,k,verified,time_ns,p10_ns,p90_ns,tflops,cublas_time_ns,cublas_row,ratio,"
      "ratio_min,ratio_max,spread,"
      "registers,spill_bytes,occupancy,predicted_tflops,limit,state,error");
}

void cli_csv_row(const RecordedRow *row) {
  printf("%s,%lld,%lld,%lld,%d,", row->rung ? row->rung : "", (long long)row->m, (long long)row->n,
         (long long)row->k, row->verified);
  const double positive[] = {row->time_ns, row->p10_ns, row->p90_ns, row->tflops,
                             row->cublas_time_ns};
  for (int i = 0; i < 5; i++) cli_csv_number(positive[i], positive[i] > 0);
  cli_csv_text(row->cublas_row, ',');
  const double ratios[] = {row->ratio, row->ratio_min, row->ratio_max};
  for (int i = 0; i < 3; i++) cli_csv_number(ratios[i], ratios[i] > 0);
  cli_csv_number(row->spread, row->spread >= 0);
  cli_csv_number(row->registers, row->registers >= 0);
  cli_csv_number(row->spill_bytes, row->spill_bytes >= 0);
  cli_csv_number(row->occupancy, row->occupancy >= 0);
  cli_csv_number(row->predicted_tflops, row->predicted_tflops > 0);
  cli_csv_text(row->limit, ',');
  cli_csv_text(row->state, ',');
  cli_csv_text(row->error, '\n');
  fflush(stdout);
}
