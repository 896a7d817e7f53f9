// Checks that the program is sound: the rules that every pass must keep, apart from the options
// that the user may ask for.
//
// The ranges that expressions carry decide all of it. Shared and register indices lie inside their
// buffers. Wide accesses are aligned. Barriers stand where every thread of the block arrives: not
// under a condition or a loop that depends on the thread, except barriers of a role inside it, or
// of some of its warps. Ranks and masks name blocks of the cluster.
#include "model/ir/check.h"

#include "model/ir/buffer.h"
#include "model/ir/launch.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"

typedef struct Check {
  Arena *arena;
  const Program *program;
  const char *fault;
} Check;

static void report(Check *check, const Stmt *stmt, const char *format, const char *name) {
  if (!check->fault) check->fault = arena_printf(check->arena, format, name, stmt->id);
}

static void check_access(Access *access, Stmt *stmt, void *context) {
  Check *check = context;
  const Buffer *buffer = access->buffer;
  int width = stmt->op.width;
  for (int d = 0; d < buffer->rank; d++) {
    const Expr *at = access->idx[d];
    int64_t last = at->hi + (d == buffer->rank - 1 ? width - 1 : 0);
    bool inside = at->lo >= 0 && (buffer->space == SPACE_GLOBAL || last < buffer->dim[d]);
    // The copy's last round is cut short by an IF, which the ranges do not see.
    if (!inside && buffer->space != SPACE_SHARED)
      report(check, stmt, "%s is accessed outside its bounds (statement %d)", buffer->name);
  }
  if (width > 1 && expr_divisor(access_offset(check->arena, access)) % width != 0)
    report(check, stmt, "%s has a wide access that is not aligned (statement %d)", buffer->name);
}

static bool is_of_thread(const Var *var) { return var_is_of_lane(var) || var->tier == TIER_WARP; }

// The threads that get to a statement: every thread of the block, of a role, whole warps of one, or
// an unknown part.
typedef enum Reached { REACHED_BY_ALL, REACHED_BY_ROLE, REACHED_BY_WARPS, REACHED_BY_SOME } Reached;

static Reached reach_below(const Stmt *stmt, Reached reach) {
  if (stmt->kind != STMT_IF || !expr_any(stmt->expr, is_of_thread)) return reach;
  if (stmt->role && reach == REACHED_BY_ALL) return REACHED_BY_ROLE;
  bool warps = reach == REACHED_BY_ROLE || reach == REACHED_BY_WARPS;
  return warps && !expr_any(stmt->expr, var_is_of_lane) ? REACHED_BY_WARPS : REACHED_BY_SOME;
}

static void check_barriers(Check *check, const Stmt *list, Reached reach) {
  for (; list; list = list->next) {
    const OpFacts *facts = list->kind == STMT_OP ? op_facts(list->op.kind) : NULL;
    bool meets = facts && facts->action == ACTION_MEET;
    bool whole = meets && list->op.threads == 0;
    bool signals = facts && (facts->action == ACTION_SIGNAL || facts->action == ACTION_PASS);
    bool arrives = signals && facts->scope == SCOPE_WARP;
    bool some = arrives || (meets && !whole);
    if ((whole && reach != REACHED_BY_ALL) || (some && reach == REACHED_BY_SOME))
      report(check, list,
             "a %s is in a place that not every thread reaches (statement "
             "%d)",
             "barrier");
    check_barriers(check, list->body, reach_below(list, reach));
  }
}

// ---- clusters -----------------------------------------------------------------------------------

// A rank is the blockIdx within its cluster, so no digit of the grid stands below the rank digits.
static void check_cluster(Check *check, const Kernel *kernel, const Launch *launch) {
  for (int i = 1; i < launch->n_block_digits; i++)
    if (launch->block[i - 1].var->tier == TIER_CLUSTER &&
        launch->block[i].var->tier != TIER_CLUSTER)
      report(check, kernel->body, "%s stands outside of a loop over the grid (statement %d)",
             "a loop over the blocks of a cluster");
  if (launch->cluster > CLUSTER_MAX)
    report(check, kernel->body, "%s has more than 16 blocks (statement %d)", "a cluster");
}

static void check_ranks(Check *check, const Stmt *list, int64_t cluster) {
  for (; list; list = list->next) {
    Access *access[OP_ACCESSES];
    op_accesses((Op *)(uintptr_t)&list->op, access);
    for (int i = 0; list->kind == STMT_OP && i < OP_ACCESSES; i++)
      if (access[i]->rank && access[i]->rank->hi >= cluster)
        report(check, list, "%s names a rank that its cluster does not have (statement %d)",
               access[i]->buffer->name);
    const Expr *mask = list->kind == STMT_OP ? list->op.ranks : NULL;
    if (mask && mask->hi >= (int64_t)1 << cluster)
      report(check, list, "%s has bits for ranks that its cluster does not have (statement %d)",
             "a mask");
    check_ranks(check, list->body, cluster);
  }
}

const char *program_check(Arena *arena, const Program *program) {
  Check check = {arena, program, NULL};
  for (int i = 0; i < program->n_kernels; i++) {
    stmt_each_access(program->kernel[i].body, check_access, &check);
    check_barriers(&check, program->kernel[i].body, REACHED_BY_ALL);
    Launch launch = kernel_launch(&program->kernel[i]);
    check_cluster(&check, &program->kernel[i], &launch);
    check_ranks(&check, program->kernel[i].body, launch.cluster);
  }
  return check.fault;
}
