// Warps with their paths, the schedulers of an SM and the facts of a machine → clocks.
//
// Time goes on by one clock. In each clock, first everything due happens (a load comes back and its
// scoreboard falls). Then every scheduler issues at most one instruction, and every warp is charged
// with what it did.
#include "clock/clock_engine.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/whole.h"
#include "sass/sass_access.h"

enum { WARPGROUP = 0x1c5, WAITS_AT = 80 };

static const char *const cause_names[] = {
#define ROW(id, name) name,
    CLOCK_CAUSES(ROW)
#undef ROW
};
const char *clock_cause_name(ClockCause cause) { return cause_names[cause]; }

static const SassInst *inst_of(const Engine *e, int warp) {
  return &e->in->code->inst[e->warp[warp].pc];
}

// ---- whether a warp can issue -------------------------------------------------------------------

// Instructions of a scheduler that wait for the XU, which takes one in a while.
static int wait_for_unit(const Engine *e, const EngineScheduler *s) {
  const double ahead = fmax(0, s->unit_free - (double)e->now);
  return (int)ceil(ahead / e->machine->pipe_clocks[SASS_PIPE_XU]);
}

static bool queue_is_full(const Engine *e, const EngineScheduler *s) {
  if (s->unit_free <= (double)e->now) return s->n_queued >= e->machine->queue;
  return s->n_queued + wait_for_unit(e, s) >= e->machine->queue;
}

// An access that has left the queue reads a register every other clock, and a product that reads
// its own is held up from the first to the last of these clocks, and a little longer; where its
// sums are f16, for a quarter of it. (On an H200, lab/clock/ports.cu: by an LDS for 1.0 to 1.2
// clocks, by an STS for 2 to 3.2, by an STS.128 for 7 to 12. lab/clock/taken.cu: by an LDS for 1.2,
// with f16 sums for 0.3, whether A is kept or not. lab/clock/entries.cu: by an LDS that no lane
// carries out as long as by another.)
static void read_registers(const Engine *e, EngineScheduler *s, const SassInst *inst, int64_t ago) {
  int need[CLOCK_BANKS], all = 0;
  clock_banks_access(inst, need);
  clock_banks_read(&s->banks, need, ago);
  for (int bank = 0; bank < CLOCK_BANKS; bank++) all += need[bank];
  if (s->pipe_free[SASS_PIPE_TENSOR] <= e->now) return;
  s->owed += (2 * max_int(1, all) - 1) * e->machine->product_hold_clocks * s->banks.product_weight;
  const int clocks = (int)s->owed;
  s->pipe_free[SASS_PIPE_TENSOR] += clocks;
  s->owed -= clocks;
}

// Instructions leave in their order.
static void empty_queue(const Engine *e, EngineScheduler *s) {
  while (s->n_queued && s->leaves[s->oldest] <= e->now) {
    const SassInst *inst = &e->in->code->inst[s->queued[s->oldest]];
    const int64_t ago = max64(0, e->now - s->leaves[s->oldest] - 1);
    if (!e->in->banks_are_free) read_registers(e, s, inst, ago);
    s->n_far -= inst->opcode->pipe == SASS_PIPE_FAR;
    s->oldest = (s->oldest + 1) % CLOCK_QUEUE_MAX;
    s->n_queued--;
  }
}

// BAR.SYNC.DEFER_BLOCKING lets arithmetic of its warp go on: the warp stops at the first
// instruction behind it that goes to memory, to a constant or elsewhere. (Samples of 14 kernels on
// an H200, 31 barriers: reason `barrier` stands at the first LDS, LDSM, STL, LDC, SHFL, BRA, BSSY
// or NOP, up to 127 FFMA and 65 HMMA behind the BAR, and at none of what is between.)
static bool heeds_barrier(const SassInst *inst) {
  switch (inst->opcode->pipe) {
    case SASS_PIPE_FMA:
    case SASS_PIPE_FMA_HEAVY:
    case SASS_PIPE_ALU:
    case SASS_PIPE_HALF:
    case SASS_PIPE_TENSOR:
      return false;
    case SASS_PIPE_UNIFORM:
      return inst->opcode->kind == SASS_KIND_LOAD;
    default:
      return true;
  }
}

static bool is_at_barrier(const Engine *e, const EngineWarp *w, const SassInst *inst) {
  return (w->waits || w->let_go > e->now) && heeds_barrier(inst);
}

// Arithmetic waits for its operands and its pipe alone.
static bool is_plain(const SassInst *inst) {
  return !heeds_barrier(inst) && inst->opcode->pipe != SASS_PIPE_UNIFORM;
}

// The scoreboard that a DEPBAR in front of the instruction waits for; -1: none. The DEPBAR itself
// is issued at once: the profiler's samples stand at the instruction behind it.
static int drains(const Engine *e, const EngineWarp *w) {
  if (!w->drains) return -1;
  const SassInst *before = &e->in->code->inst[w->before];
  return w->open[before->scoreboard] > before->at_most ? before->scoreboard : -1;
}

// The scoreboard that the instruction waits for; -1: none.
static int waits_for(const Engine *e, const EngineWarp *w, const SassInst *inst) {
  const unsigned waits = inst->wait & w->is_open;
  return waits ? __builtin_ctz(waits) : drains(e, w);
}

// WARPGROUP.DEPBAR waits until at most its number of groups of wgmma are under way; a warp that has
// been let go forgets the groups that are done.
static bool waits_for_groups(const Engine *e, const EngineWarp *w, const SassInst *inst) {
  if (inst->opcode->bits != WARPGROUP || !(inst->high >> (WAITS_AT - 64) & 1)) return false;
  const int at_most = (int)(inst->high >> 8 & 15);
  int under_way = 0;
  for (int i = 0; i < w->n_groups; i++) under_way += w->group[i] > e->now;
  return under_way > at_most;
}

// The queue in front of the shared pipe and of L1 is full. Where accesses to L1 alone stand in it,
// it is L1 that takes no more: of a load the profiler says so. (tf32/bt on an H200: 44,812 samples
// of its first LDG are mio_throttle and 704 lg_throttle, for LDSM and STS fill the queue.)
static ClockCause cause_of_queue(const EngineScheduler *s, const SassInst *inst) {
  const bool far = inst->opcode->pipe == SASS_PIPE_FAR && s->n_far == s->n_queued;
  return far ? CLOCK_LG : CLOCK_MIO;
}

// Whether so much waits to be written that no store is taken any more.
static bool stores_are_full(const Engine *e, const SassInst *inst) {
  return inst->opcode->kind == SASS_KIND_STORE && inst->opcode->pipe == SASS_PIPE_FAR &&
         !sass_is_local(inst) && e->store_free > (double)e->now + e->machine->store_queue_clocks;
}

// FFMA goes to the half of the FMA pipe that is free; IMAD has one of them alone, which it waits
// for while FFMA are issued. (First IMAD of the loops of fp32/staging and launch_bounds, H200: 14
// and 20 clocks of math_pipe_throttle.)
static SassPipe pipe_of(const Engine *e, const EngineScheduler *s, const SassInst *inst) {
  const SassPipe pipe = inst->opcode->pipe;
  if (pipe != SASS_PIPE_FMA || s->pipe_free[SASS_PIPE_FMA] <= e->now) return pipe;
  return SASS_PIPE_FMA_HEAVY;
}

// Each half takes two clocks for what both do in one.
static int busy_clocks(const Engine *e, const SassInst *inst) {
  const int clocks = engine_pipe_clocks(e->machine, inst);
  return inst->opcode->pipe == SASS_PIPE_FMA ? 2 * clocks : clocks;
}

// Why a warp stands, the scoreboard that it waits for, and the clock until which nothing of that
// changes unless it is woken.
typedef struct Hold {
  ClockCause cause;
  int scoreboard;  // -1: none
  int64_t until;
} Hold;

static Hold until(int64_t clock, ClockCause cause) { return (Hold){cause, -1, clock}; }

static Hold until_groups(const Engine *e, const EngineWarp *w) {
  int64_t next = INT64_MAX;
  for (int i = 0; i < w->n_groups; i++)
    if (w->group[i] > e->now) next = min64(next, w->group[i]);
  return until(next, CLOCK_BARRIER);
}

// A place in the queue is free when the oldest instruction leaves it; what waits for the XU goes on
// in between.
static Hold until_queue(const Engine *e, const EngineScheduler *s, ClockCause cause) {
  const bool waits = s->unit_free > (double)e->now;
  return until(waits || !s->n_queued ? e->now + 1 : s->leaves[s->oldest], cause);
}

static int64_t pipe_free_at(const EngineScheduler *s, SassPipe pipe) {
  const int64_t at = s->pipe_free[pipe];
  return pipe == SASS_PIPE_FMA ? min64(at, s->pipe_free[SASS_PIPE_FMA_HEAVY]) : at;
}

// The reason where the instruction is no arithmetic. The profiler counts waiting for wgmma as
// waiting at a barrier.
static Hold hold_elsewhere(const Engine *e, const EngineScheduler *s, const EngineWarp *w,
                           const SassInst *inst) {
  if (waits_for_groups(e, w, inst)) return until_groups(e, w);
  if (inst->opcode->kind == SASS_KIND_EXIT && e->store_free > (double)e->now)
    return until((int64_t)ceil(e->store_free), CLOCK_DRAIN);
  if (inst->opcode->pipe == SASS_PIPE_XU && queue_is_full(e, s))
    return until_queue(e, s, CLOCK_MIO);
  if (engine_is_queued(inst) && queue_is_full(e, s))
    return until_queue(e, s, cause_of_queue(s, inst));
  if (stores_are_full(e, inst))
    return until((int64_t)ceil(e->store_free - e->machine->store_queue_clocks), CLOCK_LG);
  return until(e->now, CLOCK_SELECTED);
}

// The reason that holds the warp back, register banks aside; CLOCK_SELECTED: nothing does.
static Hold hold(const Engine *e, const EngineScheduler *s, int warp) {
  const EngineWarp *w = &e->warp[warp];
  const SassInst *inst = inst_of(e, warp);
  if (w->coming > e->now) return until(w->coming, CLOCK_NO_INSTRUCTION);
  if (w->ready > e->now) return until(w->ready, CLOCK_WAIT);
  if (w->aside > e->now) return until(w->aside, CLOCK_WAIT);
  if (is_at_barrier(e, w, inst)) return until(w->waits ? INT64_MAX : w->let_go, CLOCK_BARRIER);
  const int scoreboard = waits_for(e, w, inst);
  if (scoreboard >= 0) return (Hold){w->reason[scoreboard], scoreboard, INT64_MAX};
  if (!is_plain(inst)) {
    const Hold elsewhere = hold_elsewhere(e, s, w, inst);
    if (elsewhere.cause != CLOCK_SELECTED) return elsewhere;
  }
  if (engine_waits_for_ports(e, s, inst)) return until(s->dispatch_free, CLOCK_DISPATCH);
  const int64_t free_at = pipe_free_at(s, inst->opcode->pipe);
  return free_at > e->now ? until(free_at, CLOCK_MATH_PIPE) : until(e->now, CLOCK_SELECTED);
}

// An instruction of the loop that is cut stands for those that were left out, too.
static double weight_of(const Engine *e, int i) {
  const int cut = e->in->cut_loop;
  const bool inside = cut >= 0 && i >= e->in->loop[cut].first && i <= e->in->loop[cut].last;
  return inside ? 1 + e->in->cut_turns / e->in->kept_turns : 1;
}

// ---- going on -----------------------------------------------------------------------------------

static void add_round(ClockRounds *to, double clocks) {
  to->turns++;
  to->clocks += clocks;
}

static void note_round(Engine *e, int warp, int loop) {
  EngineWarp *w = &e->warp[warp];
  const bool is_cut = loop == e->in->cut_loop, goes_on = w->round[loop] > 0;
  const double clocks = goes_on ? (double)(e->now - w->round[loop]) : 0;
  if (goes_on) add_round(&e->rounds[loop], clocks);
  if (is_cut && !goes_on) engine_cut_count(e, 0, -1);
  if (is_cut) engine_cut_turn(e, warp, clocks);
  w->round[loop] = e->now;
  w->turns += loop == 0;
  e->changes += loop == 0 && e->slowest >= 0;  // it may have run away
  if (e->watch) engine_watch_round(e, warp, loop);
}

void engine_note_slowest(Engine *e) {
  if (e->slowest_noted == e->changes) return;
  e->slowest = e->warp[0].turns;
  for (int i = 1; i < e->n_warps; i++) e->slowest = min_int(e->slowest, e->warp[i].turns);
  e->slowest_noted = e->changes;
}

static void end_warp(Engine *e, int warp) {
  EngineBlock *block = &e->block[warp / e->in->warps];
  e->warp[warp].lives = false;
  engine_scheduler(e, warp)->n_own -= e->warp[warp].held != CLOCK_SELECTED;
  e->changes++;
  engine_cut_count(e, -1, -1);
  if (--block->n_live > 0) return;
  block->lives = false;
  e->ended++;
}

// The next round does not belong to this stay.
static void leave_loop(Engine *e, int warp, int loop) {
  if (loop == e->in->cut_loop && e->warp[warp].round[loop]) engine_cut_count(e, 0, 1);
  e->warp[warp].round[loop] = 0;
  if (e->watch) engine_watch_leave(e, warp, loop);
}

// To the next instruction of its way.
static void go_on(Engine *e, int warp) {
  EngineWarp *w = &e->warp[warp];
  const SassStretch *here = &w->way->stretch[w->stretch];
  const int from = w->pc, loop = e->loop_at[from];
  if (w->pc < here->last) {
    if (loop >= 0) leave_loop(e, warp, loop);  // its branch was not taken
    w->pc++;
    engine_fetch_line(e, engine_scheduler(e, warp), w, from);
    return;
  }
  if (++w->stretch >= w->way->n_stretches) {
    end_warp(e, warp);
    return;
  }
  const int to = w->way->stretch[w->stretch].first;
  if (to != w->pc + 1) w->ready += e->machine->branch_clocks;
  if (loop >= 0) {
    if (to == e->in->loop[loop].first)
      note_round(e, warp, loop);
    else
      leave_loop(e, warp, loop);
  }
  w->pc = to;
  engine_fetch_line(e, engine_scheduler(e, warp), w, from);
}

static void issue(Engine *e, EngineScheduler *s, int warp) {
  EngineWarp *w = &e->warp[warp];
  const SassInst *inst = inst_of(e, warp);
  w->ready = e->now + max_int(inst->stall, 1);
  w->aside = e->now + 1 + inst->yields;
  w->issued_at = e->now;
  e->issued += weight_of(e, w->pc);
  engine_carry_out(e, s, warp);
  const SassPipe pipe = pipe_of(e, s, inst);
  s->pipe_free[pipe] = e->now + busy_clocks(e, inst);
  s->pipe_user[pipe] = w->before = w->pc;
  w->drains = inst->opcode->kind == SASS_KIND_DEPBAR && inst->scoreboard < SASS_SCOREBOARDS;
  s->last = warp;
  s->yields = inst->yields;
  go_on(e, warp);
}

// ---- a scheduler's clock ------------------------------------------------------------------------

static bool runs_away(const Engine *e, int warp) {
  return e->slowest >= 0 && e->warp[warp].turns > e->slowest + 1;
}

// The warps that have run away from the slowest come behind all: a scheduler that prefers one would
// never come to the others. The oldest block comes first. (Two blocks of an SM on an H200, begin
// and end of each: hgemm/register_buffer takes 93,000 and 139,000 clocks; the next one in the place
// of the first 115,000, for it is the younger one until the other ends.)
static int rank_of(const Engine *e, int warp) {
  return runs_away(e, warp) ? INT_MAX : e->warp[warp].block;
}

static void order_warps(const Engine *e, EngineScheduler *s, int which) {
  if (s->ordered == e->changes) return;
  s->ordered = e->changes;
  s->n = 0;
  for (int warp = which; warp < e->n_warps; warp += e->machine->schedulers) {
    if (!e->warp[warp].lives) continue;
    int at = s->n++;
    for (; at > 0 && rank_of(e, warp) < rank_of(e, s->order[at - 1]); at--)
      s->order[at] = s->order[at - 1];
    s->order[at] = warp;
  }
}

static void watch(Engine *e, const EngineScheduler *s, int which, int chosen, bool is_held_up,
                  int64_t clocks) {
  for (int i = 0; i < s->n; i++) {
    const EngineWarp *w = &e->warp[s->order[i]];
    const ClockCause cause = s->order[i] == chosen       ? CLOCK_SELECTED
                             : w->held != CLOCK_SELECTED ? w->held
                             : is_held_up                ? CLOCK_DISPATCH
                                                         : CLOCK_NOT_SELECTED;
    engine_watch_clock(e, which, s->order[i], w->pc, cause, clocks);
  }
}

static bool gives_operands(Engine *e, EngineScheduler *s, int warp, int pc) {
  const SassInst *inst = &e->in->code->inst[pc];
  const bool is_product = inst->opcode->pipe == SASS_PIPE_TENSOR;
  const int window = is_product ? engine_pipe_clocks(e->machine, inst) : e->machine->read_window;
  return engine_is_queued(inst) || e->in->banks_are_free ||
         clock_banks_give(&s->banks, warp, inst, window);
}

// Whether the warp can go. One that sleeps is not looked at.
static inline bool can_go(Engine *e, EngineScheduler *s, int warp) {
  int64_t *asleep = &s->asleep[warp];
  if (*asleep <= e->now) {
    const Hold why = hold(e, s, warp);
    engine_hold(e, s, warp, why.cause, why.scoreboard);
    *asleep = why.until;
  }
  s->wakes = min64(s->wakes, *asleep);
  return *asleep <= e->now;
}

// The warp that is issued; -1: none can go. The one that was issued last goes on unless it has
// yielded or run away. Then it is the turn of the oldest block with a warp that can go, and in it
// of the warp that has issued nothing for longest. The reasons of the others are asked for where
// somebody counts them. (lab/clock/turns.cu on an H200: four warps of a scheduler with LOP3, some
// of which yield, end behind 7.9, 8.1, 8.2 and 8.3 clocks an instruction where they are of one
// block, and behind 2.5, 4.6, 6.6 and 8.5 where they are of four.)
static int find_first(Engine *e, EngineScheduler *s, int which) {
  const bool asks_all = e->counts || e->watch;
  order_warps(e, s, which);
  s->wakes = INT64_MAX;
  const bool goes_on = s->last >= 0 && e->warp[s->last].lives && !s->yields &&
                       !runs_away(e, s->last) && can_go(e, s, s->last);
  int turn = goes_on ? s->last : -1;
  for (int i = 0; i < s->n && (asks_all || !goes_on); i++) {
    const int warp = s->order[i];
    const bool is_later = turn >= 0 && rank_of(e, warp) != rank_of(e, turn);
    if (is_later && !asks_all) break;
    if (!can_go(e, s, warp) || is_later || goes_on) continue;
    if (turn < 0 || e->warp[warp].issued_at < e->warp[turn].issued_at) turn = warp;
  }
  return turn;
}

// A warp that has issued need not be looked at before its stall is over.
static void sleep_until_ready(Engine *e, EngineScheduler *s, int warp) {
  const EngineWarp *w = &e->warp[warp];
  if (!w->lives || w->coming > e->now || w->ready <= e->now + 1) return;
  engine_hold(e, s, warp, CLOCK_WAIT, -1);
  s->asleep[warp] = w->ready;
}

// A clock in which the instruction that was issued last waits for its operands: nothing is issued,
// and the stalls of all warps of the scheduler stand still. (lab/clock/frozen.cu on an H200, and
// FFMA of one bank whose control words were edited: where one is issued every third clock and holds
// up the scheduler for one, FFMA of another warp that wait for each other take 5.4 clocks, not 4.)
static void stand_still(Engine *e, EngineScheduler *s) {
  const SassInst *inst = &e->in->code->inst[s->pending];
  s->pipe_free[inst->opcode->pipe]++;
  for (int i = 0; i < s->n; i++) {
    const int warp = s->order[i];
    EngineWarp *w = &e->warp[warp];
    if (w->ready <= e->now) continue;
    if (s->asleep[warp] == w->ready) s->asleep[warp]++;
    w->ready++;
  }
  if (gives_operands(e, s, s->pending_warp, s->pending)) s->pending = -1;
}

static void issue_chosen(Engine *e, EngineScheduler *s, int warp) {
  const int pc = e->warp[warp].pc;
  if (e->in->code->inst[pc].opcode->pipe == SASS_PIPE_TENSOR) {
    s->product_before = s->product_at;
    s->product_at = e->now;
  }
  if (!gives_operands(e, s, warp, pc)) {
    s->pending = pc;
    s->pending_warp = warp;
  }
  issue(e, s, warp);
  sleep_until_ready(e, s, warp);
}

static bool run_scheduler(Engine *e, int which) {
  EngineScheduler *s = &e->scheduler[which];
  empty_queue(e, s);
  const bool is_held_up = s->pending >= 0;
  const int first = s->wakes <= e->now ? find_first(e, s, which) : -1;
  const int chosen = is_held_up ? -1 : first;
  if (e->watch) watch(e, s, which, chosen, is_held_up, 1);
  if (chosen >= 0) engine_charge_issue(e, s, chosen);
  engine_charge_clocks(e, s, 1,
                       is_held_up    ? CLOCK_HELD_UP
                       : chosen >= 0 ? CLOCK_ISSUED
                                     : CLOCK_NOTHING);
  if (first >= 0 || is_held_up) s->wakes = e->now + 1;
  if (is_held_up) stand_still(e, s);
  if (chosen >= 0) issue_chosen(e, s, chosen);
  clock_banks_tick(&s->banks, 1);
  return first >= 0 || is_held_up;
}

void engine_pass_over(Engine *e, int64_t to) {
  for (int i = 0; i < e->machine->schedulers; i++) {
    EngineScheduler *s = &e->scheduler[i];
    if (e->watch) watch(e, s, i, -1, false, to - e->now);
    engine_charge_clocks(e, s, (double)(to - e->now), CLOCK_NOTHING);
    clock_banks_tick(&s->banks, to - e->now);
  }
  e->now = to;
}

bool engine_clock(Engine *e) {
  bool any = false;
  engine_let_happen(e);
  for (int i = 0; i < e->machine->schedulers; i++) any |= run_scheduler(e, i);
  e->now++;
  return any;
}

// ---- begin and end ------------------------------------------------------------------------------

static const int *find_loops(Arena *arena, const ClockKernel *in) {
  int *at = ARENA_ARRAY(arena, int, in->code->n + 1);
  for (int i = 0; i <= in->code->n; i++) at[i] = -1;
  for (int i = 0; i < in->n_loops && i < CLOCK_MARKS_MAX; i++) at[in->loop[i].last] = i;
  return at;
}

Engine *engine_new(Arena *arena, const ClockKernel *in) {
  Engine *e = ARENA_NEW(arena, Engine);
  e->in = in;
  e->machine = in->machine;
  e->slots = min_int(in->resident, CLOCK_WARPS_MAX / in->warps);
  e->n_warps = e->slots * in->warps;
  e->now = 1;
  e->slowest = -1;
  e->weight = e->tail = 1;
  e->due = ARENA_ARRAY(arena, EngineDue, ENGINE_DUE_MAX);
  e->wheel = ARENA_ARRAY(arena, int, ENGINE_WHEEL);
  e->landing = ARENA_ARRAY(arena, EngineLanding, ENGINE_LANDINGS);
  e->free_due = -1;
  e->due_at = ARENA_ARRAY(arena, uint64_t, ENGINE_WHEEL / 64);
  for (int i = 0; i < ENGINE_WHEEL; i++) e->wheel[i] = -1;
  for (int i = 0; i < e->machine->schedulers; i++) {
    e->scheduler[i].last = e->scheduler[i].ordered = -1;
    for (int pipe = 0; pipe < SASS_PIPE_COUNT; pipe++) e->scheduler[i].pipe_user[pipe] = -1;
    e->scheduler[i].pending = -1;
    clock_banks_begin(&e->scheduler[i].banks);
    e->scheduler[i].code.seen = ARENA_ARRAY(arena, bool, in->code->n + 1);
    e->scheduler[i].code.comes = ARENA_ARRAY(arena, double, in->code->n + 1);
  }
  e->loop_at = find_loops(arena, in);
  e->spent = ARENA_ARRAY(arena, double, in->code->n *CLOCK_CAUSE_COUNT + 1);
  e->lost = ARENA_ARRAY(arena, double, in->code->n *CLOCK_CAUSE_COUNT + 1);
  e->blame = ARENA_ARRAY(arena, int, in->code->n *CLOCK_CAUSE_COUNT + 1);
  e->fetch = ARENA_ARRAY(arena, EngineFetch, e->slots * in->code->n + 1);
  e->came = ARENA_ARRAY(arena, int, e->n_warps * in->code->n + 1);
  e->owed = ARENA_ARRAY(arena, double, in->code->n + 1);
  e->fetched = ARENA_ARRAY(arena, bool, in->code->n + 1);
  e->new_owed = ARENA_ARRAY(arena, double, in->code->n + 1);
  e->dram_owed = ARENA_ARRAY(arena, double, in->code->n + 1);
  return e;
}

void engine_begin_block(Engine *e, int slot, int kind) {
  EngineBlock *block = &e->block[slot];
  *block = (EngineBlock){.lives = true, .in_step = e->begun < e->slots || e->slots == 1};
  const size_t n = (size_t)e->in->code->n;
  memset(e->fetch + (size_t)slot * n, 0, n * sizeof *e->fetch);
  memset(e->came + (size_t)(slot * e->in->warps) * n, 0,
         n * (size_t)e->in->warps * sizeof *e->came);
  for (int i = 0; i < e->in->warps; i++) {
    const SassWay *way = &e->in->kind[kind].way[i];
    EngineWarp *w = &e->warp[slot * e->in->warps + i];
    *w = (EngineWarp){.way = way, .block = e->begun, .before = -1, .ready = e->now};
    w->lives = way->n_stretches > 0;
    if (!w->lives) continue;
    w->pc = way->stretch[0].first;
    w->blame = -1;
    w->since = engine_scheduler(e, slot * e->in->warps + i)->sums;
    engine_wake(e, slot * e->in->warps + i);
    block->n_live++;
  }
  engine_cut_count(e, block->n_live, block->n_live);
  e->begun++;
  e->changes++;
}

// The first clock from now on at which something of the wheel is due; -1: nothing is.
static int64_t next_due(const Engine *e) {
  enum { BITS = 64, WORDS = ENGINE_WHEEL / BITS };
  const int first = (int)(e->now % ENGINE_WHEEL);
  for (int i = 0; i <= WORDS; i++) {
    const int word = (first / BITS + i) % WORDS;
    uint64_t bits = e->due_at[word];
    if (i == 0) bits &= ~UINT64_C(0) << first % BITS;
    if (i == WORDS) bits &= (UINT64_C(1) << first % BITS) - 1;
    if (bits)
      return e->now + (word * BITS + __builtin_ctzll(bits) - first + ENGINE_WHEEL) % ENGINE_WHEEL;
  }
  return -1;
}

int64_t engine_next(const Engine *e) {
  int64_t next = INT64_MAX;
  for (int i = 0; i < e->machine->schedulers; i++) next = min64(next, e->scheduler[i].wakes);
  for (int i = 0; i < e->n_landings; i++) next = min64(next, e->landing[i].at);
  const int64_t due = next_due(e);
  if (due >= 0) next = min64(next, due);
  return next == INT64_MAX ? -1 : max64(next, e->now);
}

// For instruction i: its share of the lost clocks, and the cause that takes most of it.
static void sum_up_one(const Engine *e, int i, double per, ClockTurn *out, double *lost,
                       ClockCause *cause, int *blame) {
  const double *row = e->lost + i * CLOCK_CAUSE_COUNT;
  double shares = 0;
  for (int k = 0; k < CLOCK_CAUSE_COUNT; k++) {
    shares += row[k];
    out->lost_to[k] += row[k] / ENGINE_SHARES * per;
    if (row[k] > row[cause[i]]) cause[i] = (ClockCause)k;
  }
  lost[i] = shares / ENGINE_SHARES * per;
  blame[i] = row[cause[i]] > 0 ? e->blame[i * CLOCK_CAUSE_COUNT + (int)cause[i]] : -1;
}

// `per`: the number of turns counted together; the answer is for one of them.
ClockTurn engine_sum_up(Arena *arena, Engine *e, double clocks, double per) {
  engine_charge_all(e);
  const int n = e->in->code->n;
  ClockTurn out = {.clocks = clocks};
  double *lost = ARENA_ARRAY(arena, double, n + 1), *executed = ARENA_ARRAY(arena, double, n + 1),
         *stood = ARENA_ARRAY(arena, double, n + 1);
  ClockCause *cause = ARENA_ARRAY(arena, ClockCause, n + 1);
  int *blame = ARENA_ARRAY(arena, int, n + 1);
  double issued = 0;
  for (int i = 0; i < n; i++) {
    const double weight = per * weight_of(e, i), *row = e->spent + i * CLOCK_CAUSE_COUNT;
    sum_up_one(e, i, weight / e->machine->schedulers, &out, lost, cause, blame);
    executed[i] = row[CLOCK_SELECTED] * weight;
    issued += executed[i];
    for (int k = 0; k < CLOCK_CAUSE_COUNT; k++) {
      out.stalls[k] += row[k] * weight;
      if (k != CLOCK_SELECTED && k != CLOCK_NOT_SELECTED)
        stood[i] += row[k] * weight / e->machine->schedulers;
    }
  }
  for (int k = 0; k < CLOCK_CAUSE_COUNT && issued > 0; k++) out.stalls[k] /= issued;
  out.issued = issued / e->machine->schedulers;
  out.executed = executed;
  out.lost = lost;
  out.stood = stood;
  out.cause = cause;
  out.blame = blame;
  return out;
}
