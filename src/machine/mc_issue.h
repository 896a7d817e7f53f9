// Whether the control words of machine code fit its registers and operations. A compiler writes
// them once it knows what hangs on what: how many clocks go by before an instruction's result is
// read, which scoreboard it releases, and which one is waited for. A wrong register or operation
// leaves them as they were:
//
//   LDS R8, [R4]           releases SB0
//   FADD R3, R9, R3        waits for SB0, which gives it nothing: it should read R8
//   FADD R5, R8, R5        reads R8, and nobody has waited for SB0
//
// Code of ptxas 13.0 has none in the ten kernels of tests/data/machine/open, for sm_90a. For sm_80
// to sm_120 the 34 texts of tests/data/open have up to four in 36 of 321 kernels: as many with a
// wrong instruction as without, so that a difference tells.
#pragma once
#include "machine/mc_like.h"

// A place less tells more than an operand that is like another one (mc_like.h).
enum { MC_ISSUE_WORTH = 3 };

// How many places there are, with the swap in instruction `pc`, if there is one. concerns[pc] is
// set for each instruction that has to do with one; NULL: nobody asks.
int mc_issue_misfits(const PtxModule *module, int pc, const McSwap *swap, bool concerns[]);
