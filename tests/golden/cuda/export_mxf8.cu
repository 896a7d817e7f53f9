// nvcc -O3 -gencode arch=compute_120a,code=sm_120a -o matmul matmul.cu && ./matmul
//
// C[512, 512] = A[512, 512] * B[512, 512], mxf8 summed in f32, C in f32, B column-major, A and C row-major
// AUTO=0,TARGET=rtx5090,M=512,N=512,K=512,ATOM_KIND=mma_m16n8k32_mxf8,B_COL=1
// for sm_120a (GeForce RTX 5090)
//
//   matmul<<<2048, 32>>>(A, B, C, SFA, SFB)

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int N = 512, K = 512;

// An e4m3 as it lies in memory; each 32 along K share a factor.
struct mxf8 {
  unsigned char bits;
};

// A factor: 2 to the power of bits - 127.
struct ue8m0 {
  unsigned char bits;
};

__device__ __forceinline__ void load4(unsigned *to, const mxf8 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

__device__ __forceinline__ void store2(float *to, const float *from) {
  *reinterpret_cast<float2 *>(to) = float2{from[0], from[1]};
}

__device__ __forceinline__ void fill4(float *to, float value) {
  to[0] = value, to[1] = value, to[2] = value, to[3] = value;
}

// c += a * b, 16 x 8 x 32, by a warp; PTX ISA, section 9.7.14.5.10 says which lane holds what.
// Each 32 elements along K are scaled by a ue8m0: of a row of A by one of lane 4 * (row % 8) +
// row / 8, of a column of B by one of lane 4 * column, in 1 byte of sfa and sfb from byte_a and
// byte_b on (thread-id 0: the first lanes of each four).
__device__ __forceinline__ void mma_m16n8k32_f32_mxf8(float *c, const unsigned *a,
    const unsigned *b,
    unsigned sfa, unsigned short byte_a, unsigned sfb, unsigned short byte_b) {
  asm volatile("mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X"
               ".m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3},"
               " {%10}, {%11, 0}, {%12}, {%13, 0};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]),
                 "r"(sfa), "h"(byte_a), "r"(sfb), "h"(byte_b));
}

// Value i of a register that holds 4; the others stay.
__device__ __forceinline__ void insert_ue8m0(unsigned *to, int i, ue8m0 value) {
  const unsigned bits = value.bits;
  *to = (*to & ~(0xffu << 8 * i)) | bits << 8 * i;
}

extern "C" __global__ void __launch_bounds__(32)
matmul(const mxf8 *__restrict__ A, const mxf8 *__restrict__ B, float *__restrict__ C,
    const ue8m0 *__restrict__ SFA, const ue8m0 *__restrict__ SFB) {

  const int m_b = blockIdx.x / 64;  // BLOCK 0..32, WM=1
  const int n_b = blockIdx.x % 64;  // BLOCK 0..64, WN=1
  const int lane = threadIdx.x;     // THREAD 0..32, ATOM_KIND=mma_m16n8k32_mxf8

  float acc[4];   // ATOM_KIND=mma_m16n8k32_mxf8: this thread's cells of C
  unsigned a[4];  // ATOM_KIND=mma_m16n8k32_mxf8: its values of A for one k-step, four to a register
  unsigned b[2];  // ATOM_KIND=mma_m16n8k32_mxf8: its values of B for one k-step, four to a register
  unsigned sfa;   // ATOM_KIND=mma_m16n8k32_mxf8
  unsigned sfb;   // ATOM_KIND=mma_m16n8k32_mxf8

  fill4(&acc[0], 0.0f);

  for (int k = 0; k < 16; ++k) {  // ATOM_KIND=mma_m16n8k32_mxf8
    // ATOM_KIND=mma_m16n8k32_mxf8: this thread's values of A
    #pragma unroll
    for (int v_a = 0; v_a < 4; ++v_a)
      load4(&a[v_a],
          &A[(m_b * 16 + lane / 4 + v_a % 2 * 8) * K + k * 32 + lane % 4 * 4 + v_a / 2 * 16]);

    // ATOM_KIND=mma_m16n8k32_mxf8: this thread's values of B
    #pragma unroll
    for (int v_b = 0; v_b < 2; ++v_b)
      load4(&b[v_b], &B[(n_b * 8 + lane / 4) * K + k * 32 + lane % 4 * 4 + v_b * 16]);

    insert_ue8m0(&sfa, 0, SFA[(m_b * 16 + lane % 2 * 8 + lane / 4) * 16 + k]);
    insert_ue8m0(&sfb, 0, SFB[(n_b * 8 + lane / 4) * 16 + k]);

    // ATOM_KIND=mma_m16n8k32_mxf8: multiply each fragment of A by each of B
    mma_m16n8k32_f32_mxf8(&acc[0], &a[0], &b[0], sfa, 0, sfb, 0);
  }

  // ATOM_KIND=mma_m16n8k32_mxf8: write the cells of C
  #pragma unroll
  for (int v_c = 0; v_c < 2; ++v_c)
    store2(&C[(m_b * 16 + lane / 4 + v_c * 8) * N + n_b * 8 + lane % 4 * 2], &acc[v_c * 2]);
}

// ---- fill, check, time --------------------------------------------------------------------

constexpr long long n_rows = 512, n_columns = 512, depth = 512;
// Elements from one row of A to the next, and from one k to the next in it; from one
// column of B to the next, and from one k to the next in it.
constexpr long long a_row = depth, a_next = 1, b_column = depth, b_next = 1;
constexpr long long check_step = 1;  // every cell is compared
// An f32 sum of K products strays from the exact one by a few units in the last place
// times the square root of K, relative to the sum of the products' magnitudes.
constexpr double tolerance = 1.667096e-03, rounding = 0.000000e+00, least = 5.605194e-45;

typedef mxf8 In;
typedef float Out;
typedef ue8m0 Factor;

// Elements along K that share a factor; the bits of a factor of 1/2.
constexpr long long block = 32;
constexpr unsigned least_factor = 126;

__device__ double number(Out x) { return x; }

__device__ double number(Factor x) { return ldexp(1.0, x.bits - 127); }

__device__ double number(In x) {
  float y;
  asm("{ .reg .b16 low, high; .reg .b32 pair;\n"
      "cvt.rn.f16x2.e4m3x2 pair, %1; mov.b32 {low, high}, pair;\n"
      "cvt.f32.f16 %0, low; }" : "=f"(y) : "h"((unsigned short)x.bits));
  return y;
}

__device__ double element(const In *x, long long at) { return number(x[at]); }

__device__ void set(In *to, float x) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
  to->bits = (unsigned char)pair;
}

__device__ unsigned long long mix(unsigned long long x);

__global__ void fill_factors(Factor *x, long long n, unsigned long long seed) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
    x[i].bits = (unsigned char)(least_factor + mix(seed ^ mix(i)) % 3);
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

struct Verdict {
  unsigned long long n_checked, n_wrong;
  unsigned worst;  // the largest error in units of its bound: the bits of a float
};

// A cell that is no number is wrong too. The magnitude: what its terms add up to unsigned.
__device__ void judge(double cell, double expected, double magnitude, Verdict *verdict) {
  const double error = fabs(cell - expected);
  const double bound = tolerance * magnitude + rounding * fabs(expected) + least;
  atomicAdd(&verdict->n_checked, 1ull);
  if (!(error <= bound)) atomicAdd(&verdict->n_wrong, 1ull);
  if (error > 0) atomicMax(&verdict->worst, __float_as_uint((float)(error / bound)));
}

// Factors of all rows; where the one of a row is that has so many in front of it.
constexpr long long factors_of(long long rows) { return rows * (depth / block); }
__device__ long long factor_place(long long row, long long at) {
  return row * (depth / block) + at;
}

__global__ void check_cells(const In *A, const In *B, const Factor *SFA, const Factor *SFB,
                            const Out *C, Verdict *verdict) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  long long cell = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (; cell < n_rows * n_columns; cell += stride) {
    const double c = number(C[cell]);
    if (c == c && cell % check_step != 0) continue;
    const long long row = cell / n_columns, column = cell % n_columns;
    double sum = 0, magnitude = 0;
    for (long long k = 0; k < depth; ++k) {
      const double factor = number(SFA[factor_place(row, k / block)]) *
                            number(SFB[factor_place(column, k / block)]);
      const double product = element(A, row * a_row + k * a_next) *
                             element(B, column * b_column + k * b_next) * factor;
      sum += product;
      magnitude += fabs(product);
    }
    judge(c, sum, magnitude, verdict);
  }
}

struct Operands {
  In *A, *B;
  Out *C;
  Factor *SFA, *SFB;
};

// Launches the kernels of one product in their order.
static void multiply(const Operands &on) {
  matmul<<<2048, 32, 0>>>(on.A, on.B, on.C, on.SFA, on.SFB);
  must(cudaGetLastError(), "launch");
}

static bool is_right(const In *A, const In *B, const Factor *SFA,
                     const Factor *SFB, const Out *C) {
  Verdict *on_device, verdict = {};
  must(cudaMalloc(&on_device, sizeof verdict), "cudaMalloc");
  must(cudaMemset(on_device, 0, sizeof verdict), "cudaMemset");
  check_cells<<<4096, 256>>>(A, B, SFA, SFB, C, on_device);
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
  on.SFA = unwritten<Factor>(factors_of(n_rows));
  on.SFB = unwritten<Factor>(factors_of(n_columns));
  fill_factors<<<1024, 256>>>(on.SFA, factors_of(n_rows), 3);
  fill_factors<<<1024, 256>>>(on.SFB, factors_of(n_columns), 4);
  must(cudaGetLastError(), "fill");
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
  if (!is_right(on.A, on.B, on.SFA, on.SFB, on.C)) return 1;  // a wrong kernel has no speed
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
