// A search on a thread and with workers of its own, for a screen that must not wait for it.
//
//   TuneRun *run = tune_run_start(&(TuneRunOptions){.client = options, .targets = &targets,
//                                                   .base = schedule, .seconds = 60});
//   tune_run_seen(run, &seen);           now and then: what is known by now
//   tune_run_cancel(run);                it ends soon, and what is known stays
//   tune_run_end(run);                   waits for the thread, frees everything
//
// The client is not shared: a search wants every answer of its own, in its own order, and another
// asker of the same client would take them away. On the GPU the two exclude each other as all
// processes do (device_lock.h), so a timing asked for meanwhile waits for its turn.
#pragma once
#include "kernels/tune/tune.h"

typedef struct TuneRun TuneRun;

typedef struct TuneRunOptions {
  ClientOptions client;  // what it points to outlives the run
  const TargetTable *targets;
  Schedule base;          // the problem
  const Schedule *seeds;  // copied; what the history has of problems like it comes before them
  int n_seeds;
  double seconds;
  const char *gpu;  // the name of the kind that is seen, copied; NULL: the first that answers
} TuneRunOptions;

enum { TUNE_SEEN_STEPS = 128, TUNE_SEEN_POINTS = 512 };

// Holds what a screen shows: of the kind of GPU that was asked for, or else of the one that
// answered first.
typedef struct TuneSeen {
  int serial;  // another one with each look that has news
  bool over;   // nothing comes any more
  bool has_best;
  double elapsed_s, seconds;
  char gpu[96], error[256];  // error: why there is no search; "" = there is
  int n_all;                 // workers; n_workers of them have this kind of GPU
  int n_workers, n_tried, n_compiled, n_verified, n_timed, n_wrong, n_failed;
  int round;  // TuneRound; TUNE_ROUNDS: done
  double cublas_ns;
  Schedule best;
  TuneRound best_round;
  double best_ns, best_tflops, best_ratio, best_predicted_ns;
  int n_steps;  // the last ones
  TuneStep step[TUNE_SEEN_STEPS];
  int n_points;  // spread over all that have a time
  struct {
    double predicted_ns, time_ns;
  } point[TUNE_SEEN_POINTS];
  Calibration calibration;  // n = 0: too little is known
  double flop_per_ns;       // of a kernel that takes a nanosecond: TFLOP/s are this over time / 1e3
} TuneSeen;

// NULL when no thread could be had.
TuneRun *tune_run_start(const TuneRunOptions *options);
void tune_run_seen(TuneRun *run, TuneSeen *out);
void tune_run_cancel(TuneRun *run);
void tune_run_end(TuneRun *run);
