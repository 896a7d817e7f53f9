// Program → visits of its operations: readings of the requests of a warp share this walk.
// An environment for 32 lanes goes along: hardware digits from the thread index, LETs evaluated,
// the loop over slabs at its first iteration, IFs switching lanes off.
//
// The visitor says, operation by operation, whether a loop's iterations cost alike. A LET or an IF
// that reads its variable makes them differ too, except a LET that goes on evenly itself. Worked
// example, copies of rows of 44 floats: i stands in (tid + 256 · i) / 11 and % 11, so each of its
// iterations is looked at; r of a <- A_s[k_i, m_t · 8 + r] moves every lane by 4 bytes, and is not.
//
// A whole kernel is counted by weights. An IF with the same answer in all lanes, k_o + 2 < 64,
// makes no loop uneven: of the 64 iterations that the first stands for, 62 pass. The statements
// behind it are walked at iterations that pass: of k_i = 0, 3, 6, 9, which stand for twelve, those
// behind k_i < 2 stand at 0, 0, 1, 1.
#include "model/ir/warp_walk.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/whole.h"
#include "model/ir/lanes.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"

enum { LOOPS_MAX = 16, VISITS_MAX = 1024, TURNS_MIN = 2, SLABS_MAX = 32 };

typedef enum Pace { UNKNOWN, EVEN, UNEVEN } Pace;  // whether all of them cost alike

// The iterations that pass an IF which all lanes answer alike.
typedef struct Passing {
  bool known;
  double share;      // of the iterations of the loops that it reads
  int64_t first, n;  // where it reads one loop: the iterations that pass, where they lie together
} Passing;

typedef struct Walk {
  const WarpVisitor *visitor;
  void *context;
  int warp;
  int64_t *env;  // [n_vars][32]
  const Stmt *k_o;
  bool in_loop;                 // inside k_o
  double executions;            // of the statement at hand by one warp, per slab
  double weight;                // the number of them that this visit stands for
  bool first;                   // the first iteration of every loop around it
  const Var *loop[LOOPS_MAX];   // around it, inside k_o, or all of them
  bool stands[LOOPS_MAX];       // the iteration at hand stands for others too
  double at[LOOPS_MAX];         // how far the loop has come, 0..1
  double sampled[LOOPS_MAX];    // iterations for each one that is looked at; 1: all are
  bool passed_over[LOOPS_MAX];  // the iteration at hand is looked at for what seldom comes alone
  int n_loops;
  Pace *pace;        // by statement: of a loop's iterations
  Passing *passing;  // by statement
  int64_t room;      // iterations of the loops around it that may still be multiplied
  Arena *arena;
  int64_t visits;
  bool **idle;  // by statement: of a loop's iterations, whether nothing was visited; NULL
} Walk;

// ---- loops --------------------------------------------------------------------------------------

static bool may_differ(const Var *var) {
  return var->kind != VAR_LOOP || tier_is_hardware(var->tier);
}

// Whether it says the same in all lanes, for certain.
static bool is_uniform(const Expr *expr) { return !expr_any(expr, may_differ); }

static bool minds(const Walk *walk, const Stmt *list, const Var *var);

// A linear LET moves the values of all lanes alike, so the statements that read it decide.
static bool let_minds(const Walk *walk, const Stmt *let, const Var *var) {
  int64_t stride;
  if (!expr_uses(let->expr, var)) return false;
  return !expr_stride(let->expr, var, &stride) || minds(walk, let->next, let->var);
}

static bool if_minds(const Walk *walk, const Stmt *stmt, const Var *var) {
  return expr_uses(stmt->expr, var) && !(walk->visitor->whole && is_uniform(stmt->expr));
}

static bool minds(const Walk *walk, const Stmt *list, const Var *var) {
  for (; list; list = list->next) {
    if (list->kind == STMT_IF && if_minds(walk, list, var)) return true;
    if (list->kind == STMT_LET && let_minds(walk, list, var)) return true;
    if (list->kind == STMT_OP && walk->visitor->is_uneven(walk->context, &list->op, var))
      return true;
    if (list->body && minds(walk, list->body, var)) return true;
  }
  return false;
}

static bool is_slab_loop(const Walk *walk, const Stmt *loop) {
  return loop == walk->k_o || loop->var->tier == TIER_SERIAL_OUTER;  // a producer's own
}

static bool is_uneven_loop(const Walk *walk, const Stmt *loop) {
  if (walk->pace[loop->id] == UNKNOWN)
    walk->pace[loop->id] = minds(walk, loop->body, loop->var) ? UNEVEN : EVEN;
  return walk->pace[loop->id] == UNEVEN;
}

// Iterations of the uneven register loops inside, of the nest that has most of them. They are few,
// and where an edge cuts them off no one of them stands for the others.
static int64_t uneven_inside(const Walk *walk, const Stmt *list) {
  int64_t most = 1;
  for (; list; list = list->next) {
    if (!list->body) continue;
    int64_t inside = uneven_inside(walk, list->body);
    bool counts =
        list->kind == STMT_LOOP && list->var->tier == TIER_REGISTER && is_uneven_loop(walk, list);
    most = max64(most, counts ? list->var->extent * inside : inside);
  }
  return most;
}

// The number of iterations to look at, and their step: all, as long as VISITS_MAX have room; in a
// whole kernel the register loops inside come first.
static int64_t turns_of(const Walk *walk, const Stmt *loop, int64_t *step) {
  int64_t extent = loop->var->extent;
  *step = 1;
  if (!walk->in_loop && !walk->visitor->whole) return 1;
  if (!is_uneven_loop(walk, loop)) return 1;
  int64_t room = walk->room;
  if (walk->visitor->whole) room /= uneven_inside(walk, loop->body);
  int64_t most = is_slab_loop(walk, loop) ? min64(room, SLABS_MAX) : room;
  *step = sample_step(extent, max64(most, TURNS_MIN));
  return ceil_div(extent, *step);
}

static void walk_list(Walk *walk, const Stmt *list, const bool *active);
static const Passing *passing_of(Walk *walk, const Stmt *stmt, const bool *active);

// Iterations that an IF around the whole body turns away are not looked at and take no room.
// Worked example, six copies dealt out to one of 31 k-steps: k_i in 0..31 and i in 0..6 are 186
// iterations, of which six pass. With room for 170 all six are looked at, and not every other one.
static int64_t room_of(Walk *walk, const Stmt *loop, const bool *active) {
  const Stmt *guard = loop->body;
  if (!guard || guard->kind != STMT_IF || guard->next || !is_uniform(guard->expr))
    return walk->room;
  assert(walk->n_loops < LOOPS_MAX);
  walk->loop[walk->n_loops++] = loop->var;
  const double share = passing_of(walk, guard, active)->share;
  walk->n_loops--;
  return share > 0 ? (int64_t)fmin((double)walk->room / share, VISITS_MAX) : walk->room;
}

// Whether an IF inside that all lanes answer alike reads the variable.
static bool asks(const Stmt *list, const Var *var) {
  for (; list; list = list->next) {
    if (list->kind == STMT_IF && is_uniform(list->expr) && expr_uses(list->expr, var)) return true;
    if (list->body && asks(list->body, var)) return true;
  }
  return false;
}

// An iteration between those that are looked at. An idle iteration of the first warp is idle in all
// warps: lanes answer alike.
static void walk_between(Walk *walk, const Stmt *stmt, int64_t i, const bool *active) {
  bool **idle = &walk->idle[stmt->id];
  if (!*idle) *idle = ARENA_ARRAY(walk->arena, bool, stmt->var->extent);
  if ((*idle)[i]) return;
  const int64_t before = walk->visits;
  walk->passed_over[walk->n_loops - 1] = true;
  walk_list(walk, stmt->body, active);
  walk->passed_over[walk->n_loops - 1] = false;
  (*idle)[i] = walk->visits == before;
}

// Iterations in between are gone through too where such an IF may pass there and at few others.
static void walk_turns(Walk *walk, const Stmt *stmt, int64_t turns, int64_t step,
                       const bool *active) {
  bool first = walk->first;
  int64_t room = walk->room;
  const bool each = !walk->visitor->whole && step > 1 && asks(stmt->body, stmt->var);
  const int64_t by = each ? 1 : step, end = each ? stmt->var->extent : turns * step;
  walk->room /= turns;
  for (int64_t i = 0; i < end; i += by) {
    lanes_set_all(walk->env, stmt->var, i);
    if (walk->n_loops) walk->at[walk->n_loops - 1] = (double)i / (double)(turns * step);
    walk->first = first && i == 0;
    if (i % step)
      walk_between(walk, stmt, i, active);
    else
      walk_list(walk, stmt->body, active);
  }
  walk->first = first;
  walk->room = room;
}

// Once for each slab that is left to it: a loop over some slabs behind that over the others is
// short, a producer's own is as long.
static double turns_for_each_slab(const Walk *walk, const Stmt *stmt) {
  const double slabs = walk->k_o ? (double)walk->k_o->var->extent : 1;
  return fmin((double)stmt->var->extent / slabs, 1);
}

static void walk_slabs(Walk *walk, const Stmt *stmt, const bool *active) {
  double executions = walk->executions, weight = walk->weight;
  walk->in_loop = true;
  walk->executions = walk->weight = turns_for_each_slab(walk, stmt);
  walk_turns(walk, stmt, 1, 1, active);
  walk->executions = executions;
  walk->weight = weight;
  walk->in_loop = false;
}

static void walk_loop(Walk *walk, const Stmt *stmt, const bool *active) {
  if (stmt->var->tier == TIER_TILE) {  // one tile stands for all
    walk_list(walk, stmt->body, active);
    return;
  }
  bool slabs = is_slab_loop(walk, stmt), in_loop = walk->in_loop;
  if (slabs && !walk->visitor->whole) {
    walk_slabs(walk, stmt, active);
    return;
  }
  double executions = walk->executions, weight = walk->weight;
  const int64_t room = walk->room;
  walk->room = room_of(walk, stmt, active);
  int64_t step, turns = turns_of(walk, stmt, &step);
  walk->in_loop |= slabs;
  walk->executions *= (double)stmt->var->extent;
  walk->weight *= (double)stmt->var->extent / (double)turns;
  assert(walk->n_loops < LOOPS_MAX);
  walk->stands[walk->n_loops] = turns < stmt->var->extent;
  walk->sampled[walk->n_loops] = step > 1 ? (double)stmt->var->extent / (double)turns : 1;
  walk->passed_over[walk->n_loops] = false;
  walk->loop[walk->n_loops++] = stmt->var;
  walk_turns(walk, stmt, turns, step, active);
  walk->n_loops--;
  walk->room = room;
  walk->executions = executions;
  walk->weight = weight;
  walk->in_loop = in_loop;
}

// ---- conditions ---------------------------------------------------------------------------------

// Counts the iterations of the loops from `from` on in which some lane passes; all other loops
// stand at their first.
static int64_t count_passing(Walk *walk, const Expr *condition, const bool *active, int from) {
  while (from < walk->n_loops && !expr_uses(condition, walk->loop[from])) from++;
  int64_t value[LANES], n = 0;
  if (from == walk->n_loops) {
    expr_eval_warp(condition, walk->env, value);
    for (int i = 0; i < LANES; i++) n |= active[i] && value[i];
    return n;
  }
  const Var *var = walk->loop[from];
  for (int64_t at = var->extent - 1; at >= 0; at--) {
    lanes_set_all(walk->env, var, at);
    n += count_passing(walk, condition, active, from + 1);
  }
  return n;
}

// The share of the iterations that an IF lets through. Worked example, 8 copies dealt out among
// three k-steps: k_i · 3 + i < 8 holds in 8 of the 9 iterations of k_i and i.
static double passing_share(Walk *walk, const Expr *condition, const bool *active) {
  double all = 1;
  for (int i = 0; i < walk->n_loops; i++)
    if (expr_uses(condition, walk->loop[i])) all *= (double)walk->loop[i]->extent;
  return all == 1 ? 1 : (double)count_passing(walk, condition, active, 0) / all;
}

// If one loop alone decides: its first iteration that passes.
static int64_t first_passing(Walk *walk, const Expr *condition, const Var *var) {
  int64_t value[LANES], at = 0;
  for (; at < var->extent; at++) {
    lanes_set_all(walk->env, var, at);
    expr_eval_warp(condition, walk->env, value);
    if (value[0]) break;
  }
  return at;
}

// The loop that the condition reads, by its place around it; -1: none, or several.
static int only_loop(const Walk *walk, const Expr *condition) {
  int found = -1;
  for (int i = 0; i < walk->n_loops; i++) {
    if (!expr_uses(condition, walk->loop[i])) continue;
    if (found >= 0) return -1;
    found = i;
  }
  return found;
}

// The iterations that pass a condition which all lanes answer alike. It is asked once; the loops
// stay where they are.
static const Passing *passing_of(Walk *walk, const Stmt *stmt, const bool *active) {
  int64_t at[LOOPS_MAX];
  Passing *passing = &walk->passing[stmt->id];
  if (passing->known) return passing;
  for (int i = 0; i < walk->n_loops; i++) at[i] = walk->env[(ptrdiff_t)walk->loop[i]->id * LANES];
  *passing = (Passing){.known = true, .share = passing_share(walk, stmt->expr, active)};
  int loop = only_loop(walk, stmt->expr);
  if (loop >= 0) {
    passing->first = first_passing(walk, stmt->expr, walk->loop[loop]);
    passing->n = (int64_t)(passing->share * (double)walk->loop[loop]->extent + 0.5);
  }
  for (int i = 0; i < walk->n_loops; i++) lanes_set_all(walk->env, walk->loop[i], at[i]);
  return passing;
}

// Walks the list behind an IF, at an iteration that passes if the one at hand does not.
static void walk_passing(Walk *walk, const Stmt *stmt, const Passing *passing, const bool *active) {
  int64_t value[LANES];
  int loop = only_loop(walk, stmt->expr);
  const Var *var = loop < 0 ? NULL : walk->loop[loop];
  int64_t before = var ? walk->env[(ptrdiff_t)var->id * LANES] : 0;
  expr_eval_warp(stmt->expr, walk->env, value);
  if (var && !value[0])
    lanes_set_all(walk->env, var, passing->first + (int64_t)(walk->at[loop] * (double)passing->n));
  walk_list(walk, stmt->body, active);
  if (var) lanes_set_all(walk->env, var, before);
}

// Whether one visit has to stand for iterations that pass and for others that do not.
static bool stands_for_all(const Walk *walk, const Expr *condition) {
  bool stands = false;
  for (int i = 0; i < walk->n_loops; i++)
    stands |= walk->stands[i] && expr_uses(condition, walk->loop[i]);
  return walk->visitor->whole && stands && is_uniform(condition);
}

// Whether so few iterations pass that all of them can be looked at in place of those that are
// sampled: copies dealt out to one k-step of 256, of which every third is looked at.
static bool is_seldom(Walk *walk, const Stmt *stmt, const bool *active) {
  double sampled = 1;
  if (walk->visitor->whole || !is_uniform(stmt->expr)) return false;
  for (int i = 0; i < walk->n_loops; i++)
    if (expr_uses(stmt->expr, walk->loop[i])) sampled *= walk->sampled[i];
  return sampled > 1 && passing_of(walk, stmt, active)->share * sampled <= 1;
}

// Each iteration of the loops that it reads stands for itself.
static void walk_seldom(Walk *walk, const Stmt *stmt, const bool *active) {
  bool inner[LANES], over = false;
  const Walk before = *walk;
  for (int i = 0; i < walk->n_loops; i++) {
    if (!expr_uses(stmt->expr, walk->loop[i])) continue;
    walk->weight /= walk->sampled[i];
    over |= walk->passed_over[i];
    walk->sampled[i] = 1;
    walk->passed_over[i] = false;
  }
  const bool any = lanes_pass(walk->env, stmt->expr, active, inner);
  if (any || !over) walk_list(walk, stmt->body, inner);
  memcpy(walk->sampled, before.sampled, sizeof walk->sampled);
  memcpy(walk->passed_over, before.passed_over, sizeof walk->passed_over);
}

static void walk_if(Walk *walk, const Stmt *stmt, const bool *active) {
  bool inner[LANES];
  double before = walk->executions, weight = walk->weight;
  if (stands_for_all(walk, stmt->expr)) {
    const Passing *passing = passing_of(walk, stmt, active);
    walk->weight *= passing->share;
    if (walk->weight > 0) walk_passing(walk, stmt, passing, active);
  } else {
    if (walk->first && walk->warp == 0) walk->executions *= passing_share(walk, stmt->expr, active);
    if (is_seldom(walk, stmt, active)) {
      walk_seldom(walk, stmt, active);
    } else {
      lanes_pass(walk->env, stmt->expr, active, inner);
      walk_list(walk, stmt->body, inner);
    }
  }
  walk->executions = before;
  walk->weight = weight;
}

// ---- statements ---------------------------------------------------------------------------------

static void walk_op(Walk *walk, const Stmt *stmt, const bool *active) {
  for (int i = 0; i < walk->n_loops; i++)
    if (walk->passed_over[i]) return;
  const WarpVisit visit = {.stmt = stmt,
                           .warp = walk->warp,
                           .env = walk->env,
                           .active = active,
                           .in_loop = walk->in_loop,
                           .executions = walk->executions,
                           .weight = walk->weight};
  walk->visits++;
  walk->visitor->visit(walk->context, &visit);
}

static void walk_list(Walk *walk, const Stmt *list, const bool *active) {
  for (; list; list = list->next) {
    switch (list->kind) {
      case STMT_LET:
        lanes_let(walk->env, list);
        break;
      case STMT_LOOP:
        walk_loop(walk, list, active);
        break;
      case STMT_IF:
        walk_if(walk, list, active);
        break;
      case STMT_OP:
        walk_op(walk, list, active);
        break;
    }
  }
}

void warp_walk(Arena *arena, const Program *program, const WarpVisitor *visitor, void *context) {
  Launch launch = kernel_launch(program_main(program));
  int n_warps = launch_block_warps(&launch);
  Walk walk = {
      .visitor = visitor, .context = context, .executions = 1, .weight = 1, .arena = arena};
  walk.k_o = program_outer_k_loop(program);
  walk.env = ARENA_ARRAY(arena, int64_t, (size_t)program->n_vars * LANES);
  walk.pace = arena_alloc(arena, sizeof *walk.pace * (size_t)program->n_stmt_ids);
  walk.passing = ARENA_ARRAY(arena, Passing, program->n_stmt_ids);
  walk.idle = ARENA_ARRAY(arena, bool *, program->n_stmt_ids);
  walk.room = VISITS_MAX / n_warps;
  for (walk.warp = 0; walk.warp < n_warps; walk.warp++) {
    bool active[LANES];
    walk.first = true;
    lanes_enter(program, &launch, 0, walk.warp, walk.env, active);
    walk_list(&walk, launch.body, active);
  }
}
