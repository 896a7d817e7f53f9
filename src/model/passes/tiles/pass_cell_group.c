// A thread's run of FM (FN) cells → groups of CELL_GROUP cells, a whole thread grid apart.
//
// Requires: register_tile. Ensures: REGISTER loops m_g, m_v instead of m_r where FM > CELL_GROUP
// (and the same for n); acc keeps its shape. Preserves: which cells the block covers.
//
// Worked example, BN = 16, FN = 8, CELL_GROUP = 4: n = n_b·128 + n_t·8 + n_r becomes
// n_b·128 + n_g·64 + n_t·4 + n_v. A warp's 16-byte reads of B then touch 16 neighbouring chunks
// instead of every other one: lanes 0 and 4 no longer meet on the same banks.
#include "model/ir/program.h"
#include "model/passes/passes.h"

static bool divides(const Schedule *schedule, KnobId cells) {
  int64_t group = schedule->value[KNOB_CELL_GROUP];
  return group > 0 && schedule->value[cells] > group && schedule->value[cells] % group == 0;
}

bool pass_cell_group_wanted(const Schedule *schedule) {
  bool any = divides(schedule, KNOB_FM) || divides(schedule, KNOB_FN);
  return any && schedule->value[KNOB_ATOM_KIND] == 0;
}

// {block, T·F} {thread, F} {register, 1} becomes {block, T·F} {group, T·G} {thread, G} {cell, 1}.
static void regroup(Program *program, Axis *axis, int64_t group, const char *g, const char *v) {
  Digit thread = axis->digit[1], cells = axis->digit[2];
  Split split = stmt_split_register(program, cells.var, group, g, v, KNOB_CELL_GROUP);
  axis->n_digits = 4;
  axis->digit[1] = (Digit){split.outer, thread.var->extent * group};
  axis->digit[2] = (Digit){thread.var, group};
  axis->digit[3] = (Digit){split.inner, 1};
}

void pass_cell_group(Program *program, Product *product, const Schedule *schedule) {
  int64_t group = schedule->value[KNOB_CELL_GROUP];
  if (divides(schedule, KNOB_FM)) regroup(program, product->axis[AXIS_M], group, "m_g", "m_v");
  if (divides(schedule, KNOB_FN)) regroup(program, product->axis[AXIS_N], group, "n_g", "n_v");
  program_apply_axes(program, product);
}
