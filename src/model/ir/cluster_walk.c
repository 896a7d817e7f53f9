// Program → visits of its operations by every warp of a cluster. Readings of the effects that CTAs
// and roles have on each other share this walk.
//
// Worked example, a pair in which warp 8 asks for products: take `if lane == 0: tcgen05.mma` in a
// loop over 16 slabs, walked for two of them. There is a visit for each rank, slab and k-step, with
// lane 0, n_lanes 1 and the role that multiplies; the 11 other warps of each CTA do not pass.
#include "model/ir/cluster_walk.h"

#include "base/whole.h"
#include "model/ir/lanes.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/ring.h"
#include "model/ir/stmt.h"

enum { REGISTER_TURNS = 64 };

typedef struct ClusterWalk {
  const ClusterVisitor *visitor;
  void *context;
  ClusterVisit at;
} ClusterWalk;

static bool has_counting(const ClusterVisitor *visitor, const Stmt *list) {
  for (; list; list = list->next)
    if (list->kind == STMT_OP ? visitor->counts(&list->op) : has_counting(visitor, list->body))
      return true;
  return false;
}

static void visit_op(ClusterWalk *w, const Stmt *stmt, const bool *active) {
  if (!w->visitor->others && !w->visitor->counts(&stmt->op)) return;
  w->at.stmt = stmt;
  w->at.active = active;
  w->at.n_lanes = 0;
  for (int lane = LANES - 1; lane >= 0; lane--) {
    if (!active[lane]) continue;
    w->at.lane = lane;
    w->at.n_lanes++;
  }
  if (w->at.n_lanes) w->visitor->visit(w->context, &w->at);
}

static int64_t turns_of(const ClusterWalk *w, const Stmt *loop) {
  const Tier tier = loop->var->tier;
  if (tier == TIER_SERIAL_OUTER) return min64(loop->var->extent, w->visitor->slabs);
  const bool all = tier == TIER_REGISTER && has_counting(w->visitor, loop->body);
  return all ? min64(loop->var->extent, REGISTER_TURNS) : 1;
}

static void walk_list(ClusterWalk *w, const Stmt *list, const bool *active);

// Tiles go on by the grid, from the block's own or from the list that it has claimed.
static void walk_whole(ClusterWalk *w, const Stmt *loop, const bool *active) {
  const bool tiles = loop->var->tier == TIER_TILE;
  const int64_t step = tiles ? w->visitor->grid : 1;
  const int64_t end = loop->end ? cluster_value(&w->at, loop->end) : loop->var->extent;
  const int64_t all = tiles && !loop->end ? tile_count(loop) : end;
  for (int64_t i = 0; i < all; i += step) {
    lanes_set_all(w->at.env, loop->var, i);
    if (loop->var->tier == TIER_SERIAL_OUTER) w->at.slab = (int)i;
    walk_list(w, loop->body, active);
  }
}

static void walk_loop(ClusterWalk *w, const Stmt *loop, const bool *active) {
  if (w->visitor->whole && !tier_is_hardware(loop->var->tier)) {
    walk_whole(w, loop, active);
    return;
  }
  const Tier tier = loop->var->tier;
  const bool slabs = tier == TIER_SERIAL_OUTER, tiles = tier == TIER_TILE;
  const bool stands = tiles || tier_is_hardware(tier);  // its index is there already
  const int64_t turns = stands ? 1 : turns_of(w, loop);
  if (tiles) w->at.turn = tile_turn(loop);
  for (int64_t i = 0; i < turns; i++) {
    if (slabs) w->at.slab = (int)i;
    if (!stands) lanes_set_all(w->at.env, loop->var, i);
    walk_list(w, loop->body, active);
  }
  if (slabs) w->at.slab = -1;
  if (tiles) w->at.turn = NULL;
}

static void walk_if(ClusterWalk *w, const Stmt *stmt, const bool *active) {
  bool inner[LANES];
  const WarpRole *role = w->at.role;
  if (!lanes_pass(w->at.env, stmt->expr, active, inner)) return;
  if (stmt->role) w->at.role = stmt->role;
  walk_list(w, stmt->body, inner);
  w->at.role = role;
}

static void walk_list(ClusterWalk *w, const Stmt *list, const bool *active) {
  for (const Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (stmt->kind == STMT_OP) visit_op(w, stmt, active);
    if (stmt->kind == STMT_LET) lanes_let(w->at.env, stmt);
    if (!stmt->body || (!w->visitor->others && !has_counting(w->visitor, stmt->body))) continue;
    if (stmt->kind == STMT_LOOP) walk_loop(w, stmt, active);
    if (stmt->kind == STMT_IF) walk_if(w, stmt, active);
  }
}

void cluster_walk(Arena *arena, const Program *program, const ClusterVisitor *visitor,
                  void *context) {
  const Launch launch = kernel_launch(program_main(program));
  ClusterWalk w = {.visitor = visitor, .context = context, .at = {.slab = -1}};
  if (!visitor->others && !has_counting(visitor, launch.body)) return;
  w.at.env = ARENA_ARRAY(arena, int64_t, (int64_t)program->n_vars * LANES);
  for (w.at.rank = 0; w.at.rank < launch.cluster; w.at.rank++)
    for (w.at.warp = 0; w.at.warp < launch_block_warps(&launch); w.at.warp++) {
      bool active[LANES];
      lanes_enter(program, &launch, w.at.rank, w.at.warp, w.at.env, active);
      if (visitor->whole) lanes_enter_grid(program, &launch, visitor->grid, w.at.env);
      walk_list(&w, launch.body, active);
    }
}

int64_t cluster_value(const ClusterVisit *visit, const Expr *expr) {
  int64_t value[LANES];
  expr_eval_warp(expr, visit->env, value);
  return value[visit->lane];
}
