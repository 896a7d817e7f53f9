// Waiting: at mbarriers, for groups of copies, at barriers, before registers; and what ends it.
//
// A warp that has to wait stands before its statement and comes back to it when a phase has ended.
// An mbarrier has the phases of order/order_mbar.h, without the order that they make.
#include <math.h>
#include <string.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/lanes.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"
#include "model/readings/time/timeline_machine.h"

// ---- mbarriers ----------------------------------------------------------------------------------

int time_bar_at(const TimeWarp *w, const Access *access) {
  return (int)clamp_index(expr_eval(access->idx[0], w->scalar), access->buffer->dim[0]);
}

static void wake(TimeMachine *m, double clock) {
  for (int i = 0; i < m->n_warps; i++) {
    TimeWarp *w = &m->warp[i];
    if (w->state != TIME_ASLEEP) continue;
    w->state = TIME_READY;
    w->clock = fmax(w->clock, clock);
    m->woke = true;
  }
}

static void end_phase(TimeMachine *m, const Buffer *buffer, int at, double clock) {
  TimeBar *bar = &m->bar[buffer->id][at];
  if (!bar->there || !order_phases_are_complete(&bar->phases)) return;
  if (m->out->n_phases == m->phase_capacity)
    m->phase =
        time_grown(m->arena, m->phase, m->out->n_phases, &m->phase_capacity, sizeof *m->phase);
  m->phase[m->out->n_phases++] = (TimelinePhase){buffer, at, bar->phases.phase, clock, bar->told};
  order_phases_next(&bar->phases);
  bar->told = 0;
  bar->ended = clock;
  wake(m, clock);
}

void time_land(TimeMachine *m, int which) {
  const TimeBox box = m->box[which];
  m->box[which] = m->box[--m->n_boxes];
  OrderPhases *phases = &m->bar[box.buffer->id][box.at].phases;
  phases->bytes -= box.bytes;
  order_phases_arrive(phases, box.arrivals);
  end_phase(m, box.buffer, box.at, box.lands);
}

// Whether the block of a rank sends to the first one of the cluster: a bit of its mask says so.
static bool sends_to_first(const TimeMachine *m, const TimeWarp *w, const Op *op, int64_t rank) {
  const Launch *launch = &m->code->launch;
  int64_t own[DIGITS_MAX];
  for (int i = 0; i < launch->n_block_digits; i++) {
    const HardwareDigit *digit = &launch->block[i];
    own[i] = w->scalar[digit->var->id];
    if (digit->var->tier == TIER_CLUSTER)
      w->scalar[digit->var->id] = rank / digit->stride % digit->var->extent;
  }
  const bool sends = expr_eval(op->ranks, w->scalar) & 1;
  for (int i = 0; i < launch->n_block_digits; i++) w->scalar[launch->block[i].var->id] = own[i];
  return sends;
}

// Blocks of a cluster do alike, but for the products of a pair, which the even one alone asks for:
// the first block gets what all of them send to it. Bytes of a pair count there too.
int64_t time_ranks(const TimeMachine *m, const TimeWarp *w, const Op *op) {
  const bool pair = op->cta_group > 1;
  if (!op->ranks) return pair && op_moves_box(op->kind) ? op->cta_group : 1;
  if (pair) return 1;
  int64_t n = 0;
  for (int64_t rank = 0; rank < m->code->launch.cluster; rank++)
    n += sends_to_first(m, w, op, rank);
  return n;
}

static void run_signal(TimeMachine *m, TimeWarp *w, const Op *op, const Stmt *stmt) {
  int at = time_bar_at(w, &op->dst);
  TimeBar *bar = &m->bar[op->dst.buffer->id][at];
  bool expects = op_facts(op->kind)->action == ACTION_EXPECT;
  w->clock = fmax(w->clock, w->stored);
  if (expects) bar->phases.bytes += op->bytes;
  if (expects) bar->told += op->bytes;
  order_phases_arrive(&bar->phases, time_ranks(m, w, op));
  TimelineEvent *event = time_new_order(m, w, stmt, TIMELINE_SIGNAL);
  time_set_bar(event, op->dst.buffer, at, bar);
  end_phase(m, op->dst.buffer, at, w->clock);
  w->clock += 1;
  event->end = w->clock;
}

void time_run_init(TimeMachine *m, TimeWarp *w, const Stmt *stmt) {
  const Op *op = &stmt->op;
  int at = time_bar_at(w, &op->dst);
  TimeBar *bar = &m->bar[op->dst.buffer->id][at];
  *bar = (TimeBar){.there = true};
  order_phases_init(&bar->phases, op->arrivals);
  time_set_bar(time_new_order(m, w, stmt, TIMELINE_SIGNAL), op->dst.buffer, at, bar);
  w->clock += 1;
}

// A warp that has to wait stands before the statement and comes back to it.
static void fall_asleep(TimeWarp *w) {
  if (w->asleep_at < 0) w->asleep_at = w->clock;
  w->state = TIME_ASLEEP;
  w->pc--;
}

static TimelineEvent *went_on(TimeMachine *m, TimeWarp *w, const Stmt *stmt, double latency) {
  TimelineEvent *event = time_new_order(m, w, stmt, TIMELINE_WAIT);
  if (w->asleep_at >= 0) event->begin = event->work = w->asleep_at;
  w->asleep_at = -1;
  w->clock += latency;
  event->end = w->clock;
  return event;
}

static void run_wait(TimeMachine *m, TimeWarp *w, const TimeCode *code) {
  const Op *op = &code->stmt->op;
  int at = time_bar_at(w, &op->dst);
  const TimeBar *bar = &m->bar[op->dst.buffer->id][at];
  int64_t phase = expr_eval(op->phase, w->scalar);
  if (bar->there && !order_phases_passes(&bar->phases, (uint32_t)phase)) {
    fall_asleep(w);
    return;
  }
  w->clock = fmax(w->clock, bar->ended);
  TimelineEvent *event = went_on(m, w, code->stmt, code->cost.latency);
  event->phase = phase;
  time_set_bar(event, op->dst.buffer, at, bar);
}

// ---- groups, barriers, registers ----------------------------------------------------------------

static void run_commit(TimeMachine *m, TimeWarp *w, const Op *op, const Stmt *stmt) {
  TimeGroups *groups = &w->groups[op_facts(op->kind)->family];
  groups->done[groups->groups.closed++ % TIME_GROUPS_MAX] = groups->open;
  groups->open = 0;
  time_new_order(m, w, stmt, TIMELINE_SIGNAL);
  w->clock += 1;
}

static void run_group_wait(TimeMachine *m, TimeWarp *w, const Op *op, const Stmt *stmt) {
  TimeGroups *groups = &w->groups[op_facts(op->kind)->family];
  double until = w->clock;
  for (uint32_t n = order_groups_wait(&groups->groups, (uint32_t)op->groups); n > 0; n--) {
    const uint32_t group = groups->groups.done - n;
    const bool is_kept = groups->groups.closed - group <= TIME_GROUPS_MAX;
    if (is_kept) until = fmax(until, groups->done[group % TIME_GROUPS_MAX]);
  }
  w->asleep_at = w->clock;
  w->clock = until;
  went_on(m, w, stmt, 0);
  time_prove_reads(m, w, op, false, w->clock);
}

// A commit arrives when the products that its warp has asked for are done.
static void run_late_signal(TimeMachine *m, TimeWarp *w, const Op *op, const Stmt *stmt) {
  const int at = time_bar_at(w, &op->dst);
  TimelineEvent *event = time_new_order(m, w, stmt, TIMELINE_SIGNAL);
  time_set_bar(event, op->dst.buffer, at, &m->bar[op->dst.buffer->id][at]);
  const double done = fmax(w->clock, w->groups[op_facts(op->kind)->family].open);
  time_add_box(m, (TimeBox){done, 0, time_ranks(m, w, op), op->dst.buffer, at});
  time_prove_reads(m, w, op, true, done);
  w->clock += 1;
  event->end = w->clock;
}

// What this warp itself has asked of tensor memory.
static void run_own_wait(TimeMachine *m, TimeWarp *w, const Op *op, const Stmt *stmt) {
  w->asleep_at = w->clock;
  w->clock = fmax(w->clock, w->groups[op_facts(op->kind)->family].open);
  went_on(m, w, stmt, 0);
}

static int count_at(const TimeMachine *m, const TimeWarp *w, const Op *op, double *latest) {
  int n = 0;
  for (int i = 0; i < m->n_warps; i++) {
    const TimeWarp *other = &m->warp[i];
    if (other->state != TIME_AT_BARRIER || other->barrier != w->barrier) continue;
    if (m->code->code[other->pc - 1].stmt->op.threads != op->threads) continue;
    *latest = fmax(*latest, other->clock);
    n++;
  }
  return n;
}

// The warp whose barrier is complete lets all go on that are there.
static void run_meet(TimeMachine *m, TimeWarp *w, const TimeCode *code) {
  const Op *op = &code->stmt->op;
  double latest = 0;
  w->clock = fmax(w->clock, w->stored);
  w->barrier = op->id ? (int)expr_eval(op->id, w->scalar) : 0;
  w->state = TIME_AT_BARRIER;
  int wanted = op->threads ? (int)(op->threads / LANES) : m->n_warps;
  if (count_at(m, w, op, &latest) < wanted) return;
  for (int i = 0; i < m->n_warps; i++) {
    TimeWarp *other = &m->warp[i];
    if (other->state != TIME_AT_BARRIER || other->barrier != w->barrier) continue;
    const Stmt *at = m->code->code[other->pc - 1].stmt;
    if (at->op.threads != op->threads) continue;
    time_new_order(m, other, at, TIMELINE_MEET)->end = latest;
    other->clock = latest;
    other->state = TIME_READY;
  }
  m->woke = true;
}

static void run_registers(TimeMachine *m, TimeWarp *w, const Stmt *stmt) {
  int64_t wanted = (stmt->op.registers - w->registers) * LANES;
  if (wanted > m->free_registers) {
    fall_asleep(w);
    return;
  }
  m->free_registers -= wanted;
  w->registers = stmt->op.registers;
  if (wanted < 0) wake(m, w->clock);
  went_on(m, w, stmt, 1);
}

void time_run_order(TimeMachine *m, TimeWarp *w, const TimeCode *code) {
  const Stmt *stmt = code->stmt;
  const Op *op = &stmt->op;
  const OpFacts *facts = op_facts(op->kind);
  bool by_group = op_ends_with_group(op->kind);
  switch (facts->action) {
    case ACTION_EXPECT:
      run_signal(m, w, op, stmt);
      break;
    case ACTION_SIGNAL:
      if (by_group)
        run_commit(m, w, op, stmt);
      else if (facts->proxy == PROXY_ASYNC)
        run_late_signal(m, w, op, stmt);
      else
        run_signal(m, w, op, stmt);
      break;
    case ACTION_WAIT:
      if (by_group)
        run_group_wait(m, w, op, stmt);
      else if (facts->completes == COMPLETES_BY_WAIT)
        run_own_wait(m, w, op, stmt);
      else
        run_wait(m, w, code);
      break;
    case ACTION_MEET:
      run_meet(m, w, code);
      break;
    case ACTION_GIVE:
    case ACTION_TAKE:
      run_registers(m, w, stmt);
      break;
    default:
      time_new_order(m, w, stmt, TIMELINE_SIGNAL);
      w->clock += 1;
  }
}
