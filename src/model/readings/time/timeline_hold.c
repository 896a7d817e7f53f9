// The slabs that each slot of a ring holds, and until when.
//
// A slot has one hold after the other. Copies of a slab that no warp has read yet belong to the
// same one. A read into registers is over when the values are there. A product that finds its
// operands by descriptors reads on after the warp has gone on: it is kept with the group that its
// warp will close, and the wait for that group, or the commit that an mbarrier hears of, proves it
// over.
//
// Worked example, wgmma with one group in flight: slab 3 is asked for at 100 and lands at 900, its
// products are asked for at 1,000 and done at 1,500, and the wait behind slab 4's products lets go
// at 1,510: the hold is read from 1,000 to 1,510.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"
#include "model/readings/time/timeline_machine.h"

// ---- rings --------------------------------------------------------------------------------------

static bool is_slab(const Buffer *buffer) {
  return buffer->space == SPACE_SHARED &&
         (buffer->role == ROLE_SLAB_A || buffer->role == ROLE_SLAB_B ||
          buffer->role == ROLE_SLAB_V);
}

// Slabs of one product are filled and read together; of several, each matrix by itself.
void time_find_rings(TimeMachine *m) {
  const Program *program = m->code->program;
  Timeline *out = m->out;
  const bool together = program->n_products == 1;
  for (int i = 0; i < program->n_buffers; i++) {
    const Buffer *buffer = program->buffer[i];
    m->ring[buffer->id] = -1;
    if (!is_slab(buffer)) continue;
    const int ring = together ? 0 : out->n_rings;
    m->ring[buffer->id] = ring;
    out->n_rings = ring + 1;
    out->ring[ring] = (TimelineRing){together ? "slot" : buffer->name,
                                     buffer_is_ring(buffer) ? (int)buffer->dim[0] : 1};
  }
}

// ---- holds --------------------------------------------------------------------------------------

static int *latest(TimeMachine *m, TimeSlot at) {
  return &m->block[at.rank].latest[m->ring[at.slab->id]][at.slot];
}

static bool goes_on(const TimelineHold *hold, int64_t slab) {
  return hold->slab == slab && isinf(hold->read);
}

void time_fill_slot(TimeMachine *m, TimeSlot at, int64_t number, double asked, double landed) {
  int *hold = latest(m, at);
  if (*hold && goes_on(&m->hold[*hold - 1], number)) {
    m->hold[*hold - 1].landed = fmax(m->hold[*hold - 1].landed, landed);
    return;
  }
  if (m->out->n_holds == m->hold_capacity)
    m->hold = time_grown(m->arena, m->hold, m->out->n_holds, &m->hold_capacity, sizeof *m->hold);
  m->hold[m->out->n_holds++] = (TimelineHold){.ring = m->ring[at.slab->id],
                                              .slot = at.slot,
                                              .rank = at.rank,
                                              .slab = number,
                                              .asked = asked,
                                              .landed = landed,
                                              .read = INFINITY,
                                              .over = INFINITY};
  *hold = m->out->n_holds;
}

static void keep_unproved(TimeMachine *m, TimeWarp *w, const Op *op, int hold) {
  const OpFamily family = op_facts(op->kind)->family;
  const uint32_t group = w->groups[family].groups.closed;
  for (int i = 0; i < w->n_unproved; i++)
    if (w->unproved[i].hold == hold && w->unproved[i].group == group) return;
  if (w->n_unproved == w->unproved_capacity)
    w->unproved = time_grown(m->arena, w->unproved, w->n_unproved, &w->unproved_capacity,
                             sizeof *w->unproved);
  w->unproved[w->n_unproved++] = (TimeUnproved){hold, family, group};
}

static void read_until(TimelineHold *hold, double clock) {
  hold->over = isinf(hold->over) ? clock : fmax(hold->over, clock);
}

void time_read_slot(TimeMachine *m, TimeWarp *w, const Op *op, TimeSlot at, double begin,
                    double end) {
  const int which = *latest(m, at);
  if (!which) return;
  TimelineHold *hold = &m->hold[which - 1];
  hold->read = fmin(hold->read, begin);
  read_until(hold, end);
  if (op_facts(op->kind)->completes != COMPLETES_AT_ONCE) keep_unproved(m, w, op, which - 1);
}

void time_prove_reads(TimeMachine *m, TimeWarp *w, const Op *op, bool all, double clock) {
  const OpFamily family = op_facts(op->kind)->family;
  int left = 0;
  for (int i = 0; i < w->n_unproved; i++) {
    const TimeUnproved *read = &w->unproved[i];
    if (read->family == family &&
        (all || order_group_is_over(&w->groups[family].groups, read->group)))
      read_until(&m->hold[read->hold], clock);
    else
      w->unproved[left++] = *read;
  }
  w->n_unproved = left;
}

// ---- the result ---------------------------------------------------------------------------------

static int by_asked(const void *a, const void *b) {
  const TimelineHold *x = a, *y = b;
  if (x->asked != y->asked) return x->asked < y->asked ? -1 : 1;
  return x->ring != y->ring ? x->ring - y->ring : x->slot - y->slot;
}

void time_end_holds(TimeMachine *m) {
  if (m->out->n_holds) qsort(m->hold, (size_t)m->out->n_holds, sizeof *m->hold, by_asked);
  m->out->hold = m->hold;
}
