// Sums as a tensor core forms them, to the last bit.
//
// Products are exact. The terms of one step, products and what they are added to, are brought to
// the largest exponent among them, cut off below a number of fraction bits, and added without loss;
// the sum is cut off, too, to f32. Worked example, f16 on sm_90: 1.5 · 1 + 2^-25 has the exponent
// 0, and 2^-25 is the last bit that stays; then 23 bits stay, 1.5. Of 2^-26 nothing stays at all.
//
// Where a product's exponent counts it is that of its factors together, though 1.5 · 1.5 is
// above 2.
//
// Measured on an NVIDIA H200 (2026-11-29, lab/machine/vectors.cu): 106,496 sums of 26 forms of
// mma.sync and wgmma are equal, bit by bit. Other GPUs, and a sparse A, are not measured: they have
// no rule.
#pragma once
#include "ptx/module/ptx_isa.h"

typedef struct PtxSumRule {
  int terms;     // products that are added at once
  int bits;      // fraction bits of a term, below the largest exponent
  int result;    // of the sum that is kept; 0: f16, rounded to the nearest
  bool unpacks;  // elements of 8 bits, two products of halves: the lower two of each four along K,
                 // then the upper two; C is added behind, as f32
} PtxSumRule;

// mma.sync, or wgmma, of elements a and b into sums of type d; NULL: none was measured, or the sums
// are whole numbers or f64.
const PtxSumRule *ptx_sum_rule(int cc, bool is_wgmma, PtxType a, PtxType b, PtxType d);
