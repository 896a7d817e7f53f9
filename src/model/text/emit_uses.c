// Tells the variables that a list reads and writes: every expression is looked into. An unused
// number is not written, so its own operands do not count either.
#include "model/text/emit_parts.h"

#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

static void use_expr(EmitUses *uses, const Expr *expr) {
  if (!expr || emit_runs_along(uses->ring, expr)) return;
  if (expr->op == EXPR_VAR && !uses->var[expr->var->id])
    uses->var[expr->var->id] = uses->more = true;
  use_expr(uses, expr->a);
  use_expr(uses, expr->b);
  use_expr(uses, expr->c);
}

static void use_one(const Expr **expr, void *uses) { use_expr(uses, *expr); }

static void use_part(const Expr *expr, void *uses) { use_expr(uses, expr); }

static void use_access(const Access *access, bool *how) {
  if (access->buffer) how[access->buffer->id] = true;
}

static void use_stmt(Stmt *stmt, int depth, void *context) {
  (void)depth;
  EmitUses *uses = context;
  if (stmt->kind == STMT_IF && uses->elects && !stmt->predicated)
    emit_condition_reads(stmt, stmt->expr, use_part, uses);
  else if (stmt->kind != STMT_LET)
    use_expr(uses, stmt->expr);
  use_expr(uses, stmt->end);
  if (stmt->kind != STMT_OP) return;
  op_each_expr(&stmt->op, use_one, uses);
  Access *access[OP_ACCESSES];
  op_accesses(&stmt->op, access);
  for (int i = 0; i < OP_ACCESSES; i++) use_access(access[i], i ? uses->read : uses->written);
}

// An unused number is not written, so it does not read its operands. Numbers stand in front of the
// numbers made of them: a chain needs one round for each of its links.
static void use_let(Stmt *stmt, int depth, void *context) {
  (void)depth;
  EmitUses *uses = context;
  bool between_loops = !stmt->next;  // of the hardware: written whether read or not
  if (stmt->kind == STMT_LET && (between_loops || uses->var[stmt->var->id]))
    use_expr(uses, stmt->expr);
}

EmitUses emit_list_uses(Emitter *emitter, const Stmt *list) {
  EmitUses uses = {
      .program = emitter->program, .ring = emitter->symbols.ring, .elects = emitter->elects};
  uses.var = ARENA_ARRAY(emitter->arena, bool, emitter->program->n_vars);
  stmt_walk((Stmt *)(uintptr_t)list, use_stmt, &uses);
  do {
    uses.more = false;
    stmt_walk((Stmt *)(uintptr_t)list, use_let, &uses);
  } while (uses.more);
  return uses;
}

bool emit_list_reads(Emitter *emitter, const Stmt *list, const Var *var) {
  return emit_list_uses(emitter, list).var[var->id];
}

bool emit_uses_buffer(const EmitUses *uses, const Buffer *buffer) {
  return uses->read[buffer->id] || uses->written[buffer->id];
}
