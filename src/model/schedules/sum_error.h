// The error of a kernel's sums: by a simulation of the roundings of its instructions.
//
// fma adds to nearest. The tensor core adds the products of one instruction, and the sum so far, by
// cutting off: it aligns all of them with the largest, keeps two bits below the last bit of an f32,
// drops what is below towards 0, adds, and drops what f32 has no bits for. Two bits: of 0 to 4 they
// alone agree with what an H100 leaves of 4096 products by wgmma (NVIDIA H100 SXM, driver
// 580.159.04, CUDA 13.0, 2026-11-28, gemmview bench --data): root of the mean square over |A|·|B|
//
//                               normal data             positive data
//                           simulated  measured      simulated  measured
//   6xbf16                   1.15e-07  1.08e-07       1.44e-05  1.44e-05
//   6xbf16, PROMOTE=2        4.04e-09  3.92e-09       1.87e-07  1.89e-07
//   6xbf16, PROMOTE=4        6.04e-09  5.94e-09       3.82e-07  3.83e-07
//   3xtf32, PROMOTE=2        6.12e-09  5.99e-09       3.08e-07  3.15e-07
//   fma, one sum after another 2.6e-08 2.8e-08 (cuBLAS) 9.5e-07 9.9e-07 (cuBLAS, B_COL=1)
//
// mma.sync is taken to do the same; it was not measured here.
#pragma once
#include "base/form.h"
#include "model/words/knob.h"

typedef enum SumData { SUMS_OF_NORMAL, SUMS_OF_POSITIVE } SumData;

typedef struct SumError {
  bool known;           // false: sums of another type than f32, or of attention
  double rms, largest;  // of |c - exact| over |A|·|B|, exact being the sum of the operands as given
  int cells;            // that were simulated
} SumError;

// For `cells` cells of the schedule's C, drawn from a seed of their own: the same each time. Some
// 0.1 ms a cell for K = 4096.
SumError sum_error(Arena *scratch, const Schedule *schedule, SumData data, int cells);
// The same of fp32 multiply-adds, one after the other along K.
SumError sum_error_of_fma(Arena *scratch, const Schedule *schedule, SumData data, int cells);

// The same a few cells at a time, for a screen that cannot wait: begun as {0}; the cells of all
// calls together are those that one call would have had.
typedef struct SumTally {
  uint64_t drawn;  // how far the random numbers are
  int cells;
  double squares, largest;
} SumTally;

bool sum_error_is_known(const Schedule *schedule);
Schedule sum_by_fma(const Schedule *schedule);  // the same problem by plain fp32 multiply-adds
void sum_tally_add(Arena *scratch, SumTally *tally, const Schedule *schedule, SumData data,
                   int cells);
SumError sum_tally_error(const SumTally *tally);  // of no cell: not known

enum { SUM_CELLS_TOLD = 128 };  // of each figure that is printed

// Both, of SUM_CELLS_TOLD cells: what resources says of a split product.
typedef struct SumErrors {
  SumError sums[2], fma[2];  // by SumData
} SumErrors;

SumErrors sum_errors(Arena *scratch, const Schedule *schedule);
extern const Form sum_errors_form;
