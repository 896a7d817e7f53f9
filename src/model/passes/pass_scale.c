// C = sum → C = alpha · sum, alpha being an argument of the launch.
//
// Requires: tile. Ensures: one SCALE of every accumulator in front of the epilogue's store.
//
// BLAS has the factor anyway; what it does for speed is less well known. A 16-byte store wants four
// neighbouring registers in its order, so without the factor the accumulator acc[i][j] sits in a
// register of the same parity as b[j], which a 16-byte load has placed. An FFMA whose three sources
// lie in one of the two register banks is dispatched a clock late. With the factor, the stored
// values are new registers and the accumulators are free: of the 2048 FFMAs of a 16 × 8 × 16 body,
// 917 had all sources in one bank before and 5 after (sm_90a, CUDA 13.0).
#include "model/passes/passes.h"

bool pass_scale_wanted(const Schedule *schedule) { return schedule->value[KNOB_ALPHA] != 0; }

static Stmt *alone(Program *program, Stmt **link) {
  Stmt *stmt = cut(link), *copy = copy_list(program, stmt);
  insert(link, stmt);
  return copy;
}

void pass_scale(Program *program, Product *product, const Schedule *schedule) {
  (void)schedule;
  BufferRole sums = product->operand[ATOM_C].registers;
  Stmt **body = &kernel_inner(main_kernel(program))->body;
  // The initialisation runs over the same cells: its loops serve again.
  Stmt *scale = alone(program, find_link(body, OP_INIT, sums));
  Stmt *op = find_op(scale, OP_INIT, sums);
  op->op.kind = OP_SCALE;
  op->knob = KNOB_ALPHA;
  Stmt *store = stmt_last(*body);
  Stmt **link = body;
  while (*link != store) link = &(*link)->next;
  insert(link, scale);
}
