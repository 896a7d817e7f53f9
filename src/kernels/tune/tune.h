// From a problem to its best kernel: candidates are drawn, ranked, compiled ahead and measured in
// rounds, on every worker at once, until the time is over.
//
//   Tune *tune = tune_start(arena, &(TuneOptions){.client = client, .n_workers = 2,
//                                                 .targets = &targets, .base = schedule,
//                                                 .seconds = 120});
//   while (tune_step(tune, 100)) …                 tune_field(tune, 0), for a line of progress
//   const TunePoint *best = tune_best(tune_field(tune, 0));
//
// Workers with the same kind of GPU, by its name, search together in one field; every kind has a
// field of its own. Nothing here knows a knob: what there is to try comes from candidates.h, what
// is worth trying from the model and from what was measured of schedules that are like it.
#pragma once
#include "kernels/device/history/history.h"
#include "kernels/worker/client.h"
#include "model/readings/cost/calibration.h"

// The rounds that a point goes through, each with fewer points and more time for each.
typedef enum TuneRound {
  TUNE_BRIEF,  // all: right, and a few milliseconds
  TUNE_SHORT,  // the best dozen: short turns, checked before and after
  TUNE_FINAL,  // the best of those: in pairs, each in turns with cuBLAS
  TUNE_ROUNDS
} TuneRound;
const char *tune_round_name(TuneRound round);  // "brief", "short", "final"

typedef enum TuneState {
  TUNE_WAITING,    // for a worker
  TUNE_COMPILING,  // or waits for the compiler
  TUNE_READY,      // compiled
  TUNE_TIMING,     // or waits for the GPU
  TUNE_TIMED,
  TUNE_WRONG,   // has a wrong cell
  TUNE_FAILED,  // did not compile or not run, or was lost with its worker
  TUNE_STATES
} TuneState;

typedef struct TunePoint {
  Schedule schedule;
  uint64_t program;  // tells it from others
  double model_ns;   // by the roofline
  CalibrationBasis basis;
  CalibrationTerms uncompiled;  // of the basis as it was before that
  CalibrationTerms terms;       // with the compiler's word where it has spoken
  CompiledKernel compiled;      // that word, of the main kernel
  double compile_ms;            // that it took to say it; 0: not known
  double clock_ns;              // by the clock, of its machine code; 0: it was not played
  // By its model and what was measured of schedules like it when it was chosen, corrected by what
  // the compiler says; once it was played, by the clock, until this GPU's own fit is there.
  double predicted_ns;
  bool seed;   // given, not drawn
  bool known;  // measured by an earlier run
  TuneState state;
  TuneRound round;                  // of the time
  double time_ns;                   // 0: none; of the last round that it was in
  double cublas_ns, ratio, tflops;  // of the final; 0 = not known
  double at_s;                      // seconds after the start, of the first time
  const char *error;                // NULL: none
  // The engine's own: the worker that has it, its request, its round, the point beside it (-1:
  // alone).
  int worker, tries, partner;
  int64_t request;
  TuneRound asked;
  bool again, another_turn;  // what was asked is taken back; it is to be asked in this round again
  bool beside_cublas;        // asked with it
  bool was_compiled;
  int place;         // among those that are not settled
  int island;        // the beginning that it belongs to
  Arena *held;       // until it is settled: of the plan
  const Plan *plan;  // NULL: it is made again when it is asked for
} TunePoint;

// A better point than those before, by its first time.
typedef struct TuneStep {
  double at_s, time_ns;
} TuneStep;

// Holds the knowledge about one kind of GPU.
typedef struct TuneField {
  Device device;
  double spent_s;       // by runs before, with TuneOptions.all_runs
  TargetTable targets;  // with the word of its driver
  const char *problem;  // history_problem()
  int n_workers, n_points;
  TunePoint *point;  // in the order in which they were chosen; moves when it grows
  int *order;  // [n_order] the points with a time: the best first, by the round that they are in
  int n_order;
  int n_by_state[TUNE_STATES];
  int n_epochs;      // beginnings of the search, the first one included
  bool simulated;    // a worker of a script has timed here
  int n_compiled;    // or tried to, those known from before too
  TuneRound round;   // under way; TUNE_ROUNDS: all is done
  double cublas_ns;  // of the last time that it ran beside a point; 0 = not known
  int n_steps;
  TuneStep *step;
  Calibration calibration;  // of the best point's family here; n = 0: too little is known
  const char *error;        // why there is no search on it; NULL: there is
} TuneField;

enum { TUNE_FIELDS_MAX = CLIENT_WORKERS_MAX };

typedef struct Tune Tune;

typedef struct TuneOptions {
  Client *client;  // of the caller; nothing else is asked of it meanwhile
  int n_workers;   // that it has
  const TargetTable *targets;
  Schedule base;  // the problem, and knobs that stay as they are
  // Tells the first schedules to try, of any problem and GPU, as far as the rules allow it at this
  // one.
  const Schedule *seeds;
  int n_seeds;
  History
      *history;     // whose calibrations of the GPU rank until this search has its own; may be NULL
  History *resume;  // what it has of the problem and GPU counts as measured; NULL: begins anew
  double seconds;   // from when the first worker is there
  bool all_runs;    // what `resume` says that runs before took of it is taken off `seconds`
  int points_max;   // 0: until the time is over
  int at_a_time;    // points that are under way; 0: enough to keep all workers busy
  int stale_points;  // that bring nothing better before the search begins anew; 0: 250
  // Not a search: this many points of each family of kernels that the problem has, drawn blindly
  // and timed once. tune_orders() says how well a fit to some predicts the order of the others. 0:
  // none.
  int blind_points;
  uint64_t random;  // where the drawing begins
  // Told of a point that is settled: timed in a round, wrong or failed. May be NULL.
  void (*told)(void *context, const TuneField *field, const TunePoint *point);
  void *context;
} TuneOptions;

// Lives in `arena`, with all that it finds.
Tune *tune_start(Arena *arena, const TuneOptions *options);
// Waits for the workers, at most `timeout_ms`, and gives them what they lack. False: it is over.
bool tune_step(Tune *tune, int timeout_ms);
// Nothing more is asked for; all results stay.
void tune_cancel(Tune *tune);
// Takes back the requests under way, so that the client can serve another search.
void tune_end(Tune *tune);

// Fits the roofline of each family of kernels to the times from here and to the history's times for
// other problems on the same kind of GPU, and keeps it there. Returns the number of families with
// enough points. Takes about a second where the history is long.
int tune_keep_calibrations(const TuneField *field, History *history, Diags *diags);

enum { TUNE_NEAR_MAX = 8 };
// The best kernels that the history (may be NULL) has of problems of the same types, on any GPU,
// the nearest in extents first. Returns their number: seeds.
int tune_near(Arena *arena, History *history, const Schedule *problem, Schedule out[TUNE_NEAR_MAX]);

// How well the roofline, fitted to the first points that were drawn, puts the later ones in order.
typedef struct TuneOrder {
  CalibrationFamily family;
  int n;  // points that were predicted
  // Spearman's rank correlation with their times, -1 … 1: of the fit, of the same fit with what the
  // compiler says left out, of the roofline as it is.
  double fitted, uncompiled, roofline;
  int n_clocked;    // those of them that were played, and the same of the clock, to which nothing
  double clock;     // was fitted
  double error;     // median of |ln(predicted / measured)|
  Calibration fit;  // fit.n: points that it was fitted to
} TuneOrder;

// Fills out[] for each family with more than `n_fit` timed points; returns the number of those
// families.
int tune_orders(Arena *arena, const TuneField *field, int n_fit,
                TuneOrder out[CALIBRATION_FAMILIES]);

int tune_n_fields(const Tune *tune);
const TuneField *tune_field(const Tune *tune, int field);
// NULL: nothing that is right was timed.
const TunePoint *tune_best(const TuneField *field);
// Points that are timed, wrong or failed.
int tune_n_settled(const TuneField *field);
double tune_elapsed_s(const Tune *tune);
// How long a search waits for its first worker.
double tune_waits_s(void);
// Why this worker, by its index, is not at work; NULL: it is, or is waited for. It may come back.
const char *tune_worker_error(const Tune *tune, int worker);
// Why no worker is there any more; NULL: one is.
const char *tune_error(const Tune *tune);
