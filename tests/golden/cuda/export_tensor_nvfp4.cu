// nvcc -O3 -gencode arch=compute_100a,code=sm_100a -o matmul matmul.cu && ./matmul
//
// C[512, 512] = A[512, 1024] * B[1024, 512], nvfp4 summed in f32, C in f32, B column-major, A and C row-major
// AUTO=0,TARGET=b200,M=512,N=512,K=1024,ATOM_KIND=tcgen05_m128n256k64_nvfp4,B_COL=1,ATOM_N=256,BK=4,STAGE=11,SWIZZLE=3,TMA=1,BUFFER_COUNT=2,WARP_SPECIALIZE=1
// for sm_100a (B200 SXM (HGX))
//
//   matmul<<<8, 192, 110648>>>(A_map, B_map, C, SFA_map, SFB_map)   110648 bytes of shared memory

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

__device__ __forceinline__ void store4(float *to, const float *from) {
  *reinterpret_cast<float4 *>(to) = float4{from[0], from[1], from[2], from[3]};
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
__device__ __forceinline__ void tma_load(nvfp4 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar) : "memory");
}

// The map's box, from this column and row on, goes to element `at` of the slab.
__device__ __forceinline__ void tma_load(ue4m3 *slab, int at, const tensor_map *map,
    int column, int row, int matrix, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(matrix), "r"(bar) : "memory");
}

// True in one lane of the warp, which the hardware picks, each time the same one.
__device__ __forceinline__ bool elect_one() {
  unsigned picked;
  asm volatile("{ .reg .pred one;\nelect.sync _|one, 0xffffffff;\n"
               "selp.u32 %0, 1, 0, one; }" : "=r"(picked));
  return picked != 0;
}

// The mbarriers that this thread has initialised are so for all of the cluster, once it has met.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// What is done to it from now on comes after what was waited for.
__device__ __forceinline__ void tcgen05_after() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// What was done to tensor memory comes before whom this thread tells.
__device__ __forceinline__ void tcgen05_before() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

// One arrival at bars[i] when all that this thread has asked the tensor core for is done.
__device__ __forceinline__ void tcgen05_commit(unsigned long long *bars, int i) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
               :: "r"(bar) : "memory");
}

// 32 rows of 16 bytes that a descriptor finds, in the background, to four columns of tensor memory,
// into the lanes of each quarter. A product that is asked for behind it finds them.
__device__ __forceinline__ void tcgen05_cp(unsigned to, unsigned long long from) {
  asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;"
               :: "r"(to), "l"(from) : "memory");
}

// d += (a * sfa) * (b * sfb) in the background: the same, with scale factors that begin at sfa and
// sfb in tensor memory; bits 29 and 4 of idesc say at which byte of their words.
__device__ __forceinline__ void tcgen05_mma_mxf4nvf4(unsigned d, unsigned long long a,
    unsigned long long b, unsigned idesc, unsigned sfa, unsigned sfb, int keep) {
  asm volatile("{ .reg .pred keep;\nsetp.ne.b32 keep, %6, 0;\n"
               "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X"
               " [%0], %1, %2, %3, [%4], [%5], keep; }"
               :: "r"(d), "l"(a), "l"(b), "r"(idesc), "r"(sfa), "r"(sfb), "r"(keep)
               : "memory");
}

// What this warp has asked of tensor memory is in its registers.
__device__ __forceinline__ void tcgen05_wait_ld() {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}

// n columns of tensor memory for this block, which a whole warp takes; *base gets their
// address. It gives up the right to have more, so that other blocks of the SM may have
// theirs.
template <int n>
__device__ __forceinline__ void tensor_alloc(unsigned long long *base) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;\n"
               "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"
               :: "r"(static_cast<unsigned>(__cvta_generic_to_shared(base))), "n"(n)
               : "memory");
}

// An address in tensor memory: lane << 16 | column. A warp names the first lane of its quarter.
__device__ __forceinline__ unsigned tensor_at(unsigned begin, int lane, int column) {
  return begin + (lane / 32 << 21) + column;
}

// Gives them back, as every block must before it ends.
template <int n>
__device__ __forceinline__ void tensor_free(unsigned begin) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;"
               :: "r"(begin), "n"(n) : "memory");
}

// The descriptor of the tile that begins at slab[at]: its address beside what does not
// depend on it. In a cluster the address has the rank of the CTA above its 18 bits.
__device__ __forceinline__ unsigned long long tile_of(const nvfp4 *slab, int at,
    unsigned long long shape) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 1 * at;
  return shape | (from & 0x3ffffu) >> 4;
}

// The descriptor of the tile that begins at slab[at]: its address beside what does not
// depend on it. In a cluster the address has the rank of the CTA above its 18 bits.
__device__ __forceinline__ unsigned long long tile_of(const ue4m3 *slab, int at,
    unsigned long long shape) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 1 * at;
  return shape | (from & 0x3ffffu) >> 4;
}

// 32 columns of the lane of this thread, in the background.
__device__ __forceinline__ void tcgen05_ld_x32(float *to, unsigned from) {
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11,"
      " %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23,"
      " %24, %25, %26, %27, %28, %29, %30, %31}, [%32];"
      : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3]), "=f"(to[4]), "=f"(to[5]),
        "=f"(to[6]), "=f"(to[7]), "=f"(to[8]), "=f"(to[9]), "=f"(to[10]), "=f"(to[11]),
        "=f"(to[12]), "=f"(to[13]), "=f"(to[14]), "=f"(to[15]), "=f"(to[16]), "=f"(to[17]),
        "=f"(to[18]), "=f"(to[19]), "=f"(to[20]), "=f"(to[21]), "=f"(to[22]), "=f"(to[23]),
        "=f"(to[24]), "=f"(to[25]), "=f"(to[26]), "=f"(to[27]), "=f"(to[28]), "=f"(to[29]),
        "=f"(to[30]), "=f"(to[31])
      : "r"(from) : "memory");
}

extern "C" __global__ void __launch_bounds__(192)
matmul(const __grid_constant__ tensor_map A_map, const __grid_constant__ tensor_map B_map,
    float *__restrict__ C, const __grid_constant__ tensor_map SFA_map,
    const __grid_constant__ tensor_map SFB_map) {
  extern __shared__ __align__(1024) unsigned char smem[];  // 110648: 110648 bytes
  // [2][128][128] BUFFER_COUNT=2: the slab of A
  nvfp4 *const A_s = reinterpret_cast<nvfp4 *>(smem);
  // [2][256][128] BUFFER_COUNT=2: the slab of B
  nvfp4 *const B_s = reinterpret_cast<nvfp4 *>(smem + 32768);
  ue4m3 *const SFA_s = reinterpret_cast<ue4m3 *>(smem + 98304);  // [2][8][256] TMA=1
  ue4m3 *const SFB_s = reinterpret_cast<ue4m3 *>(smem + 102400);  // [2][16][256] TMA=1
  // [1] ATOM_KIND=tcgen05_m128n256k64_nvfp4: the sums of a tile are whole
  unsigned long long *const acc_full = reinterpret_cast<unsigned long long *>(smem + 110592);
  // [1] ATOM_KIND=tcgen05_m128n256k64_nvfp4: where the block's tensor memory begins
  unsigned long long *const tensor_base = reinterpret_cast<unsigned long long *>(smem + 110600);
  // [2] TMA=1: a slot's bytes have come
  unsigned long long *const full = reinterpret_cast<unsigned long long *>(smem + 110608);
  // [2] WARP_SPECIALIZE=1: every consumer warp has left a slot
  unsigned long long *const empty = reinterpret_cast<unsigned long long *>(smem + 110624);
  // [1] WARP_SPECIALIZE=1: the sums of a tile have been read
  unsigned long long *const acc_empty = reinterpret_cast<unsigned long long *>(smem + 110640);

  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const int m_b = blockIdx.x / 2;  // BLOCK 0..4, WM=1
  const int n_b = blockIdx.x % 2;  // BLOCK 0..2, WN=1
  const int lane = threadIdx.x;    // THREAD 0..128, ATOM_KIND=tcgen05_m128n256k64_nvfp4

  float acc[32];  // ATOM_KIND=tcgen05_m128n256k64_nvfp4: this thread's cells of C

  // TMA=1: a phase of full ends when a slab's bytes have come
  if (warp == 0 && elect_one()) {
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      mbarrier_init(full, i, 1);
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      mbarrier_init(empty, i, 1);
    mbarrier_init(acc_empty, 0, 4);
    mbarrier_init(acc_full, 0, 1);

    // ATOM_KIND=tcgen05_m128n256k64_nvfp4: they are initialised for the cluster, and for what
    // arrives in the background
    fence_mbarrier_init();
  }

  if (warp == 0)
    tensor_alloc<512>(tensor_base);

  // ATOM_KIND=tcgen05_m128n256k64_nvfp4: tensor memory is there
  __syncthreads();
  const unsigned tensor_begin = static_cast<unsigned>(*tensor_base);

  // WARP_SPECIALIZE=1: the producer only fetches
  if (warp == 5) {
    if (elect_one()) {
      for (int k_o = 0; k_o < 4; ++k_o) {  // WARP_SPECIALIZE=1
        // WARP_SPECIALIZE=1: every consumer has left the slot
        mbarrier_wait(empty, k_o % 2, (k_o / 2 + 1) % 2);

        mbarrier_expect(full, k_o % 2, 55296);

        // TMA=1: ask for the slab of A
        tma_load(A_s, k_o % 2 * 16384, &A_map, k_o * 128, m_b * 128, full, k_o % 2);

        // TMA=1: ask for the slab of B
        tma_load(B_s, k_o % 2 * 32768, &B_map, k_o * 128, n_b * 256, full, k_o % 2);

        tma_load(SFA_s, k_o % 2 * 2048, &SFA_map, 0, k_o * 8, m_b, full, k_o % 2);
        #pragma unroll
        for (int t_b = 0; t_b < 2; ++t_b)
          tma_load(SFB_s, k_o % 2 * 4096 + t_b * 8 * 256, &SFB_map, 0, k_o * 8, n_b * 2 + t_b,
              full, k_o % 2);
      }
    }
  }

  // WARP_SPECIALIZE=1: the consumers only ask for products
  if (warp == 4) {
    // WARP_SPECIALIZE=1: one thread waits for slabs and asks for their products
    if (elect_one()) {
      // WARP_SPECIALIZE=1: the sums have been read
      mbarrier_wait(acc_empty, 0, 1);
      tcgen05_after();

      for (int k_o = 0; k_o < 4; ++k_o) {  // BK=4
        // WARP_SPECIALIZE=1: the slab's bytes are there
        mbarrier_wait(full, k_o % 2, k_o / 2);

        // BK=4: factors are there before the products that are asked for behind them
        #pragma unroll
        for (int w_a = 0; w_a < 4; ++w_a) {
          // ATOM_KIND=tcgen05_m128n256k64_nvfp4: copy the factors of A to tensor memory
          tcgen05_cp(tensor_at(tensor_begin, 0, w_a * 4 + k_o % 2 * 16 + 256),
              tile_of(SFA_s, k_o % 2 * 2048 + w_a * 2 * 256, 0x400800200000ull));
        }

        // BK=4: copy the factors of B to tensor memory
        #pragma unroll
        for (int w_b = 0; w_b < 4; ++w_b)
          tcgen05_cp(tensor_at(tensor_begin, 0, w_b * 8 + k_o % 2 * 32 + 288),
              tile_of(SFB_s, k_o % 2 * 4096 + w_b * 2 * 256, 0x400800200000ull));
        #pragma unroll
        for (int w_b = 0; w_b < 4; ++w_b)
          tcgen05_cp(tensor_at(tensor_begin, 0, w_b * 8 + k_o % 2 * 32 + 292),
              tile_of(SFB_s, k_o % 2 * 4096 + (w_b * 2 + 8) * 256, 0x400800200000ull));

        #pragma unroll
        for (int k_i = 0; k_i < 4; ++k_i) {  // BK=4
          // ATOM_KIND=tcgen05_m128n256k64_nvfp4: ask the tensor core for the tile of A times that
          // of B
          tcgen05_mma_mxf4nvf4(tensor_at(tensor_begin, 0, 0),
              tile_of(A_s, k_o % 2 * 16384 + k_i * 32, 0x4000404000010000ull),
              tile_of(B_s, k_o % 2 * 32768 + k_i * 32, 0x4000404000010000ull), 0x08400480u,
              tensor_at(tensor_begin, 0, k_i * 4 + k_o % 2 * 16 + 256),
              tensor_at(tensor_begin, 0, k_i * 8 + k_o % 2 * 32 + 288), 0 < k_o + k_i);
        }

        tcgen05_commit(empty, k_o % 2);
      }

      tcgen05_commit(acc_full, 0);
    }
  }

  // WARP_SPECIALIZE=1: these warps only read sums and write C
  if (warp < 4) {
    // WARP_SPECIALIZE=1: the sums are whole
    mbarrier_wait(acc_full, 0, 0);
    tcgen05_after();
    #pragma unroll
    for (int c_t = 0; c_t < 8; ++c_t) {
      tcgen05_ld_x32(&acc[0], tensor_at(tensor_begin, lane, c_t * 32));
      tcgen05_wait_ld();

      // WARP_SPECIALIZE=1: all sums of the tile are in registers: the next tile may overwrite them
      if (c_t == 7) {
        tcgen05_before();

        // WARP_SPECIALIZE=1: the warp has read its part of the sums
        mbarrier_arrive(acc_empty, 0);
      }

      #pragma unroll
      for (int v_t = 0; v_t < 8; ++v_t) {
        const int v_c = c_t * 8 + v_t;

        // ATOM_KIND=tcgen05_m128n256k64_nvfp4: write the cells of C
        store4(&C[(m_b * 128 + lane) * N + n_b * 256 + v_c * 4], &acc[v_t * 4]);
      }
    }
  }

  // WARP_SPECIALIZE=1: the sums are read
  __syncthreads();

  if (warp == 0)
    tensor_free<512>(tensor_begin);
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

// Factors of all rows, in tiles of 128 rows by four; where the one of a row is that has so
// many in front of it: byte row % 32 * 16 + row / 32 * 4 + at of a tile.
constexpr long long tiles = (depth / block + 3) / 4;
constexpr long long factors_of(long long rows) { return (rows + 127) / 128 * tiles * 512; }
__device__ long long factor_place(long long row, long long at) {
  return (row / 128 * tiles + at / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 + at % 4;
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
  tensor_map SFA_map;
  tensor_map SFB_map;
};

// Launches the kernels of one product in their order.
static void multiply(const Operands &on) {
  matmul<<<8, 192, 110648>>>(on.A_map, on.B_map, on.C, on.SFA_map, on.SFB_map);
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

template <class T>
static tensor_map map_of(T *x, long long columns, long long rows, long long matrices,
                         unsigned box_columns,
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
  const cuuint64_t extents[] = {(cuuint64_t)columns, (cuuint64_t)rows, (cuuint64_t)matrices};
  const cuuint64_t row_bytes = columns * sizeof *x, pitches[] = {row_bytes, row_bytes * rows};
  const cuuint32_t box[] = {box_columns, box_rows, 1}, steps[] = {1, 1, 1};
  CUtensorMap encoded;
  must((cudaError_t)((decltype(&cuTensorMapEncodeTiled))encode)(
           &encoded, type, 3, x, extents, pitches, box, steps,
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
  on.A_map = map_of(on.A, 512, 512, 128, 128, CU_TENSOR_MAP_DATA_TYPE_UINT8,
                    CU_TENSOR_MAP_SWIZZLE_128B);
  on.B_map = map_of(on.B, 512, 512, 128, 256, CU_TENSOR_MAP_DATA_TYPE_UINT8,
                    CU_TENSOR_MAP_SWIZZLE_128B);
  on.SFA_map = map_of(on.SFA, 256, 32, 4, 256, 8, CU_TENSOR_MAP_DATA_TYPE_UINT8,
                    CU_TENSOR_MAP_SWIZZLE_NONE);
  on.SFB_map = map_of(on.SFB, 256, 32, 4, 256, 8, CU_TENSOR_MAP_DATA_TYPE_UINT8,
                    CU_TENSOR_MAP_SWIZZLE_NONE);
  must(cudaFuncSetAttribute(matmul, cudaFuncAttributeMaxDynamicSharedMemorySize, 110648),
       "shared memory");
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
