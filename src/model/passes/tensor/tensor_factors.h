// Scale factors on their way to tensor memory, of a block that multiplies by tcgen05
// (tensor_factors.c). All of them do nothing where the type has none.
#pragma once
#include "model/passes/passes.h"

// Whether the product's factors lie in tensor memory; of a schedule, whether they will.
bool tensor_has_factors(const Product *product);
bool tensor_wants_factors(const Schedule *schedule);
// Columns that factors take in a block, beside the columns of the sums: of all warpgroups, of the
// slabs that may have theirs there at a time.
int64_t tensor_factor_columns(const Schedule *schedule);

// SFA and SFB in tensor memory, from `column` on.
void tensor_factor_buffers(Program *program, Product *product, const Schedule *schedule,
                           int64_t column);
// The copies for the products of a step, and where these find their factors.
Stmt *tensor_factor_copies(Program *program, const Product *product);
void tensor_find_factors(Program *program, const Product *product, Op *multiply);
// Which factors of a word are the step's, its number given.
void tensor_factor_step(Program *program, const Product *product, Op *multiply, const Expr *step);
// Takes the copies of a step out of a list, and makes them the copies of a slab; all of its steps
// then have words of their own.
Stmt *tensor_factors_of_slab(Program *program, const Product *product, Stmt **list,
                             const Stmt *k_i);
// The slab of A's or B's factors in shared memory, from which the copies come from then on, and the
// boxes that fill it; NULL where there is none.
Stmt *tensor_factor_boxes(Program *program, const Product *product, int operand, Stmt *k_o,
                          Access full, KnobId knob);
// The list now uses the words of a slot of the ring.
void tensor_factor_slot(Program *program, Stmt *list, const Expr *slot, int64_t slots);
