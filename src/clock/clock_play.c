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
  int opener[SASS_SCOREBOARDS];  // the instruction that opened it last
  int before;                    // the instruction that it issued last; -1: none
  bool waits;                    // at the barrier
} Warp;

typedef struct Scheduler {
  int last;  // the warp that it issued last; -1: none
  int64_t pipe_free[SASS_PIPE_COUNT];
  int pipe_user[SASS_PIPE_COUNT];   // the instruction that keeps it busy; -1: none
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
  int slowest;  // turns of the warp that has gone fewest
  Warp warp[CLOCK_WARPS_MAX];
  Scheduler scheduler[CLOCK_SCHEDULERS_MAX];
  double shared_free;  // when the shared pipe is free
  double far_free;     // when L2 has given what it was asked for
  Due *due;
  int n_due, free_due, wheel[WHEEL];
  bool counts;
  double issued, stalls[CLOCK_CAUSE_COUNT];
  double *lost;  // [instruction][cause]: clocks in which a scheduler issued nothing
  double *executed;
  int *blame;  // [instruction][cause]: who was waited for, the last time
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
  w->opener[scoreboard] = w->pc;
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
  if (w->waits) return CLOCK_BARRIER;
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

static double latency(const Play *p, double clocks) { return p->in->loads_are_near ? 1 : clocks; }

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
    return p->shared_free - 1 + latency(p, m->shared_clocks);
  }
  if (p->in->far_bytes[pc] <= 0) return leaves + latency(p, m->near_clocks);
  if (p->far_free < leaves) p->far_free = leaves;
  p->far_free += p->in->far_bytes[pc] / m->far_bytes;
  return p->far_free + latency(p, m->far_clocks);
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
  s->pipe_user[inst->opcode->pipe] = w->before = w->pc;
  if (p->counts) p->executed[w->pc]++;
  s->last = warp;
  w->ready = p->now + max_int(inst->stall, 1);
  if (inst->opcode->kind == SASS_KIND_BARRIER) arrive(p, warp);
  go_on(p, w, inst);
}

// ---- a scheduler's clock ------------------------------------------------------------------------

static bool runs_away(const Play *p, int warp) { return p->warp[warp].turn > p->slowest + 1; }

// The warp that was issued last, then the others, the youngest first. Those that have run away from
// the slowest come behind all: a scheduler that prefers one would never come to the others.
static void order_warps(const Play *p, Scheduler *s, int which) {
  s->n = 0;
  if (s->last >= 0 && !runs_away(p, s->last)) s->order[s->n++] = s->last;
  for (int late = 0; late < 2; late++)
    for (int warp = p->n_warps - 1; warp >= 0; warp--)
      if (warp % p->machine->schedulers == which && runs_away(p, warp) == late &&
          (late || warp != s->last))
        s->order[s->n++] = warp;
}

// The instruction that `inst`, where a warp stands, waits for; -1: none.
static int find_blame(const Scheduler *s, const Warp *w, const SassInst *inst, ClockCause cause) {
  switch (cause) {
    case CLOCK_WAIT:
      return w->before;
    case CLOCK_SHORT_SCOREBOARD:
    case CLOCK_LONG_SCOREBOARD:
      return w->opener[waits_for(w, inst)];
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

// A clock in which nothing was issued is lost by the warps that stood for a reason of their own.
static void charge_lost(Play *p, const Scheduler *s, const ClockCause *held) {
  int n = 0;
  for (int i = 0; i < s->n; i++) n += held[i] != CLOCK_SELECTED;
  for (int i = 0; i < s->n; i++) {
    if (held[i] == CLOCK_SELECTED) continue;
    const Warp *w = &p->warp[s->order[i]];
    const int at = w->pc * CLOCK_CAUSE_COUNT + (int)held[i];
    p->lost[at] += 1.0 / n;
    p->blame[at] = find_blame(s, w, &p->in->code->inst[w->pc], held[i]);
  }
}

// Charges every warp for a clock in which `chosen` (-1: none) was issued.
static void charge(Play *p, const Scheduler *s, const ClockCause *held, int chosen) {
  for (int i = 0; i < s->n; i++)
    p->stalls[s->order[i] == chosen       ? CLOCK_SELECTED
              : held[i] == CLOCK_SELECTED ? CLOCK_NOT_SELECTED
                                          : held[i]]++;
  p->issued += chosen >= 0;
  if (chosen < 0) charge_lost(p, s, held);
}

static bool gives_operands(Play *p, Scheduler *s, int warp) {
  const SassInst *inst = inst_of(p, warp);
  return is_queued(inst) || p->in->banks_are_free ||
         clock_banks_give(&s->banks, warp, inst, p->machine->read_window);
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
  if (chosen >= 0 && !gives_operands(p, s, chosen)) {
    held[first] = CLOCK_DISPATCH;
    chosen = -1;
  }
  if (p->counts) charge(p, s, held, chosen);
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
  for (int i = 0; i < p->n_warps; i++) p->warp[i] = (Warp){.pc = in->loop.first, .before = -1};
  for (int i = 0; i < p->machine->schedulers; i++) {
    p->scheduler[i].last = -1;
    for (int pipe = 0; pipe < SASS_PIPE_COUNT; pipe++) p->scheduler[i].pipe_user[pipe] = -1;
    clock_banks_begin(&p->scheduler[i].banks);
  }
  p->lost = ARENA_ARRAY(arena, double, in->code->n *CLOCK_CAUSE_COUNT);
  p->executed = ARENA_ARRAY(arena, double, in->code->n);
  p->blame = ARENA_ARRAY(arena, int, in->code->n *CLOCK_CAUSE_COUNT);
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
  int least = p->warp[0].turn;
  for (int i = 0; i < p->n_warps; i++) least = min_int(least, p->warp[i].turn);
  return least;
}

// Of instruction i: its share of what is lost, and the cause that takes most of it.
static void sum_up_one(const Play *p, int i, double per_turn, ClockTurn *out, double *lost,
                       ClockCause *cause, int *blame) {
  const double *row = p->lost + i * CLOCK_CAUSE_COUNT;
  for (int k = 0; k < CLOCK_CAUSE_COUNT; k++) {
    lost[i] += row[k] * per_turn;
    out->lost_to[k] += row[k] * per_turn;
    if (row[k] > row[cause[i]]) cause[i] = (ClockCause)k;
  }
  blame[i] = row[cause[i]] > 0 ? p->blame[i * CLOCK_CAUSE_COUNT + (int)cause[i]] : -1;
}

static void sum_up(Arena *arena, const Play *p, double turns, ClockTurn *out) {
  double *lost = ARENA_ARRAY(arena, double, p->in->code->n);
  ClockCause *cause = ARENA_ARRAY(arena, ClockCause, p->in->code->n);
  int *blame = ARENA_ARRAY(arena, int, p->in->code->n);
  const double per_turn = 1 / (turns * p->machine->schedulers);
  for (int i = 0; i < CLOCK_CAUSE_COUNT; i++) out->stalls[i] = p->stalls[i] / p->issued;
  for (int i = 0; i < p->in->code->n; i++) {
    sum_up_one(p, i, per_turn, out, lost, cause, blame);
    p->executed[i] /= turns * p->n_warps;
  }
  out->issued = p->issued * per_turn;
  out->executed = p->executed;
  out->lost = lost;
  out->cause = cause;
  out->blame = blame;
}

ClockTurn clock_play(Arena *arena, const ClockLoop *in) {
  ClockTurn out = {0};
  if (in->loop.last < in->loop.first || in->warps * in->blocks < 1) return out;
  Play *p = begin(arena, in);
  int64_t from = 0;
  double before = 0;
  for (; p->now < CLOCKS_MAX && p->slowest < TURNS; p->now++) {
    if (!p->counts && p->slowest >= WARM) {
      p->counts = true;
      from = p->now;
      before = progress(p);
    }
    let_happen(p);
    for (int i = 0; i < p->machine->schedulers; i++) run_scheduler(p, i);
    p->slowest = least_turn(p);
  }
  const double turns = (progress(p) - before) / p->n_warps;
  if (!p->counts || p->slowest < TURNS) return out;
  out.clocks = (double)(p->now - from) / turns;
  sum_up(arena, p, turns, &out);
  return out;
}
