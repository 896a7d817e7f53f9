// Says how far the compiler shall unroll the innermost k loop.
//
// Requires: tile. Ensures: the k loop carries the unroll count. Worked example, BK = 32: UNROLL_K = 8
// gives four iterations of eight steps; 32 or more, none. A fully unrolled 26 × 4 × 32 body is 3,328
// multiply-adds and takes the compiler seconds, which is why this is a knob.
#include "model/passes.h"

bool pass_unroll_wanted(const Schedule *schedule) { return schedule->value[KNOB_UNROLL_K] > 0; }

void pass_unroll(Program *program, const Schedule *schedule) {
  const Axis *k = &program->axis[AXIS_K];
  Stmt *loop = find_loop(main_kernel(program)->body, k->digit[k->n_digits - 1].var);
  int64_t by = schedule->value[KNOB_UNROLL_K];
  // With a register buffer the loop is unrolled whole already (halves are named by the k-step), and
  // may have lost its last step, and with it the axis' variable.
  if (!loop || loop->unroll == UNROLL_FULL) return;
  loop->unroll = by >= loop->var->extent ? UNROLL_FULL : (int)by;
  loop->knob = KNOB_UNROLL_K;
}
