// Mbarriers, the copies that count at them, and the order that both make.
//
// An mbarrier is what the PTX ISA says of it (9.7.13.15): a phase ends when as many arrivals have
// come as it was initialised for and no bytes are outstanding; a wait for phase bit p goes on when
// the phase under way has another bit. So a wait for bit 1 on a new mbarrier, in phase 0, is free:
// that is how a producer finds all slots empty at the start.
//
//   init 2 arrivals     phase 0, 2 pending
//   expect 64 bytes     phase 0, 1 pending, 64 bytes to come
//   arrive              phase 0, 0 pending, 64 bytes to come
//   the box lands       phase 1, 2 pending: who waits for bit 0 goes on
//
// A copy is issued by one thread and carried out by nobody in particular, "the agent". Early, it
// lands at once; late, when no warp can go on without it: both ends are legal for the hardware. Its
// elements are in flight until then, and afterwards written by the agent; who has not waited for
// the phase in which they landed is not ordered with that (interp_shadow.c). Every mbarrier has an
// agent of its own: that a slab asked for later has landed says nothing of this one.
//
// Order is a vector clock per warp: clock[w].seen[v] says that what warp v did in epochs before it
// is known to w. An arrival starts a new epoch and gathers the clock of its warp; the end of a
// phase hands what was gathered to all that wait for it. A copy by TMA overtakes accesses that are
// known to be over, unless a fence between has said so: clock[w].fenced, handed on in the same way.
//
// A phase bit comes back: who waits for phase 0 and comes when phase 1 has ended too finds its bit
// under way again, and waits for ever. So a wait that went on, for whatever reason of the schedule,
// must be known to be over (clock[w].passed) to what ends the phase after its own:
//
//   consumer   wait full 0 · arrive empty · wait full 0 again      the second one is known to
//   nobody producer   wait empty · expect full, TMA                       ends phase 1 of full: a
//   finding
//
// What a lane waits or fences for alone, it alone knows: the other lanes of its warp keep what they
// had, rest[w], until the warp arrives or meets others. A third group of lanes is not kept apart,
// it knows what the rest does; so an order may be missed in odd programs, and is never made up.
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/str.h"
#include "model/interp/interp_machine.h"

// ---- order --------------------------------------------------------------------------------------

static void join_clock(Clock *into, const Clock *from) {
  for (int v = 0; v < INTERP_CLOCKS; v++) {
    if (from->seen[v] > into->seen[v]) into->seen[v] = from->seen[v];
    if (from->fenced[v] > into->fenced[v]) into->fenced[v] = from->fenced[v];
    if (from->passed[v] > into->passed[v]) into->passed[v] = from->passed[v];
  }
}

void interp_join_none(Machine *m) {
  m->joined = m->epoch;
  memset(m->knows, 0xFF, sizeof m->knows);
  for (int w = 0; m->has_mbarriers && w < INTERP_CLOCKS; w++)
    for (int v = 0; v < INTERP_CLOCKS; v++)
      m->clock[w].seen[v] = m->clock[w].fenced[v] = m->clock[w].passed[v] = m->epoch;
}

// Those that have met know all of each other; of fences, what each of them had said.
static void join(Machine *m, const bool *takes_part) {
  Clock clock = {{0}, {0}, {0}};
  for (int w = 0; w < m->n_warps; w++)
    if (takes_part[w]) join_clock(&clock, &m->clock[w]);
  for (int w = 0; w < m->n_warps; w++)
    if (takes_part[w]) clock.seen[w] = clock.passed[w] = m->epoch;
  for (int w = 0; w < m->n_warps; w++) {
    if (!takes_part[w]) continue;
    m->clock[w] = clock;
    m->knows[w] = UINT32_MAX;
  }
}

void interp_join_all(Machine *m) {
  bool all[INTERP_AGENT];
  memset(all, true, sizeof all);
  m->joined = m->epoch;
  if (m->has_mbarriers) join(m, all);
}

void interp_join_some(Machine *m, const bool *takes_part) {
  m->epoch++;
  join(m, takes_part);
}

static bool is_whole(const Warp *w) { return !(w->alive & ~w->active); }

// The clock of the active lanes alone, from now on apart from that of the others.
static Clock *clock_of_lanes(Machine *m, const Warp *w) {
  Clock *clock = &m->clock[w->index], *rest = &m->rest[w->index];
  uint32_t knew = m->knows[w->index];
  m->knows[w->index] = w->active;
  if (knew == UINT32_MAX)
    *rest = *clock;
  else if (w->active & ~knew)
    *clock = *rest;
  return clock;
}

static void fence(Clock *clock) { memcpy(clock->fenced, clock->seen, sizeof clock->fenced); }

// fence.proxy.async: what the thread knows to be over is over for TMA as well, whoever did it. Of
// what its own warp did since they last met it knows all only where every lane fences.
void interp_run_fence(Machine *m, Warp *w, const Code *code) {
  (void)code;
  if (!is_whole(w)) {
    fence(clock_of_lanes(m, w));
    return;
  }
  fence(&m->clock[w->index]);
  fence(&m->rest[w->index]);
  m->clock[w->index].fenced[w->index] = m->rest[w->index].fenced[w->index] = ++m->epoch;
}

// ---- mbarriers ----------------------------------------------------------------------------------

static void report_mbar(Machine *m, const Warp *w, const Code *code, FindingKind kind,
                        const char *what) {
  interp_report(m, kind, w, lowest_lane(w->active), code->stmt, code->dst.buffer,
                code->dst.buffer ? interp_scalar(w, &code->dst.offset) : 0, "%s", what);
}

// The mbarrier of an operand; NULL after a finding.
static Mbar *mbar_of(Machine *m, const Warp *w, const Code *code, const Operand *operand) {
  const Memory *memory = &m->memory[operand->buffer->id];
  int64_t at = interp_scalar(w, &operand->offset);
  if (at >= 0 && at < memory->elements) return &memory->mbar[at];
  report_mbar(m, w, code, FINDING_OUT_OF_BOUNDS, "reaches for an mbarrier that is not there");
  return NULL;
}

// A thread of the warp that is not `thread`, if one is active: for it an order is needed.
static uint16_t other_thread(const Warp *w, uint16_t thread) {
  uint32_t others = w->active;
  if (thread / LANES == w->index && others & (others - 1)) others &= ~(1u << thread % LANES);
  return thread_of(w, (uint32_t)lowest_lane(others));
}

// The same of one that this block has initialised, and in an order with this use.
static Mbar *ready_mbar(Machine *m, const Warp *w, const Code *code, const Operand *operand) {
  Mbar *bar = mbar_of(m, w, code, operand);
  if (!bar) return NULL;
  Touch now = touch_of(m, w, code);
  now.thread = other_thread(w, bar->init.thread);
  if (bar->init.epoch < m->block_first) {
    report_mbar(m, w, code, FINDING_UNWRITTEN_READ, "uses an mbarrier that nobody initialised");
    return NULL;
  }
  if (!shadow_ordered(m, &bar->init, &now))
    report_mbar(m, w, code, FINDING_RACE,
                "uses an mbarrier with no barrier after its initialisation");
  return bar;
}

// Who waited for the phase before must have gone on before this one ends.
static void check_waits(Machine *m, const Code *code, const Mbar *bar) {
  const Touch *waited = bar->waited[~bar->phase & 1];
  for (int w = 0; w < m->n_warps; w++) {
    if (waited[w].epoch < m->block_first || waited[w].epoch < bar->gathered.passed[w]) continue;
    const Stmt *wait = m->code->code[waited[w].code].stmt;
    const Buffer *buffer = wait->op.dst.buffer;
    interp_report(m, FINDING_DEADLOCK, NULL, -1, wait, buffer, bar - m->memory[buffer->id].mbar,
                  "warp %d may come so late that the phase after the one it waits for has ended "
                  "too, by stmt %d, and waits for ever",
                  w, code->stmt->id);
  }
}

static void end_phase(Machine *m, const Code *code, Mbar *bar) {
  if (bar->pending > 0 || bar->bytes != 0) return;
  check_waits(m, code, bar);
  bar->phase++;
  bar->pending = bar->expected;
  join_clock(&bar->ended, &bar->gathered);
}

static void arrive(Machine *m, const Warp *w, const Code *code, Mbar *bar) {
  if (bar->pending == 0)
    report_mbar(m, w, code, FINDING_DEADLOCK, "arrives once too often for the phase under way");
  bar->pending--;
  end_phase(m, code, bar);
}

// What is one thread's to do is done once for each lane that reaches it.
static void check_alone(Machine *m, const Warp *w, const Code *code) {
  if (w->active & (w->active - 1))
    report_mbar(m, w, code, FINDING_DIVERGENCE, "is not alone in doing what one thread must");
}

void interp_run_mbar_init(Machine *m, Warp *w, const Code *code) {
  Mbar *bar = mbar_of(m, w, code, &code->dst);
  if (!bar) return;
  check_alone(m, w, code);
  if (bar->init.epoch >= m->block_first)
    report_mbar(m, w, code, FINDING_RACE, "initialises an mbarrier that is in use");
  *bar = (Mbar){.expected = code->stmt->op.count, .pending = code->stmt->op.count};
  bar->init = touch_of(m, w, code);
  bar->init.thread = thread_of(w, (uint32_t)lowest_lane(w->active));
}

// One thread arrives: of its own warp's other lanes it can say nothing.
void interp_run_mbar_expect(Machine *m, Warp *w, const Code *code) {
  Mbar *bar = ready_mbar(m, w, code, &code->dst);
  if (!bar) return;
  check_alone(m, w, code);
  Clock others = *interp_clock(m, thread_of(w, (uint32_t)lowest_lane(w->active)));
  others.seen[w->index] = others.fenced[w->index] = 0;
  others.passed[w->index] = ++m->epoch;
  join_clock(&bar->gathered, &others);
  bar->bytes += code->stmt->op.count;
  arrive(m, w, code, bar);
}

void interp_run_mbar_arrive(Machine *m, Warp *w, const Code *code) {
  uint32_t missing = w->alive & ~w->active;
  if (missing)
    report_mbar(m, w, code, FINDING_DIVERGENCE, "arrives for a warp that is not all there");
  Mbar *bar = ready_mbar(m, w, code, &code->dst);
  if (!bar) return;
  if (m->knows[w->index] != UINT32_MAX) join_clock(&m->clock[w->index], &m->rest[w->index]);
  m->knows[w->index] = UINT32_MAX;
  m->clock[w->index].seen[w->index] = m->clock[w->index].passed[w->index] = ++m->epoch;
  join_clock(&bar->gathered, &m->clock[w->index]);
  arrive(m, w, code, bar);
}

static bool phase_ended(const Warp *w, const Code *code, const Mbar *bar) {
  return (bar->phase & 1) != (uint32_t)interp_scalar(w, &code->value);
}

// A warp that has to wait stands before the statement and comes back to it.
void interp_run_mbar_wait(Machine *m, Warp *w, const Code *code) {
  Mbar *bar = ready_mbar(m, w, code, &code->dst);
  if (!bar) return;
  if (phase_ended(w, code, bar)) {
    bar->waited[~bar->phase & 1][w->index] = touch_of(m, w, code);
    join_clock(is_whole(w) ? &m->clock[w->index] : clock_of_lanes(m, w), &bar->ended);
    if (is_whole(w)) join_clock(&m->rest[w->index], &bar->ended);
    return;
  }
  w->state = WARP_AT_MBARRIER;
  w->pc--;
  m->lanes[OP_MBAR_WAIT] -= __builtin_popcount(w->active);
}

static const Code *waits_for(const Machine *m, const Warp *w) { return &m->code->code[w->pc]; }

static const Mbar *awaited(const Machine *m, const Warp *w) {
  const Operand *dst = &waits_for(m, w)->dst;
  return &m->memory[dst->buffer->id].mbar[interp_scalar(w, &dst->offset)];
}

static bool may_go_on(const Machine *m, const Warp *w) {
  const Code *code = waits_for(m, w);
  if (!code->dst.buffer) return interp_may_take(m, w, code);
  return phase_ended(w, code, awaited(m, w));
}

bool interp_wake(Machine *m) {
  bool any = false;
  for (int i = 0; i < m->n_warps; i++) {
    Warp *w = &m->warp[i];
    if (w->state != WARP_AT_MBARRIER || !may_go_on(m, w)) continue;
    w->state = WARP_RUNNABLE;
    any = true;
  }
  return any;
}

void interp_report_stuck(Machine *m) {
  for (int i = 0; i < m->n_warps; i++) {
    const Warp *w = &m->warp[i];
    if (w->state != WARP_AT_MBARRIER) continue;
    if (!waits_for(m, w)->dst.buffer) {
      interp_report_registers(m, w, waits_for(m, w));
      continue;
    }
    const Mbar *bar = awaited(m, w);
    const Operand *dst = &waits_for(m, w)->dst;
    interp_report(
        m, FINDING_DEADLOCK, w, -1, waits_for(m, w)->stmt, dst->buffer,
        interp_scalar(w, &dst->offset),
        "warp %d waits for a phase of bit %lld to end; phase %u is under way, with %lld of "
        "%lld arrivals missing and %lld bytes %s",
        w->index, (long long)interp_scalar(w, &waits_for(m, w)->value), bar->phase,
        (long long)bar->pending, (long long)bar->expected, llabs(bar->bytes),
        bar->bytes < 0 ? "more than were expected" : "to come");
  }
}

// ---- copies by TMA ------------------------------------------------------------------------------

// Element (row, column) of a box lies `at[row · columns + column]` behind the element it begins
// with: a panel begins where the swizzle's pattern does.
const int32_t *interp_box_places(Arena *arena, const Op *op) {
  Var row = {.id = 0, .name = "row", .extent = op->box[0]};
  Var column = {.id = 1, .name = "column", .extent = op->box[1]};
  Access access = {.buffer = op->dst.buffer};
  int last = access.buffer->rank - 1;
  for (int d = 0; d < last - 1; d++) access.idx[d] = ex_const(arena, 0);
  access.idx[last - 1] = ex_var(arena, &row);
  access.idx[last] = ex_var(arena, &column);
  const Expr *offset = access_offset(arena, &access);
  int32_t *at = ARENA_ARRAY(arena, int32_t, op->box[0] * op->box[1]);
  for (int64_t r = 0, i = 0; r < op->box[0]; r++)
    for (int64_t c = 0; c < op->box[1]; c++, i++)
      at[i] = (int32_t)expr_eval(offset, (int64_t[]){r, c});
  return at;
}

static int64_t box_elements(const Op *op) { return op->box[0] * op->box[1]; }

// One element of the box: zero where it is outside of the matrix.
static void land_element(const Machine *m, const BoxCopy *copy, int64_t row, int64_t column,
                         int64_t to) {
  const Op *op = &m->code->code[copy->code].stmt->op;
  const Buffer *from = op->src.buffer;
  const Memory *src = &m->memory[from->id], *dst = &m->memory[op->dst.buffer->id];
  int fast = buffer_fast_dimension(from), slow = 1 - fast;
  int64_t s = copy->corner[slow] + row, f = copy->corner[fast] + column;
  bool inside = s >= 0 && s < from->dim[slow] && f >= 0 && f < from->dim[fast];
  if (inside)
    memcpy(memory_at(dst, to), memory_at(src, s * from->stride[slow] + f), (size_t)dst->bytes);
  else
    memset(memory_at(dst, to), 0, (size_t)dst->bytes);
}

static int agent_of(const Machine *m, const Mbar *bar, const Op *op) {
  return INTERP_AGENT + (int)(bar - m->memory[op->src2.buffer->id].mbar) % INTERP_AGENTS;
}

// The box arrives as a whole, in an epoch of its own, and its bytes count.
static void land(Machine *m, const BoxCopy *copy) {
  const Code *code = &m->code->code[copy->code];
  const Op *op = &code->stmt->op;
  const Memory *dst = &m->memory[op->dst.buffer->id];
  int agent = agent_of(m, copy->bar, op);
  Touch now = {++m->epoch, (uint32_t)m->block, (uint16_t)(agent * LANES), (uint16_t)copy->code};
  for (int64_t i = 0; i < box_elements(op); i++) {
    int64_t to = copy->first + code->box_at[i];
    land_element(m, copy, i / op->box[1], i % op->box[1], to);
    shadow_land(dst, to, &now);
  }
  Mbar *bar = copy->bar;
  bar->gathered.seen[agent] = ++m->epoch;
  bar->bytes -= box_elements(op) * dst->bytes;
  end_phase(m, code, bar);
}

static BoxCopy *new_copy(Machine *m) {
  if (m->n_boxes == m->box_capacity) {
    m->box_capacity = m->box_capacity ? 2 * m->box_capacity : 16;
    BoxCopy *more = ARENA_ARRAY(m->arena, BoxCopy, m->box_capacity);
    if (m->n_boxes) memcpy(more, m->box, sizeof(BoxCopy) * (size_t)m->n_boxes);
    m->box = more;
  }
  return &m->box[m->n_boxes++];
}

static bool is_inside(Machine *m, const Warp *w, const Code *code, int64_t first) {
  const Memory *dst = &m->memory[code->dst.buffer->id];
  int64_t n = box_elements(&code->stmt->op);
  bool inside = first >= 0 && first + n <= dst->elements;
  for (int i = 0; i < code->dst.n_checks && inside; i++) {
    const DimCheck *check = &code->dst.check[i];
    int64_t at = interp_scalar(w, &check->value);
    inside = at >= 0 && at < check->limit;
  }
  if (!inside)
    interp_report(m, FINDING_OUT_OF_BOUNDS, w, lowest_lane(w->active), code->stmt, code->dst.buffer,
                  first, "copies a box of %lld elements to offset %lld of %lld", (long long)n,
                  (long long)first, (long long)dst->elements);
  return inside;
}

// Whatever the box will overwrite must be over and done with when it is asked for.
void interp_run_tma(Machine *m, Warp *w, const Code *code) {
  const Op *op = &code->stmt->op;
  Mbar *bar = ready_mbar(m, w, code, &code->src2);
  int64_t first = interp_scalar(w, &code->dst.offset);
  if (!bar || !is_inside(m, w, code, first)) return;
  check_alone(m, w, code);
  Touch now = touch_of(m, w, code);
  now.thread = thread_of(w, (uint32_t)lowest_lane(w->active));
  for (int64_t i = 0; i < box_elements(op); i++)
    shadow_ask(m, &m->memory[op->dst.buffer->id], first + code->box_at[i], &now);
  bar->gathered.passed[w->index] = ++m->epoch;  // the phase cannot end before this is asked
  BoxCopy *copy = new_copy(m);
  *copy = (BoxCopy){.code = (int)(code - m->code->code), .first = first, .bar = bar};
  for (int d = 0; d < 2; d++) copy->corner[d] = interp_scalar(w, &code->corner[d]);
  if (m->async != INTERP_EARLY) return;
  land(m, copy);
  m->n_boxes--;
}

bool interp_land_one(Machine *m) {
  if (m->n_boxes == 0) return false;
  int which = (int)random_between(&m->random, 0, m->n_boxes - 1);
  BoxCopy copy = m->box[which];
  m->box[which] = m->box[--m->n_boxes];
  land(m, &copy);
  return true;
}

// Copies that nobody waited for still write to the shared memory of the block that comes next.
void interp_abandon_boxes(Machine *m) {
  for (int i = 0; i < m->n_boxes && !m->stopped; i++) {
    const Code *code = &m->code->code[m->box[i].code];
    interp_report(m, FINDING_ABANDONED_COPY, NULL, -1, code->stmt, code->dst.buffer,
                  m->box[i].first, "the block ends while its copy is under way");
  }
  m->n_boxes = 0;
}

// ---- what can be said before a run --------------------------------------------------------------

static bool is_uniform(const Operand *operand) {
  return !operand->buffer || value_is_uniform(&operand->offset);
}

const char *interp_mbarrier_fault(Arena *arena, const Op *op, const Code *code) {
  const char *name = op_name(op->kind);
  if (!is_uniform(&code->dst) || !is_uniform(&code->src2) || !value_is_uniform(&code->value))
    return arena_printf(arena, "%s takes one place for a whole warp, this differs by lane", name);
  if (op->kind == OP_MBAR_WAIT && !op->phase) return "wait for an mbarrier has no phase bit";
  if (op->kind == OP_MBAR_INIT && op->count < 1) return "an mbarrier awaits one arrival or more";
  if (op->kind != OP_TMA_LOAD) return NULL;
  const Buffer *from = op->src.buffer, *to = op->dst.buffer;
  int last = to->rank - 1;
  if (from->rank != 2 || last < 1 || op->box[0] < 1 || op->box[1] < 1 ||
      op->box[0] > to->dim[last - 1] || op->box[1] > to->dim[last])
    return arena_printf(arena, "a box of %lld x %lld does not fit into %s", (long long)op->box[0],
                        (long long)op->box[1], to->name);
  return is_uniform(&code->src) ? NULL : "a box begins at one place, this differs by lane";
}
