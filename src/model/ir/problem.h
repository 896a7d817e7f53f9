// All that is computed: sizes and types of the matrices.
#pragma once
#include "model/ir/names.h"
#include "model/words/split.h"

// All that a program computes:
//   MATMUL     C[M, N] = A[M, K] · B[K, N]; of a block-scaled type with S elements to a factor,
//              A[m, k] · SFA[m, k / S] and B[k, n] · SFB[n, k / S] are what is multiplied
//   ATTENTION  of each head, S = alpha · Q[M, K] · K[N, K]ᵀ, P[q, t] = exp2(S[q, t] - max S[q]),
//              O[M, K] = P · V[N, K] / row sums of P; causal: query q sees keys 0 … q + N - M alone
typedef enum ProblemKind { PROBLEM_MATMUL, PROBLEM_ATTENTION } ProblemKind;

typedef struct Problem {
  int64_t m, n, k;    // MATMUL: extents, C row-major; ATTENTION: queries, keys, head dimension; k
                      // in elements (problem_depth: in units)
  bool a_col, b_col;  // A, B column-major: element (i, j) lies at i + j·rows
  DType dtype;        // of A and B
  DType acc;          // of the accumulators and of split-K's partial sums
  DType out;  // of C: a STORE from accumulators of another type converts, round to nearest even
  ProblemKind kind;
  int64_t heads;  // ATTENTION: batch × heads, each with queries, keys and values of its own
  bool causal;
  bool factor_tiles;  // SFA and SFB lie in tiles, as tcgen05 takes them: problem_factor_place()
  SplitKind split;    // how products of f32 are made of products of parts
} Problem;

// The result as a matrix: C, or O of all heads one below the other.
int64_t problem_rows(const Problem *problem);
int64_t problem_columns(const Problem *problem);
// "matmul", "attention": what a program of one kernel calls it.
const char *problem_kernel_name(const Problem *problem);
// The element type of a product: dtype, or the type of the parts of a split.
DType problem_operand_type(const Problem *problem);
// K as buffers of A and B count it: in units of the type, bytes of two elements where those have 4
// bits.
int64_t problem_depth(const Problem *problem);
// The same as the axis k counts it: once for each product of parts. Worked example, 6xbf16 and a K
// of 4096: 24576. And as the parts of an operand lie in memory, side by side along K: 12288.
int64_t problem_axis_depth(const Problem *problem);
// Scale factors along K: 0 where the type has none.
int64_t problem_scales(const Problem *problem);
// Tiles of factors: those of 128 rows, four along K, are 512 bytes, as 32 rows of 16: row r, factor
// j is byte r % 32 * 16 + r / 32 * 4 + j (cuBLAS, 128x4 scaling factor layout; what tcgen05.cp
// .32x128b takes). Tiles along K follow each other, then those of the next rows; what is beyond the
// matrix is there and never multiplied. As a buffer, in rows of 256 bytes, the longest that a box
// of TMA has: [M / 128][K / S / 4 * 2][256]. Worked example, row 37 and factor 6: tile 1 along K,
// byte 5 * 16 + 1 * 4 + 2 of it, so [0][2][86].
enum { FACTOR_ROWS = 128, FACTORS_ALONG = 4, FACTOR_TILE_BYTES = 512, FACTOR_COLUMNS = 256 };
enum { FACTOR_LANES = 32, FACTOR_LANE_BYTES = 16 };
// For a tile: its columns of tensor memory, and its rows in such a buffer.
enum {
  FACTOR_TILE_COLUMNS = FACTOR_ROWS / FACTOR_LANES,
  FACTOR_TILE_ROWS = FACTOR_TILE_BYTES / FACTOR_COLUMNS
};
// Where the factor of a row of A, or a column of B, is in SFA or SFB, in factors.
int64_t problem_factor_place(const Problem *problem, int64_t row, int64_t factor);
// Units of an input: A and B, then SFA and SFB if there are any; or Q, K and V.
enum { PROBLEM_INPUTS_MAX = 4 };
int64_t problem_input_elements(const Problem *problem, int input);
