// C = sum → C = alpha · sum, alpha being an argument of the launch.
//
// Requires: tile. Ensures: one SCALE of every accumulator in front of the epilogue's store, or of
// every sum that has come from tensor memory.
//
// BLAS has the factor anyway; what it does for speed is less well known. A 16-byte store wants four
// neighbouring registers in its order, so without the factor the accumulator acc[i][j] sits in a
// register of the same parity as b[j], which a 16-byte load has placed. An FFMA whose three sources
// lie in one of the two register banks is dispatched a clock late. With the factor, the stored
// values are new registers and the accumulators are free: of the 2048 FFMAs of a 16 × 8 × 16 body,
// 917 had all sources in one bank before and 5 after (sm_90a, CUDA 13.0).
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

bool pass_scale_wanted(const Schedule *schedule) { return schedule->value[KNOB_ALPHA] != 0; }

static Stmt *alone(Program *program, Stmt **link) {
  Stmt *stmt = stmt_cut(link), *copy = stmt_copy_list(program, stmt);
  stmt_insert(link, stmt);
  return copy;
}

// Sums of tensor memory come into registers piece by piece: each piece is scaled when it is there.
static void scale_pieces(Program *program) {
  Stmt *list = program_main_kernel(program)->body;
  const Op *piece = &stmt_find_op(list, OP_T_LD, ROLE_COUNT)->op;
  Var *v = program_var(program, "v_s", VAR_LOOP, TIER_REGISTER, piece->width);
  Op op = {.kind = OP_SCALE, .dst = piece->dst, .width = 1};
  const Expr **last = &op.dst.idx[op.dst.buffer->rank - 1];
  *last = ex_add(program->arena, *last, ex_var(program->arena, v));
  Stmt *scale = stmt_wrap_register(program, KNOB_ALPHA, v, stmt_op(program, KNOB_ALPHA, op));
  stmt_insert(&stmt_find_op(list, OP_T_WAIT_LD, ROLE_COUNT)->next, scale);
}

void pass_scale(Program *program, Product *product, const Schedule *schedule) {
  (void)schedule;
  if (atom_is_of_thread(product->atom)) {
    scale_pieces(program);
    return;
  }
  BufferRole sums = product->operand[ATOM_C].registers;
  Stmt **body = &kernel_inner(program_main_kernel(program))->body;
  // The initialisation runs over the same cells: its loops serve again.
  Stmt *scale = alone(program, stmt_find_link(body, OP_INIT, sums));
  Stmt *op = stmt_find_op(scale, OP_INIT, sums);
  op->op.kind = OP_SCALE;
  op->knob = KNOB_ALPHA;
  Stmt *store = stmt_last(*body);
  Stmt **link = body;
  while (*link != store) link = &(*link)->next;
  stmt_insert(link, scale);
}
