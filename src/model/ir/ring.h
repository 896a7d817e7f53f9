// Rings of slabs: which slot the n-th slab of a block takes, and which phases of the slot's
// mbarriers it ends. Everything derives from one counter.
//
//   slots = 3    counter   0 1 2 3 4 5 6
//                slot      0 1 2 0 1 2 0
//                full      0 0 0 1 1 1 0     phase bit that the slab's bytes end
//                empty     1 1 1 0 0 0 1     phase bit whose end says that the slot may be filled:
//                phase
//                                            1 of a new mbarrier counts as ended, so all are free
//                                            at first
#pragma once
#include "model/ir/program.h"

// The slabs that a block has gone through when its loop over slabs is at `k_o`. A block has one
// tile, so it is k_o itself; of a block that goes through several it would be tile · slabs + k_o.
const Expr *slab_counter(Program *program, const Var *k_o);

const Expr *ring_slot(Program *program, const Expr *counter, int64_t slots);
const Expr *ring_full_phase(Program *program, const Expr *counter, int64_t slots);
const Expr *ring_empty_phase(Program *program, const Expr *counter, int64_t slots);
