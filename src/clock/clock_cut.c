// Turns of a loop that are left out: what stands for them.
//
// The turns that are played are as those that are not, but for their surroundings: while some
// blocks begin or end, the others go round faster or slower than they do most of the time. So a
// clock stands for the more turns, the more warps are in the loop: by the fourth power of their
// share, which is 1 where all are, 0.59 where seven in eight are, 0.06 where half of them are. A
// block that begins while another is half through does so in the long kernel, too.
//
// Worked example, one block of 256 turns, of which 12 are kept: 60 clocks are played, of them 15 in
// front of the first turn's end and 5 behind the last turn's begin. The 40 others are 10 turns, and
// 244 are left out, so that the kernel takes 60 + 244 · 40 / 10 = 1,036 clocks.
#include <math.h>

#include "clock/clock_engine.h"

// How much a clock stands for turns that are left out, 0 to 1.
static double weight_now(const EngineCalm *calm) {
  const double inside = calm->live ? (double)(calm->live - calm->outside) / calm->live : 0;
  return inside * inside * inside * inside;
}

// To this clock.
static void go_on(Engine *e) {
  EngineCalm *calm = &e->calm;
  const double clocks = (double)(e->now - calm->since) * weight_now(calm);
  calm->clocks += clocks;
  calm->of_warps += clocks * (calm->live - calm->outside);
  calm->since = e->now;
}

void engine_cut_count(Engine *e, int live, int outside) {
  go_on(e);
  e->calm.live += live;
  e->calm.outside += outside;
}

void engine_cut_turn(Engine *e, int warp, double clocks) {
  EngineWarp *w = &e->warp[warp];
  EngineCalm *calm = &e->calm;
  go_on(e);
  const double of_it = calm->clocks - w->calm;
  w->calm = calm->clocks;
  if (!(clocks > 0)) return;
  calm->all++;
  calm->turns += of_it / clocks;
  calm->of_turns += of_it;
}

EngineTime engine_time(const Engine *e) { return (EngineTime){(double)e->now, e->calm.all}; }

// A warp that has `kept_turns` comes by one branch less, and from one to the next is a turn.
double engine_stretched(const Engine *e, EngineTime at) {
  const EngineCalm *calm = &e->calm;
  if (e->in->cut_loop < 0 || !(calm->turns > 0)) return at.clocks;
  const double left_out = at.turns * e->in->cut_turns / fmax(1, e->in->kept_turns - 2),
               each = calm->clocks / calm->turns * calm->of_turns / calm->of_warps;
  return at.clocks + left_out * each;
}
