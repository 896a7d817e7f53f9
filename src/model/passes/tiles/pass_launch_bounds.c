// Says the number of blocks that an SM shall have room for.
//
// Requires: tile. Ensures: the main kernel carries min_blocks, which becomes the second argument of
// __launch_bounds__. Worked example, 256 threads and two blocks: 65,536 registers / 512 threads
// leave 128 for each. Left to itself the compiler takes 167 for the 8 × 8 tile, and one block is
// all that fits.
#include "model/ir/program.h"
#include "model/passes/passes.h"

bool pass_launch_bounds_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_MIN_BLOCKS] > 0;
}

void pass_launch_bounds(Program *program, Product *product, const Schedule *schedule) {
  (void)product;
  program_main_kernel(program)->min_blocks = (int)schedule->value[KNOB_MIN_BLOCKS];
}
