// Tells the work of a block with its sums in tensor memory (tensor_body.c).
#pragma once
#include "model/ir/names.h"
#include "model/passes/passes.h"

// Columns that a warp brings into registers at a time: EPI_N, or the widest power of two up to 32
// that divides the atom's N.
int64_t tensor_piece(const Schedule *schedule, int n);
// Columns of the sums of all warpgroups, of the tiles that there is room for.
int64_t tensor_columns(const Schedule *schedule, int n);

// The buffers of the product's sums: in tensor memory, and a piece of them in registers.
void tensor_buffers(Program *program, Product *product, const Schedule *schedule);
// The whole of what a thread does for its tile; `operand`: A and B.
Stmt *tensor_body(Program *program, const Product *product, const Schedule *schedule,
                  Access *operand);

// Holds what stands in front of all tiles and behind them: mbarriers and tensor memory come, a
// barrier, tensor memory goes. Cut out of what the threads of a block run.
typedef struct TensorFrame {
  Stmt *begin, *there, *end;
} TensorFrame;
TensorFrame tensor_take_frame(Program *program);
// The mbarrier of the warpgroup at hand.
Access tensor_of_group(Program *program, const Product *product, Buffer *mbarriers);
// Which step begins the sums of a tile, and the phase of the wait behind each, counted by the loops
// that stand around them by now.
void tensor_count_steps(Program *program, const Product *product);
// Tells the end of a tile, where another one follows: with fences on both sides of its last
// barrier, for the products of the next one overwrite the sums that were read.
void tensor_end_tile(Program *program, Stmt *tile);
// Counts the tiles for which the block has had the sums: 0 where it has one.
const Expr *tensor_tiles(const Program *program);
