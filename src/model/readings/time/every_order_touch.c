// The operands of operations → places, and accesses of them with their ends.
//
//   a box of A_s[1]                     rows and columns of slot 1, until it has landed
//   four steps of a product read it     one access to all of slot 1, until its group is waited for
#include <string.h>

#include "base/hash.h"
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/problem.h"
#include "model/ir/stmt.h"
#include "model/readings/time/every_order_inside.h"
#include "model/words/fragment.h"

static bool same_place(const SearchPlace *a, const SearchPlace *b) {
  return a->rank == b->rank && a->memory == b->memory && memcmp(a->lo, b->lo, sizeof a->lo) == 0 &&
         memcmp(a->hi, b->hi, sizeof a->hi) == 0;
}

static bool same_access(const SearchAccess *a, const SearchAccess *b) {
  return a->write == b->write && a->async == b->async && a->process == b->process &&
         a->begin == b->begin && a->queue == b->queue && a->tag == b->tag;
}

// Adds an access to a place unless the same event has it; -1: it has.
static int add_access(EveryMaker *m, SearchAccess access, const SearchPlace *place) {
  for (int i = m->s->n_accesses - 1; i >= 0; i--) {
    const SearchAccess *other = &m->s->access[i];
    if (other->process != access.process || other->begin < access.begin) break;
    if (same_access(other, &access) && same_place(&m->s->place[other->place], place)) return -1;
  }
  access.place = search_part(m->s, *place);
  return search_access(m->s, access);
}

static bool same_slot(const SearchPlace *a, const SearchPlace *b) {
  return a->rank == b->rank && a->memory == b->memory && a->lo[0] == b->lo[0] &&
         a->hi[0] == b->hi[0];
}

static void pend(EveryWarp *w, int access, OpFamily family) {
  if (access < 0 || w->n_pending == PENDING_MAX) return;
  w->pending[w->n_pending++] = (EveryPending){access, family, w->groups[family].closed};
}

// Ends what is over: of groups that are done, or all of a family.
void every_order_end(EveryMaker *m, EveryWarp *w, OpFamily family, int process, int at, bool all) {
  int kept = 0;
  for (int i = 0; i < w->n_pending; i++) {
    const EveryPending p = w->pending[i];
    const bool over =
        p.family == family && (all || order_group_is_over(&w->groups[family], p.group));
    if (over) {
      m->s->access[p.access].ends = process;
      m->s->access[p.access].end = at;
    } else {
      w->pending[kept++] = p;
    }
  }
  w->n_pending = kept;
}

// ---- places -------------------------------------------------------------------------------------

static void range_of(const ClusterVisit *v, const Expr *expr, int64_t *lo, int64_t *hi) {
  int64_t value[LANES];
  expr_eval_warp(expr, v->env, value);
  *lo = *hi = value[v->lane];
  for (int lane = 0; lane < LANES; lane++) {
    if (!v->active[lane]) continue;
    *lo = min64(*lo, value[lane]);
    *hi = max64(*hi, value[lane]);
  }
}

static const char *place_name(EveryMaker *m, const Buffer *buffer, const SearchPlace *p) {
  if (buffer->space == SPACE_SHARED && buffer->rank > 2 && p->hi[0] - p->lo[0] == 1)
    return arena_printf(m->arena, "%s[%lld]", buffer->name, (long long)p->lo[0]);
  return buffer->name;
}

// Places are one where they are the same, so that the search compares few.
void every_order_unify_places(EveryMaker *m) {
  Search *s = m->s;
  uint32_t mask = 1024;
  while (mask < 2 * (uint32_t)s->n_places) mask *= 2;
  int *table = ARENA_ARRAY(m->arena, int, mask), n = 0;  // place + 1 by hash
  int *now = ARENA_ARRAY(m->arena, int, s->n_places + 1);
  for (int i = 0; i < s->n_places; i++) {
    const SearchPlace *p = &s->place[i];
    uint64_t hash = hash_bytes(HASH_START, &p->rank, sizeof p->rank);
    hash = hash_bytes(hash_bytes(hash, &p->memory, sizeof p->memory), p->lo, sizeof p->lo);
    uint32_t h = (uint32_t)(hash_bytes(hash, p->hi, sizeof p->hi) >> 32) & (mask - 1);
    while (table[h] && !same_place(&s->place[table[h] - 1], p)) h = (h + 1) & (mask - 1);
    if (!table[h]) {
      s->place[n] = *p;
      table[h] = ++n;
    }
    now[i] = table[h] - 1;
  }
  for (int i = 0; i < s->n_accesses; i++) s->access[i].place = now[s->access[i].place];
  s->n_places = n;
}

// In tensor memory lanes and columns count, of every warp; `columns` from the access's on.
static SearchPlace tensor_place(const ClusterVisit *v, const Access *access, int rank,
                                int64_t columns, bool all_lanes) {
  const Buffer *buffer = access->buffer;
  SearchPlace p = {
      .name = buffer->name, .rank = rank, .memory = TENSOR_MEMORY, .hi = {TENSOR_LANES, 0, 1, 1}};
  int64_t lo, hi;
  range_of(v, access->idx[1], &lo, &hi);
  p.lo[1] = buffer->column + lo;
  p.hi[1] = buffer->column + hi + columns;
  if (!all_lanes) {
    range_of(v, access->idx[0], &lo, &hi);
    p.lo[0] = lo;
    p.hi[0] = hi + 1;
  }
  return p;
}

// One dimension of a slab: the rows of a box, the 16 bytes of a row that a lane addresses.
static int64_t extent_along(const Op *op, const Buffer *buffer, OpUnit unit, int d) {
  const int last = buffer->rank - 1;
  if (unit == UNIT_BOX && d >= last - 1) return op->box[d - last + 1];
  if (d != last - buffer->transposed) return 1;
  return unit == UNIT_ROW ? 16 / dtype_bytes(buffer->type) : op->width;
}

// The first dimension of a place is the slot: 0 where there is none.
// In shared memory: what lanes address, or a box covers; of a tile that a descriptor finds, the
// slot.
SearchPlace every_order_place(EveryMaker *m, const ClusterVisit *v, const Access *access,
                              OpUnit unit, int rank) {
  const Buffer *buffer = access->buffer;
  const bool exact = unit == UNIT_ELEMENT || unit == UNIT_ROW || unit == UNIT_BOX;
  SearchPlace p = {.rank = rank, .memory = buffer->id};
  const int from = buffer->rank > 2 ? 0 : 1;
  for (int d = 0; d < SEARCH_DIMS; d++) p.hi[d] = INT32_MAX;
  if (from) p.hi[0] = 1;
  for (int d = 0; d < buffer->rank && from + d < SEARCH_DIMS; d++) {
    if (!exact && from + d > 0) continue;
    range_of(v, access->idx[d], &p.lo[from + d], &p.hi[from + d]);
    p.hi[from + d] += exact ? extent_along(&v->stmt->op, buffer, unit, d) : 1;
  }
  p.name = place_name(m, buffer, &p);
  return p;
}

// All that one event reads, or writes, of a slot step by step is one access to all of that.
static bool widen(EveryMaker *m, const SearchAccess *access, const SearchPlace *more) {
  for (int i = m->s->n_accesses - 1; i >= 0; i--) {
    const SearchAccess *other = &m->s->access[i];
    if (other->process != access->process || other->begin < access->begin) return false;
    if (other->write != access->write || other->tag != access->tag || other->end != access->end)
      continue;
    SearchPlace *all = &m->s->place[other->place];
    if (!same_slot(all, more)) continue;
    for (int d = 1; d < SEARCH_DIMS; d++) {
      all->lo[d] = min64(all->lo[d], more->lo[d]);
      all->hi[d] = max64(all->hi[d], more->hi[d]);
    }
    return true;
  }
  return false;
}

static SearchPlace register_place(EveryMaker *m, const ClusterVisit *v, const Access *access) {
  const EveryWarp *w = every_order_state(m, v);
  return (SearchPlace){.name = access->buffer->name,
                       .rank = v->rank,
                       .memory = REGISTERS + w->process * BUFFERS_MAX + access->buffer->id,
                       .hi = {1, 1, 1, 1}};
}

// ---- accesses -----------------------------------------------------------------------------------

static bool has_place(const EveryMaker *m, const Access *access) {
  if (!access->buffer) return false;
  const Space space = access->buffer->space;
  if (space == SPACE_REGISTER) return m->in_background[access->buffer->id];
  return space == SPACE_SHARED || space == SPACE_TENSOR;
}

int every_order_rank(const ClusterVisit *v, const Access *access) {
  return access->rank ? (int)cluster_value(v, access->rank) : v->rank;
}

static int64_t columns_of(const Op *op, const Access *access, OpUnit unit) {
  if (unit == UNIT_ELEMENT) return op->width;
  if (unit == UNIT_FACTORS) return FACTORS_ALONG;
  if (access == &op->dst) return op->atom->n;
  return access == &op->scale[0] ? FACTORS_ALONG
                                 : max64(op->atom->n / TENSOR_LANES, 1) * FACTORS_ALONG;
}

// An access of an operation, in one block: over at once, or to be ended.
static void touch(EveryMaker *m, const ClusterVisit *v, const Access *access, OpUnit unit,
                  bool write, int rank) {
  const Op *op = &v->stmt->op;
  const OpFacts *facts = op_facts(op->kind);
  EveryWarp *w = every_order_state(m, v);
  const Space space = access->buffer->space;
  const bool background = facts->completes != COMPLETES_AT_ONCE;
  const int at = every_order_work(m, v, background);
  SearchAccess a = {.write = write,
                    .process = w->process,
                    .begin = at,
                    .ends = w->process,
                    .end = background ? -1 : at + 1};
  const SearchPlace place =
      space == SPACE_REGISTER ? register_place(m, v, access)
      : space == SPACE_TENSOR
          ? tensor_place(v, access, rank, columns_of(op, access, unit), unit != UNIT_ELEMENT)
          : every_order_place(m, v, access, unit, rank);
  a.async = space == SPACE_SHARED && facts->proxy == PROXY_ASYNC;
  if (op_multiplies(op->kind) || facts->completes == COMPLETES_BY_COMMIT) a.queue = 1 + w->process;
  a.tag = v->stmt->id;
  a.apart = facts->action == ACTION_MOVE && facts->completes == COMPLETES_BY_COMMIT;
  if (!background && space == SPACE_SHARED && widen(m, &a, &place)) return;
  const int access_id = add_access(m, a, &place);
  if (background) pend(w, access_id, facts->family);
  if (background && space == SPACE_SHARED && every_order_is_together(facts))
    every_order_reads_together(m, v, access_id);
}

void every_order_touch(EveryMaker *m, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  const OpFacts *facts = op_facts(op->kind);
  const struct {
    const Access *access;
    const OperandFacts *facts;
  } operand[] = {{&op->src, &facts->src}, {&op->src2, &facts->src2}, {&op->dst, &facts->dst}};
  for (int group = 0; group < max_int(op->cta_group, 1); group++) {
    for (int i = 0; i < 3; i++) {
      const Access *access = operand[i].access;
      if (!has_place(m, access)) continue;
      touch(m, v, access, operand[i].facts->unit, operand[i].facts->written,
            every_order_rank(v, access) ^ group);
    }
    for (int i = 0; i < 2; i++)
      if (has_place(m, &op->scale[i]) && op->scale[i].buffer->space == SPACE_TENSOR)
        touch(m, v, &op->scale[i], UNIT_TILE, false, v->rank ^ group);
  }
}
