// Faults of clusters and of persistent blocks: arrivals and boxes that stay at home, cluster
// barriers that are missing, rings and lists that begin anew.
//
// Worked example, mask_short, two blocks that fetch a slab of A for each other:
//   A_s[slot, n_c * 32, 0] = tma A[n_c * 32, k]   counted at full[slot]   ranks 3
// becomes
//   …   ranks 1 << n_c
// so that each of them waits for ever for the bytes of the other's share.
#include "model/interp/breakage_parts.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"

// ---- clusters -----------------------------------------------------------------------------------

// Counts the ranks of a mask, which is the same number at every rank.
static int64_t count_ranks(const Program *program, const Expr *mask) {
  int64_t *at_rank_0 = ARENA_ARRAY(program->arena, int64_t, program->n_vars);
  return __builtin_popcountll((unsigned long long)expr_eval(mask, at_rank_0));
}

static bool arrives_across(const Stmt *stmt) {
  return stmt_is_op(stmt, OP_MBAR_ARRIVE) && stmt->op.ranks;
}

static void find_readers(Stmt *stmt, int depth, void *context) {
  (void)depth;
  if (arrives_across(stmt)) *(const Expr **)context = stmt->op.ranks;
}

static bool arrive_at_own(Program *program, Stmt *stmt) {
  (void)program;
  bool across = arrives_across(stmt);
  if (across) stmt->op.ranks = NULL;
  return across;
}

bool break_local_arrive_only(Program *program) {
  const Expr *mask = NULL;
  stmt_walk(program_main_kernel(program)->body, find_readers, (void *)&mask);
  Stmt *init = stmt_find_op(program_main_kernel(program)->body, OP_MBAR_INIT, ROLE_EMPTY);
  if (!mask || !init) return false;
  init->op.arrivals /= count_ranks(program, mask);
  return breakage_change_each(program, arrive_at_own);
}

static bool send_to_own(Program *program, Stmt *stmt) {
  (void)program;
  bool across = stmt_is_op(stmt, OP_TMA_LOAD) && stmt->op.ranks;
  if (across) stmt->op.ranks = NULL;
  return across;
}

bool break_mask_short(Program *program) { return breakage_change_each(program, send_to_own); }

bool break_no_cluster_start(Program *program) {
  Stmt *first = stmt_find_op(program_main_kernel(program)->body, OP_CLUSTER_BARRIER, ROLE_COUNT);
  if (first) first->op.kind = OP_BARRIER;
  return first != NULL;
}

// Where no thread arrives across blocks there is no barrier at the end.
bool break_no_cluster_end(Program *program) {
  const Expr *mask = NULL;
  stmt_walk(program_main_kernel(program)->body, find_readers, (void *)&mask);
  return mask && breakage_drop_last(program, OP_CLUSTER_BARRIER);
}
