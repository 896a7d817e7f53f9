// What the property test and the mutants share: GPUs, ladders, and the question asked of a program.
#pragma once
#include <stdbool.h>

#include "base/arena.h"
#include "model/interp/interp.h"
#include "model/words/knob.h"
#include "model/words/ladder.h"
#include "model/words/target.h"

// One for the whole test, one that is reset between schedules.
extern Arena *property_data, *property_arena;
extern TargetTable property_targets;

// The fixture.
void property_setup(void);
void property_teardown(void);

// GEMMVIEW_SEED=… runs other random schedules than those of the test of every day.
uint64_t property_seed(void);

const Ladder *property_read_ladder(const char *path);

// Neighbouring rungs share most of their stages; a program that was looked at is not run again.
typedef struct Seen Seen;
bool property_is_new(Seen **seen, const Program *program);
bool property_is_new_text(Seen **seen, const char *text);
// False for a rung that differs from one before in its types alone: what shows in the stages and
// the mutants of f16 shows in those of bf16, and of f16 sums.
bool property_is_new_kind(Seen **kinds, const Rung *rung);

// A rung on tensor cores with at most 2 × 2 warps of 2 × 4 atoms, 64 columns each where warpgroups
// multiply: the same program, a fraction of the work. Rungs of fma as they are.
Schedule property_narrow(const Schedule *rung);

// Whether C comes out right and nothing is found; prints what is wrong.
bool property_computes(const Schedule *schedule, const char *after, const Program *program,
                       int runs);
void property_tell(const Schedule *schedule, const char *after, const InterpCheck *check);
