// NVRTC behind the cache of what it made before.
//
//   const Compiler compiler = compiler_find(app, cache_folder(app));
//   bool cached = false;
//   const CompileResult *result = compile_cached(arena, &compiler, plan, COMPILE_CUBIN, &cached);
//   ClockNumber *number = clock_cached(arena, &compiler, plan, &subject, result, &cached);
#pragma once
#include <stdbool.h>

#include "base/arena.h"
#include "kernels/toolchain/machine/clock_number.h"
#include "kernels/toolchain/nvrtc.h"

typedef struct Compiler {
  bool found;
  const char *described;  // as NVRTC describes itself, or why there is none
  const char *identity;   // the cache's word for it
  const char *cache;      // folder; NULL: compile each time
} Compiler;

// `cache` may be NULL. Where there is no compiler nothing is kept.
Compiler compiler_find(Arena *arena, const char *cache);

// Tells what nvrtc_compile says of the plan, today or when the same compiler was given the same
// text and flags. Only what compiled is kept.
CompileResult *compile_cached(Arena *arena, const Compiler *compiler, const Plan *plan,
                              CompileStage stage, bool *cached);

// All that the clock says of the plan's machine code, which `binary` (ok) has, today or when the
// same program played it with the same facts.
ClockNumber *clock_cached(Arena *arena, const Compiler *compiler, const Plan *plan,
                          const ClockSubject *subject, const CompileResult *binary, bool *cached);
