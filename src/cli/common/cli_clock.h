// The one number of a schedule for a command: compiled and played by the worker, else the stand-in.
//
//   WorkerAnswer *answer = cli_clock_submit(worker, arena, model, plan, "fp32 padded");
//   … cli_worker_wait(worker, answer) …
//   Estimate estimate = cli_clock_estimate(fits, model, answer);     NULL: nothing was asked
#pragma once
#include "cli/common/cli_worker.h"
#include "model/readings/cost/estimate.h"

// Asks for the cubin and the clock; `plan` is of the model's own text.
WorkerAnswer *cli_clock_submit(CliWorker *worker, Arena *arena, const Model *model,
                               const Plan *plan, const char *label);
// `fits`: that its stand-in goes by; NULL: none.
Estimate cli_clock_estimate(const Calibration *fits, const Model *model,
                            const WorkerAnswer *answer);
// The fits that a stand-in on `target` goes by, as in the explorer: those that the history has of
// the worker's GPU, where that is the target. NULL: there are none. Waits for the worker's word.
const Calibration *cli_fits(CliWorker *worker, Arena *arena, const Target *target);

// "clock 36.5 TFLOP/s ±10 %", "stand-in 33.9 TFLOP/s ±13 %, borrowed from H200", "unknown".
const char *cli_estimate_text(Arena *arena, const Estimate *estimate);
// For a column: "36.5" by the clock, "~33.9" of a stand-in, "-".
const char *cli_estimate_cell(Arena *arena, const Estimate *estimate);
