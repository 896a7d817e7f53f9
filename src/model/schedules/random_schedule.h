// Random legal schedules: what the property test and `gemmview selftest` run.
#pragma once
#include "model/words/knob.h"
#include "model/words/target.h"

typedef struct RandomLimits {
  int64_t extent_max;  // of M, N and K
  int64_t fma_max;     // of the whole grid, as schedule_fma() counts them
} RandomLimits;

// Half of them are of a tensor-core atom, where the target has one. Draws schedules from *state
// (see base/random.h) until one breaks no rule, and returns it; every knob that differs from its
// default counts as given, so schedule_text() names them all. `draws` (may be NULL) gets the number
// of tries. The same state gives the same schedule.
//
// `target` must be known to `targets`. Dies when there is no legal one within 100,000 draws.
Schedule schedule_random(Arena *scratch, const TargetTable *targets, const char *target,
                         const RandomLimits *limits, uint64_t *state, int *draws);
