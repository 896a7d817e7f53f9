// Tells what a kernel's machine code says of the loop that multiplies, read off the cubin itself:
// no disassembler is needed, since Volta an instruction has 16 bytes with its opcode, its stall and
// its scoreboards at the same places (Jia et al., Dissecting the NVIDIA Volta GPU Architecture via
// Microbenchmarking, 2018, chapter 2; the places were compared with nvdisasm 13.0 for sm_90a).
#pragma once
#include <stddef.h>

#include "model/readings/cost/compiled_code.h"

typedef struct KernelReading {
  // No multiplies: there is no such code, or it has no loop that multiplies by FFMA, HFMA2, DFMA or
  // mma.sync; wgmma and tcgen05 run beside the code that asks for them.
  CompiledCode code;
  // The places of spills, by the order of the code: the assembler may put code that seldom runs
  // behind everything else.
  CompiledSpills spills;
  int instructions;  // without what fills the kernel up behind its end; -1: there is no such code
} KernelReading;

// Reads the kernel of that name off a cubin, decoded once.
KernelReading kernel_reading(const unsigned char *cubin, size_t n, const char *kernel);
