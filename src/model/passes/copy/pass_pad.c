// Rows of a slab end in PAD_SMEM unused elements, rows of the operands in PAD_OPERANDS.
//
// Requires: stage. Ensures: row strides grow by the pad; no index changes, because an address is
// always derived from the strides.
//
// Worked example: rows of 128 floats start at bank 0 each; with a pad of 4, row r starts at bank
// 4·r mod 32, and a store that walks down a column spreads over eight times the banks.
#include "model/ir/buffer.h"
#include "model/passes/passes.h"

bool pass_pad_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_PAD_SMEM] > 0 && schedule->value[KNOB_STAGE] != 0;
}

void pass_pad(Program *program, Product *product, const Schedule *schedule) {
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    Buffer *slab = operand_slab(program, product, operand);
    if (!slab || !operand_chosen(schedule, KNOB_PAD_OPERANDS, operand)) continue;
    slab->stride[0] += schedule->value[KNOB_PAD_SMEM];
    slab->knob = KNOB_PAD_SMEM;
  }
}
