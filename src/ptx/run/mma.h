// An mma instruction laid out: which element of which matrix each value of each lane is.
#pragma once
#include "model/words/fragment.h"
#include "ptx/module/ptx_module.h"

enum { PTX_MMA_VALUES = 32, PTX_MMA_ELEMENTS = 1024, PTX_MMA_N = 8 };

typedef struct PtxMmaSide {
  PtxType type;
  int n_values, per_register, value_bits, cols;
  uint16_t at[PTX_LANES][PTX_MMA_VALUES];
} PtxMmaSide;

enum { PTX_WGMMA_WARPS = 4, PTX_WGMMA_ROWS = 16, PTX_WGMMA_N = 256, PTX_WGMMA_K = 32 };

typedef struct PtxWgmmaSide {
  int n_values, per_register, value_bits;
  uint16_t (*at)[PTX_LANES];  // [value][lane]: element of the warp's rows
} PtxWgmmaSide;

typedef struct PtxMma {
  int m, n, k;
  PtxMmaSide a, b, c, d;
} PtxMma;

// A wgmma laid out for one of its four warps, the one with rows 0 to 15: warp w adds 16 · w.
typedef struct PtxWgmma {
  int n, k, element_bytes;
  PtxType d_type, type;
  bool a_in_registers, a_trans, b_trans;
  double a_sign, b_sign;
  PtxWgmmaSide d, a;  // of A: where it is in registers
} PtxWgmma;

// Both give NULL with a reason in *why where the instruction is not run.
const PtxWgmma *ptx_wgmma_plan(Arena *arena, const PtxModule *module, const PtxInst *inst,
                               const char **why);
const PtxMma *ptx_mma_plan(Arena *arena, const PtxInst *inst, const char **why);
// The bits of a sum as the type of D has them.
uint64_t ptx_mma_bits(const PtxInst *i, PtxType type, double value);
