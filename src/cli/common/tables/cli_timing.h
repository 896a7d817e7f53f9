// One schedule compiled and timed through the worker: what bench, ladder and sweep are made of.
#pragma once
#include "base/json.h"
#include "cli/common/cli_clock.h"
#include "kernels/device/history/recorded.h"

typedef struct CliTiming {
  const char *rung;  // NULL: a state that is not a rung
  const Model *model;
  const Plan *plan;
  const char *state, *record;     // as it was given; as it is kept
  WorkerAnswer *compile, *bench;  // NULL: not asked for
  const char *note;               // what ptxas did to its wgmmas (nvrtc.h); NULL: nothing
  int status;                     // CLI_OK: verified and timed
  Estimate estimate;              // the one number: a stand-in until the clock has answered
  RecordedRow row;
} CliTiming;

typedef struct CliTimingOptions {
  double seconds;  // of the timing, all participants together; 0: the worker's default
  bool cold, hot, no_reference, verify_only;
} CliTimingOptions;

// --seconds of a command whose struct is T.
#define OPTION_TIMING_SECONDS(T)                                                              \
  {                                                                                           \
    .name = "seconds", .kind = OPTION_KIND_SECONDS, .offset = offsetof(T, seconds), .lo = 50, \
    .hi = 600000                                                                              \
  }

// The model must be ok.
CliTiming cli_timing(Arena *arena, const Model *model, const char *rung);
// Asks for the registers and spills; the binary is then there when the timing wants it.
void cli_timing_compile(CliWorker *worker, CliTiming *timing);
// Verifies and times it beside cuBLAS, with `other` (may be NULL) in turns; waits. Fills the rows
// of both.
void cli_timing_run(CliWorker *worker, CliTiming *timing, CliTiming *other,
                    const CliTimingOptions *options);
// The same in this process, without the worker: for profilers, debuggers and sanitizers, which then
// see one process that ends in good order. `gpu` is of driver.h.
void cli_timing_run_here(Gpu *gpu, CliTiming *timing, CliTiming *other,
                         const CliTimingOptions *options);
// Asks for the machine code and the clock's number of it.
void cli_timing_clock(CliWorker *worker, CliTiming *timing);
// Fills the row with what the model says alone, and the compiler and the clock where they were
// asked and have answered.
void cli_timing_predict(CliTiming *timing);
// A row for what cannot be run: `why` is its error.
RecordedRow cli_timing_no_row(Arena *arena, const char *rung, const Schedule *schedule,
                              const char *why);

// ---- how rows are printed -----------------------------------------------------------------------

const char *cli_time_text(Arena *arena, double ns);      // "275.3 us", "3.120 ms", "-"
const char *cli_count_text(Arena *arena, int count);     // "-" below 0
const char *cli_ratio_text(Arena *arena, double ratio);  // "0.900", "-"
// "0.985 to 1.012": the ratios within a round of what was timed hot; "" of what was not.
const char *cli_ratio_range_text(Arena *arena, const RecordedRow *row);
const char *cli_share_text(Arena *arena, double share);  // "25 %", "-" below 0

// The columns of --csv; an unknown number is an empty cell.
void cli_csv_heading(void);
void cli_csv_row(Arena *arena, const RecordedRow *row);

// Above this spread (the quartiles' distance over the median) a time is not one to go by.
#define CLI_SPREAD_MAX 0.10
bool cli_is_wide(const RecordedRow *row);
