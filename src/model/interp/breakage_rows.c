// Faults of attention: of rows of scores, of copies of K and V that come too early, and of turns.
//
// Worked example, k_early: the copy of the next block's K stands in front of the barrier instead of
// behind it, and a warp that is ahead overwrites rows that another still multiplies.
#include "model/interp/breakage_parts.h"
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"

// Cuts the first operation of a kind that writes to the role, loops around it and all.
static bool drop(Program *program, OpKind kind, BufferRole role) {
  Stmt **link = &program_main_kernel(program)->body;
  Stmt *walk = program_slab_loop(program);
  if (walk) link = stmt_find_link(&walk->body, kind, role);
  if (!walk || !link) return false;
  stmt_cut(link);
  return true;
}

bool break_no_rescale(Program *program) { return drop(program, OP_MUL, ROLE_ACC); }
bool break_sum_rescale(Program *program) { return drop(program, OP_MUL, ROLE_ROW_SUM); }
bool break_lanes_max(Program *program) { return drop(program, OP_LANES_MAX, ROLE_ROW_MAX); }

// The product is given the sums as they are, of f32, for operand A.
static bool unconvert(Program *program, Stmt *stmt) {
  Access *a = &stmt->op.src;
  if (!op_multiplies(stmt->op.kind) || a->buffer->role != ROLE_FRAG_P) return false;
  const Expr *zero = ex_const(program->arena, 0), *atom = a->idx[a->buffer->rank - 2];
  *a = access3(program_buffer(program, ROLE_SCORE), atom, zero, zero);
  return true;
}

bool break_unconverted(Program *program) {
  return program_buffer(program, ROLE_SCORE) && program_slab_loop(program) &&
         breakage_change_each(program, unconvert);
}

// The copies stand in front of the barrier behind which they stood.
static bool ask_early(Program *program, BufferRole slab) {
  Stmt *walk = program_slab_loop(program);
  Stmt **copy = walk ? stmt_find_link(&walk->body, OP_CP_ASYNC, slab) : NULL;
  if (walk && !copy) copy = stmt_find_link(&walk->body, OP_TMA_LOAD, slab);
  Stmt **barrier = NULL;
  for (Stmt **at = walk ? &walk->body : NULL; copy && at != copy; at = &(*at)->next)
    barrier = (*at)->kind == STMT_OP && (*at)->op.kind == OP_BARRIER ? at : barrier;
  // Only a copy for a product ahead stands right behind its barrier.
  if (!barrier || &(*barrier)->next != copy) return false;
  stmt_insert(barrier, stmt_cut(copy));
  return true;
}

bool break_k_early(Program *program) { return ask_early(program, ROLE_SLAB_B); }
bool break_v_early(Program *program) { return ask_early(program, ROLE_SLAB_V); }

// ---- turns --------------------------------------------------------------------------------------

static bool lets_first_ask(const Stmt *stmt) {
  return stmt_is_op(stmt, OP_BARRIER_ARRIVE) && stmt->op.id->lo == stmt->op.id->hi;
}

static bool lets_next_ask(const Stmt *stmt) {
  return stmt_is_op(stmt, OP_BARRIER_ARRIVE) && !lets_first_ask(stmt);
}

static bool is_named(const Stmt *stmt, const void *context) {
  bool (*const *names)(const Stmt *) = context;
  return (*names)(stmt);
}

static bool drop_named(Program *program, bool (*names)(const Stmt *)) {
  return breakage_drop_if(&program_main_kernel(program)->body, is_named, &names);
}

bool break_turn_wait(Program *program) { return drop_named(program, stmt_is_turn); }
bool break_turn_arrive(Program *program) { return drop_named(program, lets_next_ask); }
bool break_turn_first(Program *program) { return drop_named(program, lets_first_ask); }

static void find_turn(Stmt *stmt, int depth, void *context) {
  (void)depth;
  if (stmt_is_turn(stmt)) *(const Expr **)context = stmt->op.id;
}

static void let_itself_ask(Stmt *stmt, int depth, void *context) {
  (void)depth;
  if (lets_next_ask(stmt)) stmt->op.id = *(const Expr **)context;
}

bool break_turn_own(Program *program) {
  const Expr *own = NULL;
  stmt_walk(program_main_kernel(program)->body, find_turn, &own);
  if (own) stmt_walk(program_main_kernel(program)->body, let_itself_ask, &own);
  return own;
}
