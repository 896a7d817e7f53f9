// Is C right? Every cell of it is compared with a float64 product computed on the GPU.
//
// A cell is right when |c − ref| <= bound, with
//   bound = tolerance · (|A|·|B|)ij + rounding · |ref| + floor
//
//   sums in      tolerance                    why
//   f32          2^-24 · (8 + √K/4)           below
//   f64          2^-52 · (8 + √K/4)           the reference is a float64 sum, too: twice 2^-53
//   f16          2^-11 · 8                    below
//   s32          0                            nothing is rounded: below 2^31 up to K = 10^5
//   f32 of e4m3  2^-13 · (8 + √K/4)           the tensor core keeps some 14 bits of the aligned
//   and e5m2                                  sum
//
//   + 2^-9 · min(1, 3/√K) of the magnitude and 2^-10 of |ref| for operands in tf32, which the
//     multiplier cuts to 10 fraction bits: a product loses 2^-10 of itself on average and 2^-9 at
//     most; the average scales the whole sum, what is left grows like √K while the magnitude grows
//     like K. 16- and 8-bit operands have exact products in f32.
//   + u of |ref| where the output has fewer bits than the sum: 2^-11 for f16, 2^-8 for bf16
//   + the floor: below its smallest normal number a type has steps of one size, and rounding costs
//     half a step whatever the cell's size: 2^-25 for f16, 2^-134 for bf16. Sums kept in such a
//     type round once for each product, of which the same 8 are allowed as above. Worked example:
//     one product of 5.4e-6 is stored in f16 as 5.3644e-6 or 5.4240e-6, up to 2.98e-8 off, of
//     which 2^-11 of 5.4e-6 would allow an eleventh
//
// With data of random sign a running sum of K products, each addition rounded by u, is off by 0.47
// u · (|A|·|B|)ij (root mean square; simulated for K from 4 to 8192, it does not depend on K), and
// the worst of 4·10^7 cells by 6.6 u. In f32 there is room for sums that are truncated instead, as
// the tensor core's are: 24 u at K = 4096, where one product of typical size left out (1/K of the
// sum = 4096 u) or operands rounded to tf32 (some 100 u, root mean square) are far outside. Sums in
// f16 have no such room: at K = 4096 8 u is 10, where a cell is some 64, so what one sees in a
// single cell is a wrong fragment, and in the worst of a million cells a slab left out. For K up to
// 8 the bounds are the worst case of any data. NaN is never right.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "kernels/toolchain/plan.h"

enum { VERIFY_MAP_MAX = 64 };

typedef struct VerifyResult {
  bool ran;  // false: nothing below means anything
  bool ok;
  double tolerance;  // relative to (|A|·|B|)ij
  double worst;      // largest |c − ref| / bound; −1 when a NaN makes it meaningless
  double error, rms;  // of |c − ref| over (|A|·|B|)ij: the largest, the root of the mean square; −1
                      // as above
  int64_t n_cells, n_wrong;      // of C
  int64_t n_unwritten;           // of the wrong ones: still hold the poison C was filled with
  int64_t n_outside;             // words next to C in memory that were stored to: never right
  int64_t first_row, first_col;  // the first wrong cell, row by row; −1 when none
  double first_got, first_expected, first_bound;
  // The error map: n_wrong by rectangles of C, row by row. One entry covers map_tile_m × map_tile_n
  // cells: the block's tile, or a multiple of it where more than 64 × 64 entries would be needed.
  int map_rows, map_cols;
  int64_t map_tile_m, map_tile_n;
  int n_map;            // map_rows · map_cols; 0 when nothing is wrong
  const uint32_t *map;  // [n_map]
} VerifyResult;

double verify_tolerance(const Plan *plan);
// The part of the bound relative to |ref|: rounding the sum to the output type, and what tf32 cuts
// off the operands on average. 0 where neither is done.
double verify_rounding(const Plan *plan);
// The part of the bound that is absolute: half a step of the subnormal numbers that a cell is
// rounded to.
double verify_floor(const Plan *plan);
// The bound of one cell, from its exact value and from the sum of its products' sizes.
double verify_bound(const Plan *plan, double exact, double magnitude);
// The map's rows, columns and cells per entry for this plan.
void verify_size_map(const Plan *plan, VerifyResult *result);

// "1536 of 16777216 cells wrong (384 never written), first C[128, 0] = 3.5, expected 1.25 ± 2e-4"
const char *verify_sentence(Arena *arena, const VerifyResult *result);
