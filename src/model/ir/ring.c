// Slots and phases are digits of the counter: counter = (turn · slots) + slot.
#include "model/ir/ring.h"

#include <assert.h>

#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

enum { PHASES = 2 };  // a phase bit is 0 or 1

const Var *tile_turn(const Stmt *tiles) {
  assert(tiles->body->kind == STMT_LET);
  return tiles->body->var;
}

const Expr *slab_counter(const Program *program, const Var *k_o) {
  Arena *arena = program->arena;
  const Stmt *tiles = kernel_launch(program_main(program)).tiles;
  const Expr *slab = ex_var(arena, k_o);
  if (program->persistent.before)
    return ex_add(arena, ex_var(arena, program->persistent.before), slab);
  if (!tiles) return slab;
  return ex_add(arena, ex_mul_const(arena, ex_var(arena, tile_turn(tiles)), k_o->extent), slab);
}

const Expr *ring_slot(const Program *program, const Expr *counter, int64_t slots) {
  return ex_mod(program->arena, counter, slots);
}

const Expr *ring_full_phase(const Program *program, const Expr *counter, int64_t slots) {
  return ex_mod(program->arena, ex_div(program->arena, counter, slots), PHASES);
}

const Expr *ring_empty_phase(const Program *program, const Expr *counter, int64_t slots) {
  const Expr *turn = ex_div(program->arena, counter, slots);
  return ex_mod(program->arena, ex_add_const(program->arena, turn, 1), PHASES);
}
