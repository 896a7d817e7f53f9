// The clock's answer about a kernel, on the terminal and as JSON.
//
//   matmul  loop 0x940-0x4f50, 1122 instructions, 2 warps a scheduler      H200 SXM, sm_90a
//   2663 clk a turn = 2244 issue ███████ 84 %  300 register banks ███ 11 %  119 LDS, barrier █ 5 %
//   register banks free: 2363 (+13 %)   all loads hit L1: 2655 (0 %)
#pragma once
#include "cli/common/cli_compile.h"
#include "cli/common/why/why_ncu.h"
#include "kernels/toolchain/machine/clock_answer.h"
#include "ptx/run/machine.h"

typedef struct Why {
  Arena *arena;
  const ClockAnswer *answer;
  const Compiled *compiled;  // NULL: the kernel is no schedule's
  const char *path;          // of a cubin
  const Emission *emission;  // NULL: the kernel is no schedule's
  bool what_if;              // for every loop
  const char *note;          // why it is a stand-in; NULL: it is none
  const NcuBeside *ncu;      // NULL: no samples were given
} Why;

// The launch of a kernel of anybody's, as the clock asks for it.
ClockLaunch why_launch(const PtxLaunch *launch);
void why_print(const Why *why);
void why_print_json(const Why *why);
