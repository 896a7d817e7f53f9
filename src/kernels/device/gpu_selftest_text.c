// One text of macros for all simple kernels, one for the tiled ones; a kind switches lines of them.
//
// Sizes are constants of the text, as in every plan. A(i, p) and B(p, j) hide the layouts:
// row-major A is a[i * K + p], column-major a[p * M + i].
#include "kernels/device/gpu_selftest_text.h"

#include "base/str.h"

static const char *const storage[PLAN_N_TYPES] = {"float", "unsigned short", "unsigned short",
                                                  "float", "double"};

// How a value of this type is read and written as the accumulator's float or double.
static const char *load_text(PlanType type) {
  if (type == PLAN_F16)
    return "__device__ float load(unsigned short h) {\n"
           "  float x;\n"
           "  asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(h));\n"
           "  return x;\n"
           "}\n";
  if (type == PLAN_BF16)
    return "__device__ float load(unsigned short h) { return __uint_as_float((unsigned)h << 16); "
           "}\n";
  return type == PLAN_F64 ? "__device__ double load(double x) { return x; }\n"
                          : "__device__ float load(float x) { return x; }\n";
}

static const char *save_text(PlanType type) {
  if (type == PLAN_F16)
    return "__device__ unsigned short save(float x) {\n"
           "  unsigned short h;\n"
           "  asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(x));\n"
           "  return h;\n"
           "}\n";
  if (type == PLAN_BF16)
    return "__device__ unsigned short save(float x) {\n"
           "  unsigned u = __float_as_uint(x);\n"
           "  return (unsigned short)((u + 0x7fffu + ((u >> 16) & 1)) >> 16);\n"
           "}\n";
  return type == PLAN_F64 ? "__device__ double save(double x) { return x; }\n"
                          : "__device__ float save(float x) { return x; }\n";
}

static void add_head(Str *text, const Plan *shape) {
  str_printf(text, "#define M %lldll\n#define N %lldll\n#define K %lldll\n", (long long)shape->m,
             (long long)shape->n, (long long)shape->k);
  str_printf(text, "typedef %s In;\ntypedef %s Out;\ntypedef %s Sum;\n",
             storage[shape->operand_type], storage[shape->output_type],
             shape->accumulate_type == PLAN_F64 ? "double" : "float");
  str_printf(text, "#define A(i, p) load(a[%s])\n",
             shape->a_col_major ? "(long long)(p) * M + (i)" : "(long long)(i) * K + (p)");
  str_printf(text, "#define B(p, j) load(b[%s])\n",
             shape->b_col_major ? "(long long)(j) * K + (p)" : "(long long)(p) * N + (j)");
  str_add(text, load_text(shape->operand_type));
  str_add(text, save_text(shape->output_type));
}

typedef struct Recipe {
  int split;          // parts of K, one per blockIdx.z
  const char *last;   // the end of the sum over p
  const char *first;  // what stands before the store
  const char *store;
  const char *also;  // a second kernel, "" for none
} Recipe;

#define STORE "c[i * N + j] = save(sum);"
#define ZERO                                                     \
  "extern \"C\" __global__ void zero(Out *c) {\n"                \
  "  long long x = (long long)blockIdx.x * 256 + threadIdx.x;\n" \
  "  if (x < M * N) c[x] = 0;\n"                                 \
  "}\n"
#define REDUCE                                                      \
  "extern \"C\" __global__ void reduce(const float *w, Out *c) {\n" \
  "  long long x = (long long)blockIdx.x * 256 + threadIdx.x;\n"    \
  "  if (x >= M * N) return;\n"                                     \
  "  float sum = 0;\n"                                              \
  "  for (int s = 0; s < 4; s++) sum += w[s * M * N + x];\n"        \
  "  c[x] = save(sum);\n"                                           \
  "}\n"

static const Recipe recipes[] = {
    [SELFTEST_SIMPLE] = {1, "end", "", STORE, ""},
    [SELFTEST_SPLIT_K] = {4, "end", "", "atomicAdd(&c[i * N + j], sum);", ZERO},
    [SELFTEST_PARTIALS] = {4, "end", "", "w[(blockIdx.z * M + i) * N + j] = sum;", REDUCE},
    [SELFTEST_SHORT_K] = {1, "(i >= 64 ? end - 1 : end)", "", STORE, ""},
    [SELFTEST_UNWRITTEN] = {1, "end", "if (i == M - 1) return;", STORE, ""},
    [SELFTEST_UNZEROED] = {4, "end", "", "atomicAdd(&c[i * N + j], sum);", ""},
    [SELFTEST_OUTSIDE] = {1, "end", "c[-1] = save(sum);", STORE, ""},
    [SELFTEST_STRAY_READ] = {1, "(i == M - 1 ? end + 1 : end)", "", STORE, ""},
    [SELFTEST_CRASH] = {1, "end", "c = (Out *)16;", STORE, ""},
};

static const char *simple_text(Arena *arena, const Recipe *recipe, const Plan *shape) {
  Str text = str_new(arena);
  add_head(&text, shape);
  str_add(&text, recipe->also);
  str_printf(
      &text,
      "extern \"C\" __global__ void gemm(const In *__restrict__ a, const In *__restrict__ b,\n"
      "                                Out *c, float *w) {\n"
      "  long long j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;\n"
      "  if (i >= M || j >= N) return;\n"
      "  long long part = (K + %d - 1) / %d, begin = blockIdx.z * part;\n"
      "  long long end = begin + part < K ? begin + part : K;\n"
      "  Sum sum = 0;\n"
      "  for (long long p = begin; p < %s; p++) sum += A(i, p) * B(p, j);\n"
      "  %s\n  %s\n}\n",
      recipe->split, recipe->split, recipe->last, recipe->first, recipe->store);
  return text.text;
}

static const char tiled_body[] =
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "gemm(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c) {\n"
    "  __shared__ float a_s[8][128 + 4], b_s[8][128];\n"
    "  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;\n"
    "  const long long row = blockIdx.y * 128, col = blockIdx.x * 128;\n"
    "  float sum[8][8] = {};\n"
    "  for (long long k = 0; k < K; k += 8) {\n"
    "    const float4 x = *(const float4 *)&a[(row + threadIdx.x / 2) * K + k + threadIdx.x % 2 * "
    "4];\n"
    "    const float xs[4] = {x.x, x.y, x.z, x.w};\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < 4; i++) a_s[threadIdx.x % 2 * 4 + i][threadIdx.x / 2] = xs[i];\n"
    "    *(float4 *)&b_s[threadIdx.x / 32][threadIdx.x % 32 * 4] =\n"
    "        *(const float4 *)&b[(k + threadIdx.x / 32) * N + col + threadIdx.x % 32 * 4];\n"
    "    __syncthreads();\n"
    "#pragma unroll\n"
    "    for (int p = 0; p < 8; p++) {\n"
    "      float u[8], v[8];\n"
    "#pragma unroll\n"
    "      for (int i = 0; i < 8; i++) u[i] = a_s[p][ty * 4 + i % 4 + i / 4 * 64];\n"
    "#pragma unroll\n"
    "      for (int j = 0; j < 8; j++) v[j] = b_s[p][tx * 4 + j % 4 + j / 4 * 64];\n"
    "#pragma unroll\n"
    "      for (int i = 0; i < 8; i++)\n"
    "#pragma unroll\n"
    "        for (int j = 0; j < 8; j++) sum[i][j] += u[i] * v[j];\n"
    "    }\n"
    "    __syncthreads();\n"
    "  }\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < 8; i++)\n"
    "#pragma unroll\n"
    "    for (int j = 0; j < 8; j++)\n"
    "      c[(row + ty * 4 + i % 4 + i / 4 * 64) * N + col + tx * 4 + j % 4 + j / 4 * 64] = "
    "sum[i][j];\n"
    "}\n";

static void plan_tiled(Arena *arena, Plan *plan) {
  Str text = str_new(arena);
  add_head(&text, plan);
  str_add(&text, tiled_body);
  plan->cuda = text.text;
  plan->tile_m = plan->tile_n = 128;
  plan->n_kernels = 1;
  plan->kernels[0] = (PlanKernel){.name = "gemm",
                                  .grid = {plan->n / 128, plan->m / 128, 1},
                                  .block = {256, 1, 1},
                                  .n_args = 3,
                                  .args = {PLAN_ARG_A, PLAN_ARG_B, PLAN_ARG_C}};
}

static void plan_simple(Arena *arena, Plan *plan, SelftestKind kind) {
  const Recipe *recipe = &recipes[kind];
  const PlanArg last = kind == SELFTEST_PARTIALS ? PLAN_ARG_WORKSPACE : PLAN_ARG_C;
  const PlanKernel gemm = {.name = "gemm",
                           .grid = {(plan->n + 15) / 16, (plan->m + 15) / 16, recipe->split},
                           .block = {16, 16, 1},
                           .n_args = 4,
                           .args = {PLAN_ARG_A, PLAN_ARG_B, PLAN_ARG_C, last}};
  const PlanKernel second = {.name = kind == SELFTEST_PARTIALS ? "reduce" : "zero",
                             .grid = {(plan->m * plan->n + 255) / 256, 1, 1},
                             .block = {256, 1, 1},
                             .n_args = kind == SELFTEST_PARTIALS ? 2 : 1,
                             .args = {last, PLAN_ARG_C}};
  plan->cuda = simple_text(arena, recipe, plan);
  plan->tile_m = plan->tile_n = 16;
  plan->n_kernels = 0;
  if (kind == SELFTEST_SPLIT_K) plan->kernels[plan->n_kernels++] = second;
  plan->kernels[plan->n_kernels++] = gemm;
  if (kind == SELFTEST_PARTIALS) {
    plan->kernels[plan->n_kernels++] = second;
    plan->workspace_bytes[0] = 4 * plan->m * plan->n * 4;
  }
}

Plan *selftest_plan(Arena *arena, SelftestKind kind, const Plan *shape) {
  Plan *plan = ARENA_NEW(arena, Plan);
  *plan = *shape;
  if (kind == SELFTEST_TILED)
    plan_tiled(arena, plan);
  else
    plan_simple(arena, plan, kind);
  return plan;
}
