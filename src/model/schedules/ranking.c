// A state of the list that is kept is changed three times of five, two are crossed once, and once
// one is drawn anew. States of one program, or of one speed, count once.
#include "model/schedules/ranking.h"

#include <math.h>
#include <string.h>

#include "base/random.h"

Ranking *ranking_new(Arena *arena, const TargetTable *targets, const Calibration *fits,
                     const Schedule *base, const Schedule *seeds, int n_seeds) {
  Ranking *ranking = ARENA_NEW(arena, Ranking);
  *ranking = (Ranking){.arena = arena,
                       .scratch = arena_new("ranking"),
                       .targets = targets,
                       .fits = fits,
                       .space = search_space(arena, targets, base),
                       .seed = seeds,
                       .n_seeds = n_seeds,
                       .random = 7};
  return ranking;
}

void ranking_free(Ranking *ranking) { arena_free(ranking->scratch); }

// One of the best, the first ones more often.
static const Schedule *draw_best(Ranking *ranking) {
  const int64_t a = random_between(&ranking->random, 0, ranking->n - 1),
                b = random_between(&ranking->random, 0, ranking->n - 1);
  return &ranking->best[a < b ? a : b].schedule;
}

static bool draw(Ranking *ranking, Schedule *out) {
  enum { FRESH = 1, CROSSED = 2, OF = 5 };
  const int64_t kind = random_between(&ranking->random, 0, OF - 1);
  if (ranking->n < 2 || kind < FRESH) return candidate_draw(ranking->space, &ranking->random, out);
  const Schedule *a = draw_best(ranking);
  if (kind < CROSSED)
    return candidate_cross(ranking->space, &ranking->random, a, draw_best(ranking), out);
  return candidate_change(ranking->space, &ranking->random, a, out);
}

// The model tells no two states of one speed apart: of those the one nearest to the first seed
// stays.
static bool as_fast(const Ranked *a, const Ranked *b) {
  const double slack = 1e-3;
  return a->program == b->program ||
         fabs(a->estimate.tflops - b->estimate.tflops) < slack * b->estimate.tflops;
}

static int knobs_off(const Ranking *ranking, const Ranked *ranked) {
  return ranking->n_seeds ? schedule_distance(&ranking->seed[0], &ranked->schedule) : 0;
}

static void keep(Ranking *ranking, const Ranked *ranked) {
  int at = 0;
  for (int i = 0; i < ranking->n; i++) {
    Ranked *there = &ranking->best[i];
    if (!as_fast(there, ranked)) continue;
    if (knobs_off(ranking, ranked) >= knobs_off(ranking, there)) return;
    ranking->n--;  // it stands where its own speed puts it
    memmove(there, there + 1, (size_t)(ranking->n - i) * sizeof *there);
    break;
  }
  while (at < ranking->n && ranking->best[at].estimate.tflops >= ranked->estimate.tflops) at++;
  if (at == RANKING_KEPT) return;
  if (ranking->n < RANKING_KEPT) ranking->n++;
  memmove(ranking->best + at + 1, ranking->best + at,
          (size_t)(ranking->n - 1 - at) * sizeof *ranking->best);
  ranking->best[at] = *ranked;
}

static void judge(Ranking *ranking, const Schedule *schedule, bool seed) {
  Ranked ranked = {.schedule = *schedule, .seed = seed};
  arena_reset(ranking->scratch);
  const Model *model =
      candidate_model(ranking->scratch, ranking->targets, schedule, &ranked.program);
  if (!model) return;
  ranked.estimate = estimate_of(ranking->fits, model);
  ranking->n_legal++;
  if (ranked.estimate.tflops > 0) keep(ranking, &ranked);
}

bool ranking_step(Ranking *ranking) {
  const int i = ranking->n_tried;
  Schedule schedule;
  if (i >= ranking->n_seeds + RANKING_TRIES) return false;
  ranking->n_tried++;
  const bool seed = i < ranking->n_seeds;
  if (seed ? candidate_transfer(ranking->space, &ranking->seed[i], &schedule)
           : draw(ranking, &schedule))
    judge(ranking, &schedule, seed);
  return true;
}
