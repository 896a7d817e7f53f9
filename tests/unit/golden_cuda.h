// CUDA as it is reviewed. A text brings the helpers that it calls, and most texts bring the same:
// each stands once in a golden file of its own, and in the texts there is its first line alone, so
// that a new word in a helper is one place to look at and not a hundred.
//
//   __device__ __forceinline__ bool elect_one() {…}
//   __device__ __forceinline__ void tcgen05_commit(unsigned long long *bars, int i) {…}  // (2)
//
// (2) is the second of those that begin with this line.
#pragma once
#include "base/arena.h"

typedef struct GoldenHelpers GoldenHelpers;

GoldenHelpers *golden_helpers_new(Arena *arena);
// `text` with the first lines of its helpers, which are kept.
const char *golden_without_helpers(GoldenHelpers *helpers, const char *text);
// All that were kept, against tests/golden/PATH.
void golden_check_helpers(const char *path, const GoldenHelpers *helpers);
