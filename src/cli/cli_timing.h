// One schedule compiled and timed through the worker: what bench, ladder and sweep are made of.
#pragma once
#include "cli/cli_worker.h"
#include "kernels/recorded.h"

typedef struct CliTiming {
  const char *rung;  // NULL: a state of one's own
  const Model *model;
  const Plan *plan;
  const char *state;
  WorkerAnswer *compile, *bench;  // NULL: not asked for
  int status;                     // CLI_OK: verified and timed
  RecordedRow row;
} CliTiming;

typedef struct CliTimingOptions {
  double seconds;  // of the timing, all participants together; 0: the worker's default
  bool cold, no_reference, verify_only;
} CliTimingOptions;

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
// A row for what cannot be run: `why` is its error.
RecordedRow cli_timing_no_row(Arena *arena, const char *rung, const Schedule *schedule,
                              const char *why);

// A time in the unit that suits it: "275.3 us", "3.12 ms".
const char *cli_time_text(Arena *arena, double ns);
