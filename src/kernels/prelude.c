// The texts of the device wrappers, written to be read and copied.
//
// A helper's number counts elements: load4 moves four floats by one 16-byte instruction (LDG.128
// or LDS.128, whichever the pointer asks for once it is inlined), cp_async4 starts one 16-byte
// copy. The copies take the path past L1 (.cg) where the instruction has it, which is for 16 bytes
// only. "or_zero" takes the guard as its last argument; a copy expresses it by the source size (PTX
// ISA, cp.async: what the source does not cover is written as zeros, and nothing is read for size
// 0).
#include "kernels/prelude.h"

static const char *const names[PRELUDE_COUNT] = {
#define X(id, name) name,
    PRELUDE_TABLE(X)
#undef X
};

const char *prelude_name(PreludeHelper helper) { return names[helper]; }

#define CP_ASYNC(name, path, bytes)                                                     \
  "__device__ __forceinline__ void " name                                               \
  "(float *to_shared, const float *from_global) {\n"                                    \
  "  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(to_shared));\n" \
  "  asm volatile(\"cp.async." path ".shared.global [%0], [%1], " bytes                 \
  ";\"\n"                                                                               \
  "               :: \"r\"(to), \"l\"(from_global) : \"memory\");\n"                    \
  "}\n"

#define CP_ASYNC_OR_ZERO(name, path, bytes)                                             \
  "__device__ __forceinline__ void " name                                               \
  "(float *to_shared, const float *from_global,\n"                                      \
  "                                                  bool inside) {\n"                  \
  "  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(to_shared));\n" \
  "  const int n_bytes = inside ? " bytes                                               \
  " : 0;\n"                                                                             \
  "  asm volatile(\"cp.async." path ".shared.global [%0], [%1], " bytes                 \
  ", %2;\"\n"                                                                           \
  "               :: \"r\"(to), \"l\"(from_global), \"r\"(n_bytes) : \"memory\");\n"    \
  "}\n"

static const char *const texts[PRELUDE_COUNT] = {
    [PRELUDE_LOAD2] =
        "__device__ __forceinline__ void load2(float *to, const float *from) {\n"
        "  const float2 v = *reinterpret_cast<const float2 *>(from);\n"
        "  to[0] = v.x, to[1] = v.y;\n"
        "}\n",
    [PRELUDE_LOAD4] =
        "__device__ __forceinline__ void load4(float *to, const float *from) {\n"
        "  const float4 v = *reinterpret_cast<const float4 *>(from);\n"
        "  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;\n"
        "}\n",
    [PRELUDE_LOAD2_OR_ZERO] =
        "__device__ __forceinline__ void load2_or_zero(float *to, const float *from, bool inside) "
        "{\n"
        "  float2 v = {0.0f, 0.0f};\n"
        "  if (inside) v = *reinterpret_cast<const float2 *>(from);\n"
        "  to[0] = v.x, to[1] = v.y;\n"
        "}\n",
    [PRELUDE_LOAD4_OR_ZERO] =
        "__device__ __forceinline__ void load4_or_zero(float *to, const float *from, bool inside) "
        "{\n"
        "  float4 v = {0.0f, 0.0f, 0.0f, 0.0f};\n"
        "  if (inside) v = *reinterpret_cast<const float4 *>(from);\n"
        "  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;\n"
        "}\n",
    [PRELUDE_STORE2] =
        "__device__ __forceinline__ void store2(float *to, const float *from) {\n"
        "  *reinterpret_cast<float2 *>(to) = float2{from[0], from[1]};\n"
        "}\n",
    [PRELUDE_STORE4] =
        "__device__ __forceinline__ void store4(float *to, const float *from) {\n"
        "  *reinterpret_cast<float4 *>(to) = float4{from[0], from[1], from[2], from[3]};\n"
        "}\n",
    [PRELUDE_FILL2] =
        "__device__ __forceinline__ void fill2(float *to, float value) {\n"
        "  to[0] = value, to[1] = value;\n"
        "}\n",
    [PRELUDE_FILL4] =
        "__device__ __forceinline__ void fill4(float *to, float value) {\n"
        "  to[0] = value, to[1] = value, to[2] = value, to[3] = value;\n"
        "}\n",
    [PRELUDE_CP_ASYNC1] = CP_ASYNC("cp_async1", "ca", "4"),
    [PRELUDE_CP_ASYNC2] = CP_ASYNC("cp_async2", "ca", "8"),
    [PRELUDE_CP_ASYNC4] = CP_ASYNC("cp_async4", "cg", "16"),
    [PRELUDE_CP_ASYNC1_OR_ZERO] = CP_ASYNC_OR_ZERO("cp_async1_or_zero", "ca", "4"),
    [PRELUDE_CP_ASYNC2_OR_ZERO] = CP_ASYNC_OR_ZERO("cp_async2_or_zero", "ca", "8"),
    [PRELUDE_CP_ASYNC4_OR_ZERO] = CP_ASYNC_OR_ZERO("cp_async4_or_zero", "cg", "16"),
    [PRELUDE_CP_ASYNC_COMMIT] =
        "// The copies this thread has issued since the last commit become one group.\n"
        "__device__ __forceinline__ void cp_async_commit() {\n"
        "  asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n"
        "}\n",
    [PRELUDE_CP_ASYNC_WAIT] =
        "// Waits until at most `n` of this thread's groups are still in flight.\n"
        "template <int n>\n"
        "__device__ __forceinline__ void cp_async_wait() {\n"
        "  asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(n) : \"memory\");\n"
        "}\n",
};

const char *prelude_text(PreludeHelper helper) { return texts[helper]; }
