// What the files of breakages share; others use breakage.h.
#pragma once
#include "model/ir/program.h"

bool is_op(const Stmt *stmt, OpKind kind);
// Leaves out every operation of a kind, or those on the mbarriers of a role (ROLE_COUNT: any).
bool drop_all(Stmt **link, OpKind kind, BufferRole role);
// Rewrites one statement of the main kernel at a time; whether any was what the change looks for.
bool change_each(Program *program, bool (*change)(Program *, Stmt *));

// Those of lists of tiles, breakage_tiles.c.
bool break_ring_restarts(Program *program);
bool break_order_wait(Program *program);
bool break_own_slabs(Program *program);

// Those of wgmma, breakage_wgmma.c.
bool break_wg_wait(Program *program);
bool break_wg_wait_lax(Program *program);
bool break_wg_fence(Program *program);
bool break_wg_commit(Program *program);
bool break_lbo_sbo_swapped(Program *program);
bool break_mode_off(Program *program);
bool break_trans_off(Program *program);
bool break_sums_early(Program *program);
bool break_release_early(Program *program);
