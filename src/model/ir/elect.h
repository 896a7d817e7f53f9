// Conditions that one lane of a warp meets, and how elect.sync asks them.
//
// An IF that elects (Stmt.elects) is run by one lane of each warp in which a lane meets its
// condition. The hardware says which lane; it says the same one each time (PTX ISA, elect.sync).
//
//   if thread == 160, elected      one lane of warp 5
//   if (thread % 32) == 0, elected one lane of each warp that gets there
//   if lane == 0, elected          lane 0 … 127: one of the first warp of each warpgroup
//
// CUDA asks the two halves one after the other, `warp == 5 && elect_one()`: where the branch is the
// same for all lanes of a warp and elect.sync picks one, ptxas knows that one thread issues, and
// puts no loop over the lanes around each instruction of the tensor core or of TMA.
#pragma once
#include "model/ir/names.h"

// The conjunct `x == constant` in which x is a number of the thread; NULL: there is none.
const Expr *elect_test(const Expr *condition);
// Threads after which a number of the thread begins anew, a multiple of 32; 0: it is none.
int64_t elect_period(const Expr *number);
// Whether all lanes of a warp answer alike.
bool elect_is_of_warps(const Expr *condition);
