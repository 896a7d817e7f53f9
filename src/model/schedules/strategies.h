// Ways to read the fragments of a slab, compared for the schedule at hand.
#pragma once
#include "model/readings/model.h"
#include "model/readings/time/steps.h"

// The orders in which a slab's fragments can be read, each tried on the given schedule.
typedef struct Strategy {
  const char *name;   // "along K, a k-step at a time"
  const char *knobs;  // "FRAG_ORDER=0,INTERLEAVE_LOADS=0,FRAG_BUFFER=1"
  bool now;           // the schedule's own
  const char *why;    // why not; NULL when it is legal
  Steps steps;
  int n_registers;  // a thread's, estimated
} Strategy;

enum { STRATEGIES_MAX = 5 };

// Returns the number of strategies for the schedule's family; none when it stages nothing.
int derive_strategies(Arena *arena, const Model *model, Strategy out[STRATEGIES_MAX]);
