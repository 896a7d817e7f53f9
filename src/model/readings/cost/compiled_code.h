// Tells what a compiler's machine code says of a kernel's loops (read by toolchain/kernel_code.h,
// used by calibration.h).
#pragma once
#include <stdbool.h>

#include "base/arena.h"

// A load of global memory that is in L1, and one that is not: what CompiledLoop is reckoned for.
enum { COMPILED_NEAR_CLOCKS = 40, COMPILED_FAR_CLOCKS = 300 };

// A loop of the main kernel as it was compiled, without what is in loops inside of it: what one
// turn of it has, and the clocks that a warp alone takes for one where loads of global memory are
// near or far. `multiplies`: FFMA of a lane, or mma.sync of a warp.
typedef struct CompiledLoop {
  int multiplies, instructions, spills;
  double near_clocks, far_clocks;
} CompiledLoop;

// The innermost loop that multiplies most, or all of a kernel without one, and the loop around it.
// No multiplies, or no instructions: there is none, or it is not known.
typedef struct CompiledCode {
  CompiledLoop inner, outer;
} CompiledCode;

// Instructions that store registers to local memory, and that load them again.
typedef struct SpillCount {
  int stores, loads;
} SpillCount;

// Where they stand: in front of the outermost loop around the multiplies, in it, or behind it. All
// of a kernel without such a loop counts as a loop of one turn.
typedef struct CompiledSpills {
  SpillCount before, loop, behind;
} CompiledSpills;

// Holds what a compiler says of a kernel: of a thread, and the bytes that its code spills, the mean
// of what it stores and of what it loads. 0 registers: nothing.
typedef struct CompiledKernel {
  int registers, spill_bytes;
  CompiledCode code;
} CompiledKernel;

// As text and back. False: none that could be; there is nothing in `out` then.
const char *compiled_code_text(Arena *arena, const CompiledCode *code);
bool compiled_code_read(const char *text, CompiledCode *out);
