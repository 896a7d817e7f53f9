// A loop's instructions, the warps of an SM and the facts of a machine → the clocks of a turn.
//
// Time goes on by one clock. In each, first what is due happens (a load comes back and its
// scoreboard falls), then every scheduler issues at most one instruction, and every warp is charged
// with what it did. Results are taken between the turn in which the pipes are full, WARM, and the
// last.
#include <assert.h>
#include <string.h>

#include "base/whole.h"
#include "clock/clock_banks.h"
#include "clock/clock_loop.h"

enum {
  TURNS = 8,             // that each warp runs
  WARM = 3,              // of them before anything is counted
  CLOCKS_MAX = 1000000,  // until a loop that goes nowhere is given up
  WHEEL = 8192,          // clocks ahead that something may be due
  DUE_MAX = 1 << 14,     // scoreboards that are open at once
  ALWAYS = 7,            // the guard of what no predicate guards
};

static const char *const cause_names[] = {
#define ROW(id, name) name,
    CLOCK_CAUSES(ROW)
#undef ROW
};
const char *clock_cause_name(ClockCause cause) { return cause_names[cause]; }

// A scoreboard that falls at a clock; the others of the same clock are behind `next`.
typedef struct Due {
  int warp, scoreboard, next;
} Due;

typedef struct Warp {
  int pc, turn;
  int trips[CLOCK_INNER_MAX];  // gone in each loop inside
  int64_t ready;               // the clock at which its stall is over
  int open[SASS_SCOREBOARDS];
  int64_t back[SASS_SCOREBOARDS];  // results of one scoreboard come back in order
  bool is_far[SASS_SCOREBOARDS];
  bool waits;  // at the barrier
} Warp;

typedef struct Scheduler {
  int last;  // the warp that it issued last; -1: none
  int64_t pipe_free[SASS_PIPE_COUNT];
  int64_t leaves[CLOCK_QUEUE_MAX];  // when the instructions in its queue leave it
  int next_leaves;
  int64_t queue_free;  // the first clock at which another may leave
  ClockBanks banks;
  int order[CLOCK_WARPS_MAX], n;  // its warps, the one that is asked first in front
} Scheduler;

typedef struct Play {
  const ClockLoop *in;
  const ClockMachine *machine;
  int n_warps;
  int64_t now;
  Warp warp[CLOCK_WARPS_MAX];
  Scheduler scheduler[CLOCK_SCHEDULERS_MAX];
  double shared_free;  // when the shared pipe is free
  double far_free;     // when L2 has given what it was asked for
  Due *due;
  int n_due, free_due, wheel[WHEEL];
  bool counts;
  double issued, stalls[CLOCK_CAUSE_COUNT];
  double *lost;  // [instruction][cause]: clocks in which a scheduler issued nothing
} Play;

static const SassInst *inst_of(const Play *p, int warp) {
  return &p->in->code->inst[p->warp[warp].pc];
}

static bool is_queued(const SassInst *inst) {
  return inst->opcode->pipe == SASS_PIPE_SHARED || inst->opcode->pipe == SASS_PIPE_FAR;
}

// ---- scoreboards --------------------------------------------------------------------------------

static int new_due(Play *p) {
  const int slot = p->free_due;
  if (slot < 0) return p->n_due < DUE_MAX ? p->n_due++ : -1;
  p->free_due = p->due[slot].next;
  return slot;
}

static void open_scoreboard(Play *p, int warp, int scoreboard, double at, bool far) {
  if (scoreboard >= SASS_SCOREBOARDS) return;
  Warp *w = &p->warp[warp];
  int64_t when = (int64_t)(at + 0.5);
  when = when > p->now ? when : p->now + 1;
  when = when > w->back[scoreboard] ? when : w->back[scoreboard];
  when = when < p->now + WHEEL ? when : p->now + WHEEL - 1;
  const int slot = new_due(p);
  if (slot < 0) return;
  int *head = &p->wheel[when % WHEEL];
  p->due[slot] = (Due){warp, scoreboard, *head};
  *head = slot;
  w->back[scoreboard] = when;
  w->open[scoreboard]++;
  w->is_far[scoreboard] = far;
}

static void let_happen(Play *p) {
  int *head = &p->wheel[p->now % WHEEL];
  while (*head >= 0) {
    const int slot = *head;
    Due *due = &p->due[slot];
    p->warp[due->warp].open[due->scoreboard]--;
    *head = due->next;
    due->next = p->free_due;
    p->free_due = slot;
  }
}

// ---- whether a warp can issue -------------------------------------------------------------------

static bool queue_is_full(const Play *p, const Scheduler *s) {
  int n = 0;
  for (int i = 0; i < CLOCK_QUEUE_MAX; i++) n += s->leaves[i] > p->now;
  return n >= p->machine->queue;
}

// The scoreboard that the instruction waits for; -1: none.
static int waits_for(const Warp *w, const SassInst *inst) {
  for (int i = 0; i < SASS_SCOREBOARDS; i++)
    if (inst->wait >> i & 1 && w->open[i]) return i;
  const bool drains = inst->opcode->kind == SASS_KIND_DEPBAR && inst->scoreboard < SASS_SCOREBOARDS;
  return drains && w->open[inst->scoreboard] > inst->at_most ? inst->scoreboard : -1;
}

// The reason that holds the warp back, register banks aside; CLOCK_SELECTED: nothing does.
static ClockCause hold(const Play *p, const Scheduler *s, int warp) {
  const Warp *w = &p->warp[warp];
  const SassInst *inst = inst_of(p, warp);
  if (w->waits || w->turn >= TURNS) return CLOCK_BARRIER;
  if (w->ready > p->now) return CLOCK_WAIT;
  const int scoreboard = waits_for(w, inst);
  if (scoreboard >= 0)
    return w->is_far[scoreboard] ? CLOCK_LONG_SCOREBOARD : CLOCK_SHORT_SCOREBOARD;
  if (is_queued(inst) && queue_is_full(p, s))
    return inst->opcode->pipe == SASS_PIPE_SHARED ? CLOCK_MIO : CLOCK_LG;
  return s->pipe_free[inst->opcode->pipe] > p->now ? CLOCK_MATH_PIPE : CLOCK_SELECTED;
}

// ---- issuing ------------------------------------------------------------------------------------

// Whether the branch that a loop inside ends with is taken.
static bool goes_back(const Play *p, Warp *w) {
  for (int i = 0; i < p->in->n_inner; i++) {
    const ClockInner *inner = &p->in->inner[i];
    if (w->pc != inner->loop.last) continue;
    if (++w->trips[i] < inner->trips) return true;
    w->trips[i] = 0;
  }
  return false;
}

// Branches forwards are taken where nothing guards them: a guard is there for edges and last turns.
static void go_on(Play *p, Warp *w, const SassInst *inst) {
  const SassLoop *loop = &p->in->loop;
  const bool jumps = inst->target > w->pc && inst->target <= loop->last && inst->guard == ALWAYS;
  if (w->pc == loop->last) {
    w->pc = loop->first;
    w->turn++;
  } else
    w->pc = jumps || goes_back(p, w) ? inst->target : w->pc + 1;
}

// When the result of an instruction that goes through the queue is there: shared memory takes a
// clock for each wavefront, L2 gives so many bytes a clock, and both answer in order.
static double queue_up(Play *p, Scheduler *s, int pc) {
  const ClockMachine *m = p->machine;
  const bool far = p->in->code->inst[pc].opcode->pipe == SASS_PIPE_FAR;
  double leaves = (double)(p->now > s->queue_free ? p->now : s->queue_free);
  if (!far && p->shared_free > leaves) leaves = p->shared_free;
  s->queue_free = (int64_t)leaves + m->queue_clocks;
  s->leaves[s->next_leaves] = (int64_t)leaves;
  s->next_leaves = (s->next_leaves + 1) % CLOCK_QUEUE_MAX;
  if (!far) {
    p->shared_free = leaves + p->in->wavefronts[pc];
    return p->shared_free - 1 + m->shared_clocks;
  }
  if (p->in->far_bytes[pc] <= 0) return leaves + m->near_clocks;
  if (p->far_free < leaves) p->far_free = leaves;
  p->far_free += p->in->far_bytes[pc] / m->far_bytes;
  return p->far_free + m->far_clocks;
}

// The last warp of a block that arrives lets all of them go on.
static void arrive(Play *p, int warp) {
  const int first = warp / p->in->warps * p->in->warps, end = first + p->in->warps;
  const int64_t ready = p->now + (int64_t)p->machine->barrier_clocks;
  p->warp[warp].waits = true;
  for (int i = first; i < end; i++)
    if (!p->warp[i].waits) return;
  for (int i = first; i < end; i++) {
    p->warp[i].waits = false;
    if (p->warp[i].ready < ready) p->warp[i].ready = ready;
  }
}

static void issue(Play *p, Scheduler *s, int warp) {
  Warp *w = &p->warp[warp];
  const SassInst *inst = inst_of(p, warp);
  const ClockMachine *m = p->machine;
  const bool far = inst->opcode->pipe == SASS_PIPE_FAR;
  const double back = is_queued(inst) ? queue_up(p, s, w->pc) : (double)p->now + m->unit_clocks;
  open_scoreboard(p, warp, inst->writes_scoreboard, back, far);
  open_scoreboard(p, warp, inst->reads_scoreboard, (double)p->now + m->source_clocks, far);
  s->pipe_free[inst->opcode->pipe] = p->now + m->pipe_clocks[inst->opcode->pipe];
  s->last = warp;
  w->ready = p->now + max_int(inst->stall, 1);
  if (inst->opcode->kind == SASS_KIND_BARRIER) arrive(p, warp);
  go_on(p, w, inst);
}

// ---- a scheduler's clock ------------------------------------------------------------------------

// The warp that was issued last, then the others, the youngest first.
static void order_warps(const Play *p, Scheduler *s, int which) {
  s->n = 0;
  if (s->last >= 0) s->order[s->n++] = s->last;
  for (int warp = p->n_warps - 1; warp >= 0; warp--)
    if (warp % p->machine->schedulers == which && warp != s->last) s->order[s->n++] = warp;
}

// Charges the i-th warp for a clock in which `chosen` (-1: none) was issued.
static void charge(Play *p, const Scheduler *s, int i, ClockCause held, int chosen) {
  const int warp = s->order[i];
  if (p->warp[warp].turn >= TURNS) return;
  const ClockCause cause = warp == chosen           ? CLOCK_SELECTED
                           : held == CLOCK_SELECTED ? CLOCK_NOT_SELECTED
                                                    : held;
  p->stalls[cause]++;
  if (chosen < 0 && cause != CLOCK_NOT_SELECTED)
    p->lost[p->warp[warp].pc * CLOCK_CAUSE_COUNT + (int)cause] += 1.0 / s->n;
}

// Only the first warp that could go is tried: one whose operands are not to be had yet keeps the
// others back.
static void run_scheduler(Play *p, int which) {
  Scheduler *s = &p->scheduler[which];
  ClockCause held[CLOCK_WARPS_MAX];
  int first = -1;
  order_warps(p, s, which);
  for (int i = 0; i < s->n; i++) {
    held[i] = hold(p, s, s->order[i]);
    if (first < 0 && held[i] == CLOCK_SELECTED) first = i;
  }
  int chosen = first >= 0 ? s->order[first] : -1;
  if (chosen >= 0 && !is_queued(inst_of(p, chosen)) &&
      !clock_banks_give(&s->banks, chosen, inst_of(p, chosen), p->machine->read_window)) {
    held[first] = CLOCK_DISPATCH;
    chosen = -1;
  }
  for (int i = 0; i < s->n && p->counts; i++) charge(p, s, i, held[i], chosen);
  p->issued += p->counts && chosen >= 0;
  if (chosen >= 0) issue(p, s, chosen);
  clock_banks_tick(&s->banks);
}

// ---- all of it ----------------------------------------------------------------------------------

static Play *begin(Arena *arena, const ClockLoop *in) {
  Play *p = ARENA_NEW(arena, Play);
  p->in = in;
  p->machine = in->machine;
  p->n_warps = min_int(in->warps * in->blocks, CLOCK_WARPS_MAX);
  p->due = ARENA_ARRAY(arena, Due, DUE_MAX);
  p->free_due = -1;
  for (int i = 0; i < WHEEL; i++) p->wheel[i] = -1;
  for (int i = 0; i < p->n_warps; i++) p->warp[i].pc = in->loop.first;
  for (int i = 0; i < p->machine->schedulers; i++) {
    p->scheduler[i].last = -1;
    clock_banks_begin(&p->scheduler[i].banks);
  }
  p->lost = ARENA_ARRAY(arena, double, in->code->n *CLOCK_CAUSE_COUNT);
  return p;
}

// Turns of all warps, the one under way in parts.
static double progress(const Play *p) {
  const double length = p->in->loop.last - p->in->loop.first + 1;
  double turns = 0;
  for (int i = 0; i < p->n_warps; i++)
    turns += p->warp[i].turn + (p->warp[i].pc - p->in->loop.first) / length;
  return turns;
}

static int least_turn(const Play *p) {
  int least = TURNS;
  for (int i = 0; i < p->n_warps; i++) least = min_int(least, p->warp[i].turn);
  return least;
}

static void sum_up(Arena *arena, const Play *p, double turns, ClockTurn *out) {
  double *lost = ARENA_ARRAY(arena, double, p->in->code->n);
  ClockCause *cause = ARENA_ARRAY(arena, ClockCause, p->in->code->n);
  for (int i = 0; i < CLOCK_CAUSE_COUNT; i++) out->stalls[i] = p->stalls[i] / p->issued;
  for (int i = 0; i < p->in->code->n; i++) {
    const double *row = p->lost + i * CLOCK_CAUSE_COUNT;
    for (int k = 0; k < CLOCK_CAUSE_COUNT; k++) {
      lost[i] += row[k] / (turns * p->machine->schedulers);
      if (row[k] > row[cause[i]]) cause[i] = (ClockCause)k;
    }
  }
  out->issued = p->issued / turns / p->machine->schedulers;
  out->lost = lost;
  out->cause = cause;
}

ClockTurn clock_play(Arena *arena, const ClockLoop *in) {
  ClockTurn out = {0};
  if (in->loop.last < in->loop.first || in->warps * in->blocks < 1) return out;
  Play *p = begin(arena, in);
  int64_t from = 0;
  double before = 0;
  for (; p->now < CLOCKS_MAX && least_turn(p) < TURNS; p->now++) {
    if (!p->counts && least_turn(p) >= WARM) {
      p->counts = true;
      from = p->now;
      before = progress(p);
    }
    let_happen(p);
    for (int i = 0; i < p->machine->schedulers; i++) run_scheduler(p, i);
  }
  const double turns = (progress(p) - before) / p->n_warps;
  if (!p->counts || least_turn(p) < TURNS) return out;
  out.clocks = (double)(p->now - from) / turns;
  sum_up(arena, p, turns, &out);
  return out;
}
