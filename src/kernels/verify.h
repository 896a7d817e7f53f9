// Is C right? Every cell of it is compared with a float64 product computed on the GPU.
//
// A cell is right when |c − ref| <= bound, with
//   bound = tolerance · (|A|·|B|)ij + u_out · |ref|
//   tolerance = u_acc · (8 + √K/4) [+ 2 · u_in where the multiplier rounds its operands: tf32]
// u = 2^-24 for f32, 2^-11 for f16 and tf32, 2^-8 for bf16, 2^-53 for f64 (u_out is 0 where output
// and accumulator agree). Why this size: with data of random sign a running f32 sum of K products
// is off by 0.47 u · (|A|·|B|)ij (root mean square; simulated for K from 4 to 8192, it does not
// depend on K), and the worst of 4·10^7 cells by 6.6 u, at K = 64, where the bound is 10 u. At K =
// 4096 it is 24 u; one product of typical size left out (1/K of the sum = 4096 u) or operands
// rounded to tf32 (some 100 u, root mean square) are far outside. For K up to 8 it is the worst
// case of any data. NaN is never right.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "kernels/plan.h"

enum { VERIFY_MAP_MAX = 64 };

typedef struct VerifyResult {
  bool ran;  // false: nothing below means anything
  bool ok;
  double tolerance;          // relative to (|A|·|B|)ij
  double worst;              // largest |c − ref| / bound; −1 when a NaN makes it meaningless
  int64_t n_cells, n_wrong;  // of C
  int64_t n_unwritten;       // of the wrong ones: still hold the poison C was filled with
  int64_t n_outside;         // words next to C in memory that were stored to: never right
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
// u_out: what rounding the sum to the output type costs, relative to |ref|; 0 where nothing is
// rounded.
double verify_output_rounding(const Plan *plan);
// The map's rows, columns and cells per entry for this plan.
void verify_size_map(const Plan *plan, VerifyResult *result);

// "1536 of 16777216 cells wrong (384 never written), first C[128, 0] = 3.5, expected 1.25 ± 2e-4"
const char *verify_sentence(Arena *arena, const VerifyResult *result);
