// Where a schedule stands among the ladders: at the rung from which fewest knobs differ.
#pragma once
#include "model/words/ladder.h"

typedef struct Standing {
  const Ladder *ladder;
  int rung;
  int edits;  // knobs in which the schedule differs from the rung's
} Standing;

// Of rungs that are equally near, the first. There is at least one ladder.
Standing standing_of(const Ladder *const *ladders, int n_ladders, const Schedule *schedule);
