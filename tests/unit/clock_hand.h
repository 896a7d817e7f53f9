// Instructions and facts for kernels that are played without a compiler: written by hand.
#pragma once
#include "base/arena.h"
#include "clock/clock_machine.h"

const ClockMachine *clock_hand_machine(Arena *arena);  // an H200's
// An instruction of this unit and kind; it names no register, waits for nothing and is always
// carried out.
SassInst clock_hand_inst(Arena *arena, const char *name, SassPipe pipe, SassKind kind, int stall);
