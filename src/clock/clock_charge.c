// The charges for the clocks of the warps.
//
// A warp stands at an instruction for one reason, often for hundreds of clocks. It is charged when
// the reason changes: its scheduler keeps sums over its clocks, and the warp notes how they stood
// when the reason began. Worked example, two warps of a scheduler: at clock 10 one waits for
// scoreboard 0 and the other issues; at 11 and 12 nothing is issued, as the other waits for its
// stall; at 13 it issues again, and at 14 the scoreboard falls. The first warp is charged 4 clocks
// of long_scoreboard, and 2 halves of a lost clock.
#include <math.h>

#include "clock/clock_engine.h"

// The instruction that `inst`, where a warp stands, waits for; -1: none.
static int find_blame(const EngineScheduler *s, const EngineWarp *w, const SassInst *inst,
                      ClockCause cause, int scoreboard) {
  switch (cause) {
    case CLOCK_WAIT:
      return w->before;
    case CLOCK_SHORT_SCOREBOARD:
    case CLOCK_LONG_SCOREBOARD:
      return scoreboard >= 0 ? w->opener[scoreboard] : -1;
    case CLOCK_MATH_PIPE:
    case CLOCK_MIO:
    case CLOCK_LG:
      return s->pipe_user[inst->opcode->pipe];
    case CLOCK_DISPATCH:
      return w->pc;
    default:
      return -1;
  }
}

// Where a warp could have gone, another was chosen; or what was issued last had no operands yet,
// which holds up all of them, as the profiler counts it.
static void settle(Engine *e, const EngineScheduler *s, EngineWarp *w) {
  const EngineSums then = w->since, *now = &s->sums;
  const double clocks = now->clocks - then.clocks, held_up = now->held_up - then.held_up,
               lost = round((now->lost - then.lost) * ENGINE_SHARES);
  const int at = w->pc * CLOCK_CAUSE_COUNT;
  w->since = *now;
  if (!(clocks > 0)) return;
  if (w->held == CLOCK_SELECTED) {
    e->spent[at + CLOCK_DISPATCH] += held_up * e->weight;
    e->spent[at + CLOCK_NOT_SELECTED] += (clocks - held_up) * e->weight;
    return;
  }
  e->spent[at + (int)w->held] += clocks * e->weight;
  if (!(lost > 0)) return;
  e->lost[at + (int)w->held] += lost * e->weight;
  e->blame[at + (int)w->held] = w->blame;
}

void engine_hold(Engine *e, EngineScheduler *s, int warp, ClockCause cause, int scoreboard) {
  EngineWarp *w = &e->warp[warp];
  const int blame = find_blame(s, w, &e->in->code->inst[w->pc], cause, scoreboard);
  if (cause == w->held && blame == w->blame) return;
  settle(e, s, w);
  s->n_own += (cause != CLOCK_SELECTED) - (w->held != CLOCK_SELECTED);
  w->held = cause;
  w->blame = blame;
}

void engine_charge_issue(Engine *e, EngineScheduler *s, int warp) {
  EngineWarp *w = &e->warp[warp];
  settle(e, s, w);
  if (!e->counts) return;
  e->spent[w->pc * CLOCK_CAUSE_COUNT + CLOCK_SELECTED] += e->weight;
  w->since.clocks++;
}

// A clock in which nothing was issued is lost by the warps that stood for a reason of their own, or
// by the instruction that waited for its operands.
void engine_charge_clocks(const Engine *e, EngineScheduler *s, double clocks,
                          ClockOutcome outcome) {
  if (!e->counts) return;
  s->sums.clocks += clocks;
  if (outcome == CLOCK_HELD_UP) {
    const int at = s->pending * CLOCK_CAUSE_COUNT + CLOCK_DISPATCH;
    s->sums.held_up += clocks;
    e->lost[at] += clocks * ENGINE_SHARES * e->weight;
    e->blame[at] = s->pending;
  }
  if (outcome == CLOCK_NOTHING && s->n_own) s->sums.lost += clocks / s->n_own;
}

void engine_weigh(Engine *e, double weight) {
  if (weight == e->weight) return;
  engine_charge_all(e);
  e->weight = weight;
}

void engine_charge_all(Engine *e) {
  for (int i = 0; i < e->n_warps; i++)
    if (e->warp[i].lives) settle(e, engine_scheduler(e, i), &e->warp[i]);
}
