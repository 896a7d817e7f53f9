// The loop of a schedule's kernel that goes from slab to slab, as it was compiled, played on one SM
// (clock/clock_loop.h).
#pragma once
#include "clock/clock_loop.h"
#include "kernels/toolchain/machine/sass.h"
#include "kernels/toolchain/nvrtc.h"
#include "model/readings/model.h"
#include "model/text/emit.h"

typedef struct LoopClock {
  const char *why_not;  // a sentence where there is no number; NULL: there is one
  SassCode code;
  SassLoop loop;     // what was played
  ClockInner inner;  // the loop inside of it that multiplies; 0 trips: there is none
  ClockTurn turn;    // with all blocks that are resident at once
  ClockTurn last;    // with the blocks of the last round of the grid; clocks 0: rounds are whole
  double slabs;      // that a turn goes through
  double clocks;  // of the whole grid, the loop alone: prologue, epilogue and launch are left out
} LoopClock;

// `compiled`: the model with the compiler's registers; `emission`: its text; `sass`: the listing of
// the same cubin, for the line of each instruction. Only kernels whose threads all run one loop of
// FFMA.
LoopClock loop_clock(Arena *arena, const Model *compiled, const Emission *emission,
                     const CompileResult *result, const SassResult *sass);
