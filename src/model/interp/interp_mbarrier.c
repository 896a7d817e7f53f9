// Mbarriers, and the copies on their way to them. order/order_mbar.h has their phases, and the
// order that they make.
//
// One thread issues a copy, and no thread carries it out: "the agent" does. Early, it lands at
// once; late, when no warp can go on without it: both ends are legal for the hardware. Its elements
// are in flight until then, and afterwards written by the agent. A thread that has not waited for
// the phase in which they landed is not ordered with that write (interp_shadow.c). Every mbarrier
// has an agent of its own: the landing of a slab asked for later says nothing of this one.
//
// A phase that may come back too soon for some thread (order/order_mbar.h) is a finding:
//
//   consumer   wait full 0 · arrive empty · wait full 0 again    the second is not known to be over
//   producer   wait empty · expect full, TMA                     when phase 1 of full ends
#include <string.h>

#include "base/random.h"
#include "model/interp/interp_machine.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

// ---- mbarriers ----------------------------------------------------------------------------------

void mbar_report(Machine *m, const Warp *w, const Code *code, FindingKind kind, const char *what) {
  interp_report(m, kind, w, lowest_lane(w->active), code->stmt, code->dst.buffer,
                code->dst.buffer ? interp_scalar(w, &code->dst.offset) : 0, "%s", what);
}

// The mbarrier of an operand; NULL after a finding.
Mbar *mbar_of(Machine *m, const Warp *w, const Code *code, const Operand *operand) {
  const Memory *memory = &m->memory[operand->buffer->id];
  int64_t at = interp_scalar(w, &operand->offset);
  if (at >= 0 && at < memory->elements) return &memory->mbar[at];
  mbar_report(m, w, code, FINDING_OUT_OF_BOUNDS, "names an mbarrier that does not exist");
  return NULL;
}

// A thread of the warp that is not `thread`, if one is active: for it an order is needed.
static uint16_t other_thread(const Warp *w, uint16_t thread) {
  uint32_t others = w->active;
  if (thread / LANES == w->index && others & (others - 1)) others &= ~(1u << thread % LANES);
  return thread_of(w, (uint32_t)lowest_lane(others));
}

// The same of one that this block has initialised, and in an order with this use. Threads know by
// the barrier alone, of other blocks too: barrier.cluster.arrive is a release (PTX ISA 9.0,
// barrier.cluster). By which proxy copies and commits reach an mbarrier the ISA does not say before
// 9.3 (the generic one: cp.async.bulk, operand mbar), so that until then the fence belongs there.
Mbar *mbar_ready(Machine *m, const Warp *w, const Code *code, const Operand *operand) {
  Mbar *bar = mbar_of(m, w, code, operand);
  if (!bar) return NULL;
  Touch now = touch_of(m, w, code);
  now.thread = other_thread(w, bar->init.thread);
  if (bar->init.epoch < m->block_first) {
    mbar_report(m, w, code, FINDING_UNWRITTEN_READ, ORDER_UNINITIALISED);
    return NULL;
  }
  if (!shadow_ordered(m, &bar->init, &now))
    mbar_report(m, w, code, FINDING_RACE,
                "uses an mbarrier with no barrier after its initialisation");
  else if (!bar->released && op_facts(code->stmt->op.kind)->proxy == PROXY_ASYNC)
    interp_report(m, FINDING_MISSING_FENCE, w, lowest_lane(w->active), code->stmt, operand->buffer,
                  interp_scalar(w, &operand->offset),
                  "asks for an arrival in the background, with no fence.mbarrier_init after the "
                  "initialisation, stmt %d",
                  m->code->code[bar->init.code].stmt->id);
  return bar;
}

// A thread that waited for the phase before must have gone on before this phase ends.
static void check_waits(Machine *m, const Code *code, const Mbar *bar) {
  OrderMbar *of = bar->order;
  for (int w = -1; (w = order_mbar_late(m->order, of, w + 1, m->block_first)) >= 0;) {
    const OrderWait *waited = &order_mbar_waits(m->order, of, ~of->phases.phase)[w];
    const Stmt *wait = m->code->code[waited->tag].stmt;
    const Buffer *buffer = wait->op.dst.buffer;
    interp_report(m, FINDING_DEADLOCK, NULL, -1, wait, buffer, bar - m->memory[buffer->id].mbar,
                  "warp %s may come late: the phase that it waits for and the next one have "
                  "ended, by stmt %d, and it waits for ever",
                  interp_warp_name(m, w), code->stmt->id);
  }
}

void mbar_end_phase(Machine *m, const Code *code, Mbar *bar) {
  if (!order_phases_are_complete(&bar->order->phases)) return;
  check_waits(m, code, bar);
  order_mbar_next(m->order, bar->order);
}

void mbar_start(const Machine *m, Mbar *bar, int64_t arrivals, Touch init) {
  order_mbar_init(m->order, bar->order, arrivals);
  bar->init = init;
  bar->released = false;
}

void mbar_release_inits(Machine *m, uint16_t thread) {
  for (int i = 0; i < m->program->n_buffers; i++) {
    const Memory *memory = &m->memory[i];
    for (int64_t at = 0; memory->mbar && at < memory->elements; at++) {
      Mbar *bar = &memory->mbar[at];
      if (bar->init.epoch >= m->block_first && bar->init.thread == thread) bar->released = true;
    }
  }
}

void mbar_arrive(Machine *m, const Warp *w, const Code *code, Mbar *bar) {
  if (!order_phases_arrive(&bar->order->phases, 1))
    mbar_report(m, w, code, FINDING_DEADLOCK, ORDER_TOO_MANY);
  mbar_end_phase(m, code, bar);
}

// An operation that is one thread's to do is done once for each lane that reaches it.
void mbar_check_alone(Machine *m, const Warp *w, const Code *code) {
  if (w->active & (w->active - 1))
    mbar_report(m, w, code, FINDING_DIVERGENCE,
                "does this together with other threads; one thread must do it alone");
}

// ---- warps that wait ----------------------------------------------------------------------------

static const Code *waits_for(const Machine *m, const Warp *w) { return &m->code->code[w->pc]; }

bool interp_wake(Machine *m) {
  bool any = false;
  for (int i = 0; i < m->n_warps; i++) {
    Warp *w = &m->warp[i];
    if (w->state != WARP_ASLEEP) continue;
    const Code *code = waits_for(m, w);
    interp_at_rank(m, w->rank);
    if (!op_machine(code->stmt->op.kind)->may_go_on(m, w, code)) continue;
    w->state = WARP_RUNNABLE;
    any = true;
  }
  return any;
}

void interp_report_stuck(Machine *m) {
  for (int i = 0; i < m->n_warps; i++) {
    const Warp *w = &m->warp[i];
    if (w->state != WARP_ASLEEP) continue;
    const Code *code = waits_for(m, w);
    interp_at_rank(m, w->rank);
    op_machine(code->stmt->op.kind)->report_stuck(m, w, code);
  }
}

// ---- copies under way ---------------------------------------------------------------------------

BoxCopy *interp_new_box(Machine *m) {
  if (m->n_boxes == m->box_capacity) {
    m->box_capacity = m->box_capacity ? 2 * m->box_capacity : 16;
    BoxCopy *more = ARENA_ARRAY(m->arena, BoxCopy, m->box_capacity);
    if (m->n_boxes) memcpy(more, m->box, sizeof(BoxCopy) * (size_t)m->n_boxes);
    m->box = more;
  }
  return &m->box[m->n_boxes++];
}

bool interp_land_one(Machine *m) {
  const int waiting = m->has_tmem ? tmem_pending(m) : 0;
  if (m->n_boxes + waiting == 0) return false;
  int which = (int)random_between(&m->random, 0, m->n_boxes + waiting - 1);
  if (which >= m->n_boxes) {
    tmem_carry_out(m, which - m->n_boxes);
    return true;
  }
  BoxCopy copy = m->box[which];
  m->box[which] = m->box[--m->n_boxes];
  interp_at_rank(m, copy.rank);
  copy.land(m, &copy);
  return true;
}

// Copies without a wait still write to the shared memory of the block that comes next.
void interp_abandon_boxes(Machine *m) {
  for (int i = 0; i < m->n_boxes && !m->stopped; i++) {
    const Code *code = &m->code->code[m->box[i].code];
    interp_at_rank(m, m->box[i].rank);
    interp_report(m, FINDING_ABANDONED_COPY, NULL, -1, code->stmt, code->dst.buffer,
                  m->box[i].first, "the block ends while its copy is under way");
  }
  m->n_boxes = 0;
}

// ---- what can be said before a run --------------------------------------------------------------

bool operand_is_uniform(const Operand *operand) {
  return !operand->buffer || value_is_uniform(&operand->offset);
}

const char *mbar_place_fault(Arena *arena, const Program *program, const Code *code) {
  (void)program;
  if (operand_is_uniform(&code->dst) && operand_is_uniform(&code->src2) &&
      value_is_uniform(&code->value))
    return NULL;
  return arena_printf(arena, "%s needs one place for a whole warp, but this differs by lane",
                      op_name(code->stmt->op.kind));
}
