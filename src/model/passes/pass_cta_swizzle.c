// Blocks in row order → blocks in groups of GROUP_M tiles down M.
//
// Requires: tile. Ensures: one BLOCK loop g over all tiles, with m_b and n_b as LETs over g.
//
// Worked example, 32 × 32 tiles, GROUP_M = 8: g = 0…7 are the first eight tiles of column 0, g =
// 8…15 those of column 1. A wave of 132 blocks then touches 8 panels of A and 17 of B instead of 5
// and 32. The last group may have fewer rows; its height is min(GROUP_M, rows left).
#include "model/passes/passes.h"

bool pass_cta_swizzle_wanted(const Schedule *schedule) { return schedule->value[KNOB_GROUP_M] > 1; }

// A LET of the same range takes the place of the loop variable, also in the axis.
static Stmt *bind(Program *program, Axis *axis, const Expr *value) {
  Var *old = axis->digit[0].var;
  Var *var = program_var(program, old->name, VAR_LET, TIER_BLOCK, old->extent);
  for (int i = 0; i < program->n_kernels; i++)
    substitute(program, program->kernel[i].body, old, ex_var(program->arena, var));
  axis->digit[0].var = var;
  return stmt_let(program, KNOB_GROUP_M, var, value);
}

void pass_cta_swizzle(Program *program, const Schedule *schedule) {
  Arena *arena = program->arena;
  Axis *m = &program->axis[AXIS_M], *n = &program->axis[AXIS_N];
  int64_t group = schedule->value[KNOB_GROUP_M];
  int64_t rows = m->digit[0].var->extent, columns = n->digit[0].var->extent;
  if (group > rows) group = rows;
  Stmt **link = &main_kernel(program)->body;
  while ((*link)->var != m->digit[0].var) link = &(*link)->body;
  Stmt *inside = (*link)->body->body;
  Var *g = program_var(program, "g", VAR_LOOP, TIER_BLOCK, rows * columns);
  const Expr *tile = ex_var(arena, g);
  const Expr *first = ex_mul_const(arena, ex_div(arena, tile, group * columns), group);
  const Expr *height =
      ex_min(arena, ex_const(arena, group), ex_sub(arena, ex_const(arena, rows), first));
  const Expr *in_group = ex_mod(arena, tile, group * columns);
  Stmt *let_m = bind(program, m, ex_add(arena, first, ex_mod_expr(arena, in_group, height)));
  Stmt *let_n = bind(program, n, ex_div_expr(arena, in_group, height));
  let_m->next = let_n;
  let_n->next = inside;
  *link = stmt_loop(program, KNOB_GROUP_M, g, let_m);
}
