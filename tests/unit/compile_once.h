// NVRTC as the suites that look at many emitted texts ask it: what the same compiler made of the
// same text with the same flags, in this run of the tests or an earlier one, is kept in
// build/compiled and not made again. `make clean` forgets it.
#pragma once
#include "kernels/toolchain/cache.h"
#include "kernels/toolchain/nvrtc.h"

const CompileResult *compile_once(Arena *arena, const Plan *plan, CompileStage stage);

// The same of any other compiler: whether it took this text with these flags before without a word,
// and that it did. key->compiler is all that it says of its version.
bool compile_was_clean(Arena *arena, const CacheKey *key);
void compile_is_clean(const CacheKey *key);
