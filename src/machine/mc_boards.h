// The scoreboards that asynchronous copies release, and where machine code waits for them.
//
// UTMACMDFLUSH ends a group of bulk copies out of shared memory. Its control word names a
// scoreboard, which counts the groups that may still read; LDGDEPBAR's counts groups of cp.async. A
// wait is a DEPBAR, or the control word of any instruction: cuBLAS's nvjet kernels use the latter,
// with two scoreboards in turns.
//
//   UTMACMDFLUSH        reads release SB3
//   WARPGROUP.ARRIVE    waits for SB3: the copies have read
#pragma once
#include "machine/mc_code.h"

enum { MC_BOARDS = 6, MC_BOARDS_ALL = (1 << MC_BOARDS) - 1 };

// A load releases one as well. Where a warp has waited for it and then arrives, whoever is told of
// the arrival may copy to where the load read: CUTLASS's and cuBLAS's rings give slots back so.
//
//   LDS R5, [R3]        releases SB0 when R5 has its value
//   FADD R6, R5, R6     waits for SB0
//   SYNCS.ARRIVE        the slot is free
//
// Marks the commits of a kernel with the scoreboards that they release, and the instructions whose
// control words wait for those; and, where it has bulk copies into shared memory, the loads.
void mc_boards(PtxInst *code, int n);
