// One knob through all its values, everything else as it is: the model's numbers for each.
//
// Values are worked out one at a time while no key comes. Times are not here: result_store.h knows
// them, under each point's schedule.
//
//   knobsweep_start(&sweep, &schedule, NULL, KNOB_SPLITK);
//   while (knobsweep_step(&sweep, targets)) {}
//   results_estimate(&results, sweep.point[i].key, &sweep.point[i].stand_in).tflops
#pragma once
#include "model/readings/cost/estimate.h"
#include "tui/session/picture.h"

enum { KNOBSWEEP_POINTS_MAX = 132, KNOBSWEEP_REASON_BYTES = 224 };

typedef struct SweepPoint {
  int64_t value;
  bool done, legal;
  char reason[KNOBSWEEP_REASON_BYTES];  // why it is not legal, a sentence
  Resources resources;
  Traffic traffic;
  uint64_t key;       // of its schedule
  Estimate stand_in;  // results_estimate() has the one number
} SweepPoint;

typedef struct KnobSweep {
  Arena *arena;             // of the point under way
  const Calibration *fits;  // by which it estimates (estimate.h); NULL: by none
  Schedule schedule;
  uint64_t key;
  KnobId knob;  // KNOB_NONE: nothing is swept
  int n, n_done;
  SweepPoint point[KNOBSWEEP_POINTS_MAX];
} KnobSweep;

void knobsweep_init(KnobSweep *sweep);
void knobsweep_free(KnobSweep *sweep);
// Forgets everything unless it is the same sweep: the same knob and fits, and nothing but it
// changed.
void knobsweep_start(KnobSweep *sweep, const Schedule *schedule, const Calibration *fits,
                     KnobId knob);
// Works out one value; false when all are done.
bool knobsweep_step(KnobSweep *sweep, const TargetTable *targets);
Schedule knobsweep_schedule(const KnobSweep *sweep, int point);
int knobsweep_find(const KnobSweep *sweep, int64_t value);  // -1: not among the points
