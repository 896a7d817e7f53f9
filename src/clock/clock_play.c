// A loop → a way that goes round it, and the clocks of a turn.
//
// Branches forwards are taken where nothing guards them: a guard is there for edges and last turns.
// Results are taken between the turn in which the pipes are full, WARM, and the last.
#include "base/whole.h"
#include "clock/clock_engine.h"

enum {
  TURNS = 8,             // that each warp goes
  WARM = 3,              // of them before anything is counted
  MORE = 5,              // times TURNS: the most that a warp goes before the slowest is done
  CLOCKS_MAX = 1000000,  // until a loop that goes nowhere is given up
  STRETCHES_MAX = 100000,
  ALWAYS = 7,
};

// ---- the way ------------------------------------------------------------------------------------

typedef struct Walk {
  const ClockLoop *in;
  int pc, first, n, trips[CLOCK_INNER_MAX];
  SassStretch *stretch;
} Walk;

// Whether the branch that a loop inside ends with is taken.
static bool goes_back(Walk *walk) {
  for (int i = 0; i < walk->in->n_inner; i++) {
    const ClockInner *inner = &walk->in->inner[i];
    if (walk->pc != inner->loop.last) continue;
    if (++walk->trips[i] < inner->trips) return true;
    walk->trips[i] = 0;
  }
  return false;
}

static void end_stretch(Walk *walk, int next) {
  if (walk->stretch) walk->stretch[walk->n] = (SassStretch){walk->first, walk->pc};
  walk->n++;
  walk->pc = walk->first = next;
}

static void walk_turn(Walk *walk) {
  const SassLoop *loop = &walk->in->loop;
  walk->pc = walk->first = loop->first;
  while (walk->pc < loop->last && walk->n < STRETCHES_MAX) {
    const SassInst *inst = &walk->in->code->inst[walk->pc];
    const bool jumps =
        inst->target > walk->pc && inst->target <= loop->last && inst->guard == ALWAYS;
    if (jumps || goes_back(walk))
      end_stretch(walk, inst->target);
    else
      walk->pc++;
  }
  end_stretch(walk, loop->first);
}

static SassWay way_round(Arena *arena, const ClockLoop *in) {
  Walk turn = {.in = in}, all = {.in = in};
  walk_turn(&turn);
  all.stretch = ARENA_ARRAY(arena, SassStretch, (turn.n + 1) * TURNS * MORE);
  for (int i = 0; i < TURNS * MORE && all.n < STRETCHES_MAX; i++) walk_turn(&all);
  return (SassWay){.n_stretches = all.n, .stretch = all.stretch};
}

// ---- the play -----------------------------------------------------------------------------------

static ClockKernel kernel_of(Arena *arena, const ClockLoop *in) {
  SassWay *way = ARENA_ARRAY(arena, SassWay, in->warps);
  ClockBlock *block = ARENA_NEW(arena, ClockBlock);
  const SassWay one = way_round(arena, in);
  for (int i = 0; i < in->warps; i++) way[i] = one;
  block->way = way;
  double *share = ARENA_ARRAY(arena, double, in->code->n + 1);
  for (int i = 0; i < in->code->n; i++) share[i] = 1;
  return (ClockKernel){.machine = in->machine,
                       .code = in->code,
                       .wavefronts = in->wavefronts,
                       .lines = ARENA_ARRAY(arena, double, in->code->n + 1),
                       .far_bytes = in->far_bytes,
                       .far_share = share,
                       .warps = in->warps,
                       .n_kinds = 1,
                       .kind = block,
                       .blocks = in->blocks,
                       .resident = in->blocks,
                       .n_loops = 1,
                       .cut_loop = -1,
                       .loop = &in->loop,
                       .banks_are_free = in->banks_are_free,
                       .loads_are_near = in->loads_are_near};
}

// Turns of all warps, the one under way in parts.
static double progress(const Engine *e, const SassLoop *loop) {
  const double length = loop->last - loop->first + 1;
  double turns = 0;
  for (int i = 0; i < e->n_warps; i++)
    turns += e->warp[i].turns + (e->warp[i].pc - loop->first) / length;
  return turns;
}

ClockTurn clock_play(Arena *arena, const ClockLoop *in) {
  if (in->loop.last < in->loop.first || in->warps * in->blocks < 1 || in->warps > CLOCK_WARPS_MAX)
    return (ClockTurn){0};
  ClockKernel *kernel = ARENA_NEW(arena, ClockKernel);
  *kernel = kernel_of(arena, in);
  Engine *e = engine_new(arena, kernel);
  int64_t from = 0;
  double before = 0;
  for (int i = 0; i < e->slots; i++) engine_begin_block(e, i, 0);
  for (e->slowest = 0; e->now < CLOCKS_MAX && e->slowest < TURNS && !e->ended;) {
    if (!from && e->slowest >= WARM) {
      e->counts = !in->only_clocks;
      from = e->now;
      before = progress(e, &in->loop);
    }
    engine_clock(e);
    engine_note_slowest(e);
  }
  if (!from || e->slowest < TURNS) return (ClockTurn){0};
  const double turns = (progress(e, &in->loop) - before) / e->n_warps;
  const double clocks = (double)(e->now - from) / turns;
  if (in->only_clocks) return (ClockTurn){.clocks = clocks};
  ClockTurn out = engine_sum_up(arena, e, clocks, 1 / turns);
  for (int i = 0; i < in->code->n; i++) ((double *)(void *)out.executed)[i] /= e->n_warps;
  return out;
}
