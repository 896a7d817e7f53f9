// What the property test and the mutants share: GPUs, ladders, and the question asked of a program.
#pragma once
#include <stdbool.h>

#include "base/arena.h"
#include "model/interp/interp.h"
#include "model/readings/model.h"
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

// The files of the program, read once by a process; no fixture is needed.
const TargetTable *property_gpus(void);
const Ladder *property_read_ladder(const char *path);
const Ladder *property_ladder(const char *name);  // a built-in one: "blackwell"
// A rung of a built-in ladder by its name, "blackwell" and "pair", with what `knobs` says besides.
const Model *property_rung(const char *ladder, const char *rung, const char *knobs);

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
// Attention of two heads is as good as of 64.
Schedule property_of_two_heads(const Schedule *rung);

// A state beside schedule_plain(). This and those below that say nothing else fail the test if it
// cannot be done.
Schedule property_read_state(const char *state);
// The same with so many slabs for each split. Of an odd number the last one is cut to what rows of
// whole 16 bytes leave of it.
Schedule property_of_slabs(const char *state, int slabs);
const Model *property_built(const Schedule *schedule);
// The program that is read from the printed one, whose text is the same.
const Program *property_read_back(const Program *program);
// How many rules the state breaks; the first is `rule` and proposes `nearest`.
int property_refusals(const char *state, const char *rule, const char *nearest);

// Whether C comes out right and nothing is found; prints what is wrong.
bool property_computes(const Schedule *schedule, const char *after, const Program *program,
                       int runs);
// The same by a grid of so many blocks, or clusters, of a persistent kernel.
bool property_computes_on(const Program *program, int64_t grid);
void property_tell(const Schedule *schedule, const char *after, const InterpCheck *check);
