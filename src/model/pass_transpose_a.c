// A_s [rows][k] → A_s [k][rows].
//
// Requires: stage with A. Ensures: the slab's dimensions are exchanged in the buffer and in every
// access, so a thread's FM rows at one k are neighbours and can be read 16 bytes at a time.
//
// Worked example: element (m 5, k 3) of a 128 × 16 slab moves from offset 5·16 + 3 = 83 to
// 3·128 + 5 = 389. The price is paid by the store: a piece of four k's goes to four different rows.
#include "model/passes.h"

bool pass_transpose_a_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_TRANSPOSE_A] && schedule->value[KNOB_STAGE] >= 2 &&
         schedule->value[KNOB_ATOM_KIND] == 0;
}

static void exchange(Access *access, Stmt *stmt, void *context) {
  (void)stmt;
  if (access->buffer != context) return;
  const Expr *row = access->idx[0];
  access->idx[0] = access->idx[1];
  access->idx[1] = row;
}

void pass_transpose_a(Program *program, const Schedule *schedule) {
  (void)schedule;
  Buffer *slab = program_buffer(program, ROLE_SLAB_A);
  int64_t rows = slab->dim[0];
  slab->dim[0] = slab->dim[1];
  slab->dim[1] = rows;
  slab->stride[0] = rows;
  slab->transposed = true;
  slab->knob = KNOB_TRANSPOSE_A;
  each_access(main_kernel(program)->body, exchange, slab);
}
