// Finds the rung nearest to a schedule: the one that differs in fewest knobs.
#pragma once
#include "model/words/ladder.h"

typedef struct Standing {
  const Ladder *ladder;
  int rung;
  int edits;  // knobs in which the schedule differs from the rung's
} Standing;

// Among rungs that are equally near, the first one is taken. There is at least one ladder.
Standing standing_of(const Ladder *const *ladders, int n_ladders, const Schedule *schedule);
