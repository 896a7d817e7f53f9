// softmax's naive nest → BLOCK and THREAD tiers.
//
// Requires: tile or atomize. Ensures: in softmax, loops h, q_b (BLOCK) and q_t (THREAD) outermost,
// a row for each thread, in blocks of the size that the other kernels have. Preserves: what is
// done for a row.
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

bool pass_tile_rows_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_PROGRAM] == COMPUTES_ATTENTION;
}

// S, P and L count rows in their second dimension. A variable of one row alone would be nowhere to
// be replaced: it is the constant 0.
static void index_row(Access *access, Stmt *stmt, void *context) {
  (void)stmt;
  const Expr *row = context;
  if (access->buffer->space == SPACE_GLOBAL) access->idx[1] = row;
}

void pass_tile_rows(Program *program, Product *product, const Schedule *schedule) {
  (void)schedule;
  Arena *arena = program->arena;
  Kernel *kernel = &program->kernel[KERNEL_SOFTMAX];
  const int64_t threads = program->thread->extent, rows = program->problem.m;
  Var *block = program_var(program, "q_b", VAR_LOOP, TIER_BLOCK, ceil_div(rows, threads));
  Var *thread = program_var(program, "q_t", VAR_LOOP, TIER_THREAD, threads);
  const Expr *row =
      ex_add(arena, ex_mul_const(arena, ex_var(arena, block), threads), ex_var(arena, thread));
  Stmt *heads = kernel->body, *naive = heads->body;
  stmt_each_access(naive->body, index_row, (void *)(uintptr_t)row);
  heads->body = stmt_loop(program, KNOB_PROGRAM, block,
                          stmt_loop(program, KNOB_PROGRAM, thread, naive->body));
  attention_bind_batch_of(program, product, kernel);
}
