// The host side of an exported kernel, written once as text; only sizes and launches are filled in.
//
// The check is the one of verify.h: |c − ref| <= tolerance · (|A|·|B|)ij, the reference in float64
// on the GPU, C filled with NaN before the launch so that a cell nobody wrote is wrong. Up to 2^36
// products every cell is compared (4096³ is just that); beyond, every step-th cell, step odd, while
// a NaN is looked for in all of them. Worked example, 8192³: 2^39 products, step 9.
#include "kernels/export_cu.h"

#include <math.h>
#include <string.h>

static const char includes[] =
    "\n"
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
    "// Standard normal numbers by Box and Muller: zeros would flatter power and clocks.\n"
    "__global__ void fill_normal(float *x, long long n, unsigned long long seed) {\n"
    "  const long long stride = (long long)gridDim.x * blockDim.x;\n"
    "  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {\n"
    "    const unsigned long long bits = mix(seed ^ mix(i));\n"
    "    const float u = ((unsigned)(bits >> 40) + 1) * 0x1p-24f;\n"
    "    const float v = (unsigned)(bits & 0xffffff) * 0x1p-24f;\n"
    "    x[i] = sqrtf(-2.0f * logf(u)) * cospif(2.0f * v);\n"
    "  }\n"
    "}\n"
    "\n"
    "struct Verdict {\n"
    "  unsigned long long n_checked, n_wrong;\n"
    "  unsigned worst;  // the bits of the largest error, in units of its bound\n"
    "};\n"
    "\n"
    "__global__ void check_cells(const float *A, const float *B, const float *C, Verdict *verdict) "
    "{\n"
    "  const long long stride = (long long)gridDim.x * blockDim.x;\n"
    "  long long cell = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  for (; cell < n_rows * n_columns; cell += stride) {\n"
    "    const double c = C[cell];\n"
    "    if (c == c && cell % check_step != 0) continue;\n"
    "    const float *row = A + cell / n_columns * depth, *column = B + cell % n_columns;\n"
    "    double sum = 0, magnitude = 0;\n"
    "    for (long long k = 0; k < depth; ++k) {\n"
    "      const double product = (double)row[k] * column[k * n_columns];\n"
    "      sum += product;\n"
    "      magnitude += fabs(product);\n"
    "    }\n"
    "    const double error = fabs(c - sum), bound = tolerance * magnitude;\n"
    "    atomicAdd(&verdict->n_checked, 1ull);\n"
    "    if (!(error <= bound)) atomicAdd(&verdict->n_wrong, 1ull);\n"
    "    atomicMax(&verdict->worst, __float_as_uint((float)(error / bound)));\n"
    "  }\n"
    "}\n"
    "\n";

static const char host_check[] =
    "static bool is_right(const float *A, const float *B, const float *C) {\n"
    "  Verdict *on_device, verdict = {};\n"
    "  must(cudaMalloc(&on_device, sizeof verdict), \"cudaMalloc\");\n"
    "  must(cudaMemset(on_device, 0, sizeof verdict), \"cudaMemset\");\n"
    "  check_cells<<<4096, 256>>>(A, B, C, on_device);\n"
    "  must(cudaMemcpy(&verdict, on_device, sizeof verdict, cudaMemcpyDeviceToHost), \"check\");\n"
    "  must(cudaFree(on_device), \"cudaFree\");\n"
    "  float worst;\n"
    "  std::memcpy(&worst, &verdict.worst, sizeof worst);\n"
    "  std::printf(\"%llu of %llu cells checked are wrong, worst error %.3g of its bound\\n\",\n"
    "              verdict.n_wrong, verdict.n_checked, worst);\n"
    "  return verdict.n_checked > 0 && verdict.n_wrong == 0;\n"
    "}\n"
    "\n"
    "static float *operand(long long n, unsigned long long seed) {\n"
    "  float *x;\n"
    "  must(cudaMalloc(&x, n * sizeof *x), \"cudaMalloc\");\n"
    "  if (seed)\n"
    "    fill_normal<<<4096, 256>>>(x, n, seed);\n"
    "  else\n"
    "    must(cudaMemset(x, 0xff, n * sizeof *x), \"cudaMemset\");  // NaN\n"
    "  must(cudaGetLastError(), \"fill\");\n"
    "  return x;\n"
    "}\n"
    "\n";

static const char host_main[] =
    "// Milliseconds of `n` products in a row.\n"
    "static float time_products(const Operands &on, int n) {\n"
    "  cudaEvent_t start, stop;\n"
    "  must(cudaEventCreate(&start), \"cudaEventCreate\");\n"
    "  must(cudaEventCreate(&stop), \"cudaEventCreate\");\n"
    "  must(cudaEventRecord(start), \"cudaEventRecord\");\n"
    "  for (int i = 0; i < n; ++i) multiply(on);\n"
    "  must(cudaEventRecord(stop), \"cudaEventRecord\");\n"
    "  must(cudaEventSynchronize(stop), \"launch\");\n"
    "  float ms;\n"
    "  must(cudaEventElapsedTime(&ms, start, stop), \"cudaEventElapsedTime\");\n"
    "  must(cudaEventDestroy(start), \"cudaEventDestroy\");\n"
    "  must(cudaEventDestroy(stop), \"cudaEventDestroy\");\n"
    "  return ms;\n"
    "}\n"
    "\n"
    "int main() {\n"
    "  Operands on = allocate();\n"
    "  multiply(on);\n"
    "  must(cudaDeviceSynchronize(), \"launch\");\n"
    "  if (!is_right(on.A, on.B, on.C)) return 1;  // a wrong kernel has no speed\n"
    "  const float once_ms = time_products(on, 3) / 3;  // warms up, too\n"
    "  const int n = std::max(1, std::min(1000, (int)(2.0f / once_ms)));\n"
    "  std::vector<float> ms;\n"
    "  for (int i = 0; i < 21; ++i) ms.push_back(time_products(on, n) / n);\n"
    "  std::sort(ms.begin(), ms.end());\n"
    "  const double median_ms = ms[ms.size() / 2];\n"
    "  std::printf(\"%.4f ms (median of %d samples of %d, fastest %.4f ms, L2 warm), \"\n"
    "              \"%.2f TFLOP/s\\n\",\n"
    "              median_ms, (int)ms.size(), n, ms[0],\n"
    "              2e-9 * n_rows * n_columns * depth / median_ms);\n"
    "  return 0;\n"
    "}\n";

static void add_constants(Str *out, const Problem *problem) {
  const double products = (double)problem->m * (double)problem->n * (double)problem->k;
  const double affordable = 0x1p36;
  long long step = products > affordable ? (long long)(products / affordable) | 1 : 1;
  str_printf(out, "constexpr long long n_rows = %lld, n_columns = %lld, depth = %lld;\n",
             (long long)problem->m, (long long)problem->n, (long long)problem->k);
  str_printf(out, "constexpr long long check_step = %lld;  // every cell%s\n", step,
             step == 1 ? "" : " of so many is compared, all are looked at");
  str_add(out,
          "// An f32 sum of K products strays from the exact one by a few units in the last place\n"
          "// times the square root of K, relative to the sum of the products' magnitudes.\n");
  str_printf(out, "constexpr double tolerance = %.6e;\n\n",
             0x1p-24 * (8 + sqrt((double)problem->k) / 4));
}

static void add_launch(Str *out, const EmitKernel *kernel) {
  str_printf(out, "  %s<<<%lld, %lld, %lld>>>(", kernel->name, (long long)kernel->n_blocks,
             (long long)kernel->n_threads, (long long)kernel->dynamic_smem_bytes);
  for (int i = 0; i < kernel->n_args; i++)
    str_printf(out, "%son.%s", i ? ", " : "", kernel->arg[i]->name);
  if (kernel->takes_alpha) str_add(out, ", 1.0f");
  str_add(out, ");\n");
}

static const char *workspace_name(const Program *program) {
  const Buffer *partial = program_buffer(program, ROLE_PARTIAL);
  return partial ? partial->name : NULL;
}

static void add_multiply(Str *out, const Emission *emission, const Program *program) {
  const char *workspace = workspace_name(program);
  str_printf(out, "struct Operands {\n  float *A, *B, *C%s%s;\n};\n\n", workspace ? ", *" : "",
             workspace ? workspace : "");
  str_add(out,
          "// One product: the launches in their order.\n"
          "static void multiply(const Operands &on) {\n");
  for (int i = 0; i < emission->n_kernels; i++) add_launch(out, &emission->kernel[i]);
  str_add(out, "  must(cudaGetLastError(), \"launch\");\n}\n\n");
}

static void add_allocate(Str *out, const Emission *emission, const Program *program) {
  const char *workspace = workspace_name(program);
  str_add(out,
          "static Operands allocate() {\n"
          "  Operands on = {};\n"
          "  on.A = operand(n_rows * depth, 1);\n"
          "  on.B = operand(depth * n_columns, 2);\n"
          "  on.C = operand(n_rows * n_columns, 0);\n");
  if (workspace)
    str_printf(out, "  on.%s = operand(%lld, 0);\n", workspace,
               (long long)(emission->workspace_bytes / dtype_bytes(program->problem.dtype)));
  for (int i = 0; i < emission->n_kernels; i++) {
    const EmitKernel *kernel = &emission->kernel[i];
    if (kernel->dynamic_smem_bytes == 0) continue;
    str_printf(
        out,
        "  must(cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, %lld),\n"
        "       \"shared memory\");\n",
        kernel->name, (long long)kernel->dynamic_smem_bytes);
  }
  str_add(out, "  return on;\n}\n\n");
}

const char *export_cu(Arena *arena, const Emission *emission, const Program *program,
                      const Target *target) {
  const char *file = program->kernel[program->main_kernel].name;
  Str out = str_new(arena);
  str_printf(&out, "// nvcc -O3 -arch=%s -o %s %s.cu && ./%s\n//\n", target->arch, file, file,
             file);
  const char *rest = emission->text;
  while (strncmp(rest, "//", 2) == 0) {
    size_t n = strcspn(rest, "\n") + 1;
    str_add_bytes(&out, rest, n);
    rest += n;
  }
  str_add(&out, includes);
  str_add(&out, rest + (*rest == '\n'));
  str_add(&out, host_rule);
  add_constants(&out, &program->problem);
  str_add(&out, host_start);
  add_multiply(&out, emission, program);
  str_add(&out, host_check);
  add_allocate(&out, emission, program);
  str_add(&out, host_main);
  return out.text;
}
