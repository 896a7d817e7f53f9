// An environment for the 32 lanes of one warp of one CTA: what index expressions are evaluated in.
//
//   int64_t *env = ARENA_ARRAY(arena, int64_t, program->n_vars * LANES);
//   bool active[LANES];
//   lanes_enter(program, &launch, cta, warp, env, active);
//   expr_eval_warp(expr, env, out);
#pragma once
#include "model/ir/names.h"

void lanes_set(int64_t *env, const Var *var, const int64_t value[LANES]);
void lanes_set_all(int64_t *env, const Var *var, int64_t value);
// Hardware digits, the indices themselves and the LETs between the hardware loops; `active`: the
// lanes that are threads of the block, producers included (launch_block_warps).
void lanes_enter(const Program *program, const Launch *launch, int64_t cta, int warp, int64_t *env,
                 bool active[LANES]);
// The same for another grid: VAR_GRID, and the LETs between the hardware loops, which may ask for
// it. What lanes_enter takes has a block, or a cluster, for each tile.
void lanes_enter_grid(const Program *program, const Launch *launch, int64_t grid, int64_t *env);
// A LET's value in every lane.
void lanes_let(int64_t *env, const Stmt *let);
// `inner`: the active lanes for which the condition holds. Says whether there are any.
bool lanes_pass(const int64_t *env, const Expr *condition, const bool active[LANES],
                bool inner[LANES]);
