// Slots and phases are digits of the counter: counter = (turn · slots) + slot.
#include "model/ir/ring.h"

enum { PHASES = 2 };  // a phase bit is 0 or 1

const Expr *slab_counter(Program *program, const Var *k_o) { return ex_var(program->arena, k_o); }

const Expr *ring_slot(Program *program, const Expr *counter, int64_t slots) {
  return ex_mod(program->arena, counter, slots);
}

const Expr *ring_full_phase(Program *program, const Expr *counter, int64_t slots) {
  return ex_mod(program->arena, ex_div(program->arena, counter, slots), PHASES);
}

const Expr *ring_empty_phase(Program *program, const Expr *counter, int64_t slots) {
  const Expr *turn = ex_div(program->arena, counter, slots);
  return ex_mod(program->arena, ex_add_const(program->arena, turn, 1), PHASES);
}
