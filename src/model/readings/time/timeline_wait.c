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

TimeBar *time_bar(TimeMachine *m, int rank, const Buffer *buffer, int at) {
  return &m->block[rank].bar[buffer->id][at];
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

static void end_phase(TimeMachine *m, int rank, const Buffer *buffer, int at, double clock) {
  TimeBar *bar = time_bar(m, rank, buffer, at);
  if (!bar->there || !order_phases_are_complete(&bar->phases)) return;
  if (m->out->n_phases == m->phase_capacity)
    m->phase =
        time_grown(m->arena, m->phase, m->out->n_phases, &m->phase_capacity, sizeof *m->phase);
  m->phase[m->out->n_phases++] =
      (TimelinePhase){buffer, at, rank, bar->phases.phase, clock, bar->told};
  order_phases_next(&bar->phases);
  bar->told = 0;
  bar->ended = clock;
  wake(m, clock);
}

void time_land(TimeMachine *m, int which) {
  const TimeBox box = m->box[which];
  m->box[which] = m->box[--m->n_boxes];
  OrderPhases *phases = &time_bar(m, box.rank, box.buffer, box.at)->phases;
  phases->bytes -= box.bytes;
  order_phases_arrive(phases, box.arrivals);
  end_phase(m, box.rank, box.buffer, box.at, box.lands);
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
static int64_t comes_from_all(const TimeMachine *m, const TimeWarp *w, const Op *op) {
  const bool pair = op->cta_group > 1;
  if (!op->ranks) return pair && op_moves_box(op->kind) ? op->cta_group : 1;
  if (pair) return 1;
  int64_t n = 0;
  for (int64_t rank = 0; rank < m->code->launch.cluster; rank++)
    n += sends_to_first(m, w, op, rank);
  return n;
}

// Bytes of a pair count at the even block's mbarrier, whichever of the two asked.
int64_t time_comes(const TimeMachine *m, const TimeWarp *w, const Op *op, int rank) {
  if (m->n_blocks == 1) return comes_from_all(m, w, op);
  if (!op->ranks) {
    const bool even = op->cta_group > 1 && op_moves_box(op->kind);
    return rank == (even ? w->rank & ~1 : w->rank);
  }
  return expr_eval(op->ranks, w->scalar) >> rank & 1;
}

static void run_signal(TimeMachine *m, TimeWarp *w, const Op *op, const Stmt *stmt) {
  const int at = time_bar_at(w, &op->dst);
  const bool expects = op_facts(op->kind)->action == ACTION_EXPECT;
  w->clock = fmax(w->clock, w->stored);
  TimelineEvent *event = time_new_order(m, w, stmt, TIMELINE_SIGNAL);
  for (int rank = 0; rank < m->n_blocks; rank++) {
    const int64_t n = time_comes(m, w, op, rank);
    TimeBar *bar = time_bar(m, rank, op->dst.buffer, at);
    if (!n) continue;
    if (expects) bar->phases.bytes += op->bytes;
    if (expects) bar->told += op->bytes;
    order_phases_arrive(&bar->phases, n);
    time_set_bar(event, op->dst.buffer, at, rank, bar);
    end_phase(m, rank, op->dst.buffer, at, w->clock);
  }
  w->clock += 1;
  event->end = w->clock;
}

void time_run_init(TimeMachine *m, TimeWarp *w, const Stmt *stmt) {
  const Op *op = &stmt->op;
  int at = time_bar_at(w, &op->dst);
  TimeBar *bar = time_bar(m, w->rank, op->dst.buffer, at);
  *bar = (TimeBar){.there = true};
  order_phases_init(&bar->phases, op->arrivals);
  time_set_bar(time_new_order(m, w, stmt, TIMELINE_SIGNAL), op->dst.buffer, at, w->rank, bar);
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
  const TimeBar *bar = time_bar(m, w->rank, op->dst.buffer, at);
  int64_t phase = expr_eval(op->phase, w->scalar);
  if (bar->there && !order_phases_passes(&bar->phases, (uint32_t)phase)) {
    fall_asleep(w);
    return;
  }
  w->clock = fmax(w->clock, bar->ended);
  TimelineEvent *event = went_on(m, w, code->stmt, code->cost.latency);
  event->phase = phase;
  time_set_bar(event, op->dst.buffer, at, w->rank, bar);
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
  const double done = fmax(w->clock, w->groups[op_facts(op->kind)->family].open);
  for (int rank = m->n_blocks - 1; rank >= 0; rank--) {
    const int64_t n = time_comes(m, w, op, rank);
    if (!n) continue;
    time_set_bar(event, op->dst.buffer, at, rank, time_bar(m, rank, op->dst.buffer, at));
    time_add_box(m, (TimeBox){done, 0, n, op->dst.buffer, at, rank});
  }
  time_prove_reads(m, w, op, true, done);
  w->clock += 1;
  event->end = w->clock;
}

// Tells what this warp itself has asked of tensor memory.
static void run_own_wait(TimeMachine *m, TimeWarp *w, const Op *op, const Stmt *stmt) {
  w->asleep_at = w->clock;
  w->clock = fmax(w->clock, w->groups[op_facts(op->kind)->family].open);
  went_on(m, w, stmt, 0);
}

// Whether a warp stands at the barrier that another has come to: of its block, or of the cluster.
static bool stands_with(const TimeMachine *m, const TimeWarp *other, const TimeWarp *w,
                        const Op *op) {
  const bool cluster = op_facts(op->kind)->scope == SCOPE_CLUSTER;
  if (other->state != TIME_AT_BARRIER || other->barrier != w->barrier) return false;
  if (!cluster && other->rank != w->rank) return false;
  return m->code->code[other->pc - 1].stmt->op.threads == op->threads;
}

static int count_at(const TimeMachine *m, const TimeWarp *w, const Op *op, double *latest) {
  int n = 0;
  for (int i = 0; i < m->n_warps; i++) {
    if (!stands_with(m, &m->warp[i], w, op)) continue;
    *latest = fmax(*latest, m->warp[i].clock);
    n++;
  }
  return n;
}

static int warps_wanted(const TimeMachine *m, const Op *op) {
  if (op_facts(op->kind)->scope == SCOPE_CLUSTER) return m->n_warps;
  return op->threads ? (int)(op->threads / LANES) : m->block_warps;
}

static int barrier_at(const TimeWarp *w, const Op *op) {
  return op->id ? (int)clamp_index(expr_eval(op->id, w->scalar), BLOCK_BARRIERS) : 0;
}

// Lets all go on that are at the barrier of `w`, once it is complete.
static void let_go_on(TimeMachine *m, const TimeWarp *w, const Op *op) {
  struct TimePassed *passed = &m->block[w->rank].passed[w->barrier];
  double latest = passed->latest;
  if (count_at(m, w, op, &latest) + passed->warps < warps_wanted(m, op)) return;
  *passed = (struct TimePassed){0};
  for (int i = 0; i < m->n_warps; i++) {
    TimeWarp *other = &m->warp[i];
    if (!stands_with(m, other, w, op)) continue;
    time_new_order(m, other, m->code->code[other->pc - 1].stmt, TIMELINE_MEET)->end = latest;
    other->clock = latest;
    other->state = TIME_READY;
  }
  m->woke = true;
}

static void run_meet(TimeMachine *m, TimeWarp *w, const TimeCode *code) {
  const Op *op = &code->stmt->op;
  w->clock = fmax(w->clock, w->stored);
  w->barrier = barrier_at(w, op);
  w->state = TIME_AT_BARRIER;
  let_go_on(m, w, op);
}

static void run_pass(TimeMachine *m, TimeWarp *w, const Op *op, const Stmt *stmt) {
  const int barrier = w->barrier = barrier_at(w, op);
  struct TimePassed *passed = &m->block[w->rank].passed[barrier];
  w->clock = fmax(w->clock, w->stored);
  passed->warps++;
  passed->latest = fmax(passed->latest, w->clock);
  time_new_order(m, w, stmt, TIMELINE_SIGNAL);
  w->clock += 1;
  let_go_on(m, w, op);
}

static void run_registers(TimeMachine *m, TimeWarp *w, const Stmt *stmt) {
  int64_t wanted = (stmt->op.registers - w->registers) * LANES;
  int64_t *left = &m->block[w->rank].free_registers;
  if (wanted > *left) {
    fall_asleep(w);
    return;
  }
  *left -= wanted;
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
    case ACTION_PASS:
      run_pass(m, w, op, stmt);
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
