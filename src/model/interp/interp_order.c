// Keeps what is known to be over: a vector clock for each warp.
//
// clock[w].seen[v] = e says that warp w knows of everything that warp v did in epochs before e. An
// arrival starts a new epoch and gathers the clock of its warp; the end of a phase hands the
// gathered clocks to all that wait for it. A copy by TMA overtakes accesses that are known to be
// over, unless a fence in between has made them known to it: clock[w].fenced, handed on in the same
// way.
//
// A lane that waits or fences alone is alone in knowing it: the other lanes of its warp keep what
// they had, rest[w], until the warp arrives or meets others. A third group of lanes is not kept
// apart but knows what the rest does; so an order may be missed in odd programs, and is never made
// up.
#include <string.h>

#include "model/interp/interp_machine.h"

void order_join_clock(Clock *into, const Clock *from) {
  for (int v = 0; v < INTERP_CLOCKS; v++) {
    if (from->seen[v] > into->seen[v]) into->seen[v] = from->seen[v];
    if (from->fenced[v] > into->fenced[v]) into->fenced[v] = from->fenced[v];
    if (from->passed[v] > into->passed[v]) into->passed[v] = from->passed[v];
  }
}

void interp_join_none(Machine *m) {
  m->joined = m->epoch;
  memset(m->knows, 0xFF, sizeof m->knows);
  for (int w = 0; m->has_clocks && w < INTERP_CLOCKS; w++)
    for (int v = 0; v < INTERP_CLOCKS; v++)
      m->clock[w].seen[v] = m->clock[w].fenced[v] = m->clock[w].passed[v] = m->epoch;
}

// Joins the clocks of those that have met: each knows everything that any of them knew; of fences,
// what each of them had said.
static void join(Machine *m, const bool *takes_part) {
  Clock clock = {{0}, {0}, {0}};
  for (int w = 0; w < m->n_warps; w++)
    if (takes_part[w]) order_join_clock(&clock, &m->clock[w]);
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
  if (m->has_clocks) join(m, all);
}

void interp_join_some(Machine *m, const bool *takes_part) {
  m->epoch++;
  join(m, takes_part);
}

// The clock of the active lanes alone, from now on apart from that of the others.
Clock *order_of_lanes(Machine *m, const Warp *w) {
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

// fence.proxy.async: an access that the thread knows to be over is over for TMA as well, whoever
// made it. It knows all that its own warp did since its lanes last met only if every lane fences.
void order_fence(Machine *m, const Warp *w) {
  if (!warp_is_whole(w)) {
    fence(order_of_lanes(m, w));
    return;
  }
  fence(&m->clock[w->index]);
  fence(&m->rest[w->index]);
  m->clock[w->index].fenced[w->index] = m->rest[w->index].fenced[w->index] = ++m->epoch;
}
