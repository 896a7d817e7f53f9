// CUDA texts that go through the compiler, and the disassembler, together: most of the time that a
// small one takes is the tool's start.
#pragma once
#include "base/str.h"
#include "kernels/toolchain/plan.h"

typedef struct CudaBatch {
  Str text;
  int n;
} CudaBatch;

CudaBatch cuda_batch_new(Arena *arena);
// `text` has one kernel, named `kernel`; it becomes kernel_0, kernel_1, … in the order of adding.
// The compiler's words name `what` as the file.
void cuda_batch_add(CudaBatch *batch, const char *text, const char *kernel, const char *what);
// The plan of all of them, for nvrtc_compile; its one named kernel is the last one added.
const Plan *cuda_batch_plan(Arena *arena, const CudaBatch *batch, const char *arch,
                            const char *kernel);
