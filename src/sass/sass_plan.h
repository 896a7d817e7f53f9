// Facts of a code that are found once, before its warps are run (sass_run.h).
#pragma once
#include "base/arena.h"
#include "sass/sass_eval.h"

typedef struct SassPlan {
  const SassCode *code;
  const SassEval *const *eval;  // NULL where what is computed is not known
  const bool *needed;           // by a branch, a guard or an mbarrier
} SassPlan;

const SassPlan *sass_plan(Arena *arena, const SassCode *code);
