// Faults of tensor memory: what an author forgets, and what comes of it.
//
// Article 004 tells failures apart by what is seen of them on a GPU: a kernel that hangs, one that
// crashes, whole stripes of 128 rows that are wrong. Each is here with its cause, and the
// interpreter names that: commits left out hang, an allocation by one lane or columns that are
// given back too soon crash, sums that are read too soon are wrong by the 128 rows of a warpgroup.
#include "model/interp/breakage_parts.h"
#include "model/ir/rewrite.h"

static bool drop(Program *program, OpKind kind, BufferRole role) {
  return drop_all(&main_kernel(program)->body, kind, role);
}

bool break_tensor_commit(Program *program) { return drop(program, OP_T_COMMIT, ROLE_ACC_FULL); }
bool break_tensor_release(Program *program) { return drop(program, OP_T_COMMIT, ROLE_EMPTY); }
bool break_tensor_after(Program *program) { return drop(program, OP_T_AFTER, ROLE_COUNT); }
bool break_tensor_loads(Program *program) { return drop(program, OP_T_WAIT_LD, ROLE_COUNT); }
bool break_tensor_leak(Program *program) { return drop(program, OP_T_FREE, ROLE_COUNT); }
bool break_tensor_wait(Program *program) { return drop(program, OP_MBAR_WAIT, ROLE_ACC_FULL); }

static bool guards(const Stmt *stmt, OpKind kind) {
  return stmt->kind == STMT_IF && !stmt->role && stmt->body && is_op(stmt->body, kind);
}

// The threads below `first` of a condition on one variable.
static void let_in(Program *program, Stmt *stmt, int64_t first) {
  Arena *arena = program->arena;
  stmt->expr = ex_lt(arena, stmt->expr->a, ex_const(arena, first));
}

typedef struct Change {
  Program *program;
  bool (*change)(Program *program, Stmt *stmt);
  bool found;
} Change;

static void change_one(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Change *change = context;
  change->found |= change->change(change->program, stmt);
}

// Conditions too, which change_each() passes over.
static bool change_any(Program *program, bool (*change)(Program *program, Stmt *stmt)) {
  Change all = {program, change, false};
  stmt_walk(main_kernel(program)->body, change_one, &all);
  return all.found;
}

static bool one_lane_allocates(Program *program, Stmt *stmt) {
  if (!guards(stmt, OP_T_ALLOC)) return false;
  let_in(program, stmt, 1);
  return true;
}

bool break_tensor_lane(Program *program) { return change_any(program, one_lane_allocates); }

static bool warp_asks(Program *program, Stmt *stmt) {
  enum { WARP_LANES = 32 };
  const bool asks = stmt->kind == STMT_IF && !stmt->role && stmt->expr->op == EXPR_EQ &&
                    find_op(stmt->body, OP_T_MMA, ROLE_COUNT);
  if (asks) let_in(program, stmt, WARP_LANES);
  return asks;
}

bool break_tensor_all_ask(Program *program) { return change_any(program, warp_asks); }

// The barrier in front of the statement that gives the columns back.
static bool free_at_once(Stmt **link) {
  for (; *link; link = &(*link)->next) {
    const Stmt *next = (*link)->next;
    if (is_op(*link, OP_BARRIER) && next && guards(next, OP_T_FREE)) {
      cut(link);
      return true;
    }
    if (free_at_once(&(*link)->body)) return true;
  }
  return false;
}

bool break_tensor_free_early(Program *program) { return free_at_once(&main_kernel(program)->body); }
