// The engine tells of every clock of the scheduler that is watched; what falls into the turn is
// kept.
#include "clock/clock_window.h"

#include "base/whole.h"
#include "clock/clock_engine.h"

enum { WARM = 3 };  // rounds of a warp before its turn is watched, where it goes so many

static bool is_watched(const EngineWatch *watch, int scheduler) {
  return watch->begun && scheduler == watch->leader % watch->step;
}

void engine_watch_round(Engine *e, int warp, int loop) {
  EngineWatch *watch = e->watch;
  if (loop != watch->loop) return;
  if (watch->begun) {
    watch->ended |= warp == watch->leader;
    return;
  }
  if (++watch->rounds[warp] < watch->warm) return;
  watch->begun = true;
  watch->leader = warp;
  watch->begin = e->now + 1;
}

void engine_watch_leave(Engine *e, int warp, int loop) {
  EngineWatch *watch = e->watch;
  if (loop == watch->loop && watch->begun && warp == watch->leader) watch->ended = true;
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
  const int64_t clocks = e->now - watch->begin;
  ClockWindow out = {.clocks = (int)min64(clocks, CLOCK_WINDOW_MAX),
                     .is_cut = clocks > CLOCK_WINDOW_MAX || !watch->ended,
                     .begin = watch->begin,
                     .scheduler = watch->leader % watch->step,
                     .leader = watch->leader / watch->step};
  if (clocks <= 0) return (ClockWindow){0};
  ClockCell *cell = ARENA_ARRAY(arena, ClockCell, CLOCK_WINDOW_WARPS_MAX * out.clocks);
  for (int w = out.scheduler; w < e->n_warps && out.n < CLOCK_WINDOW_WARPS_MAX; w += watch->step) {
    for (int i = 0; i < out.clocks; i++)
      cell[out.n * out.clocks + i] = watch->cell[w / watch->step * CLOCK_WINDOW_MAX + i];
    out.warp[out.n++] = w;
  }
  out.cell = cell;
  return out;
}

ClockWindow clock_watch(Arena *arena, const ClockKernel *in, int loop) {
  if (in->warps < 1 || in->warps > CLOCK_WARPS_MAX || in->blocks < 1 || in->resident < 1 ||
      loop < 0 || loop >= in->n_loops)
    return (ClockWindow){0};
  const int rounds = rounds_of(in, loop);
  Arena *own = arena_new("clock window");
  EngineWatch watch = {
      .loop = loop,
      .step = in->machine->schedulers,
      .warm = rounds > WARM ? WARM : 1,
      .cell = ARENA_ARRAY(own, ClockCell, CLOCK_WINDOW_WARPS_MAX * CLOCK_WINDOW_MAX)};
  for (int i = 0; i < CLOCK_WINDOW_WARPS_MAX * CLOCK_WINDOW_MAX; i++)
    watch.cell[i].pc = CLOCK_WINDOW_NOWHERE;
  Engine *e = engine_new(own, in);
  e->watch = &watch;
  engine_play(e);
  const ClockWindow out = watch.begun ? window_of(arena, e) : (ClockWindow){0};
  arena_free(own);
  return out;
}
