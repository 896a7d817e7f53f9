// Predicts which scalar accesses to shared memory the assembler makes one wide access of.
//
// Measured with ptxas 13.0 (sm_90a), about sixty small kernels: loads and stores of one basic block
// whose addresses are one register and constants, where the register's low bits are known well
// enough, become one access of twice or four times the width. For four times, three of the four
// loads are enough (the fourth is loaded for nothing); stores must be all there. An instruction
// that may write the same array between two loads keeps them apart, as does any barrier or atomic
// of shared memory; volatile accesses stay as they are.
#pragma once
#include "ptx/module/ptx_module.h"

enum { PTX_WIDE_NONE = -1, PTX_WIDE_GONE = -2 };

typedef struct PtxWide {
  // The instruction that the access is counted at: the first load, the last store. PTX_WIDE_GONE:
  // the machine code has no such access.
  int leader;
  int bytes;       // of one lane
  int64_t offset;  // from the leader's address to the access's
  int n;           // accesses of the text in it
} PtxWide;

// For each instruction of the function, from its first: the access that it became part of. A lone
// access has itself as leader; an instruction that is no plain load or store of shared memory has
// leader −1.
const PtxWide *ptx_widen(Arena *arena, const PtxModule *module, const PtxFunction *function);
