// Breakages: deliberate faults to switch on and see what they do.
//
//   const Program *broken = program_break(arena, model->program, BREAK_PHASE);
//   if (broken) interpret(arena, broken, &options)  →  race on A_s[0, 3, 5]: …
#pragma once
#include "model/ir/program.h"

// One row each: enum, the name users type, what is done to the main kernel.
#define BREAKAGE_TABLE(X)                                                                          \
  X(FIRST_BARRIER, "first_barrier", "the first barrier is left out")                               \
  X(LAST_BARRIER, "last_barrier", "the last barrier is left out")                                  \
  X(WAIT, "wait", "the waits for cp.async are left out")                                           \
  X(LAX_WAIT, "lax_wait", "each wait lets one more group stay in flight")                          \
  X(PHASE, "phase", "the ring index is dropped: every slab goes to slot 0")                        \
  X(PAD, "pad", "the rows of the first slab are one element too close together")                   \
  X(GUARDED_SPLIT, "guarded_split",                                                                \
    "no zero kernel: the first split stores, the others add, as in the article")                   \
  X(ZERO, "zero", "split-K adds to a C that nobody cleared")                                       \
  X(LAST_SLAB, "last_slab",                                                                        \
    "the loop over slabs stops one early, of roles only that of those who multiply")               \
  X(TRANS, "trans", "ldmatrix of B forgets its .trans")                                            \
  X(MATRIX, "matrix", "each lane gives ldmatrix its row of the next matrix")                       \
  X(LAYOUT, "layout", "a slab is stored swizzled and read as if it were not")                      \
  X(FRAGMENTS, "fragments", "the atoms multiply each other's fragments of A")                      \
  X(FULL_WAIT, "full_wait", "nobody waits for the bytes of a slab")                                \
  X(FULL_PHASE, "full_phase", "each wait for the bytes of a slab asks for phase 0")                \
  X(SLOT_AFTER, "slot_after", "who reads a slot waits for the bytes of the one after it")          \
  X(SLOT_BEFORE, "slot_before", "who reads a slot waits for the bytes of the one before it")       \
  X(MORE_BYTES, "more_bytes", "a phase of full expects the bytes of one box too many")             \
  X(FEWER_BYTES, "fewer_bytes", "a phase of full expects the bytes of one box too few")            \
  X(ALL_ASK, "all_ask", "every thread of the warp asks for the slabs, not one")                    \
  X(ELECT_DIVERGED, "elect_diverged",                                                              \
    "half of a warp asks elect.sync for the lane that issues, not all of it")                      \
  X(EMPTY_WAIT, "empty_wait", "the producer does not wait for an empty slot")                      \
  X(EMPTY_PHASE, "empty_phase", "the producer begins with phase 0, as the consumers do")           \
  X(ARRIVE, "arrive", "no warp says that it has read a slot to the end")                           \
  X(MORE_ARRIVALS, "more_arrivals", "empty awaits one warp more than there are consumers")         \
  X(FEWER_ARRIVALS, "fewer_arrivals", "empty awaits one warp fewer than there are consumers")      \
  X(SILENT_WARP, "silent_warp", "a consumer never says that it has read, and nobody misses it")    \
  X(MIDDLE_WAIT, "middle_wait", "midway in the loop one wait for bytes is left out")               \
  X(WAIT_AGAIN, "wait_again", "who has let a slot go waits for its bytes once more")               \
  X(FEW_MEET, "few_meet", "the barrier of some warps lets each of them pass alone")                \
  X(BLOCK_BARRIER, "block_barrier",                                                                \
    "within a role its warps meet at the barrier of the whole block")                              \
  X(TILE_KEPT, "tile_kept",                                                                        \
    "those who write never go on to their next tile, and none is the last")                        \
  X(FETCH_SHORT, "fetch_short", "the producer fetches a slab fewer than the others go through")    \
  X(POOL_LATE, "pool_late",                                                                        \
    "what lies last in shared memory was laid out when the launch had its size already")           \
  X(FENCE, "fence", "no fence says to copies by TMA that the slab has been read")                  \
  X(EARLY_FENCE, "early_fence", "the producer fences before it waits for an empty slot")           \
  X(OTHER_FENCE, "other_fence", "the thread beside the one that asks for the slabs fences")        \
  X(STORE_FENCE, "store_fence", "no fence says to boxes bound for C that their piece is written")  \
  X(STORE_WAIT_READ, "store_wait_read", "a piece is written again before it has been read out")    \
  X(STORE_WAIT, "store_wait", "the block ends without a wait for the boxes that it has sent")      \
  X(MORE_REGISTERS, "more_registers", "each consumer takes 8 registers more than it may")          \
  X(LOCAL_ARRIVE_ONLY, "local_arrive_only",                                                        \
    "who has read a slot says so to its own block alone, which waits for no other")                \
  X(MASK_SHORT, "mask_short", "a share of a slab goes to the block alone that asks for it")        \
  X(NO_CLUSTER_START, "no_cluster_start", "at the start blocks meet on their own, no cluster")     \
  X(NO_CLUSTER_END, "no_cluster_end", "blocks end when they are ready, and not together")          \
  X(RING_RESTARTS_PER_TILE, "ring_restarts_per_tile",                                              \
    "slots and phases begin anew with each tile of a persistent block")                            \
  X(ORDER_WAIT, "order_wait",                                                                      \
    "consumers that take tiles by turns do not wait until the tile before is multiplied")          \
  X(OWN_SLABS, "own_slabs", "a consumer counts the slabs of its own tiles alone in the ring")      \
  X(PARTS_FROM_0, "parts_from_0", "each part of a tile fetches K from its beginning, not its own") \
  X(CLAIM_NOT_ATOMIC, "claim_not_atomic",                                                          \
    "a cluster looks whether a list is free and then takes it, and others look meanwhile")         \
  X(EPOCH_MISSING, "epoch_missing", "each launch claims in epoch 1, where all lists are taken")    \
  X(WG_WAIT, "wg_wait", "nobody waits for wgmma")                                                  \
  X(WG_WAIT_LAX, "wg_wait_lax", "each wait for wgmma lets one more group stay in flight")          \
  X(WG_FENCE, "wg_fence", "no fence tells wgmma what was done to the registers of the sums")       \
  X(WG_COMMIT, "wg_commit", "no commit makes a group that could be waited for of the wgmmas")      \
  X(LBO_SBO_SWAPPED, "lbo_sbo_swapped", "descriptors have LBO and SBO the wrong way round")        \
  X(MODE_OFF, "mode_off", "descriptors say that their swizzled slabs are not swizzled")            \
  X(TRANS_OFF, "trans_off", "a tile that runs along M or N is taken for one along K")              \
  X(SUMS_EARLY, "sums_early", "the sums are stored before the last wait for wgmma")                \
  X(RELEASE_EARLY, "release_early", "a slot is released before the wait for wgmma that reads it")  \
  X(K_EARLY, "k_early", "the next block's K is asked for before all warps have read this one's")   \
  X(V_EARLY, "v_early", "a block's V is asked for before all warps have read the last one's")      \
  X(NO_RESCALE, "no_rescale", "O is not rescaled when a row's maximum grows")                      \
  X(SUM_RESCALE, "sum_rescale", "a row's sum is not rescaled when its maximum grows")              \
  X(LANES_MAX, "lanes_max", "each lane takes its own largest score for the row's")                 \
  X(UNCONVERTED, "unconverted", "weights stay in f32 where 16-bit ones are multiplied")            \
  X(SUMS_KEPT, "sums_kept", "the first product of a tile adds to what its sums held before")       \
  X(TENSOR_COMMIT, "tensor_commit", "no commit says that the sums in tensor memory are whole")     \
  X(TENSOR_RELEASE, "tensor_release", "no commit says that tcgen05 has read a slot to the end")    \
  X(TENSOR_WAIT, "tensor_wait", "the sums are read from tensor memory before they are whole")      \
  X(TENSOR_AFTER, "tensor_after", "nobody says tcgen05.fence::after_thread_sync")                  \
  X(TENSOR_LOADS, "tensor_loads", "nobody waits for what tcgen05.ld brings")                       \
  X(TENSOR_LANE, "tensor_lane", "one lane allocates tensor memory, not a whole warp")              \
  X(TENSOR_ALL_ASK, "tensor_all_ask",                                                              \
    "a whole warp asks for the products of tcgen05, and commits them, not one thread")             \
  X(TENSOR_FREE_EARLY, "tensor_free_early",                                                        \
    "tensor memory is given back while warps still read it")                                       \
  X(TENSOR_FREE_LANE, "tensor_free_lane", "one lane gives tensor memory back, not a whole warp")   \
  X(TENSOR_LEAK, "tensor_leak", "nobody gives tensor memory back")                                 \
  X(TENSOR_BEFORE, "tensor_before", "nobody says tcgen05.fence::before_thread_sync")               \
  X(TENSOR_REUSE, "tensor_reuse",                                                                  \
    "products overwrite the sums of a tile without waiting until they have been read")             \
  X(TENSOR_RELEASE_EARLY, "tensor_release_early",                                                  \
    "warps say that the sums have been read in front of tcgen05.wait::ld, not behind it")          \
  X(TENSOR_PHASE, "tensor_phase", "consumers begin with phase 0 at acc_empty, as writers do")      \
  X(TENSOR_INIT, "tensor_init",                                                                    \
    "mbarriers are initialised by thread 0 of those that write, among those that do not")          \
  X(PAIR_MASK, "pair_mask", "commits of a pair arrive at the CTA alone that asks")                 \
  X(PAIR_BYTES, "pair_bytes", "full of a pair expects the bytes of one CTA")                       \
  X(PAIR_END, "pair_end", "a CTA of a pair ends with its own threads, not with the other CTA")     \
  X(PAIR_ALLOC, "pair_alloc", "tensor memory of a pair is allocated as for one CTA")               \
  X(SCALE_BYTE, "scale_byte", "the factors of A are taken from the bytes of the next k-step")      \
  X(SCALE_STALE, "scale_stale", "the factors of A are those of the slab before")                   \
  X(FACTOR_COPY, "factor_copy", "nobody copies the factors of A to tensor memory")                 \
  X(FACTOR_LATE, "factor_late", "factors are copied behind the products that they are for")        \
  X(FACTOR_COLUMNS, "factor_columns", "B is scaled by what lies in the columns of A's factors")    \
  X(FACTOR_ALLOC, "factor_alloc", "tensor memory is allocated for the sums alone")                 \
  X(FACTOR_SLOT, "factor_slot",                                                                    \
    "factors of a slab overwrite those of the slab before, which may still be multiplied by")

typedef enum BreakageId {
#define X(id, name, help) BREAK_##id,
  BREAKAGE_TABLE(X)
#undef X
      BREAK_COUNT
} BreakageId;

const char *breakage_name(BreakageId id);
const char *breakage_help(BreakageId id);

// A broken copy; NULL when the program has nothing of that kind to break.
Program *program_break(Arena *arena, const Program *program, BreakageId id);
