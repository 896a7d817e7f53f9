// The engine tells of every clock of the scheduler that is watched; what falls into the turn is
// kept.
#include "clock/clock_window.h"

#include <math.h>

#include "base/whole.h"
#include "clock/clock_engine.h"

enum {
  WARM = 3,   // rounds of a warp before its turns are watched, where it goes that many
  TURNS = 4,  // that are watched
  CELLS = CLOCK_WINDOW_WARPS_MAX * CLOCK_WINDOW_MAX,
};

static bool is_watched(const EngineWatch *watch, int scheduler) {
  return watch->begun && scheduler == watch->leader % watch->step;
}

static void forget(ClockCell *cell) {
  for (int i = 0; i < CELLS; i++) cell[i] = (ClockCell){CLOCK_WINDOW_NOWHERE, CLOCK_SELECTED};
}

// The turn is over with the clock that is under way.
static void end_turn(Engine *e) {
  EngineWatch *watch = e->watch;
  const int64_t clocks = e->now + 1 - watch->begin;
  const double off = fabs((double)clocks - watch->mean);
  if (!watch->best || off < fabs((double)watch->best - watch->mean)) {
    ClockCell *other = watch->kept;
    watch->kept = watch->cell;
    watch->cell = other;
    watch->best = clocks;
    watch->from = watch->begin;
  }
  forget(watch->cell);
  watch->begin = e->now + 1;
  watch->ended = ++watch->watched == TURNS;
}

void engine_watch_round(Engine *e, int warp, int loop) {
  EngineWatch *watch = e->watch;
  if (loop != watch->loop) return;
  if (watch->begun) {
    if (warp == watch->leader) end_turn(e);
    return;
  }
  if (++watch->rounds[warp] < watch->warm) return;
  watch->begun = true;
  watch->leader = warp;
  watch->begin = e->now + 1;
}

void engine_watch_leave(Engine *e, int warp, int loop) {
  EngineWatch *watch = e->watch;
  if (loop != watch->loop || !watch->begun || warp != watch->leader) return;
  if (!watch->best) end_turn(e);
  watch->ended = true;
}

void engine_watch_clock(Engine *e, int scheduler, int warp, int pc, ClockCause cause,
                        int64_t clocks) {
  EngineWatch *watch = e->watch;
  if (!is_watched(watch, scheduler) || warp / watch->step >= CLOCK_WINDOW_WARPS_MAX) return;
  for (int64_t at = e->now - watch->begin; clocks > 0 && at < CLOCK_WINDOW_MAX; at++, clocks--)
    if (at >= 0) watch->cell[warp / watch->step * CLOCK_WINDOW_MAX + at] = (ClockCell){pc, cause};
}

// How often the warp that goes round most does so.
static int rounds_of(const ClockKernel *in, int loop) {
  int most = 0;
  for (int w = 0; w < in->warps; w++) {
    const SassWay *way = &in->kind[0].way[w];
    int n = 0;
    for (int i = 0; i + 1 < way->n_stretches; i++)
      n += way->stretch[i].last == in->loop[loop].last &&
           way->stretch[i + 1].first == in->loop[loop].first;
    most = max_int(most, n);
  }
  return most;
}

static ClockWindow window_of(Arena *arena, const Engine *e) {
  const EngineWatch *watch = e->watch;
  if (!watch->best) return (ClockWindow){0};
  ClockWindow out = {.clocks = (int)min64(watch->best, CLOCK_WINDOW_MAX),
                     .is_cut = watch->best > CLOCK_WINDOW_MAX,
                     .begin = watch->from,
                     .scheduler = watch->leader % watch->step,
                     .leader = watch->leader / watch->step};
  ClockCell *cell = ARENA_ARRAY(arena, ClockCell, CLOCK_WINDOW_WARPS_MAX * out.clocks);
  for (int w = out.scheduler; w < e->n_warps && out.n < CLOCK_WINDOW_WARPS_MAX; w += watch->step) {
    for (int i = 0; i < out.clocks; i++)
      cell[out.n * out.clocks + i] = watch->kept[w / watch->step * CLOCK_WINDOW_MAX + i];
    out.warp[out.n++] = w;
  }
  out.cell = cell;
  return out;
}

ClockWindow clock_watch(Arena *arena, const ClockKernel *in, int loop, double mean) {
  if (in->warps < 1 || in->warps > CLOCK_WARPS_MAX || in->blocks < 1 || in->resident < 1 ||
      loop < 0 || loop >= in->n_loops)
    return (ClockWindow){0};
  Arena *own = arena_new("clock window");
  EngineWatch watch = {.loop = loop,
                       .step = in->machine->schedulers,
                       .warm = rounds_of(in, loop) > WARM ? WARM : 1,
                       .mean = mean,
                       .cell = ARENA_ARRAY(own, ClockCell, CELLS),
                       .kept = ARENA_ARRAY(own, ClockCell, CELLS)};
  forget(watch.cell);
  Engine *e = engine_new(own, in);
  e->watch = &watch;
  engine_play(e);
  const ClockWindow out = window_of(arena, e);
  arena_free(own);
  return out;
}
