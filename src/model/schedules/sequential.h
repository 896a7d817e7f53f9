// The same schedule with no copy beside a multiplication: what a picture of overlap is held
// against.
#pragma once
#include "model/words/knob.h"
#include "model/words/target.h"

// Takes the roles, the pipelining, the ring and what hangs on them away. Returns what was changed,
// "WARP_SPECIALIZE=0,BUFFER_COUNT=1"; NULL: the schedule has none of them, or the rest is not legal
// alone, and `why` says which.
const char *schedule_sequential(Arena *arena, const TargetTable *targets, Schedule *schedule,
                                const char **why);
