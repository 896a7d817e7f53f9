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

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/launch.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/readings/time/every_order_inside.h"

EveryWarp *every_order_state(EveryMaker *m, const ClusterVisit *v) {
  return &m->warp[v->rank * m->n_warps + v->warp];
}

// ---- events -------------------------------------------------------------------------------------

int every_order_add(EveryMaker *m, const ClusterVisit *v, SearchEvent event) {
  EveryWarp *w = every_order_state(m, v);
  event.tag = v->stmt->id;
  w->work = -1;
  return search_add(m->s, w->process, event);
}

// The event that work now belongs to. Behind what goes on in the background work of threads begins
// another one, so that the two are told apart.
int every_order_work(EveryMaker *m, const ClusterVisit *v, bool background) {
  EveryWarp *w = every_order_state(m, v);
  if (w->work < 0 || (w->background && !background)) {
    const int at = every_order_add(m, v, (SearchEvent){.kind = SEARCH_WORK});
    w->work = at;
    w->background = false;
  }
  w->background = w->background || background;
  return w->work;
}

// ---- mbarriers ----------------------------------------------------------------------------------

static int bar_of(EveryMaker *m, const ClusterVisit *v, const Access *access, int rank) {
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

static uint32_t ranks_of(const EveryMaker *m, const ClusterVisit *v, const Op *op) {
  const uint32_t all = (1u << m->launch.cluster) - 1;
  return op->ranks ? (uint32_t)cluster_value(v, op->ranks) & all : 1u << v->rank;
}

// A fence by one lane says nothing of what another lane copies, until both have met.
static void check_fence(EveryMaker *m, const ClusterVisit *v) {
  EveryWarp *w = every_order_state(m, v);
  if (w->fence >= 0 && w->fence_lane != v->lane)
    m->s->process[w->process].event[w->fence].kind = SEARCH_WORK;
  w->fence = -1;
}

// The box lands in each of its blocks; its bytes count there, or of a pair at the even one.
static void add_boxes(EveryMaker *m, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  const int process = every_order_state(m, v)->process;
  check_fence(m, v);
  const int64_t bytes = op->box[0] * op->box[1] * dtype_bytes(op->dst.buffer->type) * v->n_lanes;
  for (int rank = 0; rank < m->launch.cluster; rank++) {
    if (!(ranks_of(m, v, op) >> rank & 1)) continue;
    const int at = every_order_work(m, v, true),
              place = search_part(m->s, every_order_place(m, v, &op->dst, UNIT_BOX, rank));
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

static void add_arrivals(EveryMaker *m, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  const OpFacts *facts = op_facts(op->kind);
  const int64_t n = facts->scope == SCOPE_WARP ? 1 : v->n_lanes;
  for (int rank = 0; rank < m->launch.cluster; rank++)
    if (ranks_of(m, v, op) >> rank & 1)
      every_order_add(m, v,
                      (SearchEvent){.kind = SEARCH_ARRIVE,
                                    .object = bar_of(m, v, &op->dst, rank),
                                    .n = n,
                                    .bytes = facts->action == ACTION_EXPECT ? op->bytes * n : 0});
}

// tcgen05.commit: its arrivals are events of the warp's share of the tensor core.
static void add_commit(EveryMaker *m, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  EveryWarp *w = every_order_state(m, v);
  const int at = every_order_work(m, v, true);
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
    if (first) every_order_end(m, w, op_facts(op->kind)->family, w->share, done, true);
    first = false;
  }
}

// ---- everything else that orders ----------------------------------------------------------------

static void add_barrier(EveryMaker *m, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  const bool cluster = op_facts(op->kind)->scope == SCOPE_CLUSTER;
  const int64_t warps = op->threads ? ceil_div(op->threads, LANES) : m->n_warps;
  const int id = op->id ? (int)clamp_index(cluster_value(v, op->id), BARRIERS) : 0;
  every_order_state(m, v)->fence = -1;
  if (!cluster && op->threads == LANES && !op->id) return;  // the lanes of the warp alone
  int *barrier =
      cluster ? &m->cluster_barrier : &m->barrier[v->rank][id][op->threads ? min64(warps, 32) : 0];
  const char *name = cluster       ? "the cluster's barrier"
                     : op->threads ? arena_printf(m->arena, "barrier %d of %lld threads", id,
                                                  (long long)op->threads)
                                   : "the block's barrier";
  if (!*barrier) *barrier = 1 + search_barrier(m->s, name, v->rank);
  const bool passes = op_facts(op->kind)->action == ACTION_PASS;
  every_order_add(m, v,
                  (SearchEvent){.kind = passes ? SEARCH_PASS : SEARCH_MEET,
                                .object = *barrier - 1,
                                .n = cluster ? m->n_warps * m->launch.cluster : warps,
                                .bit = cluster       ? SEARCH_MEET_CLUSTER
                                       : op->threads ? SEARCH_MEET_ALL
                                                     : SEARCH_MEET_BLOCK});
}

static void add_wait(EveryMaker *m, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  const OpFacts *facts = op_facts(op->kind);
  EveryWarp *w = every_order_state(m, v);
  if (op_ends_with_group(op->kind) || facts->completes == COMPLETES_BY_WAIT) {
    const bool all = facts->completes == COMPLETES_BY_WAIT, four = every_order_is_together(facts);
    if (!all) order_groups_wait(&w->groups[facts->family], (uint32_t)op->groups);
    if (four) every_order_wait_for_asked(m, v);
    const int at = every_order_add(m, v, (SearchEvent){.kind = SEARCH_WORK});
    if (four) every_order_products_are_over(m, v, at);
    every_order_end(m, w, facts->family, w->process, at, all);
    return;
  }
  every_order_add(m, v,
                  (SearchEvent){.kind = SEARCH_WAIT,
                                .object = bar_of(m, v, &op->dst, every_order_rank(v, &op->dst)),
                                .bit = (uint32_t)cluster_value(v, op->phase) & 1});
}

static void add_fence(EveryMaker *m, const ClusterVisit *v) {
  const OpFacts *facts = op_facts(v->stmt->op.kind);
  if (facts->family == FAMILY_SYNC) every_order_add(m, v, (SearchEvent){.kind = SEARCH_INIT_SAID});
  if (facts->family != FAMILY_TMA) return;
  EveryWarp *w = every_order_state(m, v);
  w->fence = every_order_add(m, v, (SearchEvent){.kind = SEARCH_FENCE});
  w->fence_lane = v->lane;
  if (v->n_lanes == LANES) w->fence = -1;
}

static void add_registers(EveryMaker *m, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  EveryWarp *w = every_order_state(m, v);
  every_order_add(m, v,
                  (SearchEvent){.kind = SEARCH_TAKE, .n = (op->registers - w->registers) * LANES});
  w->registers = op->registers;
}

// All of tensor memory is taken, or given back.
static void own_tensor_memory(EveryMaker *m, const ClusterVisit *v) {
  const SearchPlace all = {.name = "tensor memory",
                           .rank = v->rank,
                           .memory = TENSOR_MEMORY,
                           .hi = {TENSOR_LANES, TENSOR_COLUMNS, 1, 1}};
  const EveryWarp *w = every_order_state(m, v);
  const int at = every_order_work(m, v, false);
  search_touch(m->s, w->process, at, search_part(m->s, all), true);
}

static void add_signal(EveryMaker *m, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  const OpFacts *facts = op_facts(op->kind);
  if (op_ends_with_group(op->kind)) {
    every_order_state(m, v)->groups[facts->family].closed++;
    if (every_order_is_together(facts)) every_order_ask(m, v);
  } else if (facts->proxy == PROXY_ASYNC) {
    add_commit(m, v);
  } else {
    add_arrivals(m, v);
  }
}

static void look(void *context, const ClusterVisit *v) {
  EveryMaker *m = context;
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
    case ACTION_PASS:
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
        every_order_add(
            m, v,
            (SearchEvent){
                .kind = SEARCH_INIT, .object = bar_of(m, v, &op->dst, v->rank), .n = op->arrivals});
      else if (facts->completes == COMPLETES_BY_MBARRIER && op_moves_box(op->kind))
        add_boxes(m, v);
      else
        every_order_touch(m, v);
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
  EveryMaker *m = context;
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

static void start_warps(EveryMaker *m) {
  const Kernel *kernel = program_main(m->program);
  const int ranks = (int)m->launch.cluster;
  m->warp = ARENA_ARRAY(m->arena, EveryWarp, m->n_warps * ranks);
  for (int i = 0; i < m->n_warps * ranks; i++) {
    int group;
    const int warp = i % m->n_warps, rank = i / m->n_warps;
    const char *role = role_of(kernel, warp, &group);
    const char *name =
        arena_printf(m->arena, role ? "%s warp %d" : "%swarp %d", role ? role : "", warp);
    if (ranks > 1) name = arena_printf(m->arena, "%s of rank %d", name, rank);
    m->warp[i] = (EveryWarp){.share = -1, .work = -1, .fence = -1};
    m->warp[i].process = search_process(m->s, name, rank, group);
    m->warp[i].registers = program_start_registers(m->launch.block_threads, kernel->min_blocks);
  }
}

EveryOrder every_order_program(Arena *arena, const Program *program, int64_t grid) {
  EveryOrder out = {.search = search_new(arena)};
  EveryMaker *m = ARENA_NEW(arena, EveryMaker);
  *m = (EveryMaker){.arena = arena, .program = program, .s = out.search, .out = &out};
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
  every_order_join_four(m);
  every_order_unify_places(m);
  return out;
}
