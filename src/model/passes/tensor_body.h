// What a block does whose sums lie in tensor memory (tensor_body.c).
#pragma once
#include "model/passes/passes.h"

// Columns that a warp brings into registers at a time: EPI_N, or the widest power of two up to 32
// that divides the atom's N.
int64_t tensor_piece(const Schedule *schedule, int n);
// Columns of the sums of all warpgroups, and of an allocation that has room for them.
int64_t tensor_columns(const Schedule *schedule, int n);
int64_t tensor_allocation(int64_t columns);

// The buffers of the product's sums: in tensor memory, and a piece of them in registers.
void tensor_buffers(Program *program, Product *product, const Schedule *schedule);
// The whole of what a thread does for its tile.
Stmt *tensor_body(Program *program, const Product *product, const Schedule *schedule,
                  Access operand[2]);

// What stands in front of a tile and behind it: mbarriers and tensor memory come and go. Cut out of
// the statements that each thread runs, said for all threads of a block with roles.
typedef struct TensorFrame {
  Stmt *begin, *end;
} TensorFrame;
TensorFrame tensor_take_frame(Program *program);
// Products of slabs that a producer fetches: the thread that asks for them waits for the slabs
// itself, and a commit behind each arrives at `slot`; behind the loop over slabs one more says that
// the sums are whole, for which all wait.
void tensor_release_slots(Program *program, const Product *product, Stmt *k_o, Access slot);
