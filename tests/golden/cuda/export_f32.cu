// nvcc -O3 -gencode arch=compute_90a,code=sm_90a -o matmul matmul.cu && ./matmul
//
// C[512, 512] = A[512, 512] * B[512, 512], f32, row-major
// AUTO=0,M=512,N=512,K=512,FM=4,FN=4,STAGE=11
// for sm_90a (H200 SXM)
//
//   matmul<<<64, 256>>>(A, B, C)   8192 bytes of shared memory

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int N = 512, K = 512;

extern "C" __global__ void __launch_bounds__(256)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  __shared__ __align__(128) float smem[2048];
  float *const A_s = smem;         // [64][16] STAGE=11: the slab of A
  float *const B_s = smem + 1024;  // [16][64] STAGE=11: the slab of B

  const int tid = threadIdx.x;
  const int m_b = blockIdx.x / 8;    // BLOCK 0..8, BM=16
  const int n_b = blockIdx.x % 8;    // BLOCK 0..8, BN=16
  const int m_t = threadIdx.x / 16;  // THREAD 0..16, BM=16
  const int n_t = threadIdx.x % 16;  // THREAD 0..16, BN=16

  // where this thread begins
  float *const A_s_at = A_s + tid / 16 * 16 + tid % 16;
  float *const B_s_at = B_s + tid / 64 * 64 + tid % 64;
  float *const A_s_at2 = A_s + m_t * 4 * 16;
  float *const B_s_at2 = B_s + n_t * 4;

  float acc[4][4];  // FM=4: this thread's cells of C
  float a[4];       // FM=4: its values of A for one k
  float b[4];       // FN=4: its values of B for one k
  float r_a[4];     // STAGE=11: on their way from A to shared memory
  float r_b[4];     // STAGE=11: on their way from B to shared memory

  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 4; ++n_r)
      acc[m_r][n_r] = 0.0f;

  for (int k_o = 0; k_o < 32; ++k_o) {  // BK=16
    // STAGE=11: fetch the slab of A
    #pragma unroll
    for (int c_a = 0; c_a < 4; ++c_a)
      r_a[c_a] = A[(m_b * 64 + c_a * 16 + tid / 16) * K + k_o * 16 + tid % 16];

    // STAGE=11: fetch the slab of B
    #pragma unroll
    for (int c_b = 0; c_b < 4; ++c_b)
      r_b[c_b] = B[(k_o * 16 + c_b * 4 + tid / 64) * N + n_b * 64 + tid % 64];

    // STAGE=11: put the slab of A into shared memory
    #pragma unroll
    for (int c_a = 0; c_a < 4; ++c_a)
      A_s_at[c_a * 16 * 16] = r_a[c_a];

    // STAGE=11: put the slab of B into shared memory
    #pragma unroll
    for (int c_b = 0; c_b < 4; ++c_b)
      B_s_at[c_b * 4 * 64] = r_b[c_b];

    // STAGE=11: the slab is filled
    __syncthreads();

    for (int k_i = 0; k_i < 16; ++k_i) {  // BK=16
      // FM=4: this thread's values of A
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        a[m_r] = A_s_at2[m_r * 16 + k_i];

      // FN=4: this thread's values of B
      #pragma unroll
      for (int n_r = 0; n_r < 4; ++n_r)
        b[n_r] = B_s_at2[k_i * 64 + n_r];

      // FM=4: add the outer product of a and b
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        #pragma unroll
        for (int n_r = 0; n_r < 4; ++n_r)
          acc[m_r][n_r] += a[m_r] * b[n_r];
    }

    // STAGE=11: the slab is read to the end
    __syncthreads();
  }

  // FM=4: write the cells of C
  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 4; ++n_r)
      C[(m_b * 64 + m_t * 4 + m_r) * N + n_b * 64 + n_t * 4 + n_r] = acc[m_r][n_r];
}

// ---- fill, check, time --------------------------------------------------------------------

constexpr long long n_rows = 512, n_columns = 512, depth = 512;
// Elements from one row of A to the next, and from one k to the next in it; from one
// column of B to the next, and from one k to the next in it.
constexpr long long a_row = depth, a_next = 1, b_column = 1, b_next = n_columns;
constexpr long long check_step = 1;  // every cell is compared
// An f32 sum of K products strays from the exact one by a few units in the last place
// times the square root of K, relative to the sum of the products' magnitudes.
constexpr double tolerance = 8.140119e-07, rounding = 0.000000e+00, least = 5.605194e-45;

typedef float In;
typedef float Out;

__device__ double number(float x) {…}
__device__ void set(In *to, float x) {…}

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

// Standard normal numbers by Box and Muller. With zeros the GPU would draw less power and
// clock higher, and the time would be too good.
__global__ void fill_normal(In *x, long long n, unsigned long long seed) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    const unsigned long long bits = mix(seed ^ mix(i));
    const float u = ((unsigned)(bits >> 40) + 1) * 0x1p-24f;
    const float v = (unsigned)(bits & 0xffffff) * 0x1p-24f;
    set(&x[i], sqrtf(-2.0f * logf(u)) * cospif(2.0f * v));
  }
}

struct Verdict {…}
__device__ void judge(double cell, double expected, double magnitude, Verdict *verdict) {…}

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
    judge(c, sum, magnitude, verdict);
  }
}

struct Operands {…}

// Launches the kernels of one product in their order.
static void multiply(const Operands &on) {
  matmul<<<64, 256, 0>>>(on.A, on.B, on.C);
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

// Memory filled with bytes of 0xff: NaN, or -1 in a type without NaN.
template <class T>
static T *unwritten(long long n) {
  T *x;
  must(cudaMalloc(&x, n * sizeof *x), "cudaMalloc");
  must(cudaMemset(x, 0xff, n * sizeof *x), "cudaMemset");
  return x;
}

static Operands allocate() {
  Operands on = {};
  on.A = operand(n_rows * depth, 1);
  on.B = operand(depth * n_columns, 2);
  on.C = unwritten<Out>(n_rows * n_columns);
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
