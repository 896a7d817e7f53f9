// nvcc -O3 -gencode arch=compute_90a,code=sm_90a -o matmul matmul.cu && ./matmul
//
// C[512, 256] = A[512, 1024] * B[1024, 256], f16 summed in f32, B column-major, A and C row-major
//
//   matmul<<<32, 256>>>(A_map, B_map, C)   16416 bytes of shared memory

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int N = 256;

// An IEEE half (1 sign, 5 exponent, 10 fraction bits) as it lies in memory.
struct f16 {
  unsigned short bits;
};

__device__ __forceinline__ void store2(f16 *to, const float *from) {
  unsigned v[1];
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[0]) : "f"(from[1]), "f"(from[0]));
  *reinterpret_cast<unsigned *>(to) = v[0];
}

__device__ __forceinline__ void fill4(float *to, float value) {
  to[0] = value, to[1] = value, to[2] = value, to[3] = value;
}

// A matrix and the box that is copied of it at a time, as the driver encodes them.
struct alignas(64) tensor_map {
  unsigned long long word[16];
};

// Phase 0 begins; a phase ends after so many arrivals and all expected bytes.
__device__ __forceinline__ void mbarrier_init(unsigned long long *bars, int i, int arrivals) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
               :: "r"(bar), "r"(arrivals) : "memory");
}

// Arrives, and lets the phase wait for so many bytes.
__device__ __forceinline__ void mbarrier_expect(unsigned long long *bars, int i, int bytes) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"(bar), "r"(bytes) : "memory");
}

// One arrival for the whole warp.
__device__ __forceinline__ void mbarrier_arrive(unsigned long long *bars, int i) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  __syncwarp();
  if (threadIdx.x % 32 == 0)
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(bar) : "memory");
}

// Goes on when the phase with this bit, 0 or 1, has ended.
__device__ __forceinline__ void mbarrier_wait(unsigned long long *bars, int i, int phase) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("{ .reg .pred ended;\n"
               "again%=: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
               "@!ended bra again%=; }" :: "r"(bar), "r"(phase) : "memory");
}

// The map's box, from this column and row on, goes to element `at` of the slab.
__device__ __forceinline__ void tma_load(f16 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar) : "memory");
}

// True in one lane of the warp: the hardware picks it, always the same one.
__device__ __forceinline__ bool elect_one() {
  unsigned picked;
  asm volatile("{ .reg .pred one;\nelect.sync _|one, 0xffffffff;\n"
               "selp.u32 %0, 1, 0, one; }" : "=r"(picked));
  return picked != 0;
}

// What was read of shared memory, by all whom this thread has waited for, is read before a
// copy that it asks for later overwrites it.
__device__ __forceinline__ void fence_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// The mbarriers that this thread has initialised are so for all of the cluster, once it has met.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Two matrices of eight 16-byte rows: lane l has the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void ldmatrix_x2(unsigned *to, const f16 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(from) : "memory");
}

// Four matrices of eight 16-byte rows: lane l has the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void ldmatrix_x4(unsigned *to, const f16 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from) : "memory");
}

// c += a * b, 16 x 8 x 16, by a warp; PTX ISA, section 9.7.14.5.8 says which lane holds what.
__device__ __forceinline__ void mma_m16n8k16_f32_f16(float *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void __launch_bounds__(256)
matmul(const __grid_constant__ tensor_map A_map, const __grid_constant__ tensor_map B_map,
    f16 *__restrict__ C) {
  __shared__ __align__(1024) f16 smem[8208];
  f16 *const A_s = smem;         // [2][64][32] BUFFER_COUNT: the slab of A
  f16 *const B_s = smem + 4096;  // [2][64][32] BUFFER_COUNT: the slab of B
  // [2] TMA: a slot's bytes have come
  unsigned long long *const full = reinterpret_cast<unsigned long long *>(smem + 8192);
  // [2] WARP_SPECIALIZE: every consumer warp has left a slot
  unsigned long long *const empty = reinterpret_cast<unsigned long long *>(smem + 8200);

  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const int m_b = blockIdx.x / 4;        // BLOCK 0..8, WM
  const int n_b = blockIdx.x % 4;        // BLOCK 0..4, WN
  const int m_w = threadIdx.x / 64;      // WARP 0..2, WM
  const int n_w = threadIdx.x / 32 % 2;  // WARP 0..2, WN
  const int lane = threadIdx.x % 32;     // THREAD 0..32, ATOM_KIND

  // where this thread begins
  f16 *const A_s_at = A_s + (m_w * 32 + lane % 16) * 32;
  f16 *const B_s_at = B_s + (n_w * 32 + lane % 8) * 32;

  float acc[2][4][4];  // ATOM_KIND: this thread's cells of C
  unsigned a[2][4];    // ATOM_KIND: its values of A for one k-step, two to a register
  unsigned b[4][2];    // ATOM_KIND: its values of B for one k-step, two to a register

  // TMA: a phase of full ends when a slab's bytes have come
  if (warp == 0 && elect_one()) {
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      mbarrier_init(full, i, 1);
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      mbarrier_init(empty, i, 4);

    // TMA: they are initialised for the cluster, and for what arrives in the background
    fence_mbarrier_init();
  }

  // TMA: the mbarriers are there
  __syncthreads();

  // WARP_SPECIALIZE: the producer only fetches
  if (4 <= warp) {
    if (warp == 4 && elect_one()) {
      for (int k_o = 0; k_o < 32; ++k_o) {  // WARP_SPECIALIZE
        // WARP_SPECIALIZE: every consumer has left the slot
        mbarrier_wait(empty, k_o % 2, (k_o / 2 + 1) % 2);

        // TMA: reads of the slot that still wait for a bank come before the copies
        fence_async();

        mbarrier_expect(full, k_o % 2, 8192);

        // TMA: ask for the slab of A
        tma_load(A_s, k_o % 2 * 2048, &A_map, k_o * 32, m_b * 64, full, k_o % 2);

        // TMA: ask for the slab of B
        tma_load(B_s, k_o % 2 * 2048, &B_map, k_o * 32, n_b * 64, full, k_o % 2);
      }
    }
  }

  // WARP_SPECIALIZE: the consumers only multiply
  else {
    #pragma unroll
    for (int m_r = 0; m_r < 2; ++m_r)
      #pragma unroll
      for (int n_r = 0; n_r < 4; ++n_r)
        fill4(&acc[m_r][n_r][0], 0.0f);

    for (int k_o = 0; k_o < 32; ++k_o) {  // BK
      // TMA: the slab's bytes have arrived
      mbarrier_wait(full, k_o % 2, k_o / 2 % 2);

      for (int k_i = 0; k_i < 2; ++k_i) {  // BK
        // LDMATRIX: the warp's fragments of A
        #pragma unroll
        for (int m_r = 0; m_r < 2; ++m_r)
          ldmatrix_x4(&a[m_r][0], A_s_at,
              k_o % 2 * 2048 + m_r * 16 * 32 +
              ((k_i * 16 + lane / 16 * 8) ^ (lane % 16 / 2 % 4 * 8)));

        // LDMATRIX: the warp's fragments of B
        #pragma unroll
        for (int n_r = 0; n_r < 4; ++n_r)
          ldmatrix_x2(&b[n_r][0], B_s_at,
              k_o % 2 * 2048 + n_r * 8 * 32 + ((k_i * 16 + lane / 8 % 2 * 8) ^ (lane % 8 / 2 * 8)));

        // FM: multiply each fragment of A by each of B
        #pragma unroll
        for (int m_r = 0; m_r < 2; ++m_r)
          #pragma unroll
          for (int n_r = 0; n_r < 4; ++n_r)
            mma_m16n8k16_f32_f16(&acc[m_r][n_r][0], &a[m_r][0], &b[n_r][0]);
      }

      // WARP_SPECIALIZE: the warp has read the slot to the end
      mbarrier_arrive(empty, k_o % 2);
    }

    // FM: write the cells of C
    #pragma unroll
    for (int m_r = 0; m_r < 2; ++m_r)
      #pragma unroll
      for (int n_r = 0; n_r < 4; ++n_r)
        #pragma unroll
        for (int v_c = 0; v_c < 2; ++v_c)
          store2(&C[(m_b * 64 + m_w * 32 + m_r * 16 + lane / 4 + v_c * 8) * N + n_b * 64 +
              n_w * 32 + n_r * 8 + lane % 4 * 2], &acc[m_r][n_r][v_c * 2]);
  }
}

// ---- fill, check, time --------------------------------------------------------------------

constexpr long long n_rows = 512, n_columns = 256, depth = 1024;
// Elements from one row of A to the next, and from one k to the next in it; from one
// column of B to the next, and from one k to the next in it.
constexpr long long a_row = depth, a_next = 1, b_column = depth, b_next = 1;
constexpr long long check_step = 1;  // every cell is compared
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

// A NaN is wrong, too. The magnitude is the sum of the terms' absolute values.
__device__ void judge(double cell, double expected, double magnitude, Verdict *verdict) {
  const double error = fabs(cell - expected);
  const double bound = tolerance * magnitude + rounding * fabs(expected) + least;
  atomicAdd(&verdict->n_checked, 1ull);
  if (!(error <= bound)) atomicAdd(&verdict->n_wrong, 1ull);
  if (error > 0) atomicMax(&verdict->worst, __float_as_uint((float)(error / bound)));
}

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

struct Operands {
  In *A, *B;
  Out *C;
  tensor_map A_map;
  tensor_map B_map;
};

// Launches the kernels of one product in their order.
static void multiply(const Operands &on) {
  matmul<<<32, 256, 0>>>(on.A_map, on.B_map, on.C);
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

// The tensor map of an operand: its rows lie one after another, and each copy by the tensor
// memory accelerator takes a box of them. The driver's function is looked up by name, so that
// no further library is linked.
template <class T>
static tensor_map map_of(T *x, long long columns, long long rows, unsigned box_columns,
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
  on.B_map = map_of(on.B, 1024, 256, 32, 64, CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                    CU_TENSOR_MAP_SWIZZLE_64B);
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
