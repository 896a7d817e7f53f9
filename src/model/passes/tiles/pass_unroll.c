// Says how far the compiler shall unroll the two k loops.
//
// Requires: tile. Ensures: the innermost k loop carries UNROLL_K. Worked example, BK = 32: UNROLL_K
// = 8 gives four iterations of eight steps; 32 or more, none. A fully unrolled 26 × 4 × 32 body is
// 3,328 multiply-adds and takes the compiler seconds, which is why this is a knob.
//
// With UNROLL_RING the k_o loop carries the number of slots, so that k_o mod slots is known in each
// copy of the body and no register holds where a slab begins. Worked example, three slots: a tf32
// kernel of 128 × 128 × 32 goes from 60 spilled bytes and 173 TFLOP/s to none and 217 (H200,
// 4096³).
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

bool pass_unroll_wanted(const Schedule *schedule) {
  bool ring = schedule->value[KNOB_UNROLL_RING] && schedule->value[KNOB_BUFFER_COUNT] > 1 &&
              schedule->value[KNOB_STAGE] != 0;
  return schedule->value[KNOB_UNROLL_K] > 0 || ring;
}

static void unroll_ring(Program *program, int64_t slots) {
  Stmt *k_o = program_slab_loop(program);
  if (!k_o || slots == 1) return;
  k_o->unroll = (int)slots;
  k_o->knob = KNOB_UNROLL_RING;
}

void pass_unroll(Program *program, Product *product, const Schedule *schedule) {
  if (schedule->value[KNOB_UNROLL_RING]) unroll_ring(program, schedule->value[KNOB_BUFFER_COUNT]);
  if (schedule->value[KNOB_UNROLL_K] == 0) return;
  const Axis *k = product->axis[AXIS_K];
  Stmt *loop = stmt_find_loop(program_main_kernel(program)->body, k->digit[k->n_digits - 1].var);
  int64_t by = schedule->value[KNOB_UNROLL_K];
  // With a register buffer the loop is unrolled whole already (halves are named by the k-step), and
  // may have lost its last step, and with it the axis' variable.
  if (!loop || loop->unroll == UNROLL_FULL) return;
  loop->unroll = by >= loop->var->extent ? UNROLL_FULL : (int)by;
  loop->knob = KNOB_UNROLL_K;
}
