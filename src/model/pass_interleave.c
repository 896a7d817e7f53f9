// all loads, then all multiplies → each load of A next to the multiplies that need it.
//
// Requires: register_tile. Ensures: where the load of a and the multiply run over the same REGISTER
// variable, the two loops are one, load first. Preserves: the load of b in front.
//
// Worked example, FM = 26: instead of 26 loads and then 104 multiplies, 26 times one load and four
// multiplies. Compilers schedule the two forms alike at any level but -O0; the knob exists to show it.
#include "model/passes.h"

static Stmt **fma_link(Program *program, Stmt ***a_load) {
  Stmt *fma_parent = find_tier(main_kernel(program)->body, TIER_STAGE_INNER);
  if (!fma_parent) {
    const Axis *k = &program->axis[AXIS_K];
    fma_parent = find_loop(main_kernel(program)->body, k->digit[k->n_digits - 1].var);
  }
  *a_load = find_link(&fma_parent->body, OP_LOAD, ROLE_FRAG_A);
  return find_link(&fma_parent->body, OP_FMA, ROLE_ACC);
}

bool pass_interleave_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_INTERLEAVE_LOADS] && schedule->value[KNOB_FM] > 1 &&
         schedule->value[KNOB_FRAG_BUFFER] == 1 && schedule->value[KNOB_ATOM_KIND] == 0;
}

void pass_interleave(Program *program, const Schedule *schedule) {
  (void)schedule;
  Stmt **load;
  Stmt *fma = *fma_link(program, &load);
  Stmt *loop = *load;
  if (loop->kind != STMT_LOOP || fma->kind != STMT_LOOP || loop->var != fma->var) return;
  cut(load);
  insert(&fma->body, loop->body);
  fma->knob = KNOB_INTERLEAVE_LOADS;
}
