// The facts of a GPU's SM that the clock plays with, and costs of accesses of which nothing is
// known but the instruction.
#pragma once
#include "clock/clock_machine.h"
#include "model/words/target.h"

// False: not known of this GPU.
bool clock_facts_read(Arena *arena, const Target *target, ClockMachine *machine);
// Fills an entry for each instruction: wavefronts without a conflict, and all bytes of all lanes of
// loads from global memory; 0 where it makes no such access.
void clock_cost_least(const SassCode *code, double *wavefronts, double *far_bytes);
