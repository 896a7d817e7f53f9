// Facts of a code that are found once, before its warps are run (sass_run.h).
#pragma once
#include "sass/sass_eval.h"
#include "sass/sass_run.h"

struct SassPlan {
  const SassCode *code;
  const SassEval *const *eval;  // NULL where what is computed is not known
  const bool *needed;           // by a branch, a guard or an mbarrier
};
