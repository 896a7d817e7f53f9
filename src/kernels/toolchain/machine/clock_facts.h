// The facts of a GPU's SM that the clock plays with, and costs of accesses of which nothing is
// known but the instruction.
#pragma once
#include "clock/clock_machine.h"
#include "model/words/target.h"

// False: not known of this GPU.
bool clock_facts_read(Arena *arena, const Target *target, ClockMachine *machine);
// For the file of a compute capability such as 90: the value of a fact, below 0 where there is
// none.
double clock_facts_value(Arena *arena, int cc, const char *key);
// Fills an entry for each instruction: wavefronts without a conflict, and all bytes of all lanes of
// loads from global memory; 0 where it makes no such access.
void clock_cost_least(const SassCode *code, double *wavefronts, double *far_bytes);
