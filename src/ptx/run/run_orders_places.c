// Bytes that a run reached → places of the search, and accesses to them.
//
//   a box writes 0 … 8191, four warps read 0 … 2047 of it each    one place, 0 … 8191, five
//                                                                 accesses
//
// Places are the bytes of each copy, the bytes that the tensor core reads at once, and the bytes
// that threads of one block write for threads of another. Where those are too many, or say too
// much, places are the pieces that writes make. Bytes that only threads of one block reach are no
// place.
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

static int add_place(PtxOrders *o, const PtxMachine *m, int64_t lo, int64_t hi) {
  SearchPlace p = {.rank = (int)(lo / m->smem_stride), .lo = {lo}, .hi = {hi, 1, 1, 1}};
  const int64_t base = p.rank * m->smem_stride;
  p.name = arena_printf(o->arena, "shared + %lld … %lld", (long long)(lo - base),
                        (long long)(hi - 1 - base));
  if (m->n_blocks > 1) p.name = arena_printf(o->arena, "%s of rank %d", p.name, p.rank);
  return search_part(o->s, p);
}

// ---- a place for each reach ---------------------------------------------------------------------

typedef struct Range {
  int64_t lo, hi;
} Range;

// The bytes of each copy, the bytes that the tensor core reads at once, and the bytes that threads
// of one block write for threads of another; -1: they are more than `most`.
static int find_reaches(const PtxOrders *o, const PtxMachine *m, const Handed *handed, Range *out,
                        int most) {
  int n = 0;
  for (int i = 0; i < o->n_touches; i++) {
    const Touch *t = &o->touch[i];
    bool known = !t->async && !is_handed(handed, m, t);
    for (int k = 0; k < n && !known; k++) known = out[k].lo == t->lo && out[k].hi == t->hi;
    if (known) continue;
    if (n == most) return -1;
    out[n++] = (Range){t->lo, t->hi};
  }
  return n;
}

// A thread that reaches a part of a place is said to reach all of it: wrong where another place has
// to do with the rest alone.
static bool says_too_much(const PtxOrders *o, const Range *place, int n) {
  for (int i = 0; i < o->n_touches; i++) {
    const Touch *t = &o->touch[i];
    for (int a = 0; a < n && !t->async; a++) {
      if (place[a].lo >= t->hi || t->lo >= place[a].hi) continue;
      for (int b = 0; b < n; b++) {
        const bool both = place[a].lo < place[b].hi && place[b].lo < place[a].hi;
        if (both && (place[b].lo >= t->hi || t->lo >= place[b].hi)) return true;
      }
    }
  }
  return false;
}

// ---- a place for each piece that writes make
// ------------------------------------------------------

// The tensor core reads a tile by many short rows, which copies have written at once. Two accesses
// are apart where none of them writes, so that pieces are told apart at the ends of writes alone:
// who reads a part of a piece has to do with all who write it.

static int by_number(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

// By GRAIN bytes: whether work in the background reaches them.
static uint8_t *find_background(const PtxOrders *o, const PtxMachine *m) {
  uint8_t *reached = ARENA_ARRAY(o->arena, uint8_t, m->smem_stride * m->n_blocks / GRAIN + 2);
  for (int i = 0; i < o->n_touches; i++)
    for (int64_t g = o->touch[i].lo / GRAIN; o->touch[i].async && g <= (o->touch[i].hi - 1) / GRAIN;
         g++)
      reached[g] = 1;
  return reached;
}

static bool makes_pieces(const PtxMachine *m, const Handed *handed, const uint8_t *background,
                         const Touch *t) {
  bool any = t->async || is_handed(handed, m, t);
  for (int64_t g = t->lo / GRAIN; !any && g <= (t->hi - 1) / GRAIN; g++) any = background[g];
  return any && t->write;
}

static int find_end(const int64_t *end, int n, int64_t at) {
  const int64_t *found = bsearch(&at, end, (size_t)n, sizeof at, by_number);
  return (int)(found - end);
}

// Pieces in their order; of more than `most` the first ones, and then -1.
static int find_pieces(const PtxOrders *o, const PtxMachine *m, const Handed *handed, Range *out,
                       int most) {
  const uint8_t *background = find_background(o, m);
  int64_t *end = ARENA_ARRAY(o->arena, int64_t, 2 * o->n_touches + 1);
  int n_ends = 0, unique = 0;
  for (int i = 0; i < o->n_touches; i++) {
    if (!makes_pieces(m, handed, background, &o->touch[i])) continue;
    end[n_ends++] = o->touch[i].lo;
    end[n_ends++] = o->touch[i].hi;
  }
  if (n_ends) qsort(end, (size_t)n_ends, sizeof *end, by_number);
  for (int i = 0; i < n_ends; i++)
    if (unique == 0 || end[unique - 1] != end[i]) end[unique++] = end[i];
  int *writes = ARENA_ARRAY(o->arena, int, unique + 1);  // more than at the end before
  for (int i = 0; i < o->n_touches; i++) {
    if (!makes_pieces(m, handed, background, &o->touch[i])) continue;
    writes[find_end(end, unique, o->touch[i].lo)]++;
    writes[find_end(end, unique, o->touch[i].hi)]--;
  }
  int n = 0;
  for (int i = 0, open = 0; i + 1 < unique; i++) {
    open += writes[i];
    if (open == 0) continue;
    if (n == most) return -1;
    out[n++] = (Range){end[i], end[i + 1]};
  }
  return n;
}

// ---- accesses -----------------------------------------------------------------------------------

static void add_access(PtxOrders *o, const PtxMachine *m, const Touch *t, int place) {
  SearchAccess access = {.place = place,
                         .write = t->write,
                         .async = t->async,
                         .process = t->process,
                         .begin = t->begin,
                         .ends = t->ends,
                         .end = t->end,
                         .queue = t->kind == PTX_ASKS ? 1 + t->process : 0};
  if (t->kind == PTX_MULTIPLIES) add_other_ends(o, m, t, &access);
  search_access(o->s, access);
}

static void add_by_reach(PtxOrders *o, const PtxMachine *m, int n) {
  for (int i = 0; i < o->n_touches; i++) {
    const Touch *t = &o->touch[i];
    for (int k = 0; k < n; k++) {
      const SearchPlace *place = &o->s->place[k];
      if (t->async ? place->lo[0] != t->lo || place->hi[0] != t->hi
                   : place->lo[0] >= t->hi || t->lo >= place->hi[0])
        continue;
      add_access(o, m, t, k);
      if (t->async) break;
    }
  }
}

// All that one event reaches of a piece is one access.
static void add_by_piece(PtxOrders *o, const PtxMachine *m, int n) {
  int *last = ARENA_ARRAY(o->arena, int, n + 1);  // by piece: the touch + 1 that reached it last
  for (int i = 0; i < o->n_touches; i++) {
    const Touch *t = &o->touch[i];
    int lo = 0, hi = n;
    while (lo < hi) {
      const int mid = (lo + hi) / 2;
      if (o->s->place[mid].hi[0] <= t->lo)
        lo = mid + 1;
      else
        hi = mid;
    }
    for (int k = lo; k < n && o->s->place[k].lo[0] < t->hi; k++) {
      Touch known = *t;
      if (last[k]) known.lo = o->touch[last[k] - 1].lo, known.hi = o->touch[last[k] - 1].hi;
      const bool again = last[k] && by_event(&o->touch[last[k] - 1], &known) == 0;
      last[k] = i + 1;
      if (!again) add_access(o, m, t, k);
    }
  }
}

void ptx_orders_add_accesses(PtxOrders *o, const PtxMachine *m) {
  join_touches(o);
  const Handed handed = find_handed(o, m);
  Range *range = ARENA_ARRAY(o->arena, Range, REGIONS_MAX);
  int reaches = find_reaches(o, m, &handed, range, REGIONS_MAX);
  if (reaches > 0 && says_too_much(o, range, reaches)) reaches = -1;
  const int pieces = reaches < 0 ? find_pieces(o, m, &handed, range, REGIONS_MAX) : 0;
  const int n = reaches >= 0 ? reaches : pieces >= 0 ? pieces : REGIONS_MAX;
  if (pieces < 0) ptx_orders_leave_out(o, "copies to too many places");
  for (int i = 0; i < n; i++) add_place(o, m, range[i].lo, range[i].hi);
  if (reaches >= 0)
    add_by_reach(o, m, n);
  else
    add_by_piece(o, m, n);
}
