// Work of a warp: what it takes of the units that all share, and the events that come of it.
//
// Slabs are followed by number: a copy says it by its index along K, a slot has the number of what
// was asked for last, registers that of the slot they were read from.
#include <math.h>
#include <string.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/lanes.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"
#include "model/readings/time/timeline_machine.h"
#include "model/words/fragment.h"

enum { EVENTS_MAX = 1 << 16 };

// ---- events -------------------------------------------------------------------------------------

void *time_grown(Arena *arena, const void *from, int n, int *capacity, size_t size) {
  *capacity = *capacity ? 2 * *capacity : 256;
  char *more = arena_alloc(arena, (size_t)*capacity * size);
  if (n) memcpy(more, from, (size_t)n * size);
  return more;
}

static TimelineEvent *time_new_event(TimeMachine *m, const TimeWarp *w, const Stmt *stmt,
                                     TimelineKind kind) {
  Timeline *out = m->out;
  if (out->n_events == EVENTS_MAX) {
    out->full = true;
    out->n_events--;
  }
  if (out->n_events == m->capacity)
    m->event = time_grown(m->arena, m->event, out->n_events, &m->capacity, sizeof *m->event);
  TimelineEvent *event = &m->event[out->n_events++];
  *event = (TimelineEvent){.kind = kind,
                           .stmt = stmt,
                           .warp = w->index,
                           .slot = -1,
                           .slab = -1,
                           .phase = -1,
                           .begin = w->clock,
                           .end = w->clock,
                           .work = w->clock};
  event->count = 1;
  event->order = out->n_events;
  return event;
}

// An event that orders: work behind it does not continue work before it.
TimelineEvent *time_new_order(TimeMachine *m, TimeWarp *w, const Stmt *stmt, TimelineKind kind) {
  TimelineEvent *event = time_new_event(m, w, stmt, kind);
  w->since = m->out->n_events;
  return event;
}

// The event that work of a statement belongs to: the latest one, if it goes on with the same slab.
static TimelineEvent *work_event(TimeMachine *m, TimeWarp *w, const TimeCode *code,
                                 TimelineKind kind, int slot, int64_t slab, double begin) {
  int at = w->event[code->stmt->id];
  if (at > w->since && m->event[at - 1].slot == slot && m->event[at - 1].slab == slab) {
    m->event[at - 1].count += code->count;
    return &m->event[at - 1];
  }
  TimelineEvent *event = time_new_event(m, w, code->stmt, kind);
  event->begin = event->end = event->work = begin;
  event->count = code->count;
  event->slot = slot;
  event->slab = slab;
  w->event[code->stmt->id] = m->out->n_events;
  return event;
}

void time_set_bar(TimelineEvent *event, const Buffer *buffer, int at, int rank,
                  const TimeBar *bar) {
  event->bar = (TimelineBar){.buffer = buffer,
                             .at = at,
                             .rank = rank,
                             .phase = bar->phases.phase,
                             .expected = bar->phases.expected,
                             .arrived = bar->phases.expected - bar->phases.pending,
                             .bytes = bar->told,
                             .landed = bar->told - bar->phases.bytes};
}

// ---- work ---------------------------------------------------------------------------------------

static double take(double *unit, double from, double clocks) {
  double start = fmax(from, *unit);
  *unit = start + clocks;
  return start;
}

// The copy of a buffer that an access means: the slot of a ring, the set of a fragment.
static int part_of(const TimeWarp *w, const Access *access, int limit) {
  const Buffer *buffer = access->buffer;
  bool parted = buffer->space == SPACE_REGISTER ? buffer->rank > 1 : buffer_is_ring(buffer);
  if (!parted || buffer->dim[0] > limit) return 0;
  return (int)clamp_index(expr_eval(access->idx[0], w->scalar), buffer->dim[0]);
}

// -1: it is no slab.
static int slot_of(const TimeMachine *m, const TimeWarp *w, const Access *access) {
  const Buffer *buffer = access->buffer;
  return buffer && m->ring[buffer->id] >= 0 ? part_of(w, access, TIME_SLOTS_MAX) : -1;
}

static const Expr *table_in(const Expr *expr) {
  if (!expr || expr->op == EXPR_TABLE) return expr;
  const Expr *const operand[] = {expr->a, expr->b, expr->c};
  for (int i = 0; i < 3; i++) {
    const Expr *found = table_in(operand[i]);
    if (found) return found;
  }
  return NULL;
}

// The slab that begins at a place of its operand. A part of a split product is fetched for several
// products of parts, so that its place alone does not say which slab of the axis k it is: the table
// of parts was asked for the number of the product. Worked example, 6xbf16, K = 4096, slabs of 64:
// place 0 of A is part 0, of products 2, 4 and 5; asked for 4 it is slab 256.
static int64_t slab_at(const TimeMachine *m, const TimeWarp *w, const TimeCode *code,
                       const Expr *at) {
  const Problem *problem = &m->code->program->problem;
  const Expr *part = problem->split ? table_in(at) : NULL;
  int64_t place = expr_eval(at, w->scalar);
  if (part)
    place += (expr_eval(part->a, w->scalar) - expr_eval(part, w->scalar)) * problem_depth(problem);
  return place / code->slab_depth;
}

// The slab that an operand holds: of a matrix by its index along K, of anything else by what came.
static int64_t slab_of(const TimeMachine *m, const TimeWarp *w, const TimeCode *code,
                       const Access *access) {
  const Buffer *buffer = access->buffer;
  if (!buffer) return -1;
  if (buffer->space == SPACE_GLOBAL)
    return code->slab_depth ? slab_at(m, w, code, access->idx[code->slab_dimension]) : -1;
  if (buffer->space == SPACE_SHARED) {
    int slot = slot_of(m, w, access);
    return slot < 0 ? -1 : m->block[w->rank].slab[buffer->id][slot];
  }
  return w->slab[buffer->id][part_of(w, access, TIME_SETS_MAX)];
}

// When the values of a register operand are there.
static double ready_at(const TimeWarp *w, const Access *access) {
  const Buffer *buffer = access->buffer;
  if (!buffer || buffer->space != SPACE_REGISTER) return 0;
  return w->ready[buffer->id][part_of(w, access, TIME_SETS_MAX)];
}

static void now_holds(TimeMachine *m, TimeWarp *w, const Access *access, int64_t slab,
                      double ready) {
  const Buffer *buffer = access->buffer;
  if (buffer->space == SPACE_REGISTER) {
    int set = part_of(w, access, TIME_SETS_MAX);
    w->ready[buffer->id][set] = fmax(w->ready[buffer->id][set], ready);
    w->slab[buffer->id][set] = slab;
    return;
  }
  int slot = slot_of(m, w, access);
  if (slot >= 0) m->block[w->rank].slab[buffer->id][slot] = slab;
}

void time_add_box(TimeMachine *m, TimeBox box) {
  if (m->n_boxes == m->box_capacity)
    m->box = time_grown(m->arena, m->box, m->n_boxes, &m->box_capacity, sizeof *m->box);
  m->box[m->n_boxes++] = box;
}

// Tells what a move that does not end at once is waited for by.
static void complete_later(TimeMachine *m, TimeWarp *w, const Op *op, TimelineEvent *event) {
  const OpFacts *facts = op_facts(op->kind);
  const bool own = facts->completes == COMPLETES_BY_COMMIT || facts->completes == COMPLETES_BY_WAIT;
  if (op_ends_with_group(op->kind) || own) {
    TimeGroups *groups = &w->groups[facts->family];
    groups->open = fmax(groups->open, event->end);
  }
  if (facts->completes != COMPLETES_BY_MBARRIER || !op->src2.buffer) return;
  int at = time_bar_at(w, &op->src2);
  const int64_t bytes = op->box[0] * op->box[1] * dtype_bytes(op->dst.buffer->type);
  for (int rank = m->n_blocks - 1; rank >= 0; rank--) {
    const int64_t n = time_comes(m, w, op, rank);
    if (!n) continue;
    time_add_box(m, (TimeBox){event->end, bytes * n, 0, op->src2.buffer, at, rank});
    time_set_bar(event, op->src2.buffer, at, rank, time_bar(m, rank, op->src2.buffer, at));
  }
}

// From registers to registers: what they hold is about the same slab as before.
static void hand_on(TimeMachine *m, TimeWarp *w, const TimeCode *code) {
  const Op *op = &code->stmt->op;
  w->clock = fmax(w->clock, ready_at(w, &op->src)) + (double)code->count;
  now_holds(m, w, &op->dst, slab_of(m, w, code, &op->src), w->clock);
}

void time_run_move(TimeMachine *m, TimeWarp *w, const TimeCode *code) {
  TimeBlock *block = &m->block[w->rank];
  if (timeline_kind_of(&code->stmt->op) == TIMELINE_KINDS) {
    hand_on(m, w, code);
    return;
  }
  const Op *op = &code->stmt->op;
  const TimelineCost *cost = &code->cost;
  const OpFacts *facts = op_facts(op->kind);
  const TimelineKind kind = timeline_kind_of(op);
  const double n = (double)code->count;
  w->clock = fmax(w->clock, ready_at(w, &op->src));
  int64_t slab = slab_of(m, w, code, &op->src);
  const Access *in_slot = kind == TIMELINE_READ ? &op->src : &op->dst;
  const int slot = slot_of(m, w, in_slot);
  const double asked = w->clock;
  TimelineEvent *event = work_event(m, w, code, kind, slot, slab, asked);
  double start = take(&block->pipe, w->clock, n * cost->pipe), end = start + n * cost->pipe;
  if (cost->fetch > 0)
    end = (start = take(&block->fetch, start, n * cost->fetch)) + n * cost->fetch;
  if (cost->store > 0)
    end = (start = take(&block->store, start, n * cost->store)) + n * cost->store;
  if (event->busy == 0) event->work = start;
  event->busy += n * fmax(cost->pipe, fmax(cost->fetch, cost->store));
  event->end = end + cost->latency;
  w->clock += n;
  if (kind == TIMELINE_WRITE) w->stored = end;
  if (facts->completes != COMPLETES_AT_ONCE) complete_later(m, w, op, event);
  now_holds(m, w, &op->dst, slab, event->end);
  if (slot < 0) return;
  event->ring = m->ring[in_slot->buffer->id];
  if (kind == TIMELINE_READ)
    time_read_slot(m, w, op, (TimeSlot){in_slot->buffer, slot, w->rank}, asked, event->end);
  else
    time_fill_slot(m, (TimeSlot){in_slot->buffer, slot, w->rank}, slab, asked, event->end);
}

// Blocks whose tensor cores a product takes and whose slabs it reads: of a pair both.
static int blocks_of_product(const TimeMachine *m, const Op *op) {
  return m->n_blocks > 1 && op->cta_group > 1 ? m->n_blocks : 1;
}

// A warp's quarter of the tensor cores, or of a product that one thread asks for all of them.
static double take_multiplier(TimeMachine *m, const TimeWarp *w, const Op *op, double clocks) {
  if (!atom_is_of_thread(op->atom))
    return take(&m->block[w->rank].multiply[w->index % TIME_QUARTERS], w->clock, clocks);
  const int n = blocks_of_product(m, op);
  double start = w->clock;
  for (int i = 0; i < n * TIME_QUARTERS; i++)
    start = fmax(start, m->block[(w->rank + i / TIME_QUARTERS) % n].multiply[i % TIME_QUARTERS]);
  for (int i = 0; i < n * TIME_QUARTERS; i++)
    m->block[(w->rank + i / TIME_QUARTERS) % n].multiply[i % TIME_QUARTERS] = start + clocks;
  return start;
}

// The slabs that a product's descriptors name: they are read until its group is proved over.
static void read_by_descriptor(TimeMachine *m, TimeWarp *w, const Op *op, TimelineEvent *event) {
  const Access *operand[] = {&op->src, &op->src2};
  for (int i = 0; i < 2; i++) {
    const int slot = slot_of(m, w, operand[i]);
    if (slot < 0) continue;
    event->ring = m->ring[operand[i]->buffer->id];
    for (int k = 0; k < blocks_of_product(m, op); k++)
      time_read_slot(m, w, op, (TimeSlot){operand[i]->buffer, slot, w->rank ^ k}, w->clock,
                     event->end);
  }
}

// Q has no number: the other operand's is taken.
static int64_t slab_of_product(const TimeMachine *m, const TimeWarp *w, const TimeCode *code) {
  const int64_t slab = slab_of(m, w, code, &code->stmt->op.src);
  return slab >= 0 ? slab : slab_of(m, w, code, &code->stmt->op.src2);
}

// The operand that has a ring says the slot.
static int slot_of_product(const TimeMachine *m, const TimeWarp *w, const Op *op) {
  const int slot = slot_of(m, w, &op->src2);
  return slot >= 0 ? slot : slot_of(m, w, &op->src);
}

static void multiply(TimeMachine *m, TimeWarp *w, const TimeCode *code) {
  const Op *op = &code->stmt->op;
  double clocks = (double)code->count * code->cost.multiply;
  int64_t slab = slab_of_product(m, w, code);
  double start = take_multiplier(m, w, op, clocks);
  TimelineEvent *event =
      work_event(m, w, code, TIMELINE_MULTIPLY, slot_of_product(m, w, op), slab, start);
  event->busy += clocks;
  event->end = start + clocks;
  read_by_descriptor(m, w, op, event);
  if (op_facts(op->kind)->completes == COMPLETES_AT_ONCE)
    w->clock = event->end;
  else
    complete_later(m, w, op, event);
}

// The warps of a warpgroup carry out a product together, each on the tensor core of its own quarter
// of the SM: who comes first stands there until the last one has come. So a product takes all four
// quarters from one clock on, and of two warpgroups the one that is complete first has them first.
//
// Worked example, warps 0 to 3 come at 1,908 and warps 4 to 7 a clock later, each group for 512
// clocks: the first has the quarters until 2,420, the second from then until 2,932.
static void multiply_together(TimeMachine *m, TimeWarp *w, int n) {
  const int first = w->index / n * n, end = min_int(first + n, m->n_warps);
  double latest = w->clock;
  w->state = TIME_AT_PRODUCT;
  for (int i = first; i < end; i++) {
    if (m->warp[i].state != TIME_AT_PRODUCT) return;
    latest = fmax(latest, m->warp[i].clock);
  }
  for (int i = first; i < end; i++) {
    TimeWarp *each = &m->warp[i];
    each->state = TIME_READY;
    each->clock = latest;
    multiply(m, each, &m->code->code[each->pc - 1]);
  }
  m->woke = true;
}

void time_run_multiply(TimeMachine *m, TimeWarp *w, const TimeCode *code) {
  const Op *op = &code->stmt->op;
  w->clock = fmax(w->clock, fmax(ready_at(w, &op->src), ready_at(w, &op->src2)));
  if (op->atom && atom_is_of_warpgroup(op->atom))
    multiply_together(m, w, atom_issuing_warps(op->atom));
  else
    multiply(m, w, code);
}

// Sums, scaled or added to what is there, and what else becomes of values in registers.
void time_run_add(TimeMachine *m, TimeWarp *w, const TimeCode *code) {
  const double n = (double)code->count;
  const int quarter = w->index % TIME_QUARTERS;
  if (code->stmt->op.dst.buffer->space == SPACE_GLOBAL) time_run_move(m, w, code);
  if (code->cost.multiply > 0)
    take(&m->block[w->rank].multiply[quarter], w->clock, n * code->cost.multiply);
  double from = w->clock;
  if (code->cost.lanes > 0)
    from = take(&m->block[w->rank].lanes[quarter], from, n * code->cost.lanes);
  w->clock = fmax(w->clock, from) + n;
}

// Powers of 2, whose unit takes so long over each that nothing else hides the warp's waiting.
void time_run_power(TimeMachine *m, TimeWarp *w, const TimeCode *code) {
  const int quarter = w->index % TIME_QUARTERS;
  const double clocks = (double)code->count * code->cost.powers;
  take(&m->block[w->rank].lanes[quarter], w->clock, (double)code->count * code->cost.lanes);
  const double start = take(&m->block[w->rank].powers[quarter], w->clock, clocks);
  TimelineEvent *event = work_event(m, w, code, TIMELINE_POWER, -1, -1, start);
  event->busy += clocks;
  event->end = start + clocks;
  w->clock = fmax(event->end, w->clock + (double)code->count);
}
