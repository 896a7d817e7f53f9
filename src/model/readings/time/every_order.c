// Operations → events, by the facts of their rows.
//
//   wait full[0] phase 0                WAIT
//   four products that read A_s[0]      one WORK, which begins to read A_s[0] and B_s[0], and to
//                                       write the sums
//   commit, wait until none in flight   one WORK, which ends that
//   arrive empty[0]                     ARRIVE
//
// A box of TMA is a process of one event, that it lands, behind the event that asks for it. What a
// commit of tcgen05 makes arrive are the events of the asking warp's share of the tensor core.
#include "model/readings/time/every_order.h"

#include <string.h>

#include "base/hash.h"
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/cluster_walk.h"
#include "model/ir/launch.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/words/fragment.h"
#include "order/order_groups.h"

enum {
  FAMILIES = FAMILY_ROWS + 1,
  PENDING_MAX = 4096,
  BARRIERS = 16,
  TENSOR_MEMORY = 1 << 10,  // memories: buffers by their id, then these
  REGISTERS = 1 << 11
};

// Accesses of a warp that have no end yet.
typedef struct Pending {
  int access;
  OpFamily family;
  uint32_t group;
  bool writes_registers;
} Pending;

typedef struct WarpState {
  int process, share;  // share: its agent; -1: none yet
  OrderGroups groups[FAMILIES];
  int n_pending;
  Pending pending[PENDING_MAX];
  int work;               // event that work still belongs to; -1: none
  bool background;        // … and has begun some that ends later
  int fence, fence_lane;  // event of a fence by some lanes since the warp met, and the first; -1
  int64_t registers;
} WarpState;

typedef struct Maker {
  Arena *arena;
  const Program *program;
  Launch launch;
  Search *s;
  EveryOrder *out;
  WarpState *warp;                          // of rank 0's first one on
  int n_warps;                              // of a block
  int *bar[BUFFERS_MAX];                    // [ranks][mbarriers]: bars, from 1
  int barrier[SEARCH_RANKS][BARRIERS][33];  // by number and warps; from 1
  int cluster_barrier;                      // from 1
  bool in_background[BUFFERS_MAX];          // registers that a product reads or writes so
} Maker;

static WarpState *state_of(Maker *m, const ClusterVisit *v) {
  return &m->warp[v->rank * m->n_warps + v->warp];
}

// ---- events -------------------------------------------------------------------------------------

static int add(Maker *m, const ClusterVisit *v, SearchEvent event) {
  WarpState *w = state_of(m, v);
  event.tag = v->stmt->id;
  w->work = -1;
  return search_add(m->s, w->process, event);
}

// The event that work now belongs to. Behind what goes on in the background work of threads begins
// another one, so that the two are told apart.
static int work(Maker *m, const ClusterVisit *v, bool background) {
  WarpState *w = state_of(m, v);
  if (w->work < 0 || (w->background && !background)) {
    const int at = add(m, v, (SearchEvent){.kind = SEARCH_WORK});
    w->work = at;
    w->background = false;
  }
  w->background = w->background || background;
  return w->work;
}

static bool same_place(const SearchPlace *a, const SearchPlace *b) {
  return a->rank == b->rank && a->memory == b->memory && memcmp(a->lo, b->lo, sizeof a->lo) == 0 &&
         memcmp(a->hi, b->hi, sizeof a->hi) == 0;
}

static bool same_access(const SearchAccess *a, const SearchAccess *b) {
  return a->write == b->write && a->async == b->async && a->process == b->process &&
         a->begin == b->begin && a->queue == b->queue && a->tag == b->tag;
}

// Adds an access to a place unless the same event has it; -1: it has.
static int add_access(Maker *m, SearchAccess access, const SearchPlace *place) {
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

static void pend(WarpState *w, int access, OpFamily family, bool registers) {
  if (access < 0 || w->n_pending == PENDING_MAX) return;
  w->pending[w->n_pending++] = (Pending){access, family, w->groups[family].closed, registers};
}

// Ends what is over: of groups that are done, or all of a family.
static void end_pending(Maker *m, WarpState *w, OpFamily family, int process, int at, bool all) {
  int kept = 0;
  for (int i = 0; i < w->n_pending; i++) {
    const Pending p = w->pending[i];
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

static const char *place_name(Maker *m, const Buffer *buffer, const SearchPlace *p) {
  if (buffer->space == SPACE_SHARED && buffer->rank > 2 && p->hi[0] - p->lo[0] == 1)
    return arena_printf(m->arena, "%s[%lld]", buffer->name, (long long)p->lo[0]);
  return buffer->name;
}

// Places are one where they are the same, so that the search compares few.
static void unify_places(Maker *m) {
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

// In tensor memory lanes and columns count, whosever they are; `columns` from the access's on.
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
static SearchPlace shared_place(Maker *m, const ClusterVisit *v, const Access *access, OpUnit unit,
                                int rank) {
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
static bool widen(Maker *m, const SearchAccess *access, const SearchPlace *more) {
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

static SearchPlace register_place(Maker *m, const ClusterVisit *v, const Access *access) {
  const WarpState *w = state_of(m, v);
  return (SearchPlace){.name = access->buffer->name,
                       .rank = v->rank,
                       .memory = REGISTERS + w->process * BUFFERS_MAX + access->buffer->id,
                       .hi = {1, 1, 1, 1}};
}

// ---- accesses -----------------------------------------------------------------------------------

static bool has_place(const Maker *m, const Access *access) {
  if (!access->buffer) return false;
  const Space space = access->buffer->space;
  if (space == SPACE_REGISTER) return m->in_background[access->buffer->id];
  return space == SPACE_SHARED || space == SPACE_TENSOR;
}

static int rank_of(const ClusterVisit *v, const Access *access) {
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
static void touch(Maker *m, const ClusterVisit *v, const Access *access, OpUnit unit, bool write,
                  int rank) {
  const Op *op = &v->stmt->op;
  const OpFacts *facts = op_facts(op->kind);
  WarpState *w = state_of(m, v);
  const Space space = access->buffer->space;
  const bool background = facts->completes != COMPLETES_AT_ONCE;
  const int at = work(m, v, background);
  SearchAccess a = {.write = write,
                    .process = w->process,
                    .begin = at,
                    .ends = w->process,
                    .end = background ? -1 : at + 1};
  const SearchPlace place =
      space == SPACE_REGISTER ? register_place(m, v, access)
      : space == SPACE_TENSOR
          ? tensor_place(v, access, rank, columns_of(op, access, unit), unit != UNIT_ELEMENT)
          : shared_place(m, v, access, unit, rank);
  a.async = space == SPACE_SHARED && facts->proxy == PROXY_ASYNC;
  if (op_multiplies(op->kind) || facts->completes == COMPLETES_BY_COMMIT) a.queue = 1 + w->process;
  a.tag = v->stmt->id;
  a.apart = facts->action == ACTION_MOVE && facts->completes == COMPLETES_BY_COMMIT;
  if (!background && space == SPACE_SHARED && widen(m, &a, &place)) return;
  const int access_id = add_access(m, a, &place);
  if (background) pend(w, access_id, facts->family, space == SPACE_REGISTER && write);
}

static void touch_operands(Maker *m, const ClusterVisit *v) {
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
            rank_of(v, access) ^ group);
    }
    for (int i = 0; i < 2; i++)
      if (has_place(m, &op->scale[i]) && op->scale[i].buffer->space == SPACE_TENSOR)
        touch(m, v, &op->scale[i], UNIT_TILE, false, v->rank ^ group);
  }
}

// ---- mbarriers ----------------------------------------------------------------------------------

static int bar_of(Maker *m, const ClusterVisit *v, const Access *access, int rank) {
  const Buffer *buffer = access->buffer;
  const int64_t n = buffer->dim[0], at = clamp_index(cluster_value(v, access->idx[0]), n);
  if (!m->bar[buffer->id]) m->bar[buffer->id] = ARENA_ARRAY(m->arena, int, n * m->launch.cluster);
  int *bar = &m->bar[buffer->id][rank * n + at];
  if (!*bar) {
    const char *where = m->launch.cluster > 1 ? arena_printf(m->arena, " of rank %d", rank) : "";
    *bar = 1 + search_bar(m->s,
                          arena_printf(m->arena, "%s[%lld]%s", buffer->name, (long long)at, where),
                          rank);
  }
  return *bar - 1;
}

static uint32_t ranks_of(const Maker *m, const ClusterVisit *v, const Op *op) {
  const uint32_t all = (1u << m->launch.cluster) - 1;
  return op->ranks ? (uint32_t)cluster_value(v, op->ranks) & all : 1u << v->rank;
}

// A fence by one lane says nothing of what another lane copies, until both have met.
static void check_fence(Maker *m, const ClusterVisit *v) {
  WarpState *w = state_of(m, v);
  if (w->fence >= 0 && w->fence_lane != v->lane)
    m->s->process[w->process].event[w->fence].kind = SEARCH_WORK;
  w->fence = -1;
}

// The box lands in each of its blocks; its bytes count there, or of a pair at the even one.
static void add_boxes(Maker *m, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  const int process = state_of(m, v)->process;
  check_fence(m, v);
  const int64_t bytes = op->box[0] * op->box[1] * dtype_bytes(op->dst.buffer->type) * v->n_lanes;
  for (int rank = 0; rank < m->launch.cluster; rank++) {
    if (!(ranks_of(m, v, op) >> rank & 1)) continue;
    const int at = work(m, v, true),
              place = search_part(m->s, shared_place(m, v, &op->dst, UNIT_BOX, rank));
    const int box =
        search_agent(m->s, arena_printf(m->arena, "the box for %s", m->s->place[place].name), rank);
    const SearchEvent land = {
        .kind = SEARCH_LAND,
        .object = bar_of(m, v, &op->src2, op->cta_group > 1 ? rank & ~1 : rank),
        .bytes = bytes,
        .after = process + 1,
        .after_at = at,
        .tag = v->stmt->id};
    search_add(m->s, box, land);
    search_access(m->s, (SearchAccess){.place = place,
                                       .write = true,
                                       .async = true,
                                       .process = process,
                                       .begin = at,
                                       .ends = box,
                                       .end = 0});
  }
}

static void add_arrivals(Maker *m, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  const OpFacts *facts = op_facts(op->kind);
  const int64_t n = facts->scope == SCOPE_WARP ? 1 : v->n_lanes;
  for (int rank = 0; rank < m->launch.cluster; rank++)
    if (ranks_of(m, v, op) >> rank & 1)
      add(m, v,
          (SearchEvent){.kind = SEARCH_ARRIVE,
                        .object = bar_of(m, v, &op->dst, rank),
                        .n = n,
                        .bytes = facts->action == ACTION_EXPECT ? op->bytes * n : 0});
}

// tcgen05.commit: its arrivals are events of the warp's share of the tensor core.
static void add_commit(Maker *m, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  WarpState *w = state_of(m, v);
  const int at = work(m, v, true);
  if (w->share < 0)
    w->share = search_agent(
        m->s, arena_printf(m->arena, "the tensor core for %s", m->s->process[w->process].name),
        v->rank);
  bool first = true;
  for (int rank = 0; rank < m->launch.cluster; rank++) {
    if (!(ranks_of(m, v, op) >> rank & 1)) continue;
    const int done = search_add(m->s, w->share,
                                (SearchEvent){.kind = SEARCH_ARRIVE,
                                              .object = bar_of(m, v, &op->dst, rank),
                                              .n = v->n_lanes,
                                              .after = w->process + 1,
                                              .after_at = at,
                                              .tag = v->stmt->id});
    if (first) end_pending(m, w, op_facts(op->kind)->family, w->share, done, true);
    first = false;
  }
}

// ---- everything else that orders ----------------------------------------------------------------

static void add_barrier(Maker *m, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  const bool cluster = op_facts(op->kind)->scope == SCOPE_CLUSTER;
  const int64_t warps = op->threads ? ceil_div(op->threads, LANES) : m->n_warps;
  const int id = op->id ? (int)clamp_index(cluster_value(v, op->id), BARRIERS) : 0;
  state_of(m, v)->fence = -1;
  if (!cluster && op->threads == LANES && !op->id) return;  // the lanes of the warp alone
  int *barrier =
      cluster ? &m->cluster_barrier : &m->barrier[v->rank][id][op->threads ? min64(warps, 32) : 0];
  const char *name = cluster       ? "the cluster's barrier"
                     : op->threads ? arena_printf(m->arena, "barrier %d of %lld threads", id,
                                                  (long long)op->threads)
                                   : "the block's barrier";
  if (!*barrier) *barrier = 1 + search_barrier(m->s, name, v->rank);
  add(m, v,
      (SearchEvent){.kind = SEARCH_MEET,
                    .object = *barrier - 1,
                    .n = cluster ? m->n_warps * m->launch.cluster : warps,
                    .bit = cluster       ? SEARCH_MEET_CLUSTER
                           : op->threads ? SEARCH_MEET_ALL
                                         : SEARCH_MEET_BLOCK});
}

static void add_wait(Maker *m, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  const OpFacts *facts = op_facts(op->kind);
  WarpState *w = state_of(m, v);
  if (op_ends_with_group(op->kind) || facts->completes == COMPLETES_BY_WAIT) {
    const int at = add(m, v, (SearchEvent){.kind = SEARCH_WORK});
    const bool all = facts->completes == COMPLETES_BY_WAIT;
    if (!all) order_groups_wait(&w->groups[facts->family], (uint32_t)op->groups);
    end_pending(m, w, facts->family, w->process, at, all);
    return;
  }
  add(m, v,
      (SearchEvent){.kind = SEARCH_WAIT,
                    .object = bar_of(m, v, &op->dst, rank_of(v, &op->dst)),
                    .bit = (uint32_t)cluster_value(v, op->phase) & 1});
}

static void add_fence(Maker *m, const ClusterVisit *v) {
  const OpFacts *facts = op_facts(v->stmt->op.kind);
  if (facts->family == FAMILY_SYNC) add(m, v, (SearchEvent){.kind = SEARCH_INIT_SAID});
  if (facts->family != FAMILY_TMA) return;
  WarpState *w = state_of(m, v);
  w->fence = add(m, v, (SearchEvent){.kind = SEARCH_FENCE});
  w->fence_lane = v->lane;
  if (v->n_lanes == LANES) w->fence = -1;
}

static void add_registers(Maker *m, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  WarpState *w = state_of(m, v);
  add(m, v, (SearchEvent){.kind = SEARCH_TAKE, .n = (op->registers - w->registers) * LANES});
  w->registers = op->registers;
}

// All of tensor memory is taken, or given back.
static void own_tensor_memory(Maker *m, const ClusterVisit *v) {
  const SearchPlace all = {.name = "tensor memory",
                           .rank = v->rank,
                           .memory = TENSOR_MEMORY,
                           .hi = {TENSOR_LANES, TENSOR_COLUMNS, 1, 1}};
  const WarpState *w = state_of(m, v);
  const int at = work(m, v, false);
  search_touch(m->s, w->process, at, search_part(m->s, all), true);
}

static void add_signal(Maker *m, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  const OpFacts *facts = op_facts(op->kind);
  if (op_ends_with_group(op->kind))
    state_of(m, v)->groups[facts->family].closed++;
  else if (facts->proxy == PROXY_ASYNC)
    add_commit(m, v);
  else
    add_arrivals(m, v);
}

static void look(void *context, const ClusterVisit *v) {
  Maker *m = context;
  const Op *op = &v->stmt->op;
  const OpFacts *facts = op_facts(op->kind);
  switch (facts->action) {
    case ACTION_SIGNAL:
      add_signal(m, v);
      break;
    case ACTION_EXPECT:
      add_arrivals(m, v);
      break;
    case ACTION_WAIT:
      add_wait(m, v);
      break;
    case ACTION_MEET:
      add_barrier(m, v);
      break;
    case ACTION_FENCE:
      add_fence(m, v);
      break;
    case ACTION_GIVE:
    case ACTION_TAKE:
      add_registers(m, v);
      break;
    case ACTION_ALLOCATE:
    case ACTION_RELEASE:
      own_tensor_memory(m, v);
      break;
    case ACTION_CLAIM:
      break;
    default:
      if (op->dst.buffer && op->dst.buffer->space == SPACE_BARRIER)
        add(m, v,
            (SearchEvent){
                .kind = SEARCH_INIT, .object = bar_of(m, v, &op->dst, v->rank), .n = op->arrivals});
      else if (facts->completes == COMPLETES_BY_MBARRIER && op_moves_box(op->kind))
        add_boxes(m, v);
      else
        touch_operands(m, v);
  }
}

// ---- the whole ----------------------------------------------------------------------------------

static bool counts(const Op *op) {
  const OpFacts *facts = op_facts(op->kind);
  const Access *access[] = {&op->dst, &op->src, &op->src2};
  bool place = op_orders(op->kind) || op_takes_mbarrier(op->kind) || op_moves_box(op->kind) ||
               op_ends_with_group(op->kind) || facts->action == ACTION_GIVE ||
               facts->action == ACTION_TAKE || facts->action == ACTION_ALLOCATE ||
               facts->action == ACTION_RELEASE || facts->action == ACTION_FENCE ||
               facts->action == ACTION_WAIT;
  for (int i = 0; i < 3; i++)
    place = place || (access[i]->buffer && access[i]->buffer->space != SPACE_GLOBAL &&
                      access[i]->buffer->space != SPACE_REGISTER);
  return place || (op->dst.buffer && op->dst.buffer->space == SPACE_REGISTER);
}

static void find_background(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Maker *m = context;
  if (stmt->kind != STMT_OP || !op_multiplies(stmt->op.kind)) return;
  if (op_facts(stmt->op.kind)->completes != COMPLETES_BY_GROUP) return;
  const Access *access[] = {&stmt->op.dst, &stmt->op.src};
  for (int i = 0; i < 2; i++)
    if (access[i]->buffer && access[i]->buffer->space == SPACE_REGISTER)
      m->in_background[access[i]->buffer->id] = true;
}

static const char *role_of(const Kernel *kernel, int warp, int *group) {
  for (*group = 0; *group < kernel->n_roles; ++*group) {
    const WarpRole *role = kernel->role[*group];
    const int64_t thread = (int64_t)warp * LANES;
    if (thread >= role->first_thread && thread < role->first_thread + role->n_threads)
      return role->name;
  }
  return NULL;
}

static void start_warps(Maker *m) {
  const Kernel *kernel = program_main(m->program);
  const int ranks = (int)m->launch.cluster;
  m->warp = ARENA_ARRAY(m->arena, WarpState, m->n_warps * ranks);
  for (int i = 0; i < m->n_warps * ranks; i++) {
    int group;
    const int warp = i % m->n_warps, rank = i / m->n_warps;
    const char *role = role_of(kernel, warp, &group);
    const char *name =
        arena_printf(m->arena, role ? "%s warp %d" : "%swarp %d", role ? role : "", warp);
    if (ranks > 1) name = arena_printf(m->arena, "%s of rank %d", name, rank);
    m->warp[i] = (WarpState){.share = -1, .work = -1, .fence = -1};
    m->warp[i].process = search_process(m->s, name, rank, group);
    m->warp[i].registers = program_start_registers(m->launch.block_threads, kernel->min_blocks);
  }
}

EveryOrder every_order_program(Arena *arena, const Program *program, int64_t grid) {
  EveryOrder out = {.search = search_new(arena)};
  Maker *m = ARENA_NEW(arena, Maker);
  *m = (Maker){.arena = arena, .program = program, .s = out.search, .out = &out};
  m->launch = kernel_launch(program_main(program));
  m->n_warps = launch_block_warps(&m->launch);
  if (m->launch.cluster > SEARCH_RANKS || m->n_warps > 32) {
    out.fault = "it has too many warps, or blocks in a cluster, for the search";
    return out;
  }
  for (int i = 0; i < program->n_kernels; i++)
    if (i == program->main_kernel) stmt_walk(program->kernel[i].body, find_background, m);
  start_warps(m);
  const ClusterVisitor visitor = {
      .visit = look, .counts = counts, .whole = true, .grid = grid, .slabs = 1};
  cluster_walk(arena, program, &visitor, m);
  for (int i = 0; i < m->n_warps * (int)m->launch.cluster; i++)
    search_add(out.search, m->warp[i].process, (SearchEvent){.kind = SEARCH_EXIT});
  unify_places(m);
  return out;
}
