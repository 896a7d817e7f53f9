// Program → who reaches which statement, and what comes to which mbarrier, by a walk of every warp
// of one cluster.
//
// Of a loop over slabs two turns are walked, for a slot that is let go a turn late; of loops over
// registers that bring boxes all, of others one. Bytes are those of the first slab. Arrivals at an
// mbarrier are counted once for each warp and element, so that an arrival in the loop and one
// behind it are one; a phase takes the most that any element gets.
//
// Worked example, two consumers of a pair: the warps 8 and 9 of CTA 0 commit to empty[0] with mask
// 3, so that element 0 of the first CTA gets 2; its 4 writing warps and those of CTA 1 arrive at
// acc_empty[0] with mask 1: 8.
#include "model/readings/skeleton_facts.h"

#include "base/whole.h"
#include "model/ir/lanes.h"
#include "model/ir/op.h"

enum { ELEMENTS_MAX = 64, WARPS_MAX = 64, REGISTER_TURNS = 64, SLAB_TURNS = 2 };

typedef struct Arrived {
  uint64_t by[CLUSTER_MAX];  // warps of each CTA, as bits
  int64_t lanes;             // beyond the first of each warp: those that arrive too
} Arrived;

typedef struct FactWalk {
  SkeletonFacts *out;
  int64_t *env;
  int *at;    // [n_stmt_ids] the statement's place in out->stmt
  int *seen;  // [n_stmt_ids] 1 + the warp of the first CTA that was there last
  int rank, warp, slab;
  Arrived arrived[SKELETON_BARRIERS][ELEMENTS_MAX];
} FactWalk;

// ---- the text -----------------------------------------------------------------------------------

static int count_ops(const Stmt *list) {
  int n = 0;
  for (; list; list = list->next) n += list->kind == STMT_OP ? 1 : count_ops(list->body);
  return n;
}

static void place_ops(FactWalk *w, const Stmt *list, const WarpRole *role) {
  SkeletonFacts *out = w->out;
  for (; list; list = list->next) {
    if (list->kind != STMT_OP) {
      place_ops(w, list->body, list->role ? list->role : role);
      continue;
    }
    w->at[list->id] = out->n;
    out->stmt[out->n] = (StmtFacts){.stmt = list, .role = role, .place = out->n + 1};
    out->n++;
  }
}

// ---- mbarriers ----------------------------------------------------------------------------------

static int64_t value_at(const FactWalk *w, const Expr *expr, int lane) {
  int64_t value[LANES];
  expr_eval_warp(expr, w->env, value);
  return value[lane];
}

static int barrier_of(FactWalk *w, const Buffer *buffer) {
  SkeletonFacts *out = w->out;
  for (int i = 0; i < out->n_barriers; i++)
    if (out->barrier[i].buffer == buffer) return i;
  if (out->n_barriers == SKELETON_BARRIERS) return -1;
  out->barrier[out->n_barriers] = (PhaseFacts){.buffer = buffer, .first_phase = -1};
  return out->n_barriers++;
}

// Whether the operation is about mbarriers of the first CTA.
static bool reaches_first(const FactWalk *w, const Op *op, int lane) {
  if (op->mask) return value_at(w, op->mask, lane) & 1;
  return w->rank == 0 || (op->cta_group == 2 && op_moves_box(op->kind) && w->rank == 1);
}

static int ctas_of(const FactWalk *w, const Op *op, int lane) {
  return op->mask ? __builtin_popcountll((uint64_t)value_at(w, op->mask, lane)) : 1;
}

static void note_arrival(FactWalk *w, int barrier, const Op *op, int lane, int n_lanes) {
  const int64_t element = value_at(w, op->dst.idx[0], lane);
  if (element >= ELEMENTS_MAX || w->warp >= WARPS_MAX) return;
  Arrived *arrived = &w->arrived[barrier][element];
  const uint64_t bit = (uint64_t)1 << w->warp;
  const bool each_lane = op_facts(op->kind)->scope != SCOPE_WARP;
  if (each_lane && !(arrived->by[w->rank] & bit)) arrived->lanes += n_lanes - 1;
  arrived->by[w->rank] |= bit;
}

static void note_barrier(FactWalk *w, const Stmt *stmt, int lane, int n_lanes) {
  const Op *op = &stmt->op;
  const OpAction action = op_facts(op->kind)->action;
  const int at = barrier_of(w, op->dst.buffer);
  if (at < 0) return;
  PhaseFacts *facts = &w->out->barrier[at];
  if (action == ACTION_SET && w->rank == 0) {
    facts->init = stmt;
    facts->awaited = op->count;
  }
  if (action == ACTION_WAIT && !facts->wait) {
    facts->wait = stmt;
    facts->first_phase = value_at(w, op->phase, lane);
  }
  facts->told = max_int(facts->told, ctas_of(w, op, lane));
  if (!reaches_first(w, op, lane)) return;
  if (action == ACTION_SIGNAL || action == ACTION_EXPECT) note_arrival(w, at, op, lane, n_lanes);
  if (action != ACTION_EXPECT || w->slab > 0) return;
  facts->expected += op->count;
  facts->expect = stmt;
}

static void note_box(FactWalk *w, const Op *op, int lane) {
  const int at = barrier_of(w, op->src2.buffer);
  if (at >= 0)
    w->out->barrier[at].filled = max_int(w->out->barrier[at].filled, ctas_of(w, op, lane));
  if (at < 0 || w->slab > 0 || !reaches_first(w, op, lane)) return;
  w->out->barrier[at].bytes += op->box[0] * op->box[1] * dtype_bytes(op->dst.buffer->type);
}

// ---- the walk -----------------------------------------------------------------------------------

static bool is_of_barriers(const Stmt *list) {
  for (; list; list = list->next) {
    const Op *op = &list->op;
    if (list->kind == STMT_OP ? op_moves_box(op->kind) || op_takes_mbarrier(op->kind)
                              : is_of_barriers(list->body))
      return true;
  }
  return false;
}

static int count_active(const bool *active, int *first) {
  int n = 0;
  for (int lane = LANES - 1; lane >= 0; lane--) {
    n += active[lane];
    if (active[lane]) *first = lane;
  }
  return n;
}

static void note_op(FactWalk *w, const Stmt *stmt, const bool *active) {
  const Op *op = &stmt->op;
  int lane = 0, n = count_active(active, &lane);
  StmtFacts *facts = &w->out->stmt[w->at[stmt->id]];
  if (n == 0) return;
  if (n > facts->lanes) facts->lanes = n;
  if (w->rank == 0 && w->seen[stmt->id] != w->warp + 1) facts->threads += n;
  if (w->rank == 0) w->seen[stmt->id] = w->warp + 1;
  const Buffer *dst = op->dst.buffer, *counted = op->src2.buffer;
  if (dst && dst->space == SPACE_BARRIER && op_takes_mbarrier(op->kind))
    note_barrier(w, stmt, lane, n);
  if (op_moves_box(op->kind) && counted && counted->space == SPACE_BARRIER) note_box(w, op, lane);
}

static int64_t turns_of(const Stmt *loop) {
  const Tier tier = loop->var->tier;
  if (tier == TIER_SERIAL_OUTER) return min64(loop->var->extent, SLAB_TURNS);
  const bool all = tier == TIER_REGISTER && is_of_barriers(loop->body);
  return all ? min64(loop->var->extent, REGISTER_TURNS) : 1;
}

static void walk_list(FactWalk *w, const Stmt *list, const bool *active) {
  for (const Stmt *stmt = list; stmt; stmt = stmt->next) {
    bool inner[LANES];
    if (stmt->kind == STMT_OP) note_op(w, stmt, active);
    if (stmt->kind == STMT_LET) lanes_let(w->env, stmt);
    if (stmt->kind == STMT_IF && lanes_pass(w->env, stmt->expr, active, inner))
      walk_list(w, stmt->body, inner);
    if (stmt->kind != STMT_LOOP) continue;
    const bool slabs = stmt->var->tier == TIER_SERIAL_OUTER;
    for (int64_t i = 0; i < turns_of(stmt); i++) {
      if (slabs) w->slab = (int)i;
      lanes_set_all(w->env, stmt->var, i);
      walk_list(w, stmt->body, active);
    }
    if (slabs) w->slab = -1;
  }
}

static void count_arrivals(FactWalk *w) {
  for (int b = 0; b < w->out->n_barriers; b++)
    for (int e = 0; e < ELEMENTS_MAX; e++) {
      const Arrived *arrived = &w->arrived[b][e];
      int64_t n = arrived->lanes;
      for (int r = 0; r < CLUSTER_MAX; r++) n += __builtin_popcountll(arrived->by[r]);
      PhaseFacts *facts = &w->out->barrier[b];
      facts->arrivals = max64(facts->arrivals, n);
    }
}

SkeletonFacts skeleton_facts(Arena *arena, const Program *program) {
  const Kernel *kernel = program_main(program);
  SkeletonFacts out = {.arena = arena, .program = program, .launch = kernel_launch(kernel)};
  FactWalk *w = ARENA_NEW(arena, FactWalk);
  w->out = &out;
  w->slab = -1;
  w->env = ARENA_ARRAY(arena, int64_t, (int64_t)program->n_vars * LANES);
  w->at = ARENA_ARRAY(arena, int, program->n_stmt_ids);
  w->seen = ARENA_ARRAY(arena, int, program->n_stmt_ids);
  out.stmt = ARENA_ARRAY(arena, StmtFacts, count_ops(out.launch.body));
  place_ops(w, out.launch.body, NULL);
  const int warps = launch_block_warps(&out.launch);
  for (w->rank = 0; w->rank < out.launch.cluster; w->rank++)
    for (w->warp = 0; w->warp < warps; w->warp++) {
      bool active[LANES];
      lanes_enter(program, &out.launch, w->rank, w->warp, w->env, active);
      walk_list(w, out.launch.body, active);
    }
  count_arrivals(w);
  return out;
}

// ---- looking ------------------------------------------------------------------------------------

static bool is_it(const StmtFacts *facts, OpKind kind, BufferRole dst, RoleWork work) {
  const Op *op = &facts->stmt->op;
  if (op->kind != kind) return false;
  if (dst != ROLE_COUNT && (!op->dst.buffer || op->dst.buffer->role != dst)) return false;
  return work == WORK_COUNT || (facts->role && facts->role->work == work);
}

const StmtFacts *skeleton_find(const SkeletonFacts *facts, OpKind kind, BufferRole dst,
                               RoleWork work, int from) {
  for (int i = from; i < facts->n; i++)
    if (is_it(&facts->stmt[i], kind, dst, work)) return &facts->stmt[i];
  return NULL;
}

const StmtFacts *skeleton_find_last(const SkeletonFacts *facts, OpKind kind, BufferRole dst,
                                    RoleWork work) {
  for (int i = facts->n - 1; i >= 0; i--)
    if (is_it(&facts->stmt[i], kind, dst, work)) return &facts->stmt[i];
  return NULL;
}

const PhaseFacts *skeleton_phases(const SkeletonFacts *facts, BufferRole role) {
  for (int i = 0; i < facts->n_barriers; i++)
    if (facts->barrier[i].buffer->role == role) return &facts->barrier[i];
  return NULL;
}
