// The fragment maps of fragment.h, asked of the GPU itself: one warp runs ldmatrix or mma.sync on
// tagged data, every lane stores what it received, and that must be what the maps say.
//
//   for (int i = 0; i < tagged_count(); i++)
//     if (tagged_on(i, 90)) … tagged_check(arena, gpu, i)
//
// A case is one instruction in one kernel: in each of its rounds every lane loads n_in words, the
// instruction runs once, and every lane stores n_out words. All numbers are small integers, so the
// words must be equal to the bit.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "kernels/device/driver.h"
#include "kernels/toolchain/plan.h"
#include "model/words/fragment.h"

enum { TAGGED_LANES = 32 };

typedef struct TaggedCase {
  const char *name;  // "ldmatrix.x4.trans", "m16n8k16.f16.f32"
  Atom atom;         // of an mma
  LdMatrix load;     // of an ldmatrix: n_matrices and trans; 0 matrices: it is an mma
  Plan *plan;        // one kernel, "tagged_…": (const unsigned *in, unsigned *out, int rounds)
  int n_rounds, n_in, n_out;
  const uint32_t *in;        // [n_rounds][32][n_in]
  const uint32_t *expected;  // [n_rounds][32][n_out]
  const char **round;        // [n_rounds] what a round is, of ldmatrix; NULL of an mma
} TaggedCase;

// ldmatrix in all its forms, then every atom of one warp, with each of its accumulator types.
int tagged_count(void);
const char *tagged_name(Arena *arena, int index);
bool tagged_on(int index, int cc);  // does a GPU of this compute capability have it?
// A few MiB in `arena`; compiles anywhere.
TaggedCase *tagged_build(Arena *arena, const char *arch, int index);

// Compares what the lanes stored with what they should have: the first difference in a sentence,
// NULL when there is none.
const char *tagged_difference(Arena *arena, const TaggedCase *tagged, const uint32_t *out);

// Builds, compiles, runs and compares one case: NULL, or a sentence. Whether the context was lost,
// gpu_poisoned() says.
const char *tagged_check(Arena *arena, Gpu *gpu, int index);

// The kernel of a case (tagged_text.c).
void tagged_write_text(Str *text, const TaggedCase *tagged);
const char *tagged_kernel_name(Arena *arena, const TaggedCase *tagged);
// Elements of 16 bits that an ldmatrix case tags in shared memory: element i holds i.
enum { TAGGED_TAGS = 2048 };
