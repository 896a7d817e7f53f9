// Rows of a slab → runs of a thread's cells, each with PAD_CELLS unused elements behind it.
//
// Requires: stage, transpose_a done; each axis ends in the digit of a thread's neighbouring cells.
// Ensures: slabs whose rows run along M or N carry a run and its pad, and access_offset adds the
// pads in front of a column; a row along K, where a thread's cells are rows, is padded at its end.
// No index changes.
//
// Worked example, the article's B slab, 32 rows of 32 threads with FN = 4 cells: PAD_CELLS=1 puts a
// float behind each four, and the stride of a row grows from 128 to 32 · (4 + 1) = 160, where
// PAD_SMEM=1 makes it 129. Lane n_t reads word 5·n_t + n_r: 32 banks for each n_r, but no longer 16
// bytes that are aligned.
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/passes/passes.h"
#include "model/words/fragment.h"

bool pass_pad_cells_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_PAD_CELLS] > 0 && schedule->value[KNOB_STAGE] != 0;
}

int64_t slab_cell_run(const Product *product, int operand, const Buffer *slab) {
  int64_t row = slab->dim[slab->rank - 1];
  if (slab_runs_along_k(product, operand, slab)) return row;
  const Axis *axis = product->axis[operand == ATOM_A ? AXIS_M : AXIS_N];
  const Var *cells = axis->digit[axis->n_digits - 1].var;
  return cells->tier == TIER_REGISTER ? cells->extent : row;
}

void pass_pad_cells(Program *program, Product *product, const Schedule *schedule) {
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    Buffer *slab = operand_slab(program, product, operand);
    if (!slab || !operand_chosen(schedule, KNOB_PAD_OPERANDS, operand)) continue;
    int64_t row = slab->dim[slab->rank - 1];
    slab->run = slab_cell_run(product, operand, slab);
    slab->run_pad = schedule->value[KNOB_PAD_CELLS];
    slab->stride[slab->rank - 2] = row + row / slab->run * slab->run_pad;
    slab->knob = KNOB_PAD_CELLS;
  }
}
