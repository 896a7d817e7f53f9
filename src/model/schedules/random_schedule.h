// Random legal schedules: what the property test and `gemmview selftest` run.
#pragma once
#include "model/words/knob.h"
#include "model/words/target.h"

// Tells the set to draw from. ANY is everything, half of it on a tensor-core atom where the target
// has one. Or it is the new parts of Hopper, each by itself in a fixed share of the schedules,
// however many draws of it are refused: wgmma fed by TMA, roles, clusters, persistent blocks, lists
// by place, sums that leave by TMA. BLACKWELL is sums in tensor memory, with all that goes with
// them. SCALED is mma.sync with scale factors. ATTENTION is the other program: three kernels or
// one, of fma or of atoms of a warp.
typedef enum RandomFamily {
  RANDOM_ANY,
  RANDOM_HOPPER,
  RANDOM_ATTENTION,
  RANDOM_BLACKWELL,
  RANDOM_SCALED
} RandomFamily;

// Whether the target has what the family is about.
bool random_family_on(RandomFamily family, const Target *target);

typedef struct RandomLimits {
  int64_t extent_max;  // of M, N and K
  int64_t fma_max;     // of the whole grid, as schedule_fma() counts them
  RandomFamily family;
} RandomLimits;

// Draws schedules from *state (see base/random.h) until one breaks no rule, and returns it; every
// knob that differs from its default counts as given, so schedule_text() names them all. `draws`
// (may be NULL) gets the number of tries. The same state gives the same schedule.
//
// `target` must be known to `targets` and have the family. Dies when there is no legal one within
// 100,000 draws.
Schedule schedule_random(Arena *scratch, const TargetTable *targets, const char *target,
                         const RandomLimits *limits, uint64_t *state, int *draws);
