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
#include "model/ir/names.h"

// The slabs that a block has gone through when its loop over slabs is at `k_o`: k_o itself, or in a
// persistent kernel turn · slabs + k_o, so that a ring goes on from one tile to the next; `before`
// + k_o where iterations have different numbers of slabs.
const Expr *slab_counter(const Program *program, const Var *k_o);

// Tells what counts the tiles that the block has had, bound by the first LET of a loop over tiles,
// as pass persistent writes it: turn = t / grid.
const Var *tile_turn(const Stmt *tiles);

const Expr *ring_slot(const Program *program, const Expr *counter, int64_t slots);
const Expr *ring_full_phase(const Program *program, const Expr *counter, int64_t slots);
const Expr *ring_empty_phase(const Program *program, const Expr *counter, int64_t slots);
