// A slab's bytes are permuted as the user typed it.
//
// Requires: stage; a layout that the rules accepted (slab_layout.h). Ensures: the slab carries the
// xor terms; no index changes, because an address is always derived from the buffer.
//
// Worked example, the transposed 128 × 16 float slab of a tf32 B,
//   xoroff:'off ^ ((((row >> 1) ^ (row >> 3)) & 3) << 2) ^ (((row >> 5) & 1) << 4)'
// makes its store 4-way where a swizzle leaves 16, with ldmatrix still free: three terms.
#include <assert.h>

#include "model/ir/program.h"
#include "model/passes/copy/slab_layout.h"
#include "model/passes/passes.h"

static bool has_layout(const Schedule *schedule, int side) {
  int64_t bit = side ? STAGE_B : STAGE_A;
  return schedule->layout[side][0] && (schedule->value[KNOB_STAGE] & bit);
}

bool pass_layout_wanted(const Schedule *schedule) {
  return has_layout(schedule, 0) || has_layout(schedule, 1);
}

void pass_layout(Program *program, Product *product, const Schedule *schedule) {
  for (int side = 0; side < 2; side++) {
    if (!has_layout(schedule, side)) continue;
    Buffer *slab = operand_slab(program, product, side ? ATOM_B : ATOM_A);
    Diags diags = diags_new(program->arena);
    bool ok = slab_layout_read(schedule->layout[side], slab_shape(slab), slab->xor_term,
                               &slab->n_xor, &diags);
    assert(ok);
    (void)ok;
    slab->knob = side ? KNOB_LAYOUT_B : KNOB_LAYOUT_A;
  }
}
