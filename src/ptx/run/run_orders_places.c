// Bytes that a run reached → places of the search, and accesses to them.
//
//   a box writes 0 … 8191, four warps read 0 … 2047 of it each    one place, 0 … 8191, five
//                                                                 accesses
//
// Places are the bytes of each copy, the bytes that the tensor core reads at once, and the bytes
// that threads of one block write for threads of another. Bytes that only threads of one block
// reach are no place.
#include <stdlib.h>

#include "base/whole.h"
#include "ptx/run/run_orders_inside.h"

static int by_event(const void *a, const void *b) {
  const Touch *x = a, *y = b;
  const int key[][2] = {{x->process, y->process},      {x->begin, y->begin}, {x->kind, y->kind},
                        {x->write, y->write},          {x->ends, y->ends},   {x->end, y->end},
                        {(int)x->group, (int)y->group}};
  for (int i = 0; i < (int)(sizeof key / sizeof *key); i++)
    if (key[i][0] != key[i][1]) return key[i][0] < key[i][1] ? -1 : 1;
  return x->lo < y->lo ? -1 : x->lo > y->lo;
}

// All that one event does side by side is one: the rows of a tile, step by step along its columns.
static void join_touches(PtxOrders *o) {
  int n = 0;
  if (o->n_touches) qsort(o->touch, (size_t)o->n_touches, sizeof *o->touch, by_event);
  for (int i = 0; i < o->n_touches; i++) {
    Touch *t = &o->touch[i], *last = n ? &o->touch[n - 1] : NULL;
    const int64_t lo = t->lo;
    if (last) t->lo = last->lo;  // the same but for its bytes
    const bool joins = last && by_event(last, t) == 0 && lo <= last->hi;
    t->lo = lo;
    if (joins)
      last->hi = max64(last->hi, t->hi);
    else
      o->touch[n++] = *t;
  }
  o->n_touches = n;
}

// Products are a group of the four warps that asked for them together: when one of those has
// waited, all of it is over (PTX ISA, wgmma.commit_group: "a new wgmma-group per warpgroup").
static void add_other_ends(const PtxOrders *o, const PtxMachine *m, const Touch *t,
                           SearchAccess *access) {
  const int first = ptx_orders_first_of_four(m, t->process);
  for (int w = first; w < first + PTX_GROUP_WARPS && w < m->n_warps; w++) {
    const WarpEvents *e = &o->warp[w];
    if (e->process == t->process || (int)t->group >= e->n_over || access->n_also == SEARCH_ALSO)
      continue;
    access->also[access->n_also++] = (struct SearchEnd){e->process, e->over[t->group]};
  }
}

// Blocks with threads that write, and read, each GRAIN bytes of the cluster's shared memory.
typedef struct Handed {
  uint16_t *writers, *readers;
} Handed;

static Handed find_handed(const PtxOrders *o, const PtxMachine *m) {
  const int64_t n = m->n_blocks > 1 ? m->smem_stride * m->n_blocks / GRAIN + 2 : 1;
  const Handed h = {ARENA_ARRAY(o->arena, uint16_t, n), ARENA_ARRAY(o->arena, uint16_t, n)};
  for (int i = 0; i < o->n_touches && m->n_blocks > 1; i++) {
    const Touch *t = &o->touch[i];
    uint16_t *of = t->write ? h.writers : h.readers;
    for (int64_t g = t->lo / GRAIN; !t->async && g <= (t->hi - 1) / GRAIN; g++)
      of[g] = (uint16_t)(of[g] | 1u << o->s->process[t->process].rank);
  }
  return h;
}

// Whether threads of one block write these bytes and threads of another block read them.
static bool is_handed(const Handed *h, const PtxMachine *m, const Touch *t) {
  for (int64_t g = t->lo / GRAIN; m->n_blocks > 1 && g <= (t->hi - 1) / GRAIN; g++)
    for (int rank = 0; rank < m->n_blocks; rank++)
      if (h->writers[g] >> rank & 1 && h->readers[g] & ~(1u << rank)) return true;
  return false;
}

// Places are the bytes of each copy, the bytes that the tensor core reads at once, and the bytes
// that threads of one block write for threads of another.
static int add_places(PtxOrders *o, const PtxMachine *m) {
  const Handed handed = find_handed(o, m);
  int n = 0;
  for (int i = 0; i < o->n_touches && n < REGIONS_MAX; i++) {
    const Touch *t = &o->touch[i];
    SearchPlace p = {.rank = (int)(t->lo / m->smem_stride), .lo = {t->lo}, .hi = {t->hi, 1, 1, 1}};
    bool known = !t->async && !is_handed(&handed, m, t);
    for (int k = 0; k < n && !known; k++)
      known = o->s->place[k].lo[0] == p.lo[0] && o->s->place[k].hi[0] == p.hi[0];
    if (known) continue;
    const int64_t base = p.rank * m->smem_stride;
    p.name = arena_printf(o->arena, "shared + %lld … %lld", (long long)(t->lo - base),
                          (long long)(t->hi - 1 - base));
    if (m->n_blocks > 1) p.name = arena_printf(o->arena, "%s of rank %d", p.name, p.rank);
    n = search_part(o->s, p) + 1;
  }
  if (n == REGIONS_MAX) ptx_orders_leave_out(o, "copies to too many places");
  return n;
}

void ptx_orders_add_accesses(PtxOrders *o, const PtxMachine *m) {
  join_touches(o);
  const int n = add_places(o, m);
  for (int i = 0; i < o->n_touches; i++) {
    const Touch *t = &o->touch[i];
    for (int k = 0; k < n; k++) {
      const SearchPlace *place = &o->s->place[k];
      if (t->async ? place->lo[0] != t->lo || place->hi[0] != t->hi
                   : place->lo[0] >= t->hi || t->lo >= place->hi[0])
        continue;
      SearchAccess access = {.place = k,
                             .write = t->write,
                             .async = t->async,
                             .process = t->process,
                             .begin = t->begin,
                             .ends = t->ends,
                             .end = t->end,
                             .queue = t->kind == PTX_ASKS ? 1 + t->process : 0};
      if (t->kind == PTX_MULTIPLIES) add_other_ends(o, m, t, &access);
      search_access(o->s, access);
      if (t->async) break;
    }
  }
}
