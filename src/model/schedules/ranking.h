// The search for a good kernel without a GPU: states drawn, changed and crossed, each ranked by the
// stand-in of the clock (model/readings/cost/estimate.h). Nothing is compiled, run or timed.
//
//   Ranking *ranking = ranking_new(arena, &targets, fits, &base, seeds, n_seeds);
//   while (ranking_step(ranking)) {}
//   ranking->best[0].schedule, ranking->best[0].estimate.tflops
//
// Seeds come first, as far as the rules allow them at this problem; then the best so far are
// changed. The same problem and seeds give the same ranking.
#pragma once
#include "model/readings/cost/estimate.h"
#include "model/schedules/candidates.h"

enum { RANKING_KEPT = 16, RANKING_TRIES = 800 };

typedef struct Ranked {
  Schedule schedule;
  Estimate estimate;
  uint64_t program;  // tells it from others, whatever knobs led to it
  bool seed;         // it came so, and was not changed
} Ranked;

typedef struct Ranking {
  int n_tried, n_legal;
  int n;  // of best, fastest first
  Ranked best[RANKING_KEPT];
  // Its own.
  Arena *arena, *scratch;
  const TargetTable *targets;
  const Calibration *fits;
  SearchSpace *space;
  const Schedule *seed;
  int n_seeds;
  uint64_t random;
} Ranking;

// `fits` may be NULL; seeds and targets outlive it. Its scratch arena goes with ranking_free().
Ranking *ranking_new(Arena *arena, const TargetTable *targets, const Calibration *fits,
                     const Schedule *base, const Schedule *seeds, int n_seeds);
bool ranking_step(Ranking *ranking);  // one state; false: all are tried
void ranking_free(Ranking *ranking);
