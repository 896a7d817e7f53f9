// The loops of decoded machine code.
//
// A loop is a branch back to an instruction that every path from the kernel's entry to the branch
// goes through. A branch back alone does not make one: ptxas puts the second try of a wait behind
// the kernel's end, and that block ends with a branch back into the middle of the loop.
//
//   0420 first of the slab        <- loop 0420 ... 07e0
//   0660 @!P0 BRA 0850               the wait failed once
//   0670 ...
//   07e0 @P0 BRA 0420
//   0840 EXIT
//   0860 @!P0 BRA 0850            <- loop 0850 ... 0860
//   0870 BRA 0670                    no loop: 0850 is reached without 0670
#pragma once
#include "base/arena.h"
#include "sass/sass_code.h"

// Instructions first to last; last is the branch back.
typedef struct SassLoop {
  int first, last;
} SassLoop;

// Puts at most `max` loops into `loops`, in the order of their branches; gives their number.
// `arena` keeps nothing that the caller needs.
int sass_loops(Arena *arena, const SassCode *code, SassLoop *loops, int max);
// The shortest of the loops that holds `inner` and more; NULL: none does.
const SassLoop *sass_loop_around(const SassLoop *loops, int n, const SassLoop *inner);
