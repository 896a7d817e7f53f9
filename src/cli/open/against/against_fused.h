// Sums that machine code fuses with products, where the PTX leaves that to it.
#pragma once
#include "ptx/module/ptx_module.h"

typedef struct FusedGiven {
  const char *text;  // of the PTX
  size_t bytes;
  const char *kernel;
  const PtxModule *ptx, *code;
  const int *line;  // for each instruction of the machine code that of the PTX
} FusedGiven;

// The text with those sums as fma, each in its line; NULL: there are none.
const char *fused_text(Arena *arena, const FusedGiven *given, int *n);
