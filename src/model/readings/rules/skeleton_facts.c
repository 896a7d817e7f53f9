// Program → who reaches which statement, and what comes to which mbarrier, by a walk of every warp
// of one cluster (cluster_walk.h).
//
// For a loop over slabs two turns are walked, for a slot that is let go a turn late. Bytes are
// those of the first slab. Arrivals at an mbarrier are counted once for each warp and element, so
// that an arrival in the loop and one behind it are one; a phase takes the most that any element
// gets.
//
// Worked example, two consumers of a pair: the warps 8 and 9 of CTA 0 commit to empty[0] with mask
// 3, so that element 0 of the first CTA gets 2; its 4 writing warps and those of CTA 1 arrive at
// acc_empty[0] with mask 1: 8.
#include "model/readings/rules/skeleton_checks.h"

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/cluster_walk.h"
#include "model/ir/elect.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"

enum { ELEMENTS_MAX = 64, WARPS_MAX = 64, SLAB_TURNS = 2 };

typedef struct Arrived {
  uint64_t by[CLUSTER_MAX];  // warps of each CTA, as bits
  int64_t lanes;             // beyond the first of each warp: those that arrive too
} Arrived;

typedef struct FactWalk {
  SkeletonFacts *out;
  int *at;    // [n_stmt_ids] the statement's place in out->stmt
  int *seen;  // [n_stmt_ids] 1 + the warp of the first CTA that was there last
  Arrived arrived[SKELETON_BARRIERS][ELEMENTS_MAX];
} FactWalk;

// ---- the text -----------------------------------------------------------------------------------

static int count_ops(const Stmt *list) {
  int n = 0;
  for (; list; list = list->next) n += list->kind == STMT_OP ? 1 : count_ops(list->body);
  return n;
}

// `around`: what holds of all that stands in a body.
static StmtFacts below(const Stmt *stmt, StmtFacts around) {
  if (stmt->role) around.role = stmt->role;
  if (stmt->kind != STMT_IF || around.elects) return around;
  around.elects = stmt->elects;
  around.whole &= stmt->elects || elect_is_of_warps(stmt->expr);
  return around;
}

static void place_ops(FactWalk *w, const Stmt *list, StmtFacts around) {
  SkeletonFacts *out = w->out;
  for (; list; list = list->next) {
    if (list->kind != STMT_OP) {
      place_ops(w, list->body, below(list, around));
      continue;
    }
    w->at[list->id] = out->n;
    out->stmt[out->n] = around;
    out->stmt[out->n].stmt = list;
    out->stmt[out->n].place = out->n + 1;
    out->n++;
  }
}

// ---- mbarriers ----------------------------------------------------------------------------------

static int barrier_of(FactWalk *w, const Buffer *buffer) {
  SkeletonFacts *out = w->out;
  for (int i = 0; i < out->n_barriers; i++)
    if (out->barrier[i].buffer == buffer) return i;
  if (out->n_barriers == SKELETON_BARRIERS) return -1;
  out->barrier[out->n_barriers] = (PhaseFacts){.buffer = buffer, .first_phase = -1};
  return out->n_barriers++;
}

// Whether the operation is about mbarriers of the first CTA.
static bool reaches_first(const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  if (op->ranks) return cluster_value(v, op->ranks) & 1;
  return v->rank == 0 || (op->cta_group == 2 && op_moves_box(op->kind) && v->rank == 1);
}

static int ctas_of(const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  return op->ranks ? __builtin_popcountll((uint64_t)cluster_value(v, op->ranks)) : 1;
}

static void note_arrival(FactWalk *w, const ClusterVisit *v, int barrier) {
  const Op *op = &v->stmt->op;
  const int64_t element = cluster_value(v, op->dst.idx[0]);
  if (element >= ELEMENTS_MAX || v->warp >= WARPS_MAX) return;
  Arrived *arrived = &w->arrived[barrier][element];
  const uint64_t bit = (uint64_t)1 << v->warp;
  const bool each_lane = op_facts(op->kind)->scope != SCOPE_WARP;
  if (each_lane && !(arrived->by[v->rank] & bit)) arrived->lanes += v->n_lanes - 1;
  arrived->by[v->rank] |= bit;
}

static void note_barrier(FactWalk *w, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  const OpAction action = op_facts(op->kind)->action;
  const int at = barrier_of(w, op->dst.buffer);
  if (at < 0) return;
  PhaseFacts *facts = &w->out->barrier[at];
  if (action == ACTION_SET && v->rank == 0) {
    facts->init = v->stmt;
    facts->awaited = op->arrivals;
  }
  if (action == ACTION_WAIT && !facts->wait) {
    facts->wait = v->stmt;
    facts->first_phase = cluster_value(v, op->phase);
  }
  facts->told = max_int(facts->told, ctas_of(v));
  if (!reaches_first(v)) return;
  if (action == ACTION_SIGNAL || action == ACTION_EXPECT) note_arrival(w, v, at);
  if (action != ACTION_EXPECT || v->slab > 0) return;
  facts->expected += op->bytes;
  facts->expect = v->stmt;
}

static void note_box(FactWalk *w, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  const int at = barrier_of(w, op->src2.buffer);
  if (at >= 0) w->out->barrier[at].filled = max_int(w->out->barrier[at].filled, ctas_of(v));
  if (at < 0 || v->slab > 0 || !reaches_first(v)) return;
  w->out->barrier[at].bytes += op->box[0] * op->box[1] * dtype_bytes(op->dst.buffer->type);
}

// ---- the walk -----------------------------------------------------------------------------------

static bool is_of_barriers(const Op *op) {
  return op_moves_box(op->kind) || op_takes_mbarrier(op->kind);
}

static void note_op(void *context, const ClusterVisit *v) {
  FactWalk *w = context;
  const Op *op = &v->stmt->op;
  StmtFacts *facts = &w->out->stmt[w->at[v->stmt->id]];
  int *seen = &w->seen[v->stmt->id];
  facts->lanes = max_int(facts->lanes, v->n_lanes);
  if (v->rank == 0 && *seen != v->warp + 1) facts->threads += v->n_lanes;
  if (v->rank == 0) *seen = v->warp + 1;
  const Buffer *dst = op->dst.buffer, *counted = op->src2.buffer;
  if (dst && dst->space == SPACE_BARRIER && op_takes_mbarrier(op->kind)) note_barrier(w, v);
  if (op_moves_box(op->kind) && counted && counted->space == SPACE_BARRIER) note_box(w, v);
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
  w->at = ARENA_ARRAY(arena, int, program->n_stmt_ids);
  w->seen = ARENA_ARRAY(arena, int, program->n_stmt_ids);
  out.stmt = ARENA_ARRAY(arena, StmtFacts, count_ops(out.launch.body));
  place_ops(w, out.launch.body, (StmtFacts){.whole = true});
  cluster_walk(arena, program,
               &(ClusterVisitor){
                   .visit = note_op, .counts = is_of_barriers, .others = true, .slabs = SLAB_TURNS},
               w);
  count_arrivals(w);
  return out;
}

// ---- looking ------------------------------------------------------------------------------------

static bool is_it(const StmtFacts *facts, OpKind kind, BufferRole dst, RoleWork work) {
  const Op *op = &facts->stmt->op;
  if (kind == OP_COUNT ? !op_multiplies(op->kind) : op->kind != kind) return false;
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

bool skeleton_is_issued(const StmtFacts *facts) {
  return op_facts(facts->stmt->op.kind)->scope == SCOPE_THREAD;
}

bool skeleton_elects(const SkeletonFacts *facts) {
  for (int i = 0; i < facts->n; i++)
    if (facts->stmt[i].elects) return true;
  return false;
}
