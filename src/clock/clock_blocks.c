// The blocks of one SM, one after the other, played to their end.
//
// Three generations of many blocks are played; those behind take as long as blocks took in the mean
// while every slot was taken, from the first end to the end that leaves a slot empty. As many
// blocks were done in it as its instructions are. Worked example, two slots and six blocks of 100
// instructions, which end at 60, 100, 160, 200, 260 and 290: from 60 to 260 there are 390, which
// are 3.9 blocks, so that a block takes 51.
//
// The last blocks. When all blocks that every SM is sure of have begun, the ones that are left go
// to whoever has a place free first. All SMs do what the played one does, some sooner: the times of
// its ends are those of the others, stretched by anything within the machine's spread. The played
// SM is the foremost, which gets most. Worked example, three slots and 116 blocks for 132 SMs:
//
//   ends at 19.1, 22.7, 22.7: all have one place free before any has two: one block for each of 116
//   ends at 100, 101.5, 103, spread 2 %: the foremost has its second end at 99.5, when 37 in 100
//   have had their first: it gets a second block
//
// A clock in which nothing can happen is passed over: the engine goes to the next thing that is
// due.
#include <math.h>

#include "base/whole.h"
#include "clock/clock_engine.h"

enum {
  GENERATIONS = 3,
  CLOCKS_MAX = 30 * 1000000,
  ENDS_MAX = 2 * CLOCK_WARPS_MAX,
};

typedef struct Ends {
  int n;
  EngineTime at[ENDS_MAX];
} Ends;

typedef struct Played {
  int blocks, behind;           // that are played; that are left out
  EngineTime first, full, end;  // when the first ended, the last with all slots taken, and the last
  double in_the_middle;         // instructions that were issued from `first` to `full`
  Ends ends;                    // since all that are sure have begun
} Played;

// Whether the next block is one of those that are left.
static bool is_left(const Engine *e) { return e->in->left > 0 && e->begun >= e->in->sure; }

// The part of all SMs for which something that the played one did at `then` has happened when the
// foremost of them does what the played one does now.
static double part_of_sms(const Engine *e, double then, double now) {
  const double spread = fmin(e->machine->sm_spread, e->machine->sm_spread_clocks / then);
  if (!(spread > 0)) return then < now;
  const double ahead = now * (1 - spread) / then - 1;
  return fmin(1, fmax(0, (ahead + spread) / (2 * spread)));
}

// The n-th end since all that are sure have begun, counted from 0. Blocks of an SM that do the same
// end one after the other, which the play does not know.
static double end_at(const Engine *e, const Ends *ends, int n) {
  const double apart = e->slots > 1 ? e->machine->slot_spread / (e->slots - 1) : 0;
  return engine_stretched(e, ends->at[n]) * (1 + apart * n);
}

// Whether a slot that is free now gets one of the blocks that are left: fewer of them are given
// away than there are.
static bool gets_one_more(const Engine *e, Ends *ends) {
  if (ends->n == ENDS_MAX) return false;
  const int last = ends->n++;
  ends->at[last] = engine_time(e);
  double given = 0;
  for (int i = 0; i < last; i++) given += part_of_sms(e, end_at(e, ends, i), end_at(e, ends, last));
  return given < e->in->left;
}

// No block is left: where the played SM has more than the others, those that have none leave it
// their share of L2.
static void begin_tail(Engine *e, Played *played) {
  played->blocks = e->begun;
  e->tail = fmax(1, (e->begun - e->in->sure) / e->in->left);
}

// Every slot that is free gets the next block; the time that a block takes to begin is waited for
// by its warps.
static void fill_slots(Engine *e, Played *played) {
  for (int slot = 0; slot < e->slots && e->begun < played->blocks; slot++) {
    if (e->block[slot].lives) continue;
    if (is_left(e) && !gets_one_more(e, &played->ends)) {
      begin_tail(e, played);
      return;
    }
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

// A clock between the first end and the last with all slots taken stands for those of the blocks
// behind the played ones, too.
static double weight_in_the_middle(const Engine *e, const Played *played) {
  const int later = played->blocks - e->slots;
  return later > 0 ? 1 + (double)played->behind / later : 1;
}

static bool play(Engine *e, Played *played) {
  const bool *enough = e->watch ? &e->watch->ended : NULL;
  while (e->ended < played->blocks && e->now < CLOCKS_MAX && !(enough && *enough)) {
    fill_slots(e, played);
    const bool any = engine_clock(e);
    if (!(played->first.clocks > 0) && e->ended >= 1) {
      played->first = engine_time(e);
      played->in_the_middle = -e->issued;
    }
    if (!(played->full.clocks > 0) && e->ended > played->blocks - e->slots) {
      played->full = engine_time(e);
      played->in_the_middle += e->issued;
    }
    const bool is_middle = played->first.clocks > 0 && !(played->full.clocks > 0);
    engine_weigh(e, is_middle ? weight_in_the_middle(e, played) : 1);
    if (any || e->ended >= played->blocks) continue;
    const int64_t next = engine_next(e);
    if (next < 0) return false;
    if (next > e->now) engine_pass_over(e, next);
  }
  played->end = engine_time(e);
  return e->ended >= played->blocks;
}

int clock_blocks_played(const ClockKernel *kernel) {
  const int slots = min_int(kernel->resident, CLOCK_WARPS_MAX / max_int(1, kernel->warps));
  return min_int(kernel->blocks, GENERATIONS * slots);
}

static Played begin(Engine *e) {
  e->counts = true;
  e->now = 1;
  const int blocks = clock_blocks_played(e->in);
  return (Played){.blocks = blocks, .behind = e->in->blocks - blocks};
}

void engine_play(Engine *e) {
  Played played = begin(e);
  play(e, &played);
}

void clock_kernel_blocks(ClockKernel *kernel, int known) {
  const int64_t at_once = kernel->sms * max_int(1, kernel->resident),
                waves = kernel->grid / at_once, left = kernel->grid % at_once;
  kernel->sure = 0;
  kernel->left = 0;
  kernel->blocks = known ? known : (int)ceil_div(kernel->grid, kernel->sms);
  kernel->alone = (double)kernel->sms * kernel->blocks / (double)kernel->grid;
  if (known || waves < 1 || waves >= GENERATIONS || !left || kernel->resident < 2) return;
  kernel->sure = (int)waves * kernel->resident;
  kernel->left = (double)left / (double)kernel->sms;
  kernel->blocks = kernel->sure + kernel->resident;
}

static double done_in_the_middle(const Engine *e, const Played *played) {
  if (!(played->in_the_middle > 0)) return played->blocks - e->slots;
  return played->in_the_middle / e->issued * played->blocks;
}

ClockStay clock_play_kernel(Arena *arena, const ClockKernel *in) {
  ClockStay out = {.gave_up = true};
  if (in->warps < 1 || in->warps > CLOCK_WARPS_MAX || in->blocks < 1 || in->resident < 1)
    return out;
  Engine *e = engine_new(arena, in);
  Played played = begin(e);
  if (!play(e, &played)) return out;
  const double end = engine_stretched(e, played.end),
               middle = engine_stretched(e, played.full) - engine_stretched(e, played.first),
               each = played.blocks > e->slots ? middle / done_in_the_middle(e, &played)
                                               : end / played.blocks,
               clocks = end + played.behind * each;
  out.gave_up = false;
  out.blocks = e->begun + played.behind;
  out.turn = engine_sum_up(arena, e, clocks, 1);
  for (int i = 0; i < in->n_loops && i < CLOCK_MARKS_MAX; i++) {
    const ClockRounds *from = &e->rounds[i];
    out.rounds[i] = (ClockRounds){from->turns, from->turns > 0 ? from->clocks / from->turns : 0};
  }
  return out;
}
