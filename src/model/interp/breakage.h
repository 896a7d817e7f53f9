// Breakages: deliberate faults to switch on and see what they do.
//
//   const Program *broken = program_break(arena, model->program, BREAK_PHASE);
//   if (broken) interpret(arena, broken, &options)  →  race on A_s[0, 3, 5]: …
#pragma once
#include "model/ir/program.h"

// The symptoms of a fault on a GPU. One row each: enum, the word it is shown by, what it means.
#define SYMPTOM_TABLE(X)                                                                           \
  X(HANGS, "hangs",                                                                                \
    "the launch does not end; where a driver's watchdog ends it, after seconds: \"unspecified "    \
    "launch failure\"")                                                                            \
  X(FAILS, "fails",                                                                                \
    "the launch ends with an error at once, an XID in the system's log: the context is lost, and " \
    "later calls fail too, such as torch.randn")                                                   \
  X(STRIPES, "stripes",                                                                            \
    "whole stripes of 128 rows are wrong: a handoff between warpgroups slipped")                   \
  X(ZEROS, "zeros", "zeros, or half of C right: a descriptor finds other elements")                \
  X(WRONG, "wrong", "the same cells are wrong in every run")                                       \
  X(SOMETIMES, "sometimes", "wrong cells, other ones in each run, or none in a large problem")     \
  X(NOTHING, "nothing", "nothing: the rules ask for it, and C comes out right")

typedef enum Symptom {
#define X(id, name, help) SYMPTOM_##id,
  SYMPTOM_TABLE(X)
#undef X
      SYMPTOM_COUNT
} Symptom;

enum {
#define X(id, name, help) SEEN_##id = 1 << SYMPTOM_##id,
  SYMPTOM_TABLE(X)
#undef X
};

const char *symptom_name(Symptom symptom);
const char *symptom_help(Symptom symptom);
// SYMPTOM_COUNT: there is none of that name.
Symptom symptom_find(const char *name);

// One row each: enum, the name users type, what is done to the main kernel, and what is seen of it
// on a GPU: all that may be, by the kernel and by chance.
#define BREAKAGE_TABLE(X)                                                                          \
  X(FIRST_BARRIER, "first_barrier", "the first barrier is left out",                               \
    SEEN_SOMETIMES | SEEN_HANGS | SEEN_FAILS)                                                      \
  X(LAST_BARRIER, "last_barrier", "the last barrier is left out", SEEN_SOMETIMES | SEEN_NOTHING)   \
  X(WAIT, "wait", "the waits for cp.async are left out", SEEN_SOMETIMES)                           \
  X(LAX_WAIT, "lax_wait", "each wait lets one more group stay in flight", SEEN_SOMETIMES)          \
  X(PHASE, "phase", "the ring index is dropped: every slab goes to slot 0", SEEN_SOMETIMES)        \
  X(PAD, "pad", "the rows of the first slab are one element too close together",                   \
    SEEN_WRONG | SEEN_HANGS | SEEN_FAILS)                                                          \
  X(GUARDED_SPLIT, "guarded_split",                                                                \
    "no zero kernel: the first split stores, the others add, as in the article", SEEN_SOMETIMES)   \
  X(ZERO, "zero", "split-K adds to a C that nobody cleared", SEEN_WRONG)                           \
  X(LAST_SLAB, "last_slab",                                                                        \
    "the loop over slabs stops one early, of roles only that of those who multiply",               \
    SEEN_WRONG | SEEN_HANGS)                                                                       \
  X(TRANS, "trans", "ldmatrix of B forgets its .trans", SEEN_WRONG)                                \
  X(MATRIX, "matrix", "each lane gives ldmatrix its row of the next matrix", SEEN_WRONG)           \
  X(LAYOUT, "layout", "a slab is stored swizzled and read as if it were not", SEEN_WRONG)          \
  X(FRAGMENTS, "fragments", "the atoms multiply each other's fragments of A", SEEN_WRONG)          \
  X(FULL_WAIT, "full_wait", "nobody waits for the bytes of a slab", SEEN_SOMETIMES | SEEN_HANGS)   \
  X(FULL_PHASE, "full_phase", "each wait for the bytes of a slab asks for phase 0",                \
    SEEN_HANGS | SEEN_SOMETIMES)                                                                   \
  X(SLOT_AFTER, "slot_after", "who reads a slot waits for the bytes of the one after it",          \
    SEEN_HANGS | SEEN_SOMETIMES)                                                                   \
  X(SLOT_BEFORE, "slot_before", "who reads a slot waits for the bytes of the one before it",       \
    SEEN_HANGS | SEEN_SOMETIMES)                                                                   \
  X(MORE_BYTES, "more_bytes", "a phase of full expects the bytes of one box too many", SEEN_HANGS) \
  X(FEWER_BYTES, "fewer_bytes", "a phase of full expects the bytes of one box too few",            \
    SEEN_SOMETIMES | SEEN_HANGS)                                                                   \
  X(ALL_ASK, "all_ask", "every thread of the warp asks for the slabs, not one",                    \
    SEEN_HANGS | SEEN_SOMETIMES)                                                                   \
  X(ELECT_DIVERGED, "elect_diverged",                                                              \
    "half of a warp asks elect.sync for the lane that issues, not all of it",                      \
    SEEN_HANGS | SEEN_FAILS)                                                                       \
  X(EMPTY_WAIT, "empty_wait", "the producer does not wait for an empty slot",                      \
    SEEN_SOMETIMES | SEEN_HANGS)                                                                   \
  X(EMPTY_PHASE, "empty_phase", "the producer begins with phase 0, as the consumers do",           \
    SEEN_HANGS)                                                                                    \
  X(ARRIVE, "arrive", "no warp says that it has read a slot to the end", SEEN_HANGS)               \
  X(MORE_ARRIVALS, "more_arrivals", "empty awaits one warp more than there are consumers",         \
    SEEN_HANGS)                                                                                    \
  X(FEWER_ARRIVALS, "fewer_arrivals", "empty awaits one warp fewer than there are consumers",      \
    SEEN_SOMETIMES | SEEN_HANGS)                                                                   \
  X(SILENT_WARP, "silent_warp", "a consumer never says that it has read, and nobody misses it",    \
    SEEN_SOMETIMES | SEEN_HANGS)                                                                   \
  X(MIDDLE_WAIT, "middle_wait", "midway in the loop one wait for bytes is left out",               \
    SEEN_SOMETIMES | SEEN_HANGS)                                                                   \
  X(WAIT_AGAIN, "wait_again", "who has let a slot go waits for its bytes once more",               \
    SEEN_HANGS | SEEN_NOTHING)                                                                     \
  X(FEW_MEET, "few_meet", "the barrier of some warps lets each of them pass alone",                \
    SEEN_SOMETIMES)                                                                                \
  X(BLOCK_BARRIER, "block_barrier",                                                                \
    "within a role its warps meet at the barrier of the whole block", SEEN_HANGS)                  \
  X(TILE_KEPT, "tile_kept",                                                                        \
    "those who write never go on to their next tile, and none is the last",                        \
    SEEN_HANGS | SEEN_WRONG)                                                                       \
  X(FETCH_SHORT, "fetch_short", "the producer fetches a slab fewer than the others go through",    \
    SEEN_HANGS)                                                                                    \
  X(POOL_LATE, "pool_late",                                                                        \
    "what lies last in shared memory was laid out when the launch had its size already",           \
    SEEN_FAILS)                                                                                    \
  X(INIT_FENCE, "init_fence",                                                                      \
    "no fence.mbarrier_init stands behind the initialisation of the mbarriers", SEEN_NOTHING)      \
  X(FENCE, "fence", "no fence says to copies by TMA that the slab has been read", SEEN_SOMETIMES)  \
  X(EARLY_FENCE, "early_fence", "the producer fences before it waits for an empty slot",           \
    SEEN_SOMETIMES)                                                                                \
  X(OTHER_FENCE, "other_fence", "the thread beside the one that asks for the slabs fences",        \
    SEEN_SOMETIMES)                                                                                \
  X(STORE_FENCE, "store_fence", "no fence says to boxes bound for C that their piece is written",  \
    SEEN_SOMETIMES)                                                                                \
  X(STORE_WAIT_READ, "store_wait_read", "a piece is written again before it has been read out",    \
    SEEN_SOMETIMES)                                                                                \
  X(STORE_WAIT, "store_wait", "the block ends without a wait for the boxes that it has sent",      \
    SEEN_SOMETIMES | SEEN_NOTHING)                                                                 \
  X(MORE_REGISTERS, "more_registers", "each consumer takes 8 registers more than it may",          \
    SEEN_HANGS)                                                                                    \
  X(LOCAL_ARRIVE_ONLY, "local_arrive_only",                                                        \
    "who has read a slot says so to its own block alone, which waits for no other", SEEN_HANGS)    \
  X(MASK_SHORT, "mask_short", "a share of a slab goes to the block alone that asks for it",        \
    SEEN_HANGS)                                                                                    \
  X(NO_CLUSTER_START, "no_cluster_start", "at the start blocks meet on their own, no cluster",     \
    SEEN_FAILS | SEEN_SOMETIMES)                                                                   \
  X(NO_CLUSTER_END, "no_cluster_end", "blocks end when they are ready, and not together",          \
    SEEN_FAILS)                                                                                    \
  X(RING_RESTARTS_PER_TILE, "ring_restarts_per_tile",                                              \
    "slots and phases begin anew with each tile of a persistent block",                            \
    SEEN_HANGS | SEEN_SOMETIMES)                                                                   \
  X(ORDER_WAIT, "order_wait",                                                                      \
    "consumers that take tiles by turns do not wait until the tile before is multiplied",          \
    SEEN_SOMETIMES | SEEN_HANGS)                                                                   \
  X(OWN_SLABS, "own_slabs", "a consumer counts the slabs of its own tiles alone in the ring",      \
    SEEN_HANGS | SEEN_SOMETIMES)                                                                   \
  X(PARTS_FROM_0, "parts_from_0", "each part of a tile fetches K from its beginning, not its own", \
    SEEN_WRONG)                                                                                    \
  X(CLAIM_NOT_ATOMIC, "claim_not_atomic",                                                          \
    "a cluster looks whether a list is free and then takes it, and others look meanwhile",         \
    SEEN_SOMETIMES | SEEN_NOTHING)                                                                 \
  X(EPOCH_MISSING, "epoch_missing", "each launch claims in epoch 1, where all lists are taken",    \
    SEEN_HANGS | SEEN_WRONG)                                                                       \
  X(WG_WAIT, "wg_wait", "nobody waits for wgmma", SEEN_SOMETIMES)                                  \
  X(WG_WAIT_LAX, "wg_wait_lax", "each wait for wgmma lets one more group stay in flight",          \
    SEEN_SOMETIMES)                                                                                \
  X(WG_FENCE, "wg_fence", "no fence tells wgmma what was done to the registers of the sums",       \
    SEEN_NOTHING)                                                                                  \
  X(WG_COMMIT, "wg_commit", "no commit makes a group that could be waited for of the wgmmas",      \
    SEEN_SOMETIMES)                                                                                \
  X(LBO_SBO_SWAPPED, "lbo_sbo_swapped", "descriptors have LBO and SBO the wrong way round",        \
    SEEN_ZEROS)                                                                                    \
  X(MODE_OFF, "mode_off", "descriptors say that their swizzled slabs are not swizzled",            \
    SEEN_ZEROS)                                                                                    \
  X(TRANS_OFF, "trans_off", "a tile that runs along M or N is taken for one along K", SEEN_ZEROS)  \
  X(SUMS_EARLY, "sums_early", "the sums are stored before the last wait for wgmma",                \
    SEEN_SOMETIMES)                                                                                \
  X(RELEASE_EARLY, "release_early", "a slot is released before the wait for wgmma that reads it",  \
    SEEN_SOMETIMES)                                                                                \
  X(K_EARLY, "k_early", "the next block's K is asked for before all warps have read this one's",   \
    SEEN_SOMETIMES)                                                                                \
  X(V_EARLY, "v_early", "a block's V is asked for before all warps have read the last one's",      \
    SEEN_SOMETIMES)                                                                                \
  X(NO_RESCALE, "no_rescale", "O is not rescaled when a row's maximum grows", SEEN_WRONG)          \
  X(SUM_RESCALE, "sum_rescale", "a row's sum is not rescaled when its maximum grows", SEEN_WRONG)  \
  X(LANES_MAX, "lanes_max", "each lane takes its own largest score for the row's", SEEN_WRONG)     \
  X(UNCONVERTED, "unconverted", "weights stay in f32 where 16-bit ones are multiplied",            \
    SEEN_WRONG)                                                                                    \
  X(SUMS_KEPT, "sums_kept", "the first product of a tile adds to what its sums held before",       \
    SEEN_WRONG)                                                                                    \
  X(TENSOR_COMMIT, "tensor_commit", "no commit says that the sums in tensor memory are whole",     \
    SEEN_HANGS)                                                                                    \
  X(TENSOR_RELEASE, "tensor_release", "no commit says that tcgen05 has read a slot to the end",    \
    SEEN_HANGS)                                                                                    \
  X(TENSOR_WAIT, "tensor_wait", "the sums are read from tensor memory before they are whole",      \
    SEEN_STRIPES | SEEN_HANGS)                                                                     \
  X(TENSOR_AFTER, "tensor_after", "nobody says tcgen05.fence::after_thread_sync", SEEN_NOTHING)    \
  X(TENSOR_LOADS, "tensor_loads", "nobody waits until tcgen05.ld has read tensor memory",          \
    SEEN_SOMETIMES | SEEN_NOTHING)                                                                 \
  X(TENSOR_LANE, "tensor_lane", "one lane allocates tensor memory, not a whole warp",              \
    SEEN_FAILS | SEEN_HANGS | SEEN_WRONG)                                                          \
  X(TENSOR_ALL_ASK, "tensor_all_ask",                                                              \
    "a whole warp asks for the products of tcgen05, and commits them, not one thread",             \
    SEEN_SOMETIMES | SEEN_HANGS)                                                                   \
  X(TENSOR_ALL_COMMIT, "tensor_all_commit",                                                        \
    "one thread asks for the products of tcgen05, and its whole warp commits",                     \
    SEEN_SOMETIMES | SEEN_STRIPES | SEEN_HANGS)                                                    \
  X(TENSOR_FREE_EARLY, "tensor_free_early",                                                        \
    "tensor memory is given back while warps still read it", SEEN_FAILS | SEEN_STRIPES)            \
  X(TENSOR_FREE_LANE, "tensor_free_lane", "one lane gives tensor memory back, not a whole warp",   \
    SEEN_FAILS | SEEN_HANGS)                                                                       \
  X(TENSOR_LEAK, "tensor_leak", "nobody gives tensor memory back", SEEN_HANGS)                     \
  X(TENSOR_BEFORE, "tensor_before", "nobody says tcgen05.fence::before_thread_sync", SEEN_NOTHING) \
  X(TENSOR_REUSE, "tensor_reuse",                                                                  \
    "products overwrite the sums of a tile without waiting until they have been read",             \
    SEEN_STRIPES | SEEN_HANGS)                                                                     \
  X(TENSOR_RELEASE_EARLY, "tensor_release_early",                                                  \
    "warps say that the sums have been read in front of tcgen05.wait::ld, not behind it",          \
    SEEN_STRIPES | SEEN_SOMETIMES)                                                                 \
  X(TENSOR_PHASE, "tensor_phase", "consumers begin with phase 0 at acc_empty, as writers do",      \
    SEEN_HANGS)                                                                                    \
  X(TENSOR_INIT, "tensor_init",                                                                    \
    "mbarriers are initialised by thread 0 of those that write, among those that do not",          \
    SEEN_HANGS | SEEN_WRONG)                                                                       \
  X(PAIR_MASK, "pair_mask", "commits of a pair arrive at the CTA alone that asks", SEEN_HANGS)     \
  X(PAIR_BYTES, "pair_bytes", "full of a pair expects the bytes of one CTA",                       \
    SEEN_SOMETIMES | SEEN_HANGS)                                                                   \
  X(PAIR_END, "pair_end", "a CTA of a pair ends with its own threads, not with the other CTA",     \
    SEEN_FAILS)                                                                                    \
  X(PAIR_ALLOC, "pair_alloc", "tensor memory of a pair is allocated as for one CTA",               \
    SEEN_FAILS | SEEN_HANGS)                                                                       \
  X(SCALE_BYTE, "scale_byte", "the factors of A are taken from the bytes of the next k-step",      \
    SEEN_WRONG)                                                                                    \
  X(SCALE_STALE, "scale_stale", "the factors of A are those of the slab before", SEEN_WRONG)       \
  X(FACTOR_COPY, "factor_copy", "nobody copies the factors of A to tensor memory", SEEN_WRONG)     \
  X(FACTOR_LATE, "factor_late", "factors are copied behind the products that they are for",        \
    SEEN_WRONG)                                                                                    \
  X(FACTOR_COLUMNS, "factor_columns", "B is scaled by what lies in the columns of A's factors",    \
    SEEN_WRONG)                                                                                    \
  X(FACTOR_ALLOC, "factor_alloc", "tensor memory is allocated for the sums alone",                 \
    SEEN_FAILS | SEEN_WRONG)                                                                       \
  X(FACTOR_SLOT, "factor_slot",                                                                    \
    "factors of a slab overwrite those of the slab before, which may still be multiplied by",      \
    SEEN_SOMETIMES)

typedef enum BreakageId {
#define X(id, name, help, seen) BREAK_##id,
  BREAKAGE_TABLE(X)
#undef X
      BREAK_COUNT
} BreakageId;

const char *breakage_name(BreakageId id);
const char *breakage_help(BreakageId id);
unsigned breakage_seen(BreakageId id);  // SEEN_… of all its symptoms
// "hangs, sometimes": the names of its symptoms, in the order of their table.
enum { SYMPTOMS_BYTES = 80 };
const char *breakage_symptoms(char out[SYMPTOMS_BYTES], BreakageId id);

// A broken copy; NULL when the program has nothing of that kind to break.
Program *program_break(Arena *arena, const Program *program, BreakageId id);
