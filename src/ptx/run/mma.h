// Instructions that multiply matrices in registers, laid out: which element of which matrix each
// value of each lane is.
#pragma once
#include "model/words/fragment.h"
#include "ptx/run/run.h"

enum { PTX_MMA_ELEMENTS = 1024, PTX_MMA_N = 8 };
enum { PTX_WGMMA_WARPS = 4, PTX_WGMMA_ROWS = 16, PTX_WGMMA_N = 256, PTX_WGMMA_K = 32 };
enum { PTX_SIDE_ELEMENTS = PTX_WGMMA_ROWS * PTX_WGMMA_N };

// An operand of a product in registers of one warp.
typedef struct PtxSide {
  PtxType type;
  int n_values, per_register, value_bits;
  uint16_t *at;  // element of the matrix, by register, lane and part of the register
} PtxSide;

// A is [k][row], B is [col][k], C and D are [col][row].
typedef struct PtxMma {
  int m, n, k;
  PtxSide a, b, c, d;
} PtxMma;

// A wgmma laid out for one of its four warps, the one with rows 0 to 15: warp w adds 16 · w.
typedef struct PtxWgmma {
  int n, k, element_bytes;
  PtxType type;
  bool a_in_registers, a_trans, b_trans;
  double a_sign, b_sign;
  PtxSide d, a;  // of A: where it is in registers
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
