// Inside of the search: what tune.c, tune_points.c and tune_rounds.c share.
#pragma once
#include "base/team.h"
#include "kernels/tune/tune.h"
#include "model/schedules/candidates.h"

enum {
  TUNE_POOL = 32,
  TUNE_FIRST_POINTS = 256,
  TUNE_SHORT_POINTS = 12,
  TUNE_FINAL_POINTS = 4,
  TUNE_TRIES = 4
};

typedef struct Pooled {
  Schedule schedule;
  uint64_t program;
  double model_ns, flop;
  CalibrationTerms terms;
} Pooled;

typedef struct Field {
  TuneField told;
  SearchSpace *space;
  uint64_t random;
  int capacity, steps_capacity;
  int n_programs_capacity, n_programs;
  uint64_t *programs;  // a table of hashes, 0 = free
  int n_pool;
  Pooled pool[TUNE_POOL];
  int epoch_from;    // the first point of the epoch: parents are drawn of those behind it
  int epoch_stale;   // points settled since its best became better by more than a hair
  double epoch_ns;   // its best time; 0: none yet
  int next_fit;      // times that the roofline is fitted at again
  int next_seed;     // of the options
  bool loading;      // what an earlier run has measured
  int n_references;  // timings that cuBLAS was to stand beside, for its time
  bool dry;          // nothing new was found lately
  int n_chosen;      // points of the round under way, and how many of them were given out
  int chosen[TUNE_SHORT_POINTS], n_given, n_open;
  double flop;
  int n_of_family[CALIBRATION_FAMILIES];   // points
  Calibration own[CALIBRATION_FAMILIES];   // of this search; n = 0: too little is known
  Calibration kept[CALIBRATION_FAMILIES];  // of searches before; n = 0: none
} Field;

// A worker and what it has.
typedef struct TuneWorker {
  int field;  // -1: its machine is not known, or it has no GPU
  bool gone;
  bool warm;  // its GPU has this problem
  int n_compiling, n_timing, n_compiles;
  int64_t blamed_id;  // requests up to this one were lost through another's fault
} TuneWorker;

struct Tune {
  Arena *arena;
  TuneOptions options;
  Team *team;  // for candidates
  double started, search_ends;
  bool cancelled;
  int n_fields;
  Field *field[TUNE_FIELDS_MAX];
  TuneWorker worker[CLIENT_WORKERS_MAX];
  int64_t first_id, last_id;  // of its requests; 0: there are none
  const char *why_gone;
};

double tune_now(const Tune *tune);

// tune_points.c: what there is to try.
Field *tune_field_new(Tune *tune, const Device *device);
// The next point to compile; -1: there is none now.
int tune_choose(Tune *tune, Field *field);
// Files a time of a point, or that it has none, in all lists.
void tune_settle(Tune *tune, Field *field, TunePoint *point, TuneState state);
// The model of a point in `arena`.
const Model *tune_model(Arena *arena, const Field *field, const TunePoint *point);
void tune_set_state(Field *field, TunePoint *point, TuneState state);

// tune_rounds.c: rounds behind the first.
// Goes on to the next round where this one is over.
void tune_advance(Tune *tune, Field *field);
// Up to two points of the round to be timed together; how many.
int tune_next_of_round(Field *field, int point[2]);
