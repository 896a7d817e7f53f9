// The contents of a buffer of random numbers, page by page: whole numbers from -4 to 3 in the type
// of its elements.
#pragma once
#include <stdint.h>

#include "ptx/module/signature.h"

typedef struct PtxRandomFill {
  uint64_t seed;  // of its first element
  PtxElement element;
  int size;
} PtxRandomFill;

// The seed n numbers later.
uint64_t ptx_seed_after(uint64_t seed, int64_t n);
// A PtxFill; `self` is a PtxRandomFill.
bool ptx_fill_random(void *self, unsigned char *bytes, unsigned char *state, int64_t from,
                     int64_t n);
