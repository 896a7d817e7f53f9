// The scoreboards that asynchronous copies release, and where machine code waits for them.
//
// UTMACMDFLUSH ends a group of bulk copies out of shared memory. Its control word names a
// scoreboard, which counts the groups that may still read. A wait is a DEPBAR, or the control word
// of any instruction: cuBLAS's nvjet kernels use the control word.
//
//   UTMACMDFLUSH        reads release SB0
//   EXIT                waits for SB0: the copies have read
#pragma once
#include "machine/mc_code.h"

enum { MC_BOARDS = 6, MC_BOARDS_ALL = (1 << MC_BOARDS) - 1 };

// Of a kernel's instructions, as they are run; those that wait by their control word are marked.
McBoards mc_boards(PtxInst *code, int n);
// PtxAwaits of a wait for the scoreboards of this mask.
uint8_t mc_boards_awaited(const McBoards *boards, unsigned which);
