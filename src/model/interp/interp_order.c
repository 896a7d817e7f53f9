// Keeps what is known to be over: a vector clock for each warp.
//
// clock[w][v].seen = e says that warp w knows of everything that warp v did in epochs before e. An
// arrival starts a new epoch and gathers the clock of its warp; the end of a phase hands the
// gathered clocks to all that wait for it. A copy by TMA overtakes accesses that are known to be
// over, unless a fence in between has made them known to it: clock[w][v].fenced, handed on in the
// same way.
//
// Tensor memory has fences of its own, in pairs: `before` is the epoch in front of which v's
// accesses to it stand behind a fence that w has been told of, and `after` says the same of a fence
// that w itself has gone through since. `after` is handed on to nobody.
//
// A lane that waits or fences alone is alone in knowing it: the other lanes of its warp keep what
// they had, rest[w], until the warp arrives or meets others. A third group of lanes is not kept
// apart but knows what the rest does; so an order may be missed in odd programs, and is never made
// up.
#include <string.h>

#include "model/interp/interp_machine.h"

void order_join_clock(const Machine *m, Known *into, const Known *from) {
  for (int v = 0; v < m->n_clocks; v++) {
    if (from[v].seen > into[v].seen) into[v].seen = from[v].seen;
    if (from[v].fenced > into[v].fenced) into[v].fenced = from[v].fenced;
    if (from[v].passed > into[v].passed) into[v].passed = from[v].passed;
    if (from[v].before > into[v].before) into[v].before = from[v].before;
  }
}

static void copy_clock(const Machine *m, Known *into, const Known *from) {
  memcpy(into, from, sizeof *into * (size_t)m->n_clocks);
}

Known *order_copy_clock(Machine *m, const Known *from) {
  copy_clock(m, m->scratch, from);
  return m->scratch;
}

void interp_join_none(Machine *m) {
  m->joined = m->epoch;
  if (!m->has_clocks) return;
  memset(m->knows, 0xFF, sizeof *m->knows * (size_t)m->n_clocks);
  for (int i = 0; i < m->n_clocks * m->n_clocks; i++)
    m->clock[i] = (Known){m->epoch, m->epoch, m->epoch, m->epoch, m->epoch};
}

// All but what is nobody else's: behind which fence its own accesses to tensor memory come.
static void take_clock(const Machine *m, Known *into, const Known *from) {
  for (int v = 0; v < m->n_clocks; v++) {
    const uint32_t after = into[v].after;
    into[v] = from[v];
    into[v].after = after;
  }
}

// Joins the clocks of those that have met: each knows everything that any of them knew; of fences,
// what each of them had said.
static void join(Machine *m, const bool *takes_part) {
  Known *clock = m->scratch;
  memset(clock, 0, sizeof *clock * (size_t)m->n_clocks);
  for (int w = 0; w < m->n_warps; w++)
    if (takes_part[w]) order_join_clock(m, clock, clock_of(m, w));
  for (int w = 0; w < m->n_warps; w++)
    if (takes_part[w]) clock[w].seen = clock[w].passed = m->epoch;
  for (int w = 0; w < m->n_warps; w++) {
    if (!takes_part[w]) continue;
    take_clock(m, clock_of(m, w), clock);
    m->knows[w] = UINT32_MAX;
  }
}

void interp_join(Machine *m, const bool *takes_part) {
  bool all = true;
  for (int w = 0; w < m->n_warps; w++) all = all && takes_part[w];
  m->epoch++;
  if (all) m->joined = m->epoch;
  if (m->has_clocks) join(m, takes_part);
}

// The clock of the active lanes alone, from now on apart from that of the others.
Known *order_of_lanes(Machine *m, const Warp *w) {
  Known *clock = clock_of(m, w->index), *rest = rest_of(m, w->index);
  uint32_t knew = m->knows[w->index];
  m->knows[w->index] = w->active;
  if (knew == UINT32_MAX)
    copy_clock(m, rest, clock);
  else if (w->active & ~knew)
    copy_clock(m, clock, rest);
  return clock;
}

// What other blocks of a cluster have done waits in the queues of other SMs, which no fence of this
// one looks at.
static void fence(const Machine *m, const Warp *w, Known *clock) {
  int first = w->rank * m->block_warps;
  for (int v = first; v < first + m->block_warps; v++) clock[v].fenced = clock[v].seen;
}

// fence.proxy.async: an access of this block that the thread knows to be over is over for TMA as
// well, whoever made it. It knows all that its own warp did since its lanes last met only if every
// lane fences.
void order_fence(Machine *m, const Warp *w) {
  if (!warp_is_whole(w)) {
    fence(m, w, order_of_lanes(m, w));
    return;
  }
  Known *clock = clock_of(m, w->index), *rest = rest_of(m, w->index);
  fence(m, w, clock);
  fence(m, w, rest);
  clock[w->index].fenced = rest[w->index].fenced = ++m->epoch;
}

// tcgen05.fence::before_thread_sync: what these lanes did to tensor memory is known to whom they
// tell of it from now on.
void order_before(Machine *m, const Warp *w) {
  const uint32_t now = ++m->epoch;
  if (!warp_is_whole(w)) {
    order_of_lanes(m, w)[w->index].before = now;
    return;
  }
  clock_of(m, w->index)[w->index].before = rest_of(m, w->index)[w->index].before = now;
}

static void come_after(const Machine *m, Known *clock) {
  for (int v = 0; v < m->n_clocks; v++) clock[v].after = clock[v].before;
}

// tcgen05.fence::after_thread_sync: what these lanes do to tensor memory from now on comes behind
// that of which they were told.
void order_after(Machine *m, const Warp *w) {
  if (!warp_is_whole(w)) {
    come_after(m, order_of_lanes(m, w));
    return;
  }
  come_after(m, clock_of(m, w->index));
  come_after(m, rest_of(m, w->index));
}
