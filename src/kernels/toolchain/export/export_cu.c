// The host side of an exported kernel, written once as text; only sizes and launches are filled in.
//
// The check is the one of verify.h: |c − ref| <= tolerance · (|A|·|B|)ij + rounding · |ref| +
// least, the reference in float64 on the GPU, C filled with NaN before the launch so that a cell
// without a value is wrong. The kernels' own types serve the host part as well: number() and set()
// are all it needs to know of them. Up to 2^36 products every cell is compared (4096³ is just
// that); beyond, every step-th cell, step odd, while a NaN is looked for in all of them. Worked
// example, 8192³: 2^39 products, step 9.
//
// An operand that a kernel takes as a tensor map has both in Operands, `A` for the check and
// `A_map` for the launch; the map's sizes are those of the plan. What a launch has to settle for a
// kernel comes along in C++ (export_arg.h).
#include "kernels/toolchain/export/export_cu.h"

#include <string.h>

#include "base/embed.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/export/export_arg.h"
#include "kernels/toolchain/export/export_inside.h"
#include "kernels/toolchain/verify.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/text/prelude.h"

static const char map_include[] = "#include <cuda.h>\n";
static const char includes[] =
    "#include <cuda_runtime.h>\n"
    "\n"
    "#include <algorithm>\n"
    "#include <cstdio>\n"
    "#include <cstdlib>\n"
    "#include <cstring>\n"
    "#include <vector>\n"
    "\n";

static const char host_rule[] =
    "\n"
    "// ---- fill, check, time "
    "--------------------------------------------------------------------\n"
    "\n";

static const char host_start[] =
    "static void must(cudaError_t error, const char *what) {\n"
    "  if (error == cudaSuccess) return;\n"
    "  std::fprintf(stderr, \"%s: %s\\n\", what, cudaGetErrorString(error));\n"
    "  std::exit(3);\n"
    "}\n"
    "\n"
    "__device__ unsigned long long mix(unsigned long long x) {  // splitmix64\n"
    "  x += 0x9e3779b97f4a7c15ull;\n"
    "  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;\n"
    "  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;\n"
    "  return x ^ (x >> 31);\n"
    "}\n"
    "\n"
    "// Standard normal numbers by Box and Muller. With zeros the GPU would draw less power and\n"
    "// clock higher, and the time would be too good.\n"
    "__global__ void fill_normal(In *x, long long n, unsigned long long seed) {\n"
    "  const long long stride = (long long)gridDim.x * blockDim.x;\n"
    "  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {\n"
    "    const unsigned long long bits = mix(seed ^ mix(i));\n"
    "    const float u = ((unsigned)(bits >> 40) + 1) * 0x1p-24f;\n"
    "    const float v = (unsigned)(bits & 0xffffff) * 0x1p-24f;\n"
    "    set(&x[i], sqrtf(-2.0f * logf(u)) * cospif(2.0f * v));\n"
    "  }\n"
    "}\n"
    "\n"
    "struct Verdict {\n"
    "  unsigned long long n_checked, n_wrong;\n"
    "  unsigned worst;  // the largest error in units of its bound: the bits of a float\n"
    "};\n"
    "\n"
    "// A NaN is wrong, too. The magnitude is the sum of the terms' absolute values.\n"
    "__device__ void judge(double cell, double expected, double magnitude, Verdict *verdict) {\n"
    "  const double error = fabs(cell - expected);\n"
    "  const double bound = tolerance * magnitude + rounding * fabs(expected) + least;\n"
    "  atomicAdd(&verdict->n_checked, 1ull);\n"
    "  if (!(error <= bound)) atomicAdd(&verdict->n_wrong, 1ull);\n"
    "  if (error > 0) atomicMax(&verdict->worst, __float_as_uint((float)(error / bound)));\n"
    "}\n"
    "\n";

static const char check_cells[] =
    "__global__ void check_cells(const In *A, const In *B, const Out *C, Verdict *verdict) {\n"
    "  const long long stride = (long long)gridDim.x * blockDim.x;\n"
    "  long long cell = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  for (; cell < n_rows * n_columns; cell += stride) {\n"
    "    const double c = number(C[cell]);\n"
    "    if (c == c && cell % check_step != 0) continue;\n"
    "    const In *row = A + cell / n_columns * a_row, *column = B + cell % n_columns * "
    "b_column;\n"
    "    double sum = 0, magnitude = 0;\n"
    "    for (long long k = 0; k < depth; ++k) {\n"
    "      const double product = number(row[k * a_next]) * number(column[k * b_next]);\n"
    "      sum += product;\n"
    "      magnitude += fabs(product);\n"
    "    }\n"
    "    judge(c, sum, magnitude, verdict);\n"
    "  }\n"
    "}\n"
    "\n";

// Behind what launches the check.
static const char host_check[] =
    "  must(cudaMemcpy(&verdict, on_device, sizeof verdict, cudaMemcpyDeviceToHost), \"check\");\n"
    "  must(cudaFree(on_device), \"cudaFree\");\n"
    "  float worst;\n"
    "  std::memcpy(&worst, &verdict.worst, sizeof worst);\n"
    "  std::printf(\"%llu of %llu cells checked are wrong, worst error %.3g of its bound\\n\",\n"
    "              verdict.n_wrong, verdict.n_checked, worst);\n"
    "  return verdict.n_checked > 0 && verdict.n_wrong == 0;\n"
    "}\n"
    "\n"
    "static In *operand(long long n, unsigned long long seed) {\n"
    "  In *x;\n"
    "  must(cudaMalloc(&x, n * sizeof *x), \"cudaMalloc\");\n"
    "  fill_normal<<<4096, 256>>>(x, n, seed);\n"
    "  must(cudaGetLastError(), \"fill\");\n"
    "  return x;\n"
    "}\n"
    "\n"
    "// Memory filled with bytes of 0xff: NaN, or -1 in a type without NaN.\n"
    "template <class T>\n"
    "static T *unwritten(long long n) {\n"
    "  T *x;\n"
    "  must(cudaMalloc(&x, n * sizeof *x), \"cudaMalloc\");\n"
    "  must(cudaMemset(x, 0xff, n * sizeof *x), \"cudaMemset\");\n"
    "  return x;\n"
    "}\n"
    "\n";

// cudaGetDriverEntryPoint came first and is deprecated by the other one, which came with CUDA 12.5.
static const char map_about[] =
    "// The tensor map of an operand: its rows lie one after another, and each copy by the tensor\n"
    "// memory accelerator takes a box of them. The driver's function is looked up by name, so "
    "that\n"
    "// no further library is linked.\n";

// For matrices that lie one behind the other a map has a third dimension.
typedef struct MapText {
  const char *parameter, *extent, *pitches, *pitch, *box, *step;
  int rank;
} MapText;

static const MapText map_of_one = {
    "", "", "  const cuuint64_t row_bytes = columns * sizeof *x;\n", "&row_bytes", "", "", 2};
static const MapText map_of_several = {" long long matrices,\n                        ",
                                       ", (cuuint64_t)matrices",
                                       "  const cuuint64_t row_bytes = columns * sizeof *x, "
                                       "pitches[] = {row_bytes, row_bytes * rows};\n",
                                       "pitches",
                                       ", 1",
                                       ", 1",
                                       3};

static void add_map_of(Str *out, const MapText *text) {
  str_printf(
      out,
      "template <class T>\n"
      "static tensor_map map_of(T *x, long long columns, long long rows,%s unsigned box_columns,\n"
      "                         unsigned box_rows, CUtensorMapDataType type,\n"
      "                         CUtensorMapSwizzle swizzle) {\n"
      "  const char *name = \"cuTensorMapEncodeTiled\";\n"
      "  const auto flags = cudaEnableDefault;\n"
      "  void *encode = nullptr;\n"
      "  cudaDriverEntryPointQueryResult found;\n"
      "#if CUDART_VERSION >= 12050\n"
      "  must(cudaGetDriverEntryPointByVersion(name, &encode, 12000, flags, &found), name);\n"
      "#else\n"
      "  must(cudaGetDriverEntryPoint(name, &encode, flags, &found), name);\n"
      "#endif\n"
      "  must(found == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorSymbolNotFound, "
      "name);\n"
      "  const cuuint64_t extents[] = {(cuuint64_t)columns, (cuuint64_t)rows%s};\n"
      "%s"
      "  const cuuint32_t box[] = {box_columns, box_rows%s}, steps[] = {1, 1%s};\n"
      "  CUtensorMap encoded;\n"
      "  must((cudaError_t)((decltype(&cuTensorMapEncodeTiled))encode)(\n"
      "           &encoded, type, %d, x, extents, %s, box, steps,\n"
      "           CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,\n"
      "           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),\n"
      "       name);\n"
      "  tensor_map map;\n"
      "  static_assert(sizeof map == sizeof encoded, \"a map has 128 bytes\");\n"
      "  std::memcpy(&map, &encoded, sizeof map);\n"
      "  return map;\n"
      "}\n"
      "\n",
      text->parameter, text->extent, text->pitches, text->box, text->step, text->rank, text->pitch);
}

// Both kinds of a problem: how its operands and its result are called, filled, checked and counted.
typedef struct Kind {
  const char *check, *operands, *check_parameters, *check_launch, *check_arguments;
  const char *fill, *verb, *noun, *operations;
} Kind;

static const Kind kinds[] = {
    [PROBLEM_MATMUL] = {check_cells, "  In *A, *B;\n  Out *C;\n",
                        "const In *A, const In *B, const Out *C",
                        "check_cells<<<4096, 256>>>(A, B, C, on_device)", "on.A, on.B, on.C",
                        "  on.A = operand(n_rows * depth, 1);\n"
                        "  on.B = operand(depth * n_columns, 2);\n"
                        "  on.C = unwritten<Out>(n_rows * n_columns);\n",
                        "multiply", "product", "2e-9 * n_rows * n_columns * depth"},
    [PROBLEM_ATTENTION] = {export_attention_check, "  In *Q, *K, *V;\n  Out *O;\n",
                           "const In *Q, const In *K, const In *V, const Out *O",
                           "check_rows<<<4096, 256>>>(Q, K, V, O, on_device)",
                           "on.Q, on.K, on.V, on.O",
                           "  on.Q = operand(n_rows * head_dim, 1);\n"
                           "  on.K = operand(n_heads * n_keys * head_dim, 2);\n"
                           "  on.V = operand(n_heads * n_keys * head_dim, 3);\n"
                           "  on.O = unwritten<Out>(n_rows * n_columns);\n",
                           "attend", "run", "1e-9 * operations"},
};

static Kind kind_of(Arena *arena, const Problem *problem) {
  Kind kind = kinds[problem->kind];
  if (!dtype_is_scaled(problem->dtype)) return kind;
  kind.check = export_scaled_check(arena, problem);
  kind.operands = "  In *A, *B;\n  Out *C;\n  Factor *SFA, *SFB;\n";
  kind.check_parameters =
      "const In *A, const In *B, const Factor *SFA,\n                     const Factor *SFB, "
      "const Out *C";
  kind.check_launch = "check_cells<<<4096, 256>>>(A, B, SFA, SFB, C, on_device)";
  kind.check_arguments = "on.A, on.B, on.SFA, on.SFB, on.C";
  kind.fill = export_scaled_fill(arena, problem);
  return kind;
}

static void add_check(Str *out, const Kind *kind) {
  str_printf(out,
             "static bool is_right(%s) {\n"
             "  Verdict *on_device, verdict = {};\n"
             "  must(cudaMalloc(&on_device, sizeof verdict), \"cudaMalloc\");\n"
             "  must(cudaMemset(on_device, 0, sizeof verdict), \"cudaMemset\");\n"
             "  %s;\n%s",
             kind->check_parameters, kind->check_launch, host_check);
}

static const char host_time[] =
    "static float time_products(const Operands &on, int n) {\n"
    "  cudaEvent_t start, stop;\n"
    "  must(cudaEventCreate(&start), \"cudaEventCreate\");\n"
    "  must(cudaEventCreate(&stop), \"cudaEventCreate\");\n"
    "  must(cudaEventRecord(start), \"cudaEventRecord\");\n"
    "  for (int i = 0; i < n; ++i) %s(on);\n"
    "  must(cudaEventRecord(stop), \"cudaEventRecord\");\n"
    "  must(cudaEventSynchronize(stop), \"launch\");\n"
    "  float ms;\n"
    "  must(cudaEventElapsedTime(&ms, start, stop), \"cudaEventElapsedTime\");\n"
    "  must(cudaEventDestroy(start), \"cudaEventDestroy\");\n"
    "  must(cudaEventDestroy(stop), \"cudaEventDestroy\");\n"
    "  return ms;\n"
    "}\n"
    "\n";

static const char host_samples[] =
    "  const float once_ms = time_products(on, 3) / 3;  // warms up, too\n"
    "  const int n = std::max(1, std::min(1000, (int)(2.0f / once_ms)));\n"
    "  std::vector<float> ms;\n"
    "  for (int i = 0; i < 21; ++i) ms.push_back(time_products(on, n) / n);\n"
    "  std::sort(ms.begin(), ms.end());\n"
    "  const double median_ms = ms[ms.size() / 2];\n"
    "  std::printf(\"%.4f ms (median of %d samples of %d, fastest %.4f ms, L2 warm), \"\n"
    "              \"%.2f TFLOP/s\\n\",\n"
    "              median_ms, (int)ms.size(), n, ms[0],\n";

static void add_main(Str *out, const Kind *kind) {
  str_printf(out, "// Milliseconds of `n` %ss in a row.\n", kind->noun);
  str_printf(out, host_time, kind->verb);
  str_printf(out,
             "int main() {\n"
             "  Operands on = allocate();\n"
             "  %s(on);\n"
             "  must(cudaDeviceSynchronize(), \"launch\");\n"
             "  if (!is_right(%s)) return 1;  // a wrong kernel has no speed\n"
             "%s"
             "              %s / median_ms);\n"
             "  return 0;\n"
             "}\n",
             kind->verb, kind->check_arguments, host_samples, kind->operations);
}

// ---- types --------------------------------------------------------------------------------------

// How the host part reads an element as a number, rounds one to it, and names it in a map. The
// 8-bit floats go through f16, which holds them exactly.
#define SMALL_FLOAT(type)                                                            \
  "  float y;\n"                                                                     \
  "  asm(\"{ .reg .b16 low, high; .reg .b32 pair;\\n\"\n"                            \
  "      \"cvt.rn.f16x2." type                                                       \
  "x2 pair, %1; mov.b32 {low, high}, pair;\\n\"\n"                                   \
  "      \"cvt.f32.f16 %0, low; }\" : \"=f\"(y) : \"h\"((unsigned short)x.bits));\n" \
  "  return y;\n"
#define SMALL_BITS(type)                                            \
  "  unsigned short pair;\n"                                        \
  "  asm(\"cvt.rn.satfinite." type                                  \
  "x2.f32 %0, %1, %2;\" : \"=h\"(pair) : \"f\"(0.0f), \"f\"(x));\n" \
  "  to->bits = (unsigned char)pair;\n"

static const struct {
  const char *number, *set, *map;
} type_texts[DTYPE_COUNT] = {
    [DTYPE_F32] = {"  return x;\n", "  *to = x;\n", "FLOAT32"},
    [DTYPE_TF32] = {"  return x;\n", "  *to = x;\n", "FLOAT32"},
    [DTYPE_F64] = {"  return x;\n", "  *to = x;\n", "FLOAT64"},
    [DTYPE_S32] = {"  return x;\n", NULL, "INT32"},
    [DTYPE_S8] = {"  return x;\n",
                  "  *to = (signed char)fminf(fmaxf(rintf(32 * x), -127), 127);  // uses the range "
                  "of 8 bits\n",
                  "UINT8"},
    [DTYPE_F16] = {"  float y;\n"
                   "  asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(y) : \"h\"(x.bits));\n"
                   "  return y;\n",
                   "  asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(to->bits) : \"f\"(x));\n", "FLOAT16"},
    [DTYPE_BF16] = {"  return __uint_as_float((unsigned)x.bits << 16);\n",
                    "  asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(to->bits) : \"f\"(x));\n",
                    "BFLOAT16"},
    [DTYPE_E4M3] = {SMALL_FLOAT("e4m3"), SMALL_BITS("e4m3"), "UINT8"},
    [DTYPE_E5M2] = {SMALL_FLOAT("e5m2"), SMALL_BITS("e5m2"), "UINT8"},
    [DTYPE_MXF8] = {NULL, NULL, "UINT8"},  // the others are in export_scaled.c
    [DTYPE_MXF8E5M2] = {NULL, NULL, "UINT8"},
    [DTYPE_MXF4] = {NULL, NULL, "UINT8"},
    [DTYPE_NVFP4] = {NULL, NULL, "UINT8"},
    [DTYPE_UE8M0] = {NULL, NULL, "UINT8"},
    [DTYPE_UE4M3] = {NULL, NULL, "UINT8"},
};

static void add_number(Str *out, DType type) {
  str_printf(out, "__device__ double number(%s x) {\n%s}\n\n", prelude_type_name(type),
             type_texts[type].number);
}

static void add_types(Str *out, const Problem *problem) {
  if (dtype_is_scaled(problem->dtype)) {
    export_scaled_types(out, problem);
    return;
  }
  const char *operand = prelude_type_name(problem->dtype),
             *output = prelude_type_name(problem->out);
  str_printf(out, "typedef %s In;\ntypedef %s Out;\n\n", operand, output);
  add_number(out, problem->dtype);
  if (strcmp(operand, output) != 0) add_number(out, problem->out);
  str_printf(out, "__device__ void set(In *to, float x) {\n%s}\n\n",
             type_texts[problem->dtype].set);
}

// ---- sizes and bounds ---------------------------------------------------------------------------

static const char *const bound_words[DTYPE_COUNT] = {
    [DTYPE_F32] =
        "// An f32 sum of K products strays from the exact one by a few units in the last place\n"
        "// times the square root of K, relative to the sum of the products' magnitudes.\n",
    [DTYPE_F64] =
        "// The reference is a float64 sum too, so the bound is twice the error of one sum, which\n"
        "// grows like the square root of K.\n",
    [DTYPE_F16] =
        "// Sums in f16 lose half a unit in the last place of 11 bits with every addition.\n",
    [DTYPE_S32] = "// Sums of whole numbers are exact.\n",
};

static void add_bounds(Str *out, const Problem *problem, const Plan *plan) {
  const double rounding = verify_rounding(plan);
  str_add(out, bound_words[problem->acc]);
  if (problem->dtype == DTYPE_TF32)
    str_add(
        out,
        "// The tensor core cuts operands to 10 fraction bits, which changes the sum by 2^-10 of\n"
        "// itself on average.\n");
  else if (rounding > 0)
    str_printf(out, "// Rounding the sum to %s costs half a unit in its last place.\n",
               dtype_name(problem->out));
  str_printf(out, "constexpr double tolerance = %.6e, rounding = %.6e, least = %.6e;\n\n",
             verify_tolerance(plan), rounding, verify_floor(plan));
}

static void add_product_sizes(Str *out, const Problem *problem) {
  const double products = (double)problem->m * (double)problem->n * (double)problem->k;
  const double affordable = 0x1p36;
  long long step = products > affordable ? (long long)(products / affordable) | 1 : 1;
  str_printf(out, "constexpr long long n_rows = %lld, n_columns = %lld, depth = %lld;\n",
             (long long)problem->m, (long long)problem->n, (long long)problem->k);
  str_printf(
      out,
      "// Elements from one row of A to the next, and from one k to the next in it; from one\n"
      "// column of B to the next, and from one k to the next in it.\n");
  str_printf(out, "constexpr long long a_row = %s, a_next = %s, b_column = %s, b_next = %s;\n",
             problem->a_col ? "1" : "depth", problem->a_col ? "n_rows" : "1",
             problem->b_col ? "depth" : "1", problem->b_col ? "1" : "n_columns");
  str_printf(out, "constexpr long long check_step = %lld;  // %s\n", step,
             step == 1 ? "every cell is compared"
                       : "one cell of so many is compared; a NaN is looked for in all");
}

static void add_constants(Str *out, const Problem *problem, const Plan *plan) {
  if (problem->kind == PROBLEM_ATTENTION)
    export_attention_sizes(out, plan);
  else
    add_product_sizes(out, problem);
  add_bounds(out, problem, plan);
}

// ---- launches -----------------------------------------------------------------------------------

static void add_resident(Str *out, const EmitKernel *kernel) {
  enum { ANY = 1024 };  // more than any SM holds
  const bool clusters = kernel->cluster > 1;
  const int most = emit_blocks_in_tensor_memory(kernel);
  str_printf(out, "  static const int n_blocks = %s(%s, %lld, %lld, %lld, %d",
             clusters ? "blocks_in_clusters_that_fit" : "blocks_that_fit", kernel->name,
             (long long)kernel->most_blocks, (long long)kernel->n_threads,
             (long long)kernel->dynamic_smem_bytes, most ? most : ANY);
  if (clusters) str_printf(out, ", %lld", (long long)kernel->cluster);
  str_add(out, ");\n");
}

// A dependent kernel is launched with an attribute, for which there is no <<<…>>>.
static void add_dependent(Str *out, const EmitKernel *kernel, const char *blocks, bool stream) {
  str_printf(out, "  launch_early(%s, %s, %lld, %lld, %s", kernel->name, blocks,
             (long long)kernel->n_threads, (long long)kernel->dynamic_smem_bytes,
             stream ? "on.stream" : "0");
}

static void add_launch(Str *out, const EmitKernel *kernel, bool attention, bool stream) {
  long long blocks = (long long)kernel->n_blocks, threads = (long long)kernel->n_threads;
  long long bytes = (long long)kernel->dynamic_smem_bytes;
  const ExportArg *settled = export_arg_of(kernel);
  if (kernel->persistent) add_resident(out, kernel);
  if (settled) settled->declare(out, kernel);
  const char *grid = kernel->persistent ? "n_blocks" : arena_printf(out->arena, "%lld", blocks);
  if (kernel->dependent)
    add_dependent(out, kernel, grid, stream);
  else
    str_printf(out, "  %s<<<%s, %lld, %lld%s>>>(", kernel->name, grid, threads, bytes,
               stream ? ", on.stream" : "");
  for (int i = 0; i < kernel->n_args; i++)
    str_printf(out, "%son.%s", i || kernel->dependent ? ", " : "",
               emit_arg_name(out->arena, &kernel->arg[i]));
  if (kernel->takes[LAUNCH_ALPHA]) str_add(out, attention ? ", alpha" : ", 1.0f");
  if (settled) str_add(out, settled->pass);
  if (kernel->takes[LAUNCH_GRID]) str_add(out, ", grid");
  str_add(out, ");\n");
}

// Tells what goes through the tiles of a persistent kernel, for the one behind it that asks.
static void add_grid(Str *out, const EmitKernel *persistent) {
  const ExportArg *settled = export_arg_of(persistent);
  str_printf(out, "  const int grid = %s;\n",
             settled ? settled->turn
             : persistent->cluster > 1
                 ? arena_printf(out->arena, "n_blocks / %lld", (long long)persistent->cluster)
                 : "n_blocks");
}

// The first parameter that takes the plan's i-th map.
static const EmitArg *parameter_of(const Emission *emission, const Plan *plan, int i) {
  for (int k = 0; k < emission->n_kernels; k++)
    for (int a = 0; a < emission->kernel[k].n_args; a++)
      if (plan->kernels[k].args[a] == (PlanArg)(PLAN_ARG_MAP + i))
        return &emission->kernel[k].arg[a];
  return NULL;
}

void export_add_maps(Str *out, const Emission *emission, const Plan *plan) {
  static const char *const swizzles[] = {"NONE", "32B", "64B", "128B"};
  for (int i = 0; i < plan->n_maps; i++) {
    const PlanMap *map = &plan->maps[i];
    const EmitArg *arg = parameter_of(emission, plan, i);
    const char *matrices =
        map->matrices ? arena_printf(out->arena, " %lld,", (long long)map->matrices) : "";
    str_printf(out,
               "  on.%s = map_of(on.%s, %lld, %lld,%s %d, %d, CU_TENSOR_MAP_DATA_TYPE_%s,\n"
               "                    CU_TENSOR_MAP_SWIZZLE_%s);\n",
               emit_arg_name(out->arena, arg), arg->buffer->name, (long long)map->columns,
               (long long)map->rows, matrices, map->box_columns, map->box_rows,
               type_texts[arg->buffer->type].map, swizzles[map->swizzle_bits]);
  }
}

static void add_residents(Str *out, const EmitKernel *kernel) {
  str_add(out, embed_find(out->arena, "export/resident_blocks.cu")->text);
  if (kernel->cluster > 1)
    str_add(out, embed_find(out->arena, "export/resident_clusters.cu")->text);
}

static bool has_dependent(const Emission *emission) {
  for (int i = 0; i < emission->n_kernels; i++)
    if (emission->kernel[i].dependent) return true;
  return false;
}

void export_add_launches(Str *out, const Emission *emission, const Program *program,
                         const Plan *plan, bool stream) {
  const Kind its = kind_of(out->arena, &program->problem), *kind = &its;
  str_printf(out, "struct Operands {\n%s", kind->operands);
  for (int i = 0; i < program->n_buffers; i++)
    if (buffer_is_workspace(program->buffer[i]))
      str_printf(out, "  %s *%s;\n", prelude_type_name(program->buffer[i]->type),
                 program->buffer[i]->name);
  for (int i = 0; i < plan->n_maps; i++)
    str_printf(out, "  tensor_map %s;\n",
               emit_arg_name(out->arena, parameter_of(emission, plan, i)));
  str_printf(out, "%s};\n\n", stream ? "  cudaStream_t stream;\n" : "");
  for (int i = 0; i < emission->n_kernels; i++)
    if (emission->kernel[i].persistent) add_residents(out, &emission->kernel[i]);
  if (has_dependent(emission)) str_add(out, embed_find(out->arena, "export/launch_early.cu")->text);
  for (int i = 0; i < emission->n_kernels; i++)
    if (export_arg_of(&emission->kernel[i]))
      str_add(out, export_arg_of(&emission->kernel[i])->text);
  str_printf(out,
             "// Launches the kernels of one %s in their order.\n"
             "static void %s(const Operands &on) {\n",
             kind->noun, kind->verb);
  for (int i = 0; i < emission->n_kernels; i++) {
    if (emission->kernel[i].takes[LAUNCH_GRID]) add_grid(out, &emission->kernel[i - 1]);
    add_launch(out, &emission->kernel[i], program->problem.kind == PROBLEM_ATTENTION, stream);
  }
  str_add(out, "  must(cudaGetLastError(), \"launch\");\n}\n\n");
}

void export_add_attributes(Str *out, const Emission *emission) {
  for (int i = 0; i < emission->n_kernels; i++) {
    const EmitKernel *kernel = &emission->kernel[i];
    if (kernel->dynamic_smem_bytes == 0) continue;
    str_printf(
        out,
        "  must(cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, %lld),\n"
        "       \"shared memory\");\n",
        kernel->name, (long long)kernel->dynamic_smem_bytes);
  }
}

static void add_allocate(Str *out, const Emission *emission, const Program *program,
                         const Plan *plan) {
  str_printf(out,
             "static Operands allocate() {\n"
             "  Operands on = {};\n%s",
             kind_of(out->arena, &program->problem).fill);
  for (int i = 0; i < program->n_buffers; i++)
    if (buffer_is_workspace(program->buffer[i]))
      str_printf(out, "  on.%s = unwritten<%s>(%lld);\n", program->buffer[i]->name,
                 prelude_type_name(program->buffer[i]->type),
                 (long long)buffer_elements(program->buffer[i]));
  export_add_maps(out, emission, plan);  // of workspaces, too
  export_add_attributes(out, emission);
  str_add(out, "  return on;\n}\n\n");
}

// With -arch=sm_90a alone nvcc 13 also makes PTX for every sm_90, which has no setmaxnreg.
const char *export_arch_flags(Arena *arena, const Target *target) {
  const char *version = target->arch + strlen("sm_");
  return arena_printf(arena, "-gencode arch=compute_%s,code=sm_%s", version, version);
}

// The heading of the text goes in front of what is included.
void export_add_kernels(Str *out, const Emission *emission, const Plan *plan) {
  const char *rest = emission->text;
  while (strncmp(rest, "//", 2) == 0) {
    size_t n = strcspn(rest, "\n") + 1;
    str_add_bytes(out, rest, n);
    rest += n;
  }
  str_printf(out, "\n%s%s", plan->n_maps ? map_include : "", includes);
  str_add(out, rest + (*rest == '\n'));
}

void export_add_map_function(Str *out, const Plan *plan) {
  int n_several = 0;
  for (int i = 0; i < plan->n_maps; i++) n_several += plan->maps[i].matrices > 0;
  if (plan->n_maps) str_add(out, map_about);
  if (plan->n_maps > n_several) add_map_of(out, &map_of_one);
  if (n_several) add_map_of(out, &map_of_several);
}

const char *export_cu(Arena *arena, const Emission *emission, const Program *program,
                      const Target *target) {
  const char *file = program_main(program)->name;
  const Plan *plan = plan_from_emission(arena, emission, program, target, NULL);
  Str out = str_new(arena);
  str_printf(&out, "// nvcc -O3 %s -o %s %s.cu && ./%s\n//\n", export_arch_flags(arena, target),
             file, file, file);
  export_add_kernels(&out, emission, plan);
  str_add(&out, host_rule);
  add_constants(&out, &program->problem, plan);
  add_types(&out, &program->problem);
  str_add(&out, host_start);
  const Kind kind = kind_of(arena, &program->problem);
  str_add(&out, kind.check);
  export_add_launches(&out, emission, program, plan, false);
  add_check(&out, &kind);
  export_add_map_function(&out, plan);
  add_allocate(&out, emission, program, plan);
  add_main(&out, &kind);
  return out.text;
}
