// Keeps what each warp knows to be over: its clocks (order/order.h), in epochs.
//
// An arrival starts a new epoch and gathers the clock of its warp; the end of a phase hands the
// gathered clocks to all that wait for it. A copy by TMA overtakes accesses that are known to be
// over, unless a fence in between has made them known to it. Tensor memory has fences of its own,
// in pairs.
//
// A lane that waits or fences alone is alone in knowing it: the other lanes of its warp keep what
// they had, rest[w], until the warp arrives or meets others. A third group of lanes is not kept
// apart but knows what the rest does; so an order may be missed in odd programs, and is never made
// up.
#include <string.h>

#include "model/interp/interp_machine.h"

uint32_t *interp_copy_clock(Machine *m, const uint32_t *from) {
  order_assign(m->order, m->scratch, from);
  return m->scratch;
}

void interp_join_none(Machine *m) {
  m->joined = m->epoch;
  if (!m->has_clocks) return;
  memset(m->knows, 0xFF, sizeof *m->knows * (size_t)m->n_clocks);
  for (int w = 0; w < m->n_clocks; w++) order_fill(m->order, m->clock[w], m->epoch);
}

// Joins the clocks of those that have met: each knows everything that any of them knew; of fences,
// what each of them had said.
// `told` is what others knew that have arrived and gone on; NULL: there are none.
static void join(Machine *m, const bool *takes_part, const uint32_t *told) {
  uint32_t *clock = m->scratch;
  order_clear(m->order, clock);
  if (told) order_join(m->order, clock, told);
  for (int w = 0; w < m->n_warps; w++)
    if (takes_part[w]) order_tell(m->order, clock, clock_of(m, w), w, m->epoch);
  for (int w = 0; w < m->n_warps; w++) {
    if (!takes_part[w]) continue;
    order_adopt(m->order, clock_of(m, w), clock);
    m->knows[w] = UINT32_MAX;
  }
}

void interp_join(Machine *m, const bool *takes_part) { interp_join_told(m, takes_part, NULL); }

void interp_join_told(Machine *m, const bool *takes_part, uint32_t *told) {
  bool all = true;
  for (int w = 0; w < m->n_warps; w++) all = all && takes_part[w];
  m->epoch++;
  if (all) m->joined = m->epoch;
  if (m->has_clocks) join(m, takes_part, told);
}

// The clock of the active lanes alone, from now on apart from the clock of the others.
static uint32_t *interp_clock_of_lanes(Machine *m, const Warp *w) {
  uint32_t *clock = clock_of(m, w->index), *rest = rest_of(m, w->index);
  uint32_t knew = m->knows[w->index];
  m->knows[w->index] = w->active;
  if (knew == UINT32_MAX)
    order_assign(m->order, rest, clock);
  else if (w->active & ~knew)
    order_assign(m->order, clock, rest);
  return clock;
}

uint32_t *interp_clock_of_warp(Machine *m, int w) {
  if (m->knows[w] != UINT32_MAX) order_join(m->order, clock_of(m, w), rest_of(m, w));
  m->knows[w] = UINT32_MAX;
  return clock_of(m, w);
}

void interp_learn(Machine *m, const Warp *w, const uint32_t *from) {
  if (!warp_is_whole(w)) {
    order_join(m->order, interp_clock_of_lanes(m, w), from);
    return;
  }
  order_join(m->order, clock_of(m, w->index), from);
  order_join(m->order, rest_of(m, w->index), from);
}

// Work of other blocks of a cluster waits in the queues of other SMs, which no fence of this
// one looks at. A warp knows all that it did itself since its lanes last met only if every lane
// fences.
void interp_fence(Machine *m, const Warp *w) {
  const int first = w->rank * m->block_warps;
  if (!warp_is_whole(w)) {
    order_fence(m->order, interp_clock_of_lanes(m, w), first, m->block_warps);
    return;
  }
  uint32_t *clocks[] = {clock_of(m, w->index), rest_of(m, w->index)};
  const uint32_t now = ++m->epoch;
  for (int i = 0; i < 2; i++) {
    order_fence(m->order, clocks[i], first, m->block_warps);
    order_fact(m->order, clocks[i], ORDER_FENCED)[w->index] = now;
  }
}

// These lanes' work on tensor memory is known from now on to the threads that they signal.
void interp_before(Machine *m, const Warp *w) {
  const uint32_t now = ++m->epoch;
  uint32_t *clock = warp_is_whole(w) ? clock_of(m, w->index) : interp_clock_of_lanes(m, w);
  order_fact(m->order, clock, ORDER_BEFORE)[w->index] = now;
  if (warp_is_whole(w)) order_fact(m->order, rest_of(m, w->index), ORDER_BEFORE)[w->index] = now;
}

void interp_after(Machine *m, const Warp *w) {
  uint32_t *clock = warp_is_whole(w) ? clock_of(m, w->index) : interp_clock_of_lanes(m, w);
  order_come_after(m->order, clock);
  if (warp_is_whole(w)) order_come_after(m->order, rest_of(m, w->index));
}
