// ROLE_SCHEDULE=pingpong in attention: the warpgroups of a block ask for products in turns, so that
// the tensor core ends one warpgroup's scores before it begins another's, and one weighs while
// another multiplies.
#pragma once
#include "model/ir/program.h"
#include "model/words/knob.h"

// Statements of a warpgroup; all are NULL where the schedule knows no turns. Each use of the last
// two needs a copy.
typedef struct AskingTurns {
  Stmt *first;  // in front of all blocks of keys
  Stmt *begin;  // the wait in front of the products that it asks for
  Stmt *end;    // the arrival behind them
} AskingTurns;
AskingTurns asking_turns(Program *program, const Schedule *schedule);

// Puts `first` in front of `walk`, the loop over blocks of keys.
void asking_turns_begin(Program *program, const Stmt *walk, const AskingTurns *turns);

// Puts the turns around the scores of each block of keys, of products that follow one another.
void ask_for_scores_in_turns(Program *program, Stmt *walk, const Schedule *schedule);
