// Inside of the search: what tune.c, tune_workers.c, tune_points.c, tune_pool.c, tune_promise.c and
// tune_rounds.c share.
#pragma once
#include "base/team.h"
#include "kernels/tune/tune.h"
#include "model/schedules/candidates.h"

enum {
  TUNE_POOL = 32,
  TUNE_DRAWS = 12,  // candidates that are made for each choice
  TUNE_SLICES = 8,  // choices that they are made for together, at most
  TUNE_ELITE = 24,  // parents
  TUNE_LIKE = 256,  // points, those settled last, that a promise is made from
  TUNE_FIRST_POINTS = 256,
  TUNE_SHORT_POINTS = 12,
  TUNE_TRIES = 4,
  TUNE_ISLANDS = 4  // beginnings side by side
};

typedef struct Field Field;

// A candidate, with all that it takes to try it.
typedef struct Pooled {
  Schedule schedule;
  uint64_t program;
  int island;
  double model_ns, flop;
  CalibrationBasis basis;
  CalibrationTerms terms;
  Arena *held;       // of the plan; NULL: it has none
  const Plan *plan;  // labelled with its state: the plan alone says what it is
  // [n_weights] by point: 2^-n of one that differs in n knobs; 0: not looked at yet. Of malloc().
  float *weight;
  int n_weights;
} Pooled;

// Points that promises are made from: the share of what was expected of them that they reached, and
// ln(milliseconds) of their compiling (NaN: not known).
typedef struct Near {
  int n;
  int point[TUNE_LIKE + TUNE_ELITE];
  double share[TUNE_LIKE + TUNE_ELITE], compile_ln[TUNE_LIKE + TUNE_ELITE];
} Near;

// The parents of the candidates for one choice: the best points of an island.
typedef struct Parents {
  int island, n_elite;
  int elite[TUNE_ELITE];
} Parents;

typedef struct Batch Batch;
typedef bool TuneDraw(const Batch *batch, const Parents *parents, uint64_t *random, Schedule *out);

// Candidates that the team makes while the search waits for its workers, each with random numbers
// of its own, so that it is the same candidate whichever thread makes it and whenever. What the
// threads read of the field does not change meanwhile: its space and targets, and the schedules of
// points that it had when the batch was begun.
struct Batch {
  int n_slices;  // 0: it was not begun, or all of it was taken
  int n_taken;
  bool stale;  // what comes of it is not wanted any more
  const Field *field;
  TuneDraw *draw;
  const TunePoint *point;
  int n_points;
  Parents parents[TUNE_SLICES];
  Near near;
  uint64_t random[TUNE_SLICES * TUNE_DRAWS];
  Arena *scratch[TUNE_SLICES * TUNE_DRAWS];
  bool good[TUNE_SLICES * TUNE_DRAWS];
  Pooled pooled[TUNE_SLICES * TUNE_DRAWS];
};

struct Field {
  TuneField told;
  SearchSpace *space;
  uint64_t random;
  int capacity, steps_capacity;
  int n_programs_capacity, n_programs;
  uint64_t *programs;  // a table of hashes, 0 = free
  int n_under_way;     // points that are not settled, in any order
  int *under_way;      // [capacity]
  int n_pool;
  Pooled pool[TUNE_POOL];
  Batch batch[2];
  int taking;     // the batch that is taken from; the team is at the other one, or was
  int n_islands;  // that are still searched, at least one
  int island[TUNE_ISLANDS];
  int island_turn;   // choices that candidates were made for
  int epoch_from;    // the first point of the epoch: parents are drawn of those behind it
  int epoch_stale;   // points settled since its best became better by more than a hair
  double epoch_ns;   // its best time; 0: none yet
  int next_fit;      // times that the roofline is fitted at again
  int next_seed;     // of the options
  bool loading;      // what an earlier run has measured
  int n_references;  // timings of what is right that cuBLAS was to stand beside, for its time
  bool dry;          // nothing new was found lately
  int n_chosen;      // points of the round under way, and the number of them given out
  int chosen[TUNE_SHORT_POINTS], n_given, n_open;
  double flop;
  int n_of_family[CALIBRATION_FAMILIES];   // points
  Calibration own[CALIBRATION_FAMILIES];   // of this search; n = 0: too little is known
  Calibration kept[CALIBRATION_FAMILIES];  // of searches before; n = 0: none
};

// A worker and what it has.
typedef struct TuneWorker {
  int field;         // -1: its machine is not known, or it has no GPU
  const char *gone;  // why it is not at work; NULL: it is, or is waited for
  bool at_work;      // it hears what it is asked
  bool warm;         // its GPU has this problem
  int n_compiling, n_timing, n_compiles;
  int64_t blamed_id;  // requests up to this one were lost through another's fault
} TuneWorker;

struct Tune {
  Arena *arena;
  TuneOptions options;
  Team *team;      // for candidates
  Field *drawing;  // the field with the batch that the team is at; NULL: none
  double started;
  bool cancelled;
  bool hungry;  // there is room for more than was asked for
  int n_fields;
  Field *field[TUNE_FIELDS_MAX];
  TuneWorker worker[CLIENT_WORKERS_MAX];
  int64_t first_id, last_id;  // of its requests; 0: there are none
};

double tune_now(const Tune *tune);

// tune_workers.c: the workers.
// Takes a worker's word on its machine: it may begin or go on, or is gone.
void tune_look_at_machine(Tune *tune, int index);
// The same for all that have said nothing so far, and decides which of all are asked.
void tune_look_at_workers(Tune *tune);
// The worker takes no further part; other workers take over all that it has compiled.
void tune_lose_worker(Tune *tune, int index, const char *why);
// Whether a field has a worker, or may have one again before its time is over.
bool tune_has_hands(const Tune *tune, int field);

// tune_points.c: what was chosen, and what came of it.
Field *tune_field_new(Tune *tune, const Device *device);
// A new point, which takes over the candidate's plan.
TunePoint *tune_add_point(Tune *tune, Field *field, Pooled *pooled);
// Files a time of a point, or that it has none, in all lists.
void tune_settle(Tune *tune, Field *field, TunePoint *point, TuneState state);
void tune_set_state(Field *field, TunePoint *point, TuneState state);
bool tune_is_settled(const TunePoint *point);
// Takes the compiler's word on the point's main kernel: its terms and its promise then use the
// registers and spills that it has.
void tune_count(const Field *field, TunePoint *point, const CompileResult *result);
// Takes what the clock says of its machine code; nothing where it says nothing. What it promises is
// the clock's while nothing is fitted to the family's times on this GPU.
void tune_clock(const Field *field, TunePoint *point, const ClockNumber *number);
// Whether the candidate's program is none that was seen before; from now on it is.
bool tune_remember(Tune *tune, Field *field, const Pooled *pooled);
void tune_release_plan(TunePoint *point);

// tune_pool.c: what there is to try.
// The schedule as a candidate, with its plan where `with_plan`; false where it is not legal. Reads
// the field alone, and of it what does not change: the team does this for many at once.
bool tune_make_pooled(const Field *field, const Schedule *schedule, bool with_plan, Arena *scratch,
                      Pooled *out);
// The next point to compile; -1: there is none now.
int tune_choose(Tune *tune, Field *field);
// Whether the next choice has to wait for the team.
bool tune_would_wait(const Tune *tune, const Field *field);
// The team is at no candidates any more and can be given other work; what it made is kept.
void tune_finish_batch(Tune *tune);
// Forgets the candidates, those that are being made included.
void tune_clear_pool(Field *field);
// Frees what the field holds beside the arena; the team is at none of its candidates any more.
void tune_field_end(Field *field);

// tune_promise.c: what a candidate promises.
// By the roofline as it was fitted here, or in searches before, or as it is by default.
double tune_expected_ns(const Field *field, const CalibrationTerms *terms);
void tune_list_near(const Field *field, Near *near);
// Looks at how like the candidate is to those points, of `n_points` that there are.
void tune_weigh(Pooled *pooled, const TunePoint *point, int n_points, const int *index, int n);
double tune_promised_ns(const Field *field, const Near *near, Pooled *pooled);
// The factor by which it takes longer to compile than most, by schedules like it; after its
// promise.
double tune_compile_ratio(const Near *near, const Pooled *pooled);

// tune_rounds.c: rounds behind the first.
// Whether its finals are timed hot: where that is a small part of the time.
bool tune_is_hot(const Tune *tune);
// The second of the search at which the first round is over, so that the others end with its time.
double tune_search_ends(const Tune *tune, const Field *field);
// Goes on to the next round where this one is over.
void tune_advance(Tune *tune, Field *field);
// Up to two points of the round to be timed together; returns their number.
int tune_next_of_round(Field *field, int point[2]);
