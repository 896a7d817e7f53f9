// A program as a standalone .cu: the emitted kernels and a main() that fills the operands,
// launches, checks every cell it can afford against float64 and times itself. Nothing else is
// needed:
//
//   nvcc -O3 -gencode arch=compute_90a,code=sm_90a -o matmul matmul.cu && ./matmul
//
// The program it builds exits with 0, with 1 when C is wrong, with 3 when CUDA reports an error.
#pragma once
#include "model/text/emit.h"
#include "model/words/target.h"

const char *export_cu(Arena *arena, const Emission *emission, const Program *program,
                      const Target *target);
