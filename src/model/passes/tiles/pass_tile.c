// naive nest → BLOCK and THREAD tiers.
//
// Requires: the naive nest. Ensures: loops m_b, n_b (BLOCK) and m_t, n_t (THREAD) outermost, one
// cell of C per thread. Preserves: the body of the cell.
//
// Worked example, M = N = 64, BM = BN = 16: m = m_b·16 + m_t with m_b in 0..4, m_t in 0..16. A tile
// at the edge covers cells that do not exist; their guards follow from the ranges (m_b·16 + m_t < M
// is dropped where it always holds).
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

bool pass_tile_wanted(const Schedule *schedule) { return schedule->value[KNOB_ATOM_KIND] == 0; }

// axis = block·threads + thread
static void factor(Program *program, Axis *axis, const char *block, const char *thread,
                   int64_t threads) {
  Var *b = program_var(program, block, VAR_LOOP, TIER_BLOCK, ceil_div(axis->extent, threads));
  Var *t = program_var(program, thread, VAR_LOOP, TIER_THREAD, threads);
  axis->n_digits = 2;
  axis->digit[0] = (Digit){b, threads};
  axis->digit[1] = (Digit){t, 1};
}

// The nest without its loops over rows and columns, which say what stands for their variables.
static Stmt *peel(Program *program, const Product *product, Stmt *nest) {
  const Axis *axes[] = {product->axis[AXIS_M], product->axis[AXIS_N]};
  for (int i = 0; i < 2; i++) {
    stmt_substitute(program, nest->body, nest->var, axis_expr(program->arena, axes[i]));
    nest = nest->body;
  }
  return nest;
}

void pass_tile(Program *program, Product *product, const Schedule *schedule) {
  Kernel *kernel = product_kernel_of(program, product);
  Stmt **rows = product->batch ? &kernel->body->body : &kernel->body;
  Axis *m = product->axis[AXIS_M], *n = product->axis[AXIS_N];
  if (m->digit[0].var->tier != TIER_BLOCK)  // another product may share its rows
    factor(program, m, axis_digit_name(program, m, "_b"), axis_digit_name(program, m, "_t"),
           schedule->value[KNOB_BM]);
  factor(program, n, axis_digit_name(program, n, "_b"), axis_digit_name(program, n, "_t"),
         schedule->value[KNOB_BN]);
  Stmt *nest = stmt_loop(program, KNOB_BN, n->digit[1].var, peel(program, product, *rows));
  nest = stmt_loop(program, KNOB_BM, m->digit[1].var, nest);
  nest = stmt_loop(program, KNOB_BN, n->digit[0].var, nest);
  *rows = stmt_loop(program, KNOB_BM, m->digit[0].var, nest);
  attention_bind_batch(program, product);
  int64_t threads = m->digit[1].var->extent * n->digit[1].var->extent;
  program->thread = program_var(program, "tid", VAR_THREAD, TIER_THREAD, threads);
  program_apply_axes(program, product);
}
