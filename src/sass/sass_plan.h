// Facts of a code that are found once, before its warps are run (sass_run.h).
#pragma once
#include "base/arena.h"
#include "sass/sass_eval.h"

typedef struct SassPlan {
  const SassCode *code;
  const SassEval *const *eval;  // NULL where what is computed is not known
  const bool *needed;           // by a branch, a guard or an mbarrier
  // For each instruction: the first from it on that is needed, or that ends the straight way.
  const int *next;
} SassPlan;

const SassPlan *sass_plan(Arena *arena, const SassCode *code);
