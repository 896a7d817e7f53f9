// Slabs that only descriptors find: boxes of TMA fill them and products of wgmma or tcgen05 read
// them, so no lane of the kernel addresses them and no access of a warp tells of their layout.
//
//   DescribedSlabs slabs = described_slabs(program);        A_s, B_s, written by TMA, read by wgmma
//   described_sentence(arena, &slabs)
#pragma once
#include "model/ir/names.h"

enum { DESCRIBED_MAX = 4 };

typedef struct DescribedSlabs {
  int n;
  const Buffer *slab[DESCRIBED_MAX];
  const char *writer, *reader;  // "TMA", "wgmma"; writer NULL: no copy fetches them
} DescribedSlabs;

DescribedSlabs described_slabs(const Program *program);

// "No lane addresses A_s, B_s in shared memory: TMA writes, wgmma reads them; 128-byte swizzle."
const char *described_sentence(Arena *arena, const DescribedSlabs *slabs);
