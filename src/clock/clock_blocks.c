// The blocks of one SM, one after the other, played to their end.
//
// Three generations of many blocks are played; those behind take as long as blocks took in the mean
// while every slot was taken, from the first end to the end that leaves a slot empty. Worked
// example, two slots and six blocks, which end at 60, 100, 160, 200, 260 and 290: four ends after
// the first take 200, a block 50. (The second end is no beginning: the third block is half done.)
// A clock in which nothing can happen is passed over: the engine goes to the next thing that is
// due.
#include "base/whole.h"
#include "clock/clock_engine.h"

enum {
  GENERATIONS = 3,
  CLOCKS_MAX = 30 * 1000000,
};

typedef struct Played {
  int blocks;               // that are played
  double first, full, end;  // when the first ended, the last with all slots taken, and the last
} Played;

// Every slot that is free gets the next block; the time that a block takes to begin is waited for
// by its warps.
static void fill_slots(Engine *e, int blocks) {
  for (int slot = 0; slot < e->slots && e->begun < blocks; slot++) {
    if (e->block[slot].lives) continue;
    const bool first = e->begun < e->slots;
    engine_begin_block(e, slot, e->begun % e->in->n_kinds);
    const double begin = e->in->cold ? e->machine->code_begin_clocks : 0;
    const int64_t ready = e->now + (int64_t)(first ? begin : e->machine->block_clocks);
    for (int i = 0; i < e->in->warps; i++) {
      EngineWarp *w = &e->warp[slot * e->in->warps + i];
      w->ready = ready;
      if (first) w->coming = ready;
    }
  }
}

// Charges the clocks that are passed over as the last one was.
static void pass_over(Engine *e, int64_t to) {
  const double n = (double)(to - e->now) * e->weight;
  for (int k = 0; k < e->machine->schedulers; k++) {
    EngineScheduler *s = &e->scheduler[k];
    for (int i = 0; i < s->n; i++) {
      const int warp = s->order[i];
      const int at = e->warp[warp].pc * CLOCK_CAUSE_COUNT + (int)s->held[i];
      e->spent[at] += n;
      e->lost[at] += n / s->n;
      if (e->watch) engine_watch_clock(e, k, warp, e->warp[warp].pc, s->held[i], to - e->now);
    }
  }
  e->now = to;
}

// The clock as it would be with the turns that were left out.
static double time_of(const Engine *e) {
  double more = 0;
  for (int i = 0; i < e->slots; i++) more = e->more[i] > more ? e->more[i] : more;
  return (double)e->now + more;
}

// A clock between the first end and the last with all slots taken stands for those of the blocks
// behind the played ones, too.
static double weight_in_the_middle(const Engine *e, const Played *played) {
  const int behind = e->in->blocks - played->blocks, later = played->blocks - e->slots;
  return later > 0 ? 1 + (double)behind / later : 1;
}

static bool play(Engine *e, Played *played) {
  const bool *enough = e->watch ? &e->watch->ended : NULL;
  while (e->ended < played->blocks && e->now < CLOCKS_MAX && !(enough && *enough)) {
    fill_slots(e, played->blocks);
    const bool any = engine_clock(e);
    if (!(played->first > 0) && e->ended >= 1) played->first = time_of(e);
    if (!(played->full > 0) && e->ended > played->blocks - e->slots) played->full = time_of(e);
    e->weight = played->first > 0 && !(played->full > 0) ? weight_in_the_middle(e, played) : 1;
    if (any || e->ended >= played->blocks) continue;
    const int64_t next = engine_next(e);
    if (next < 0) return false;
    if (next > e->now) pass_over(e, next);
  }
  played->end = time_of(e);
  return e->ended >= played->blocks;
}

static Played begin(Engine *e) {
  e->counts = true;
  e->now = 1;
  return (Played){.blocks = min_int(e->in->blocks, GENERATIONS * e->slots)};
}

void engine_play(Engine *e) {
  Played played = begin(e);
  play(e, &played);
}

ClockStay clock_play_kernel(Arena *arena, const ClockKernel *in) {
  ClockStay out = {.gave_up = true};
  if (in->warps < 1 || in->warps > CLOCK_WARPS_MAX || in->blocks < 1 || in->resident < 1)
    return out;
  Engine *e = engine_new(arena, in);
  Played played = begin(e);
  if (!play(e, &played)) return out;
  const int behind = in->blocks - played.blocks, later = played.blocks - e->slots;
  const double each = later > 0 ? (played.full - played.first) / later : played.end / played.blocks;
  const double clocks = played.end + behind * each;
  out.gave_up = false;
  out.turn = engine_sum_up(arena, e, clocks, 1);
  for (int i = 0; i < in->n_loops && i < CLOCK_MARKS_MAX; i++) {
    const ClockRounds *from = &e->rounds[i];
    out.rounds[i] = (ClockRounds){from->turns, from->turns > 0 ? from->clocks / from->turns : 0};
  }
  return out;
}
