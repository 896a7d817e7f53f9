// A_s [rows][k] → A_s [k][rows], B_s [k][columns] → B_s [columns][k].
//
// Requires: stage with that operand. Ensures: the slab's dimensions are exchanged in the buffer and
// in every access. For fma a thread's FM rows at one k become neighbours, read 16 bytes at a time;
// for a tf32 atom B's values along k become neighbours, as ldmatrix wants them.
//
// Worked example: element (m 5, k 3) of a 128 × 16 slab moves from offset 5·16 + 3 = 83 to
// 3·128 + 5 = 389. The price is paid by the store: a piece of four neighbours in global memory goes
// to four different rows.
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

static bool transposes_a(const Schedule *schedule) {
  return schedule->value[KNOB_TRANSPOSE_A] && schedule->value[KNOB_STAGE] & STAGE_A &&
         schedule->value[KNOB_ATOM_KIND] == 0;
}

static bool transposes_b(const Schedule *schedule) {
  return schedule->value[KNOB_TRANSPOSE_B] && schedule->value[KNOB_STAGE] & STAGE_B &&
         schedule->value[KNOB_ATOM_KIND] != 0;
}

bool pass_transpose_wanted(const Schedule *schedule) {
  return transposes_a(schedule) || transposes_b(schedule);
}

static void exchange(Access *access, Stmt *stmt, void *context) {
  (void)stmt;
  if (access->buffer != context) return;
  const Expr *row = access->idx[0];
  access->idx[0] = access->idx[1];
  access->idx[1] = row;
}

static void transpose(Program *program, Buffer *slab, KnobId knob) {
  int64_t rows = slab->dim[0];
  slab->dim[0] = slab->dim[1];
  slab->dim[1] = rows;
  slab->stride[0] = rows;
  slab->transposed = true;
  slab->knob = knob;
  stmt_each_access(program_main_kernel(program)->body, exchange, slab);
}

void pass_transpose(Program *program, Product *product, const Schedule *schedule) {
  if (transposes_a(schedule))
    transpose(program, operand_slab(program, product, ATOM_A), KNOB_TRANSPOSE_A);
  if (!transposes_b(schedule)) return;
  transpose(program, operand_slab(program, product, ATOM_B), KNOB_TRANSPOSE_B);
  // An atom's copies are wide already; a wide store does not fit a slab that lies across it.
  int width = copy_width(program, product, ATOM_B);
  slab_replace_copy(program, product, ATOM_B, width, KNOB_TRANSPOSE_B);
}
