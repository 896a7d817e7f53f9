// Faults of clusters that claim their lists of tiles.
#include "model/interp/breakage_parts.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

static bool claim_in_steps(Program *program, Stmt *stmt) {
  (void)program;
  bool claims = stmt_is_op(stmt, OP_CLAIM);
  if (claims) stmt->op.in_steps = true;
  return claims;
}

bool break_claim_not_atomic(Program *program) {
  return breakage_change_each(program, claim_in_steps);
}

static bool claim_in_epoch_1(Program *program, Stmt *stmt) {
  bool claims = stmt_is_op(stmt, OP_CLAIM);
  if (claims) stmt->op.epoch = ex_const(program->arena, 1);
  return claims;
}

bool break_epoch_missing(Program *program) {
  return breakage_change_each(program, claim_in_epoch_1);
}
