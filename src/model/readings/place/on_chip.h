// Tells what the CTAs of a cluster do to each other's mbarriers and tensor memory: who signals
// what, who waits for it, which columns hold whose sums, which rows of A and B each fetches, and
// for whom.
//
//   const OnChip *chip = on_chip(arena, model);
//   chip->barrier[i]      empty [4], 2 arrivals: commits of warps 8 and 9 of CTA 0, at both CTAs
//   chip->tensor.range[1] columns 256 to 511: products of warp 9, read by warps 4 to 7
//   chip->rank[1]         fetches rows 256 to 511 of A, counted at full of CTA 0
//
// It is a walk of every warp of one cluster through its first slabs, without values. Rows of M and
// N are counted from the cluster's own first ones; ranks are bits of a mask, as the instructions
// have them.
#pragma once
#include "model/ir/role.h"
#include "model/readings/model.h"

enum { CHIP_BARRIERS = 8, CHIP_USES = 6, CHIP_RANGES = 16, CHIP_FIRST_SLABS = 10 };

// A statement that counts at an mbarrier, or waits for it.
typedef struct ChipUse {
  const Stmt *stmt;
  const WarpRole *role;  // NULL: warps have none
  unsigned by, at;       // ranks that do it; whose mbarrier it is about
  unsigned warps;        // of a CTA, as bits: those that do it
  int64_t bytes;         // that an arrival says are to come; of a box: that it counts
  int64_t phase;         // of a wait: the bit whose end the first one asks for; else -1
} ChipUse;

typedef struct ChipBarrier {
  const Buffer *buffer;
  int64_t arrivals;  // that end a phase, as it is initialised
  int n_signals, n_waits;
  ChipUse signal[CHIP_USES], wait[CHIP_USES];
} ChipBarrier;

// Columns of tensor memory that one product adds to.
typedef struct ChipRange {
  int first, n, set;            // set: of the sums of several tiles
  int asks;                     // the warp that issues the product
  int reader[TENSOR_QUARTERS];  // the warp that reads each 32 lanes; -1: none
  int64_t row;                  // of A's slab: the first that it multiplies
  const Buffer *factors;        // it is scale factors that they hold; NULL: sums
} ChipRange;

typedef struct ChipTensor {
  int64_t columns;       // allocated, 0: none
  int allocates, frees;  // the warps
  bool pair;             // both CTAs of a pair do it
  int n, n_sets;
  ChipRange range[CHIP_RANGES];  // by their first column
} ChipTensor;

// Holds what a CTA fetches of a slab: rows of M or N, and of K.
typedef struct ChipSlice {
  bool there;
  int64_t first, n, k, n_k, bytes;
  unsigned to, counted_at;  // ranks that it is for, and whose mbarrier counts it
} ChipSlice;

typedef struct ChipRank {
  ChipSlice slice[2];  // of A and of B
  int64_t m, n;        // where its tile of C begins
  bool asks;           // a thread of it asks for products in tensor memory
  int64_t factors;     // bytes of the scale factors of one slab, by whatever way they come
  int64_t fetched;     // bytes of one slab, factors included
} ChipRank;

// A slab of the ring, as the program waits for it: its slot, the phase of full that its bytes end,
// and the phase of empty whose end lets it be fetched; -1: no wait asks for that.
typedef struct ChipTurn {
  int64_t slot, full_phase, empty_phase;
} ChipTurn;

typedef struct OnChip {
  int64_t tile_m, tile_n, tile_k;  // of a CTA
  int64_t n_ranks, n_warps;        // of a cluster; of a CTA
  bool by_tma;                     // slices are known, for boxes fetch them
  bool pair;                       // two CTAs multiply as one
  int n_barriers;
  ChipBarrier barrier[CHIP_BARRIERS];
  int n_turns;
  int64_t n_slots;  // 0: no ring of mbarriers
  ChipTurn turn[CHIP_FIRST_SLABS];
  ChipTensor tensor;
  ChipRank rank[CLUSTER_MAX];
  // FLOP per byte that a CTA fetches; and if it multiplied what it fetches by itself, with nobody
  // to fetch for it.
  double intensity, alone;
} OnChip;

// NULL: the program has no one product of two matrices.
const OnChip *on_chip(Arena *arena, const Model *model);
// The mbarriers, CTAs and warps alone, of any program: attention has two products and nine of them.
const OnChip *on_chip_barriers(Arena *arena, const Model *model);
