// The fetches of a turn that reach L2, if those of one place for the same panel are one.
//
//   ChipMerge merge = chip_merge(scratch, grid, grid->chip);
//   merge.asked[ATOM_A] 128, merge.sent[ATOM_A] 24: the clusters of a place share panels of A
//
// An upper bound of what merges: the clusters of a turn walk along K side by side, but requests are
// one only if they come close in time. Measured at 8192³ in bf16 with tiles of 128 × 256 in
// clusters of two, sectors read from L2 went from 304 to 270 million with lists by place, by 11 %
// (H200, driver 580.159.04, CUDA 13.0, ncu, 2026-11-23; ladder hopper); this says from 139
// to 88 fetches a turn, by 37 %.
#pragma once
#include "model/readings/place/grid.h"
#include "model/words/fragment.h"

// Estimated; means over the turns that were looked at. What CTAs of a cluster fetch together by
// multicast is asked for once.
typedef struct ChipMerge {
  double asked[2], sent[2];  // fetches of panels in a turn, of A and of B (ATOM_A, ATOM_B)
  double asked_bytes, sent_bytes;
} ChipMerge;

// For both operands: chip_merge_fetches(merge.sent).
double chip_merge_fetches(const double of_operand[2]);

// With a map whose lists have no place any cluster is taken to run in any place alike.
ChipMerge chip_merge(Arena *scratch, const Grid *grid, const ChipMap *map);
