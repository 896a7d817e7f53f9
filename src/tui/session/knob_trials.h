// The effect of one knob up or down: a list of trials of the present schedule's neighbours.
//
// Each trial builds a whole model and keeps its numbers only. They are made one at a time while no
// key comes, the knob under the cursor first, so that no key ever waits for them.
//
//   advice_start(&advice, &schedule, knob);
//   while (advice_step(&advice, targets)) {}
//   const Trial *up = advice_find(&advice, KNOB_FN, +1);
//   const Trial *best = promise_best(&results, &advice, &estimate);   knob_gain.h
#pragma once
#include "model/readings/cost/estimate.h"
#include "tui/session/picture.h"

// An access to shared memory, found again by the first word of its text ("a", "A_s"), as
// side_find_site() does.
enum { TRIAL_SITES = 16 };
typedef struct TrialSite {
  uint64_t name;   // of the text's first word and of the operation
  int wavefronts;  // -1: not counted
} TrialSite;

typedef struct Trial {
  KnobId knob;
  int direction;  // -1, +1; +2: further than one step
  int64_t value;
  bool exists;  // the knob has a value in that direction
  bool legal;
  const char *rule;  // the first rule it breaks; NULL when legal
  char why[160];     // that rule with its numbers, in a sentence that may be cut
  Resources resources;
  Traffic traffic;
  uint64_t key;       // of its schedule
  Estimate stand_in;  // results_estimate() has the one number
  int n_sites;
  TrialSite site[TRIAL_SITES];
} Trial;

// Each knob has three: one step down, one up, and the best of the powers of two further up.
enum { ADVICE_PER_KNOB = 3, ADVICE_TRIALS = ADVICE_PER_KNOB * KNOB_COUNT };

typedef struct Advice {
  Arena *arena;             // of the trial under way
  const Calibration *fits;  // by which it estimates (estimate.h); NULL: by none
  Schedule schedule;
  uint64_t key;
  KnobId first;
  int n_done;
  bool done[ADVICE_TRIALS];
  Trial trial[ADVICE_TRIALS];  // of knob k: 3k down, 3k + 1 up, 3k + 2 far up
} Advice;

void advice_init(Advice *advice);
void advice_free(Advice *advice);
// Forgets everything when the schedule is another one, or estimates go by other fits; otherwise
// only the order changes.
void advice_start(Advice *advice, const Schedule *schedule, const Calibration *fits, KnobId first);
// Makes one trial; false when all are made.
bool advice_step(Advice *advice, const TargetTable *targets);
// NULL while it has not been made.
const Trial *advice_find(const Advice *advice, KnobId knob, int direction);
// The wavefronts that the access takes in a trial; -1: not known, or it has another width there.
int trial_wavefronts(const Trial *trial, const Site *site);
bool advice_done(const Advice *advice);  // all trials are made
// The factor on a trial's gain that decides the advice; 0: never advised.
double advice_weight(const Trial *trial);
