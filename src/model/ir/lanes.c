// blockIdx and threadIdx taken apart into the digits of a kernel's hardware loops.
//
// Worked example, m_t in 0..16, n_t in 0..16: warp 1 has threads 32 … 63, so m_t is 2 in lanes 0 to
// 15 and 3 in the others, and n_t is lane % 16.
//
// Producers stand behind the threads of the digits. They repeat the last one's digits, which
// nothing of theirs reads, so that every number stays in its range; their own is any_thread.
#include "model/ir/lanes.h"

#include <string.h>

#include "base/whole.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

void lanes_set(int64_t *env, const Var *var, const int64_t value[LANES]) {
  memcpy(env + (ptrdiff_t)var->id * LANES, value, LANES * sizeof *value);
}

void lanes_set_all(int64_t *env, const Var *var, int64_t value) {
  for (int lane = 0; lane < LANES; lane++) env[(ptrdiff_t)var->id * LANES + lane] = value;
}

// The numbers of a warp's threads, none above the last.
static void number_threads(int warp, int64_t n_threads, int64_t out[LANES]) {
  for (int lane = 0; lane < LANES; lane++)
    out[lane] = min64((int64_t)warp * LANES + lane, n_threads - 1);
}

// A persistent block looks like one that has this tile alone: the grid has a block for each.
static void enter_tile(const Program *program, const Launch *launch, int64_t tile, int64_t *env) {
  lanes_set_all(env, program->persistent.list, tile / launch->cluster);
  lanes_set_all(env, launch->tiles->var, tile / launch->cluster);
  for (const Stmt *let = launch->tiles->body; let && let->kind == STMT_LET; let = let->next)
    lanes_let(env, let);
}

// The clusters of the main kernel's grid.
static int64_t grid_of(const Program *program, const Launch *launch) {
  if (launch->tiles || program->n_kernels == 1) return launch->n_blocks / launch->cluster;
  const Launch main = kernel_launch(program_main(program));
  return main.n_blocks / main.cluster;
}

void lanes_enter_grid(const Program *program, const Launch *launch, int64_t grid, int64_t *env) {
  lanes_set_all(env, program->persistent.grid, grid);
  for (int l = 0; l < launch->n_lets; l++) lanes_let(env, launch->let[l]);
}

void lanes_enter(const Program *program, const Launch *launch, int64_t cta, int warp, int64_t *env,
                 bool active[LANES]) {
  int64_t thread[LANES], value[LANES];
  for (int lane = 0; lane < LANES; lane++)
    active[lane] = (int64_t)warp * LANES + lane < launch->block_threads;
  if (program->any_thread) {
    number_threads(warp, launch->block_threads, thread);
    lanes_set(env, program->any_thread, thread);
  }
  number_threads(warp, launch->n_threads, thread);
  for (int d = 0; d < launch->n_block_digits; d++) {
    const HardwareDigit *digit = &launch->block[d];
    lanes_set_all(env, digit->var, cta / digit->stride % digit->var->extent);
  }
  if (program->block) lanes_set_all(env, program->block, cta);
  for (int d = 0; d < launch->n_thread_digits; d++) {
    const HardwareDigit *digit = &launch->thread[d];
    for (int lane = 0; lane < LANES; lane++)
      value[lane] = thread[lane] / digit->stride % digit->var->extent;
    lanes_set(env, digit->var, value);
  }
  lanes_set(env, program->thread, thread);
  lanes_enter_grid(program, launch, grid_of(program, launch), env);
  if (launch->tiles) enter_tile(program, launch, cta, env);
}

void lanes_let(int64_t *env, const Stmt *let) {
  int64_t value[LANES];
  expr_eval_warp(let->expr, env, value);
  lanes_set(env, let->var, value);
}

bool lanes_pass(const int64_t *env, const Expr *condition, const bool active[LANES],
                bool inner[LANES]) {
  bool any = false;
  int64_t holds[LANES];
  expr_eval_warp(condition, env, holds);
  for (int lane = 0; lane < LANES; lane++) any |= inner[lane] = active[lane] && holds[lane];
  return any;
}
