// ROLE_SCHEDULE=pingpong in attention: the warpgroups of a block ask for products in turns, so that
// the tensor core ends one warpgroup's scores before it begins another's, and one weighs while
// another multiplies.
#pragma once
#include "model/ir/program.h"
#include "model/words/knob.h"

// The wait in front of what a warpgroup asks for, and the arrival behind it; both are NULL where
// the schedule knows no turns. Each use of them needs a copy.
typedef struct AskingTurns {
  Stmt *begin, *end;
} AskingTurns;

// `walk` is the loop over blocks of keys; it has one turn for each of them, or one less where the
// first block's scores stand in front of it. Adds the mbarriers `order` to the program.
AskingTurns asking_turns(Program *program, const Stmt *walk, const Schedule *schedule);

// Puts the turns around the scores of each block of keys, of products that follow one another.
void ask_for_scores_in_turns(Program *program, Stmt *walk, const Schedule *schedule);
