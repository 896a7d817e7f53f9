// Instructions that multiply matrices in registers, laid out: which element of which matrix each
// value of each lane is.
#pragma once
#include "model/words/fragment.h"
#include "model/words/sparse.h"
#include "ptx/run/run.h"

enum { PTX_MMA_ROWS = 16, PTX_MMA_N = 8, PTX_MMA_K = 128, PTX_MMA_FACTORS = 4 };
enum { PTX_MMA_ELEMENTS = PTX_MMA_ROWS * PTX_MMA_K };
enum { PTX_WGMMA_WARPS = 4, PTX_WGMMA_ROWS = 16, PTX_WGMMA_N = 256, PTX_WGMMA_K = 64 };
enum { PTX_SIDE_ELEMENTS = PTX_WGMMA_ROWS * PTX_WGMMA_N };

// An operand of a product in registers of one warp.
typedef struct PtxSide {
  PtxType type;
  int n_values, per_register, value_bits;
  uint16_t *at;  // element of the matrix, by register, lane and part of the register
} PtxSide;

// The metadata of a sparse A of 16 rows, in registers of one warp.
typedef struct PtxSparse {
  bool is_sparse;
  int words, selector;  // operands
  SparseMeta meta;
} PtxSparse;

// Scale factors of A or B in registers of one warp, for each `rows` of them n along K.
typedef struct PtxScales {
  int words, ids;  // operands: the registers, and which byte of which threads
  int n, rows;     // n 0: none
  PtxType type;
  uint8_t lane[PTX_MMA_ROWS];  // of a row with thread-id 0
  int thread_step;             // lanes from one thread-id to the next
} PtxScales;

// A is [k][row], B is [col][k], C and D are [col][row].
typedef struct PtxMma {
  int m, n, k;  // k of B
  PtxSide a, b, c, d;
  PtxSparse sparse;
  PtxScales scales[2];  // of A, of B
} PtxMma;

// A wgmma laid out for one of its four warps, the one with rows 0 to 15: warp w adds 16 · w.
typedef struct PtxWgmma {
  int n, k, a_k, element_bytes;  // k of B; a_k: as A is stored
  PtxType type[2];               // of A, of B
  bool a_in_registers, a_trans, b_trans;
  double a_sign, b_sign;
  int adds;      // operand: whether D is added to
  PtxSide d, a;  // of A: where it is in registers
  PtxSparse sparse;
} PtxWgmma;

// Both give NULL with a reason in *why where the instruction is not run.
const PtxWgmma *ptx_wgmma_plan(Arena *arena, const PtxModule *module, const PtxInst *inst,
                               const char **why);
const PtxMma *ptx_mma_plan(Arena *arena, const PtxInst *inst, const char **why);
// The bits of a sum as the type of D has them.
uint64_t ptx_mma_bits(const PtxInst *i, PtxType type, double value);

// An operand with element (row, col) at row · row_step + col · col_step of the matrix; false where
// its registers are not the ones that the text gives.
bool ptx_side_plan(Arena *arena, PtxSide *side, const Atom *atom, AtomOperand operand, PtxType type,
                   const PtxGroup *group, int row_step, int col_step);
// Registers → matrix, and back, rounded to the type.
void ptx_side_read(const PtxMachine *m, PtxWarp *w, const PtxGroup *g, const PtxSide *side,
                   double *matrix);
void ptx_side_write(const PtxMachine *m, PtxWarp *w, const PtxInst *i, const PtxGroup *g,
                    const PtxSide *side, const double *matrix);

// Lays out the metadata of 16 rows of k elements; false where the operands are not registers.
bool ptx_sparse_plan(PtxSparse *sparse, const PtxInst *inst, int words, int bits, int k);
// A as it is stored, [k / 2][row] → [k][row], which are not one array; false after unknown values,
// where metadata mean nothing.
bool ptx_sparse_spread(PtxMachine *m, PtxWarp *w, const PtxInst *i, const PtxSparse *sparse,
                       const double *stored, double *out);
// The same for any number of rows, with metadata as [chunk][row]; false where they mean nothing.
bool ptx_sparse_put(const SparseMeta *meta, int rows, const uint8_t *bits, const double *stored,
                    double *out);
