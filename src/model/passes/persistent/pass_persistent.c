// One block per tile → the blocks that fit on the GPU, each with a list of tiles.
//
// Requires: tile. Ensures: no BLOCK loop is left; each thread runs a loop of tier TILE over all
// tiles (and splits of K), of which its block has t = bid, bid + grid, bid + 2·grid, …; m_b, n_b
// and k_s are LETs over t, and turn = t / grid counts the tiles that the block has had. Preserves:
// what is done for a tile.
//
// No state goes from one tile to the next. A ring of slabs goes on where it is, because its counter
// is turn · slabs + k_o (ring.h): phases of mbarriers never start over, and with roles the producer
// asks for the next tile's slabs while the consumers still write this one to C. The size of the
// grid is the launch's: min(tiles, SMs · blocks that fit on one), which the driver of the device
// says.
//
// The blocks of a cluster have their tiles together: t counts clusters of tiles, and a block's
// place in its cluster stays a digit of blockIdx.
//
// For sums in tensor memory the mbarriers and the allocation stay outside of the loop, and at the
// end of a tile all threads meet, with the fences of tcgen05 around it: the next one's products
// overwrite what they have read.
//
// Worked example, 32 tiles on 12 blocks, 5 slabs a tile: block 3 has tiles 3, 15 and 27, block 8
// has 8 and 20; slab 0 of tile 15 is the block's sixth, and goes to slot 5 % 3 = 2 of a ring of
// three.
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/tensor/tensor_body.h"

static const KnobId knob = KNOB_PERSISTENT;

bool pass_persistent_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_PERSISTENT] != 0;
}

// LETs for the digits of the grid, as blockIdx was taken apart before.
static Stmt *let_digits(Program *program, const Launch *launch, const Expr *tile) {
  Stmt *lets = NULL, **link = &lets;
  for (int i = 0; i < launch->n_block_digits; i++) {
    const HardwareDigit *digit = &launch->block[i];
    if (digit->var->extent == 1 || digit->var->tier == TIER_CLUSTER) continue;
    const Expr *value = ex_div(program->arena, tile, digit->stride / launch->cluster);
    value = ex_mod(program->arena, value, digit->var->extent);
    *link = tile_let_digit(program, knob, digit->var, value);
    link = &(*link)->next;
  }
  return lets;
}

// The statements of one tile under the loop over all of them.
static Stmt *loop_over(Program *program, const Launch *launch, Var *t, Stmt *tile_body) {
  Arena *arena = program->arena;
  const Expr *tile = ex_var(arena, t);
  Var *turn = program_var(program, "turn", VAR_LET, TIER_SERIAL, t->extent);
  Stmt *count = stmt_let(program, knob, turn,
                         ex_div_expr(arena, tile, ex_var(arena, program->persistent.grid)));
  kernel_block(program_main_kernel(program))->body =
      tile_body;  // where let_digits() names its digits
  Stmt *digits = let_digits(program, launch, tile);
  Stmt *all =
      digits ? stmt_list(count, digits, tile_body, NULL) : stmt_list(count, tile_body, NULL);
  return stmt_loop(program, knob, t, all);
}

void pass_persistent(Program *program, Product *product, const Schedule *schedule) {
  (void)schedule;
  Kernel *kernel = program_main_kernel(program);
  const Launch launch = kernel_launch(kernel);
  const bool tensor = atom_is_of_thread(product->atom);
  const TensorFrame frame = tensor ? tensor_take_frame(program) : (TensorFrame){NULL, NULL, NULL};
  Var *t = program_var(program, "t", VAR_LOOP, TIER_TILE, launch.n_blocks / launch.cluster);
  Stmt *block = kernel_block(kernel);
  if (tensor) tensor_end_tile(program, block->body);
  Stmt *tiles = loop_over(program, &launch, t, block->body);
  while (kernel->body->var->tier == TIER_BLOCK) kernel->body = kernel->body->body;
  kernel_block(kernel)->body = tiles;
  if (!tensor) return;
  kernel_block(kernel)->body = stmt_list(frame.begin, frame.there, tiles, frame.end, NULL);
  tensor_count_steps(program, product);
}
