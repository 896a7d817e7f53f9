// nvcc -O3 -gencode arch=compute_120a,code=sm_120a -o matmul matmul.cu && ./matmul
//
// C[512, 512] = A[512, 1024] * B[1024, 512], nvfp4 summed in f32, C in f32, B column-major, A and C row-major
// AUTO=0,TARGET=rtx5090,M=512,N=512,K=1024,ATOM_KIND=mma_m16n8k64_nvfp4,B_COL=1,FM=4,FN=8,BK=4,STAGE=11,LDMATRIX=2,SWIZZLE=3,TMA=1,BUFFER_COUNT=2
// for sm_120a (GeForce RTX 5090)
//
//   matmul<<<64, 32>>>(A_map, B_map, C, SFA, SFB)   32784 bytes of shared memory

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int N = 512;

// Two e2m1, neighbours along K, the first in the low half; each 16 share a factor.
struct nvfp4 {
  unsigned char bits;
};

// A factor: an e4m3 without a sign.
struct ue4m3 {
  unsigned char bits;
};

__device__ __forceinline__ void load4(unsigned *to, const ue4m3 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

__device__ __forceinline__ void store2(float *to, const float *from) {
  *reinterpret_cast<float2 *>(to) = float2{from[0], from[1]};
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

// Goes on when the phase with this bit, 0 or 1, has ended.
__device__ __forceinline__ void mbarrier_wait(unsigned long long *bars, int i, int phase) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("{ .reg .pred ended;\n"
               "again%=: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
               "@!ended bra again%=; }" :: "r"(bar), "r"(phase) : "memory");
}

// The map's box, from this column and row on, goes to element `at` of the slab.
__device__ __forceinline__ void tma_load(nvfp4 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar) : "memory");
}

// True in one lane of the warp, which the hardware picks, each time the same one.
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

// Four matrices of eight 16-byte rows: lane l says where row l % 8 of matrix l / 8 begins.
__device__ __forceinline__ void ldmatrix_x4(unsigned *to, const nvfp4 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from) : "memory");
}

// c += a * b, 16 x 8 x 64, by a warp; PTX ISA, section 9.7.14.5.11 says which lane holds what.
// Each 16 elements along K are scaled by a ue4m3: of a row of A by one of lane 4 * (row % 8) +
// row / 8, of a column of B by one of lane 4 * column, in 4 bytes of sfa and sfb from byte_a and
// byte_b on (thread-id 0: the first lanes of each four).
__device__ __forceinline__ void mma_m16n8k64_f32_nvfp4(float *c, const unsigned *a,
    const unsigned *b,
    unsigned sfa, unsigned short byte_a, unsigned sfb, unsigned short byte_b) {
  asm volatile("mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X"
               ".m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3},"
               " {%10}, {%11, 0}, {%12}, {%13, 0};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]),
                 "r"(sfa), "h"(byte_a), "r"(sfb), "h"(byte_b));
}

extern "C" __global__ void __launch_bounds__(32)
matmul(const __grid_constant__ tensor_map A_map, const __grid_constant__ tensor_map B_map,
    float *__restrict__ C, const ue4m3 *__restrict__ SFA, const ue4m3 *__restrict__ SFB) {
  __shared__ __align__(1024) nvfp4 smem[32784];
  nvfp4 *const A_s = smem;          // [2][64][128] BUFFER_COUNT=2: the slab of A
  nvfp4 *const B_s = smem + 16384;  // [2][64][128] BUFFER_COUNT=2: the slab of B
  // [2] TMA=1: a slot's bytes have come
  unsigned long long *const full = reinterpret_cast<unsigned long long *>(smem + 32768);

  const int m_b = blockIdx.x / 8;  // BLOCK 0..8, WM=1
  const int n_b = blockIdx.x % 8;  // BLOCK 0..8, WN=1
  const int lane = threadIdx.x;    // THREAD 0..32, ATOM_KIND=mma_m16n8k64_nvfp4

  // where this thread begins
  nvfp4 *const A_s_at = A_s + lane % 16 * 128;
  nvfp4 *const B_s_at = B_s + (lane % 8 + lane / 16 * 8) * 128;

  float acc[4][8][4];  // ATOM_KIND=mma_m16n8k64_nvfp4: this thread's cells of C
  // ATOM_KIND=mma_m16n8k64_nvfp4: its values of A for one k-step, four to a register
  unsigned a[4][4];
  // ATOM_KIND=mma_m16n8k64_nvfp4: its values of B for one k-step, four to a register
  unsigned b[8][2];
  unsigned sfa[4];     // ATOM_KIND=mma_m16n8k64_nvfp4
  unsigned sfb[8];     // ATOM_KIND=mma_m16n8k64_nvfp4

  // TMA=1: a phase of full ends when a slab's bytes have come
  if (elect_one()) {
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      mbarrier_init(full, i, 1);

    // TMA=1: they are initialised for the cluster, and for what arrives in the background
    fence_mbarrier_init();
  }

  // TMA=1: the mbarriers are there
  __syncthreads();

  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 8; ++n_r)
      fill4(&acc[m_r][n_r][0], 0.0f);

  for (int k_o = 0; k_o < 4; ++k_o) {  // BK=4
    // TMA=1: one thread asks for the slabs
    if (elect_one()) {
      // TMA=1: reads of the slot that still wait for a bank come before the copies
      fence_async();

      mbarrier_expect(full, k_o % 2, 16384);

      // TMA=1: ask for the slab of A
      tma_load(A_s, k_o % 2 * 8192, &A_map, k_o * 128, m_b * 64, full, k_o % 2);

      // TMA=1: ask for the slab of B
      tma_load(B_s, k_o % 2 * 8192, &B_map, k_o * 128, n_b * 64, full, k_o % 2);
    }

    // TMA=1: the slab's bytes are there
    mbarrier_wait(full, k_o % 2, k_o / 2);

    for (int k_i = 0; k_i < 4; ++k_i) {  // BK=4
      // LDMATRIX=2: the warp's fragments of A
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        ldmatrix_x4(&a[m_r][0], A_s_at,
            k_o % 2 * 8192 + m_r * 16 * 128 + ((k_i * 32 + lane / 16 * 16) ^ (lane % 8 * 16)));

      // LDMATRIX=2: the warp's fragments of B
      #pragma unroll
      for (int n_p = 0; n_p < 4; ++n_p)
        ldmatrix_x4(&b[n_p * 2][0], B_s_at,
            k_o % 2 * 8192 + n_p * 16 * 128 + ((k_i * 32 + lane / 8 % 2 * 16) ^ (lane % 8 * 16)));

      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        load4(&sfa[m_r],
            &SFA[(m_b * 64 + m_r * 16 + lane % 2 * 8 + lane / 4) * 64 + k_o * 16 + k_i * 4]);
      #pragma unroll
      for (int n_r = 0; n_r < 8; ++n_r)
        load4(&sfb[n_r], &SFB[(n_b * 64 + n_r * 8 + lane / 4) * 64 + k_o * 16 + k_i * 4]);

      // FM=4: multiply each fragment of A by each of B
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        #pragma unroll
        for (int n_r = 0; n_r < 8; ++n_r)
          mma_m16n8k64_f32_nvfp4(&acc[m_r][n_r][0], &a[m_r][0], &b[n_r][0], sfa[m_r], 0, sfb[n_r],
              0);
    }

    // TMA=1: the slab is read to the end
    __syncthreads();
  }

  // FM=4: write the cells of C
  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 8; ++n_r)
      #pragma unroll
      for (int v_c = 0; v_c < 2; ++v_c)
        store2(&C[(m_b * 64 + m_r * 16 + lane / 4 + v_c * 8) * N + n_b * 64 + n_r * 8 +
            lane % 4 * 2], &acc[m_r][n_r][v_c * 2]);
}

// ---- fill, check, time --------------------------------------------------------------------

constexpr long long n_rows = 512, n_columns = 512, depth = 1024;
// Elements from one row of A to the next, and from one k to the next in it; from one
// column of B to the next, and from one k to the next in it.
constexpr long long a_row = depth, a_next = 1, b_column = depth, b_next = 1;
constexpr long long check_step = 1;  // every cell is compared
// An f32 sum of K products strays from the exact one by a few units in the last place
// times the square root of K, relative to the sum of the products' magnitudes.
constexpr double tolerance = 1.953125e-03, rounding = 0.000000e+00, least = 5.605194e-45;

typedef nvfp4 In;
typedef float Out;
typedef ue4m3 Factor;

// Elements along K that share a factor; the bits of a factor of 1/2.
constexpr long long block = 16;
constexpr unsigned least_factor = 48;

__device__ double number(Out x) { return x; }

__device__ double number(Factor x) {
  float y;
  asm("{ .reg .b16 low, high; .reg .b32 pair;\n"
      "cvt.rn.f16x2.e4m3x2 pair, %1; mov.b32 {low, high}, pair;\n"
      "cvt.f32.f16 %0, low; }" : "=f"(y) : "h"((unsigned short)x.bits));
  return y;
}

// Element `at` of a matrix of bytes that hold two.
__device__ double element(const In *x, long long at) {
  const double size[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const unsigned code = x[at / 2].bits >> (at % 2 * 4);
  return code & 8 ? -size[code & 7] : size[code & 7];
}

__device__ void set(In *to, float x) {
  const float rest = 64 * x - rintf(64 * x);
  unsigned short both;
  asm("{ .reg .b8 byte; cvt.rn.satfinite.e2m1x2.f32 byte, %1, %2;\n"
      "mov.b16 %0, {byte, 0}; }" : "=h"(both) : "f"(8 * rest), "f"(x));
  to->bits = (unsigned char)both;
}

__device__ unsigned long long mix(unsigned long long x);

__global__ void fill_factors(Factor *x, long long n, unsigned long long seed) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
    x[i].bits = (unsigned char)(least_factor + mix(seed ^ mix(i)) % 17);
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
  tensor_map A_map;
  tensor_map B_map;
};

// Launches the kernels of one product in their order.
static void multiply(const Operands &on) {
  matmul<<<64, 32, 0>>>(on.A_map, on.B_map, on.C, on.SFA, on.SFB);
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
  on.A = operand(n_rows * depth / 2, 1);
  on.B = operand(depth * n_columns / 2, 2);
  on.C = unwritten<Out>(n_rows * n_columns);
  on.SFA = unwritten<Factor>(factors_of(n_rows));
  on.SFB = unwritten<Factor>(factors_of(n_columns));
  fill_factors<<<1024, 256>>>(on.SFA, factors_of(n_rows), 3);
  fill_factors<<<1024, 256>>>(on.SFB, factors_of(n_columns), 4);
  must(cudaGetLastError(), "fill");
  on.A_map = map_of(on.A, 512, 512, 128, 64, CU_TENSOR_MAP_DATA_TYPE_UINT8,
                    CU_TENSOR_MAP_SWIZZLE_128B);
  on.B_map = map_of(on.B, 512, 512, 128, 64, CU_TENSOR_MAP_DATA_TYPE_UINT8,
                    CU_TENSOR_MAP_SWIZZLE_128B);
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
