// nvcc -O3 -arch=sm_90a -o matmul matmul.cu && ./matmul
//
// matmul

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

struct f16 { unsigned short bits; };
struct alignas(64) tensor_map { unsigned long long word[16]; };

extern "C" __global__ void matmul(const __grid_constant__ tensor_map A,
                                  const __grid_constant__ tensor_map B, f16 *C) {
  C[threadIdx.x].bits = (unsigned short)(A.word[0] + B.word[0]);
}

// ---- fill, check, time --------------------------------------------------------------------

constexpr long long n_rows = 512, n_columns = 256, depth = 1024;
// From one row of A to the next, and from one k; B likewise.
constexpr long long a_row = depth, a_next = 1, b_column = depth, b_next = 1;
constexpr long long check_step = 1;  // every cell
// An f32 sum of K products strays from the exact one by a few units in the last place
// times the square root of K, relative to the sum of the products' magnitudes.
// Rounding the sum to f16 costs half a unit in its last place.
constexpr double tolerance = 9.536743e-07, rounding = 4.882812e-04, least = 2.980232e-08;

typedef f16 In;
typedef f16 Out;

__device__ double number(f16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}

__device__ void set(In *to, float x) {
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to->bits) : "f"(x));
}

static void must(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

__device__ unsigned long long mix(unsigned long long x) {  // splitmix64
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Standard normal numbers by Box and Muller: zeros would flatter power and clocks.
__global__ void fill_normal(In *x, long long n, unsigned long long seed) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    const unsigned long long bits = mix(seed ^ mix(i));
    const float u = ((unsigned)(bits >> 40) + 1) * 0x1p-24f;
    const float v = (unsigned)(bits & 0xffffff) * 0x1p-24f;
    set(&x[i], sqrtf(-2.0f * logf(u)) * cospif(2.0f * v));
  }
}

struct Verdict {
  unsigned long long n_checked, n_wrong;
  unsigned worst;  // the bits of the largest error, in units of its bound
};

__global__ void check_cells(const In *A, const In *B, const Out *C, Verdict *verdict) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  long long cell = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (; cell < n_rows * n_columns; cell += stride) {
    const double c = number(C[cell]);
    if (c == c && cell % check_step != 0) continue;
    const In *row = A + cell / n_columns * a_row, *column = B + cell % n_columns * b_column;
    double sum = 0, magnitude = 0;
    for (long long k = 0; k < depth; ++k) {
      const double product = number(row[k * a_next]) * number(column[k * b_next]);
      sum += product;
      magnitude += fabs(product);
    }
    const double error = fabs(c - sum);
    const double bound = tolerance * magnitude + rounding * fabs(sum) + least;
    atomicAdd(&verdict->n_checked, 1ull);
    if (!(error <= bound)) atomicAdd(&verdict->n_wrong, 1ull);
    if (error > 0) atomicMax(&verdict->worst, __float_as_uint((float)(error / bound)));
  }
}

struct Operands {
  In *A, *B;
  Out *C;
  tensor_map A_map;
  tensor_map B_map;
};

// One product: the launches in their order.
static void multiply(const Operands &on) {
  matmul<<<1024, 32, 0>>>(on.A_map, on.B_map, on.C);
  must(cudaGetLastError(), "launch");
}

static bool is_right(const In *A, const In *B, const Out *C) {
  Verdict *on_device, verdict = {};
  must(cudaMalloc(&on_device, sizeof verdict), "cudaMalloc");
  must(cudaMemset(on_device, 0, sizeof verdict), "cudaMemset");
  check_cells<<<4096, 256>>>(A, B, C, on_device);
  must(cudaMemcpy(&verdict, on_device, sizeof verdict, cudaMemcpyDeviceToHost), "check");
  must(cudaFree(on_device), "cudaFree");
  float worst;
  std::memcpy(&worst, &verdict.worst, sizeof worst);
  std::printf("%llu of %llu cells checked are wrong, worst error %.3g of its bound\n",
              verdict.n_wrong, verdict.n_checked, worst);
  return verdict.n_checked > 0 && verdict.n_wrong == 0;
}

static In *operand(long long n, unsigned long long seed) {
  In *x;
  must(cudaMalloc(&x, n * sizeof *x), "cudaMalloc");
  fill_normal<<<4096, 256>>>(x, n, seed);
  must(cudaGetLastError(), "fill");
  return x;
}

// Every byte 0xff: NaN, or -1 in a type that has none.
template <class T>
static T *unwritten(long long n) {
  T *x;
  must(cudaMalloc(&x, n * sizeof *x), "cudaMalloc");
  must(cudaMemset(x, 0xff, n * sizeof *x), "cudaMemset");
  return x;
}

// How the tensor memory accelerator reads an operand: rows that lie one after another, of
// which a copy takes a box. The driver's function is found by name: nothing more is linked.
static tensor_map map_of(In *x, long long columns, long long rows, unsigned box_columns,
                         unsigned box_rows, CUtensorMapDataType type,
                         CUtensorMapSwizzle swizzle) {
  const char *name = "cuTensorMapEncodeTiled";
  const auto flags = cudaEnableDefault;
  void *encode = nullptr;
  cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
  must(cudaGetDriverEntryPointByVersion(name, &encode, 12000, flags, &found), name);
#else
  must(cudaGetDriverEntryPoint(name, &encode, flags, &found), name);
#endif
  must(found == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorSymbolNotFound, name);
  const cuuint64_t extents[] = {(cuuint64_t)columns, (cuuint64_t)rows};
  const cuuint64_t row_bytes = columns * sizeof *x;
  const cuuint32_t box[] = {box_columns, box_rows}, steps[] = {1, 1};
  CUtensorMap encoded;
  must((cudaError_t)((decltype(&cuTensorMapEncodeTiled))encode)(
           &encoded, type, 2, x, extents, &row_bytes, box, steps,
           CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
       name);
  tensor_map map;
  static_assert(sizeof map == sizeof encoded, "a map has 128 bytes");
  std::memcpy(&map, &encoded, sizeof map);
  return map;
}

static Operands allocate() {
  Operands on = {};
  on.A = operand(n_rows * depth, 1);
  on.B = operand(depth * n_columns, 2);
  on.C = unwritten<Out>(n_rows * n_columns);
  on.A_map = map_of(on.A, 1024, 512, 32, 64, CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                    CU_TENSOR_MAP_SWIZZLE_64B);
  on.B_map = map_of(on.B, 1024, 256, 64, 16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                    CU_TENSOR_MAP_SWIZZLE_NONE);
  return on;
}

// Milliseconds of `n` products in a row.
static float time_products(const Operands &on, int n) {
  cudaEvent_t start, stop;
  must(cudaEventCreate(&start), "cudaEventCreate");
  must(cudaEventCreate(&stop), "cudaEventCreate");
  must(cudaEventRecord(start), "cudaEventRecord");
  for (int i = 0; i < n; ++i) multiply(on);
  must(cudaEventRecord(stop), "cudaEventRecord");
  must(cudaEventSynchronize(stop), "launch");
  float ms;
  must(cudaEventElapsedTime(&ms, start, stop), "cudaEventElapsedTime");
  must(cudaEventDestroy(start), "cudaEventDestroy");
  must(cudaEventDestroy(stop), "cudaEventDestroy");
  return ms;
}

int main() {
  Operands on = allocate();
  multiply(on);
  must(cudaDeviceSynchronize(), "launch");
  if (!is_right(on.A, on.B, on.C)) return 1;  // a wrong kernel has no speed
  const float once_ms = time_products(on, 3) / 3;  // warms up, too
  const int n = std::max(1, std::min(1000, (int)(2.0f / once_ms)));
  std::vector<float> ms;
  for (int i = 0; i < 21; ++i) ms.push_back(time_products(on, n) / n);
  std::sort(ms.begin(), ms.end());
  const double median_ms = ms[ms.size() / 2];
  std::printf("%.4f ms (median of %d samples of %d, fastest %.4f ms, L2 warm), "
              "%.2f TFLOP/s\n",
              median_ms, (int)ms.size(), n, ms[0],
              2e-9 * n_rows * n_columns * depth / median_ms);
  return 0;
}
