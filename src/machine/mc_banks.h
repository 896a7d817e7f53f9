// Registers that an instruction reads at once. R0, R2, R4 … lie in one bank of the register file,
// R1, R3, R5 … in another: compilers give an instruction registers of both.
//
//   LEA R6, R4, R7, 0x18      R4 and R7: each from its bank
//   LEA R6, R4, R6, 0x18      one after the other
#pragma once
#include "machine/mc_like.h"

// Whether all registers that an instruction reads, two or three, lie in one bank, while it need not
// be so: pairs and fours begin at even ones. `swap`: with another one, or NULL. In the ten kernels
// of tests/data/machine/open 102 instructions do, 7 of 403 FFMA and 12 of 242 LEA among them.
bool mc_meets_in_bank(const PtxInst *inst, const McSwap *swap);
