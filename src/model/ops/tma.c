// Copies by the tensor memory accelerator, and the fence in front of them.
//
//   tma_load(slab, at, &A_map, column, row, full, slot);    column and row as the matrix lies in
//                                                           memory
//
// One thread issues a copy, and no thread carries it out: "the agent" does. Early, it lands at
// once; late, when no warp can go on without it: both ends are legal for the hardware. Its elements
// are in flight until then, and afterwards written by the agent. A thread that has not waited for
// the phase in which they landed is not ordered with that write (interp_shadow.c). Every mbarrier
// has an agent of its own: the landing of a slab asked for later says nothing of this one.
#include <string.h>

#include "model/ir/stmt.h"
#include "model/ops/ops.h"

// ---- check --------------------------------------------------------------------------------------

static const char *box_fault(Arena *arena, const Program *program, const Code *code) {
  const char *fault = mbar_place_fault(arena, program, code);
  if (fault) return fault;
  const Op *op = &code->stmt->op;
  const Buffer *from = op->src.buffer, *to = op->dst.buffer;
  int last = to->rank - 1;
  if (from->rank < 2 || from->rank > BOX_RANK_MAX || last < 1 || op->box[0] < 1 || op->box[1] < 1 ||
      op->box[0] > to->dim[last - 1] || op->box[1] > to->dim[last])
    return arena_printf(arena, "a box of %lld x %lld does not fit into %s", (long long)op->box[0],
                        (long long)op->box[1], to->name);
  return operand_is_uniform(&code->src)
             ? NULL
             : "all lanes must name the same box, but this differs by lane";
}

// ---- run ----------------------------------------------------------------------------------------

static int64_t box_elements(const Op *op) { return op->box[0] * op->box[1]; }

// Copies by size, for the sizes that the compiler knows.
static void copy_element(uint8_t *to, const uint8_t *from, int bytes) {
  if (bytes == 2)
    memcpy(to, from, 2);
  else if (bytes == 4)
    memcpy(to, from, 4);
  else
    memcpy(to, from, (size_t)bytes);
}

// The block with the mbarrier that counts a box's bytes: the one it goes to, in a pair the even
// one.
static int counting_rank(const Op *op, int rank) { return op->cta_group > 1 ? rank & ~1 : rank; }

// For the block at hand.
static int agent_of(const Machine *m, const Mbar *bar, const Op *op) {
  int of_bar = (int)(bar - m->memory[op->src2.buffer->id].mbar) % INTERP_AGENTS;
  return m->max_warps + m->rank * INTERP_AGENTS + of_bar;
}

// One row of the box: zeros where it is outside of the matrix.
static void land_row(const Machine *m, const BoxCopy *copy, const Memory *dst, int64_t row,
                     const Touch *now) {
  const Code *code = &m->code->code[copy->code];
  const Op *op = &code->stmt->op;
  const Buffer *from = op->src.buffer;
  const int fast = buffer_fast_dimension(from), slow = buffer_slow_dimension(from);
  const int64_t matrix = buffer_matrix_begin(from, copy->corner);
  const int64_t s = copy->corner[slow] + row;
  const bool is_matrix = from->rank == 2 || copy->corner[0] < from->dim[0];
  const bool is_row = is_matrix && s >= 0 && s < from->dim[slow];
  const int32_t *at = &code->box_at[row * op->box[1]];
  for (int64_t column = 0; column < op->box[1]; column++) {
    const int64_t f = copy->corner[fast] + column, to = copy->first + at[column];
    if (is_row && f >= 0 && f < from->dim[fast])
      copy_element(memory_at(dst, to),
                   memory_at(&m->memory[from->id], matrix + s * from->stride[slow] + f),
                   dst->bytes);
    else
      memset(memory_at(dst, to), 0, (size_t)dst->bytes);
    shadow_land(dst, to, now);
  }
}

// The box arrives as a whole, in an epoch of its own, and its bytes count.
static void land(Machine *m, const BoxCopy *copy) {
  const Code *code = &m->code->code[copy->code];
  const Op *op = &code->stmt->op;
  const Memory *dst = &m->memory[op->dst.buffer->id];
  interp_at_rank(m, counting_rank(op, copy->rank));
  int agent = agent_of(m, copy->bar, op);
  interp_at_rank(m, copy->rank);
  Touch now = {++m->epoch, (uint32_t)m->cluster, (uint16_t)(agent * LANES), (uint16_t)copy->code};
  for (int64_t row = 0; row < op->box[0]; row++) land_row(m, copy, dst, row, &now);
  Mbar *bar = copy->bar;
  interp_at_rank(m, counting_rank(op, copy->rank));
  order_mbar_gathered(bar->order)[agent] = ++m->epoch;
  bar->order->phases.bytes -= box_elements(op) * dst->bytes;
  mbar_end_phase(m, code, bar);
  if (m->watch) watch_landing(m, code, bar);
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

// The mbarrier at which it counts; NULL after a finding.
static Mbar *counting_bar(Machine *m, const Warp *w, const Code *code) {
  const int here = m->rank, there = counting_rank(&code->stmt->op, here);
  interp_at_rank(m, there);
  if (there != here) interp_reach_rank(m, w, code, there);
  Mbar *bar = mbar_ready(m, w, code, &code->src2);
  interp_at_rank(m, here);
  return bar;
}

// The first element of a box that is asked for early stands for all: one kernel wrote them.
static void check_corner(Machine *m, const BoxCopy *copy, const Buffer *from, const Touch *now) {
  const int fast = buffer_fast_dimension(from), slow = buffer_slow_dimension(from);
  const int64_t f = copy->corner[fast], s = copy->corner[slow];
  if (f < 0 || f >= from->dim[fast] || s < 0 || s >= from->dim[slow]) return;
  const int64_t at =
      buffer_matrix_begin(from, copy->corner) + s * from->stride[slow] + f * from->stride[fast];
  shadow_check_early(m, &m->memory[from->id], at, now);
}

// Asks for a box in the memory of the block at hand. Whatever it will overwrite must be over and
// done with.
static void ask_here(Machine *m, const Warp *w, const Code *code) {
  const Op *op = &code->stmt->op;
  Mbar *bar = counting_bar(m, w, code);
  int64_t first = interp_scalar(w, &code->dst.offset);
  if (!bar || !is_inside(m, w, code, first)) return;
  Touch now = touch_of(m, w, code);
  now.thread = thread_of(w, (uint32_t)lowest_lane(w->active));
  for (int64_t i = 0; i < box_elements(op); i++)
    shadow_ask(m, &m->memory[op->dst.buffer->id], first + code->box_at[i], &now);
  uint32_t *gathered = order_mbar_gathered(bar->order);
  order_fact(m->order, gathered, ORDER_PASSED)[w->index] =
      ++m->epoch;  // the phase cannot end before this is asked
  BoxCopy *copy = interp_new_box(m);
  *copy = (BoxCopy){.code = (int)(code - m->code->code),
                    .rank = m->rank,
                    .first = first,
                    .bar = bar,
                    .land = land};
  for (int d = 0; d < op->src.buffer->rank; d++)
    copy->corner[d] = interp_scalar(w, &code->corner[d]);
  if (m->is_early) check_corner(m, copy, op->src.buffer, &now);
  if (m->async != INTERP_EARLY) return;
  land(m, copy);
  m->n_boxes--;
}

// Late, a box comes to each block of a mask in its own time.
static void run_tma_load(Machine *m, Warp *w, const Code *code) {
  mbar_check_alone(m, w, code);
  EACH_RANK(rank, interp_ranks(m, w, code)) {
    interp_at_rank(m, (int)rank);
    interp_ask_rank(m, w, code, (int)rank);
    ask_here(m, w, code);
  }
  interp_at_rank(m, w->rank);
}

static void run_fence(Machine *m, Warp *w, const Code *code) {
  (void)code;
  interp_fence(m, w);
}

// ---- emit ---------------------------------------------------------------------------------------

// tma_load(slab, at, &A_map, column, row, full, slot). Of a mask: tma_multicast(…, slot, mask); of
// a pair: tma_pair(…).
static void emit_tma_load(Emitter *emitter, const Op *op) {
  const Buffer *from = op->src.buffer;
  const PreludeKind kind = op->ranks           ? PRELUDE_TMA_MULTICAST
                           : op->cta_group > 1 ? PRELUDE_TMA_PAIR
                                               : PRELUDE_TMA_LOAD;
  const char *name = emit_helper(
      emitter,
      (Prelude){.kind = kind, .type = emit_stored_type(op->dst.buffer->type), .width = from->rank});
  emit_type_name(emitter, op->dst.buffer->type);
  const char *mask = "";
  if (op->ranks) mask = arena_printf(emitter->arena, ", %s", emit_condition(emitter, op->ranks));
  emitter_line(emitter, "%s(%s, &%s_map, %s, %s%s);", name, emit_place(emitter, &op->dst),
               from->name, emit_corner(emitter, &op->src), emit_place(emitter, &op->src2), mask);
}

static const PreludeText fence = {
    "fence_async",
    "// What was read of shared memory, by all whom this thread has waited for, is read before a\n"
    "// copy that it asks for later overwrites it.\n"
    "__device__ __forceinline__ void fence_async() {\n"
    "  asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n}\n"};

static const char *const boxes[ROLE_COUNT] = {[ROLE_SLAB_A] = "ask for the slab of %s",
                                              [ROLE_SLAB_B] = "ask for the slab of %s",
                                              [ROLE_SLAB_V] = "ask for the slab of %s"};

static const char *const help_of_box[ROLE_COUNT + 1] = {
    [ROLE_COUNT] =
        "one thread starts it; the tensor memory accelerator computes the addresses, swizzles, "
        "writes zeros outside of the matrix, and counts the bytes at full[slot]"};
static const char *const help_of_fence[ROLE_COUNT + 1] = {
    [ROLE_COUNT] =
        "earlier reads of the slab come before the copy that fills it again; without the fence the "
        "copy could overtake them"};

const OpRules rules_TMA_LOAD = {.text = {.write = emit_tma_load, .purposes = boxes},
                                {.run = run_tma_load, .fault = box_fault},
                                help_of_box};
const OpRules rules_FENCE_ASYNC = {.text = {.call = &fence}, {.run = run_fence}, help_of_fence};
