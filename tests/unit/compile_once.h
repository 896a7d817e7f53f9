// NVRTC as the suites that look at many emitted texts ask it: what the same compiler made of the
// same text with the same flags, in this run of the tests or an earlier one, is kept in
// build/compiled and not made again. `make clean` forgets it.
#pragma once
#include "kernels/toolchain/nvrtc.h"

const CompileResult *compile_once(Arena *arena, const Plan *plan, CompileStage stage);
