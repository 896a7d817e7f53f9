// Two consumers with a tile each, ROLE_SCHEDULE=pingpong: what pass warp_specialize leaves to this
// file.
#pragma once
#include "model/passes/passes.h"

// A digit above the digits of the threads that multiply: the number of their consumer, 0 or 1.
const Var *turns_add_consumers(Program *program);

// Once there are roles: the tiles of a block go to its consumers by turns, and an mbarrier at which
// `warps` of one arrive lets the other begin to multiply.
void take_turns(Program *program, const Var *consumer, int64_t warps);
