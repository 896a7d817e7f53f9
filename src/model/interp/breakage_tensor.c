// Faults of tensor memory: steps that an author forgets, and their effects.
//
// Article 004 tells failures apart by their signs on a GPU: a kernel that hangs, one that crashes,
// whole stripes of 128 rows that are wrong. Each is here with its cause, and the interpreter names
// the cause: commits left out hang, an allocation by one lane or columns that are given back too
// soon crash, sums that are read too soon are wrong by the 128 rows of a warpgroup. The faults of a
// pair of CTAs are here too: a step that one does for both, and a step that both must do.
#include "model/interp/breakage_parts.h"
#include "model/ir/find_op.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"

static bool drop(Program *program, OpKind kind, BufferRole role) {
  return breakage_drop_all(&program_main_kernel(program)->body, kind, role);
}

bool break_tensor_commit(Program *program) { return drop(program, OP_T_COMMIT, ROLE_ACC_FULL); }
bool break_tensor_release(Program *program) { return drop(program, OP_T_COMMIT, ROLE_EMPTY); }
bool break_tensor_after(Program *program) { return drop(program, OP_T_AFTER, ROLE_COUNT); }
bool break_tensor_loads(Program *program) { return drop(program, OP_T_WAIT_LD, ROLE_COUNT); }
bool break_tensor_leak(Program *program) { return drop(program, OP_T_FREE, ROLE_COUNT); }
bool break_tensor_wait(Program *program) { return drop(program, OP_MBAR_WAIT, ROLE_ACC_FULL); }
bool break_tensor_before(Program *program) { return drop(program, OP_T_BEFORE, ROLE_COUNT); }
bool break_tensor_reuse(Program *program) { return drop(program, OP_MBAR_WAIT, ROLE_ACC_EMPTY); }

static bool guards(const Stmt *stmt, OpKind kind) {
  return stmt->kind == STMT_IF && !stmt->role && stmt->body && stmt_is_op(stmt->body, kind);
}

// The threads below `first` of a condition on one variable.
static void let_in(Program *program, Stmt *stmt, int64_t first) {
  Arena *arena = program->arena;
  stmt->expr = ex_lt(arena, stmt->expr->a, ex_const(arena, first));
  stmt->elects = false;
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

// Conditions too, which breakage_change_each() passes over.
static bool change_any(Program *program, bool (*change)(Program *program, Stmt *stmt)) {
  Change all = {program, change, false};
  stmt_walk(program_main_kernel(program)->body, change_one, &all);
  return all.found;
}

static bool one_lane_allocates(Program *program, Stmt *stmt) {
  if (!guards(stmt, OP_T_ALLOC)) return false;
  let_in(program, stmt, 1);
  return true;
}

bool break_tensor_lane(Program *program) { return change_any(program, one_lane_allocates); }

// The condition of the one thread that asks for products.
static bool picks_asker(const Stmt *stmt) {
  return stmt->kind == STMT_IF && !stmt->role && stmt->expr->op == EXPR_EQ &&
         stmt_find_op(stmt->body, OP_T_MMA, ROLE_COUNT);
}

static bool warp_asks(Program *program, Stmt *stmt) {
  const bool asks = picks_asker(stmt);
  if (asks) let_in(program, stmt, LANES);
  return asks;
}

bool break_tensor_all_ask(Program *program) { return change_any(program, warp_asks); }

// All that is one thread's to do stays so, but for commits.
static void guard_all_but_commits(Program *program, const Stmt *guard, Stmt **link) {
  for (; *link; link = &(*link)->next) {
    Stmt *stmt = *link;
    if (stmt->body) guard_all_but_commits(program, guard, &stmt->body);
    const bool alone = stmt->kind == STMT_OP && op_facts(stmt->op.kind)->scope == SCOPE_THREAD;
    if (!alone || stmt->op.kind == OP_T_COMMIT) continue;
    Stmt *next = stmt->next;
    stmt->next = NULL;
    *link = stmt_if(program, stmt->knob, guard->expr, stmt);
    (*link)->elects = guard->elects;
    (*link)->next = next;
  }
}

static bool warp_commits(Program *program, Stmt *stmt) {
  if (!picks_asker(stmt) || !stmt_find_op(stmt->body, OP_T_COMMIT, ROLE_COUNT)) return false;
  const Stmt guard = *stmt;
  guard_all_but_commits(program, &guard, &stmt->body);
  let_in(program, stmt, LANES);
  return true;
}

bool break_tensor_all_commit(Program *program) { return change_any(program, warp_commits); }

// The barrier in front of the statement that gives the columns back.
static bool free_at_once(Stmt **link) {
  for (; *link; link = &(*link)->next) {
    const Stmt *next = (*link)->next;
    const bool meets = stmt_is_op(*link, OP_BARRIER) || stmt_is_op(*link, OP_CLUSTER_BARRIER);
    if (meets && next && guards(next, OP_T_FREE)) {
      stmt_cut(link);
      return true;
    }
    if (free_at_once(&(*link)->body)) return true;
  }
  return false;
}

// One barrier of all readers may stand behind their last read, as where pieces go through a slab.
// Then warp 0 may give the columns back behind it: nothing is early. The warp that asks for
// products passes no such barrier; the others leave the columns to that warp.
static bool readers_have_met(const Program *program) {
  const WarpRole *writes = kernel_role(program_main(program), WORK_WRITES);
  const Stmt *loads = stmt_find_op(program_main(program)->body, OP_T_LD, ROLE_COUNT);
  if (!writes || !loads) return false;
  for (const Stmt *stmt = loads; stmt; stmt = stmt->next)
    if (stmt_is_op(stmt, OP_BARRIER) && stmt->op.threads == writes->n_threads) return true;
  return false;
}

static bool asker_frees(Program *program, Stmt *stmt) {
  if (!guards(stmt, OP_T_FREE)) return false;
  const WarpRole *asks = kernel_role(program_main(program), WORK_MULTIPLIES);
  Arena *arena = program->arena;
  const Expr *thread = stmt->expr->a;
  stmt->expr = ex_land(arena, ex_lt(arena, ex_const(arena, asks->first_thread - 1), thread),
                       ex_lt(arena, thread, ex_const(arena, asks->first_thread + LANES)));
  return true;
}

bool break_tensor_free_early(Program *program) {
  if (!free_at_once(&program_main_kernel(program)->body)) return false;
  return !readers_have_met(program) || change_any(program, asker_frees);
}

static bool one_lane_frees(Program *program, Stmt *stmt) {
  if (!guards(stmt, OP_T_FREE)) return false;
  let_in(program, stmt, 1);
  return true;
}

bool break_tensor_free_lane(Program *program) { return change_any(program, one_lane_frees); }

static bool tells_of_sums(const Stmt *stmt) {
  return stmt_is_mbar_op(stmt, OP_MBAR_ARRIVE, ROLE_ACC_EMPTY) ||
         stmt_find_op(stmt->body, OP_MBAR_ARRIVE, ROLE_ACC_EMPTY);
}

// The wait for what tcgen05.ld brings changes places with the arrival behind it, and its fence.
static bool release_first(Stmt **link) {
  for (; *link; link = &(*link)->next) {
    if (release_first(&(*link)->body)) return true;
    Stmt *wait = *link, *tells = wait->next;
    if (!stmt_is_op(wait, OP_T_WAIT_LD)) continue;
    while (tells && !tells_of_sums(tells)) tells = tells->next;
    if (!tells) continue;
    *link = wait->next;
    wait->next = tells->next;
    tells->next = wait;
    return true;
  }
  return false;
}

bool break_tensor_release_early(Program *program) {
  return release_first(&program_main_kernel(program)->body);
}

// ---- roles --------------------------------------------------------------------------------------

static bool begin_with_phase_0(Program *program, Stmt *stmt) {
  Arena *arena = program->arena;
  if (!stmt_is_mbar_op(stmt, OP_MBAR_WAIT, ROLE_ACC_EMPTY)) return false;
  stmt->op.phase = ex_mod(arena, ex_add_const(arena, stmt->op.phase, 1), 2);
  return true;
}

bool break_tensor_phase(Program *program) {
  return breakage_change_each(program, begin_with_phase_0);
}

// The condition of a role that has no thread 0 stands around the one that asks for it.
static bool init_in_role(Program *program, Stmt *stmt) {
  const WarpRole *role = kernel_role(program_main(program), WORK_MULTIPLIES);
  const bool inits = stmt->kind == STMT_IF && !stmt->role &&
                     stmt_find_op(stmt->body, OP_MBAR_INIT, ROLE_ACC_FULL) != NULL;
  if (!inits || !role || !role->first_thread) return false;
  Arena *arena = program->arena;
  const Expr *in_role =
      ex_lt(arena, ex_const(arena, role->first_thread - 1), ex_var(arena, program->any_thread));
  stmt->expr = ex_land(arena, in_role, stmt->expr);
  return true;
}

bool break_tensor_init(Program *program) { return change_any(program, init_in_role); }

// ---- pairs --------------------------------------------------------------------------------------

static bool is_of_pair(const Stmt *stmt, OpKind kind) {
  return stmt_is_op(stmt, kind) && stmt->op.cta_group > 1;
}

static bool commit_to_own(Program *program, Stmt *stmt) {
  if (!is_of_pair(stmt, OP_T_COMMIT)) return false;
  stmt->op.ranks = ex_const(program->arena, 1);
  return true;
}

bool break_pair_mask(Program *program) { return breakage_change_each(program, commit_to_own); }

static bool expect_own(Program *program, Stmt *stmt) {
  (void)program;
  if (!stmt_is_op(stmt, OP_MBAR_EXPECT)) return false;
  stmt->op.bytes /= 2;
  return true;
}

bool break_pair_bytes(Program *program) {
  const Stmt *box = stmt_find_op(program_main_kernel(program)->body, OP_TMA_LOAD, ROLE_COUNT);
  return box && is_of_pair(box, OP_TMA_LOAD) && breakage_change_each(program, expect_own);
}

static Stmt *last_meeting(Stmt *list) {
  Stmt *last = NULL;
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    Stmt *inner = stmt->body ? last_meeting(stmt->body) : NULL;
    if (stmt_is_op(stmt, OP_CLUSTER_BARRIER)) last = stmt;
    if (inner) last = inner;
  }
  return last;
}

bool break_pair_end(Program *program) {
  Stmt *list = program_main_kernel(program)->body,
       *free = stmt_find_op(list, OP_T_FREE, ROLE_COUNT);
  Stmt *last = free && is_of_pair(free, OP_T_FREE) ? last_meeting(list) : NULL;
  if (last) last->op.kind = OP_BARRIER;
  return last != NULL;
}

static bool allocate_alone(Program *program, Stmt *stmt) {
  (void)program;
  if (!is_of_pair(stmt, OP_T_ALLOC)) return false;
  stmt->op.cta_group = 1;
  return true;
}

bool break_pair_alloc(Program *program) { return breakage_change_each(program, allocate_alone); }
