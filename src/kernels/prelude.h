// The device prelude: the few wrappers that stand above an emitted kernel.
//
// CUDA headers are neither included nor needed: float2, float4 and the intrinsics used here are
// built into NVRTC and nvcc alike. Only the helpers that a text calls are printed.
#pragma once

// One row each: enum and the name it has in the text.
#define PRELUDE_TABLE(X)                    \
  X(LOAD2, "load2")                         \
  X(LOAD4, "load4")                         \
  X(LOAD2_OR_ZERO, "load2_or_zero")         \
  X(LOAD4_OR_ZERO, "load4_or_zero")         \
  X(STORE2, "store2")                       \
  X(STORE4, "store4")                       \
  X(FILL2, "fill2")                         \
  X(FILL4, "fill4")                         \
  X(CP_ASYNC1, "cp_async1")                 \
  X(CP_ASYNC2, "cp_async2")                 \
  X(CP_ASYNC4, "cp_async4")                 \
  X(CP_ASYNC1_OR_ZERO, "cp_async1_or_zero") \
  X(CP_ASYNC2_OR_ZERO, "cp_async2_or_zero") \
  X(CP_ASYNC4_OR_ZERO, "cp_async4_or_zero") \
  X(CP_ASYNC_COMMIT, "cp_async_commit")     \
  X(CP_ASYNC_WAIT, "cp_async_wait")

typedef enum PreludeHelper {
#define X(id, name) PRELUDE_##id,
  PRELUDE_TABLE(X)
#undef X
      PRELUDE_COUNT
} PreludeHelper;

const char *prelude_name(PreludeHelper helper);

// The definition: whole lines, the last one ends in a newline.
const char *prelude_text(PreludeHelper helper);
