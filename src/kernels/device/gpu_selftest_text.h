// The self test's kernels: each computes C = A·B, or fails to in one known way.
#pragma once
#include "base/arena.h"
#include "kernels/toolchain/plan.h"

typedef enum SelftestKind {
  SELFTEST_SIMPLE,  // one thread per cell
  SELFTEST_TILED,  // 128 × 128 tiles, 8 × 8 cells a thread; sizes must be multiples of 128, 128, 8
  SELFTEST_SPLIT_K,     // a zero kernel, then four atomic adds per cell
  SELFTEST_PARTIALS,    // four partial sums in the workspace, then a reduce kernel
  SELFTEST_SHORT_K,     // leaves out the last product of the rows from 64 on
  SELFTEST_UNWRITTEN,   // does not write the last row
  SELFTEST_UNZEROED,    // atomic adds without the zero kernel
  SELFTEST_OUTSIDE,     // also writes the word before C
  SELFTEST_STRAY_READ,  // reads B one row too far in the last step
  SELFTEST_CRASH,       // stores through a null pointer
} SelftestKind;

// A plan of this kind; types and layouts come from `shape` (f32 only for the tiled one).
Plan *selftest_plan(Arena *arena, SelftestKind kind, const Plan *shape);
