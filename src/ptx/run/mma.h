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

typedef struct PtxMma {
  int m, n, k;
  PtxMmaSide a, b, c, d;
} PtxMma;

// NULL with a reason in *why where it is not run.
const PtxMma *ptx_mma_plan(Arena *arena, const PtxInst *inst, const char **why);
