// Blocks in row order → blocks in patches of GROUP_M × GROUP_N tiles (tile_place.c).
//
// Requires: tile. Ensures: one BLOCK loop g over all tiles, with m_b and n_b as LETs over g.
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

bool pass_cta_swizzle_wanted(const Schedule *schedule) {
  bool groups = schedule->value[KNOB_GROUP_M] > 1 || schedule->value[KNOB_GROUP_N] > 1;
  return groups && !pass_persistent_wanted(schedule);
}

void pass_cta_swizzle(Program *program, Product *product, const Schedule *schedule) {
  Axis *m = product->axis[AXIS_M], *n = product->axis[AXIS_N];
  int64_t rows = m->digit[0].var->extent, columns = n->digit[0].var->extent;
  Stmt **link = &program_main_kernel(program)->body;
  while ((*link)->var != m->digit[0].var) link = &(*link)->body;
  Stmt *inside = (*link)->body->body;
  Var *g = program_var(program, "g", VAR_LOOP, TIER_BLOCK, rows * columns);
  TilePlace place = tile_place_grouped(program, product, schedule, ex_var(program->arena, g));
  Stmt *let_m = tile_let_digit(program, place.knob_m, m->digit[0].var, place.row);
  Stmt *let_n = tile_let_digit(program, place.knob_n, n->digit[0].var, place.column);
  Stmt *lets = stmt_list(let_m, let_n, inside, NULL);
  if (place.let) lets = stmt_list(place.let, lets, NULL);
  *link = stmt_loop(program, place.knob_m, g, lets);
}
