// Questions that --against asks of its other files.
#pragma once
#include "machine/mc_nearby.h"
#include "ptx/module/ptx_module.h"

// ---- against_fused.c ----------------------------------------------------------------------------

// Sums that machine code fuses with products, where the PTX leaves that to it.
typedef struct FusedGiven {
  const char *text;  // of the PTX
  size_t bytes;
  const char *kernel;
  const PtxModule *ptx, *code;
  const int *line;  // for each instruction of the machine code that of the PTX
} FusedGiven;

// The text with those sums as fma, each in its line; NULL: there are none.
const char *fused_text(Arena *arena, const FusedGiven *given, int *n);

// ---- against_nearby.c ---------------------------------------------------------------------------

// The instruction of machine code that is right with one bit of its word turned round.
typedef struct NearbyGiven {
  const char *kernel;
  const char *cubin;
  size_t bytes;
  const PtxModule *module;  // of this cubin
  McLeaves *leaves;
  void *self;
  const int *hints;  // instructions, the likely ones first
  int n_hints;
  int bits;       // of each, the first ones
  int64_t lanes;  // that all trials together may take
} NearbyGiven;

// NULL: none is found.
const McNearby *against_nearby(Arena *arena, const NearbyGiven *given);
