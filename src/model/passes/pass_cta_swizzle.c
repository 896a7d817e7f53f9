// Blocks in row order → blocks in patches of GROUP_M × GROUP_N tiles.
//
// Requires: tile. Ensures: one BLOCK loop g over all tiles, with m_b and n_b as LETs over g.
//
// C is cut into bands of GROUP_N columns of tiles, one after the other, and a band into patches of
// GROUP_M rows, one below the other; in a patch blocks walk down M, then one step along N. With
// GROUP_N = 1 the band is all of C, with GROUP_M = 1 a patch is one row of it:
//
//   4 × 6 tiles   GROUP_M=2            GROUP_N=2            GROUP_M=2,GROUP_N=3
//                  0  2  4  6  8 10     0  1  8  9 16 17     0  2  4 12 14 16
//                  1  3  5  7  9 11     2  3 10 11 18 19     1  3  5 13 15 17
//                 12 14 16 18 20 22     4  5 12 13 20 21     6  8 10 18 20 22
//                 13 15 17 19 21 23     6  7 14 15 22 23     7  9 11 19 21 23
//
// Worked example, 32 × 32 tiles, GROUP_M = 8: g = 0…7 are the first eight tiles of column 0, g =
// 8…15 those of column 1. A wave of 132 blocks then touches 8 panels of A and 17 of B instead of 5
// and 32. The last patch and the last band may be smaller: min(GROUP_M, rows left), and so on.
#include "base/whole.h"
#include "model/passes/passes.h"

bool pass_cta_swizzle_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_GROUP_M] > 1 || schedule->value[KNOB_GROUP_N] > 1;
}

// A LET of the same range takes the place of the loop variable, also in the axis.
static Stmt *bind(Program *program, KnobId knob, Axis *axis, const Expr *value) {
  Var *old = axis->digit[0].var;
  Var *var = program_var(program, old->name, VAR_LET, TIER_BLOCK, old->extent);
  for (int i = 0; i < program->n_kernels; i++)
    substitute(program, program->kernel[i].body, old, ex_var(program->arena, var));
  axis->digit[0].var = var;
  return stmt_let(program, knob, var, value);
}

// `side`, or what is left of `all` from `first` on. A side that divides `all` is never cut.
static const Expr *cut_side(Arena *arena, int64_t side, int64_t all, const Expr *first) {
  if (all % side == 0) return ex_const(arena, side);
  return ex_min(arena, ex_const(arena, side), ex_sub(arena, ex_const(arena, all), first));
}

// Names the patch of its band that a tile is in, as a LET: where bands differ in width the quotient
// does not show that its range is [0, patches - 1], and the height of the last patch follows from
// that.
static const Expr *name_patch(Program *program, Stmt **let, int64_t patches, const Expr *quotient) {
  Var *p = program_var(program, "m_p", VAR_LET, TIER_BLOCK, patches);
  if (patches > 1) *let = stmt_let(program, KNOB_GROUP_M, p, quotient);
  return ex_var(program->arena, p);
}

void pass_cta_swizzle(Program *program, Product *product, const Schedule *schedule) {
  Arena *arena = program->arena;
  Axis *m = product->axis[AXIS_M], *n = product->axis[AXIS_N];
  int64_t group_m = schedule->value[KNOB_GROUP_M], group_n = schedule->value[KNOB_GROUP_N];
  KnobId knob_m = group_m > 1 ? KNOB_GROUP_M : KNOB_GROUP_N;
  KnobId knob_n = group_n > 1 ? KNOB_GROUP_N : KNOB_GROUP_M;
  int64_t rows = m->digit[0].var->extent, columns = n->digit[0].var->extent;
  int64_t down = min64(group_m, rows), along = group_n > 1 ? min64(group_n, columns) : columns;
  Stmt **link = &main_kernel(program)->body;
  while ((*link)->var != m->digit[0].var) link = &(*link)->body;
  Stmt *inside = (*link)->body->body;

  Var *g = program_var(program, "g", VAR_LOOP, TIER_BLOCK, rows * columns);
  const Expr *tile = ex_var(arena, g);
  const Expr *left = ex_mul_const(arena, ex_div(arena, tile, along * rows), along);
  const Expr *width = cut_side(arena, along, columns, left);
  const Expr *in_band = ex_mod(arena, tile, along * rows);
  const Expr *patch_size = ex_mul_const(arena, width, down);
  const Expr *patch = ex_div_expr(arena, in_band, patch_size);
  Stmt *let_p = NULL;
  if (along < columns && down > 1) patch = name_patch(program, &let_p, ceil_div(rows, down), patch);
  const Expr *top = ex_mul_const(arena, patch, down);
  const Expr *height = cut_side(arena, down, rows, top);
  const Expr *in_patch = ex_mod_expr(arena, in_band, patch_size);

  Stmt *let_m = bind(program, knob_m, m, ex_add(arena, top, ex_mod_expr(arena, in_patch, height)));
  Stmt *let_n = bind(program, knob_n, n, ex_add(arena, left, ex_div_expr(arena, in_patch, height)));
  let_m->next = let_n;
  let_n->next = inside;
  if (let_p) let_p->next = let_m;
  *link = stmt_loop(program, knob_m, g, let_p ? let_p : let_m);
}
