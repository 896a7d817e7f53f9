// What the files of breakages share; others use breakage.h.
#pragma once
#include "model/ir/program.h"

bool is_op(const Stmt *stmt, OpKind kind);
// Whether the statement is an operation of this kind on the mbarriers of a role.
bool is_mbar_op(const Stmt *stmt, OpKind kind, BufferRole role);
// Leaves out every operation of a kind, or those on the mbarriers of a role (ROLE_COUNT: any).
bool drop_all(Stmt **link, OpKind kind, BufferRole role);
// Leaves out the last operation of a kind in the main kernel; false where there is none.
bool drop_last(Program *program, OpKind kind);
// Rewrites one statement of the main kernel at a time; whether any was what the change looks for.
bool change_each(Program *program, bool (*change)(Program *, Stmt *));

// Those of lists of tiles, breakage_tiles.c.
bool break_ring_restarts(Program *program);
bool break_order_wait(Program *program);
bool break_own_slabs(Program *program);
bool break_parts_from_0(Program *program);

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
bool break_sums_kept(Program *program);

// Those of tensor memory, breakage_tensor.c.
bool break_tensor_commit(Program *program);
bool break_tensor_release(Program *program);
bool break_tensor_wait(Program *program);
bool break_tensor_after(Program *program);
bool break_tensor_loads(Program *program);
bool break_tensor_lane(Program *program);
bool break_tensor_all_ask(Program *program);
bool break_tensor_all_commit(Program *program);
bool break_tensor_free_early(Program *program);
bool break_tensor_free_lane(Program *program);
bool break_tensor_leak(Program *program);
bool break_tensor_before(Program *program);
bool break_tensor_reuse(Program *program);
bool break_tensor_release_early(Program *program);
bool break_tensor_phase(Program *program);
bool break_tensor_init(Program *program);
bool break_pair_mask(Program *program);
bool break_pair_bytes(Program *program);
bool break_pair_end(Program *program);
bool break_pair_alloc(Program *program);

// Those of mbarriers, breakage_mbarrier.c.
bool break_full_wait(Program *program);
bool break_empty_wait(Program *program);
bool break_arrive(Program *program);
bool break_full_phase(Program *program);
bool break_empty_phase(Program *program);
bool break_slot_after(Program *program);
bool break_slot_before(Program *program);
bool break_more_bytes(Program *program);
bool break_fewer_bytes(Program *program);
bool break_more_arrivals(Program *program);
bool break_fewer_arrivals(Program *program);
bool break_silent_warp(Program *program);
bool break_middle_wait(Program *program);
bool break_wait_again(Program *program);
bool break_few_meet(Program *program);
bool break_init_fence(Program *program);
bool break_fence(Program *program);
bool break_store_fence(Program *program);
bool break_store_wait_read(Program *program);
bool break_store_wait(Program *program);
bool break_early_fence(Program *program);
bool break_other_fence(Program *program);
bool break_more_registers(Program *program);
bool break_all_ask(Program *program);

// Those of kernels whose warps have roles, and of what the launch gives them, breakage_roles.c.
bool break_block_barrier(Program *program);
bool break_tile_kept(Program *program);
bool break_fetch_short(Program *program);
bool break_pool_late(Program *program);
bool break_elect_diverged(Program *program);

// Those of attention, breakage_rows.c.
bool break_k_early(Program *program);
bool break_v_early(Program *program);
bool break_no_rescale(Program *program);
bool break_sum_rescale(Program *program);
bool break_lanes_max(Program *program);
bool break_unconverted(Program *program);

// Those of scale factors, breakage_scales.c.
bool break_scale_byte(Program *program);
bool break_scale_stale(Program *program);
bool break_factor_copy(Program *program);
bool break_factor_late(Program *program);
bool break_factor_columns(Program *program);
bool break_factor_alloc(Program *program);
bool break_factor_slot(Program *program);

// Those of clusters and of lists that clusters claim, breakage_cluster.c.
bool break_local_arrive_only(Program *program);
bool break_mask_short(Program *program);
bool break_no_cluster_start(Program *program);
bool break_no_cluster_end(Program *program);
bool break_claim_not_atomic(Program *program);
bool break_epoch_missing(Program *program);
