// Breakages of products of parts and of promoted sums, which no barrier and no access gives away.
//
// Worked example, part_again, x = 1 + 2^-9 of 6xbf16: its parts are 1, 1, 1 instead of 1, 2^-9, 0,
// so that each product of two elements is summed six times over.
#include "model/interp/breakage_parts.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"

bool break_part_again(Program *program) {
  bool any = false;
  for (int i = 0; i < program->n_kernels && program->problem.split; i++)
    any |= breakage_drop_all(&program->kernel[i].body, OP_SUB, ROLE_COUNT);
  return any;
}

// The expression with the parts of A in place of the parts of B.
static const Expr *parts_of_a(Arena *arena, const Expr *expr, SplitKind split) {
  if (!expr || expr->op == EXPR_CONST || expr->op == EXPR_VAR) return expr;
  const Expr *a = parts_of_a(arena, expr->a, split), *b = parts_of_a(arena, expr->b, split);
  if (expr->op == EXPR_SELECT) return ex_select(arena, a, b, parts_of_a(arena, expr->c, split));
  if (expr->op != EXPR_TABLE) return ex_binary(arena, expr->op, a, b);
  return ex_table(arena, split_part_table(split, ATOM_A), expr->table_length, a);
}

static bool pair_alike(Program *program, Stmt *stmt) {
  const SplitKind split = program->problem.split;
  const Buffer *from = stmt->op.src.buffer;
  if (!split || stmt->kind != STMT_OP || !from || from->role != ROLE_PARTS_B) return false;
  stmt->op.src.idx[0] = parts_of_a(program->arena, stmt->op.src.idx[0], split);
  return true;
}

bool break_parts_alike(Program *program) { return breakage_change_each(program, pair_alike); }

// A run goes on with the sums that the accumulators have been given: the first one alone begins.
static bool go_on(Program *program, Stmt *stmt) {
  Arena *arena = program->arena;
  if (!stmt_is_op(stmt, OP_WGMMA) || stmt->op.dst.buffer->role != ROLE_RUN) return false;
  const Axis *k = &program->axis[AXIS_K];
  const Expr *step = ex_var(arena, k->digit[k->n_digits - 1].var);
  step = ex_add(arena, ex_var(arena, program_slab_loop(program)->var), step);
  stmt->op.scale_d = ex_lt(arena, ex_const(arena, 0), step);
  return true;
}

bool break_run_kept(Program *program) { return breakage_change_each(program, go_on); }

typedef struct Lost {
  Program *program;
  bool any;
} Lost;

static void lose_last(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Lost *lost = context;
  if (stmt->kind != STMT_IF || stmt->knob != KNOB_PROMOTE) return;
  Arena *arena = lost->program->arena;
  const Var *slab = program_slab_loop(lost->program)->var;
  const Expr *early = ex_lt(arena, ex_var(arena, slab), ex_const(arena, slab->extent - 1));
  stmt->expr = ex_land(arena, stmt->expr, early);
  lost->any = true;
}

bool break_run_lost(Program *program) {
  Lost lost = {program, false};
  stmt_walk(program_main_kernel(program)->body, lose_last, &lost);
  return lost.any;
}
