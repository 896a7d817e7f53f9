// nvcc -O3 -gencode arch=compute_90a,code=sm_90a -o matmul matmul.cu && ./matmul
//
// C[600, 304] = A[600, 256] * B[256, 304], bf16 summed in f32, row-major
// AUTO=0,M=600,N=304,K=256,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=64,WM=2,BK=4,STAGE=11,TMA=1,SWIZZLE=3,BUFFER_COUNT=3,WARP_SPECIALIZE=1,MMA_GROUPS=1,CLUSTER_M=4,CLUSTER_N=2,MULTICAST=1,PERSISTENT=1,EPILOGUE=1,TMA_STORE=1,STMATRIX=1,EPI_BUFFERS=2
// for sm_90a (H200 SXM)
//
//   matmul<<<min(48, blocks that fit), 384, 106544>>>(A_map, B_map, C_map)   106544 bytes of shared memory

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// A bfloat16 (1 sign, 8 exponent, 7 fraction bits) as it lies in memory.
struct bf16 {
  unsigned short bits;
};

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

// The same to each block of the cluster in the mask, where its bytes count at bars[i].
__device__ __forceinline__ void tma_multicast(bf16 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i, int mask) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes.multicast::cluster"
               " [%0], [%1, {%2, %3}], [%4], %5;"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar),
               "h"(static_cast<unsigned short>(mask)) : "memory");
}

// The map's box, from element `at` of the slab on, goes to the matrix from this column and row on.
__device__ __forceinline__ void tma_store(const tensor_map *map, int column, int row,
    bf16 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"
               " [%0, {%1, %2}], [%3];"
               :: "l"(map), "r"(column), "r"(row), "r"(from) : "memory");
}

// Barrier `id` of the block, at which n threads meet.
template <int n>
__device__ __forceinline__ void barrier_of(int id) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(n) : "memory");
}

// The boxes this thread has sent since the last commit become one group.
__device__ __forceinline__ void bulk_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until at most `n` of this thread's groups have still to be read.
template <int n>
__device__ __forceinline__ void bulk_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(n) : "memory");
}

// Waits until at most `n` of this thread's groups are still in flight.
template <int n>
__device__ __forceinline__ void bulk_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(n) : "memory");
}

// Every thread of the cluster arrives before any goes on, and knows what the others have done.
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release;\n"
               "barrier.cluster.wait.acquire;" ::: "memory");
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

// One arrival for the whole warp at the mbarrier of each block in the mask: lane r's at rank r.
__device__ __forceinline__ void mbarrier_arrive_at(unsigned long long *bars, int i, int mask) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  const int rank = threadIdx.x % 32;
  __syncwarp();
  if (mask >> rank & 1)
    asm volatile("{ .reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there]; }"
                 :: "r"(bar), "r"(rank) : "memory");
}

// Each thread of the warp keeps n registers and gives the others back.
template <int n>
__device__ __forceinline__ void registers_give() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n));
}

// The warp goes on when each of its threads has n registers.
template <int n>
__device__ __forceinline__ void registers_take() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n));
}

// What the warpgroup has asked for since the last commit becomes one group.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// What this warpgroup did to its registers comes before what wgmma does to them.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// Waits until at most n groups are in flight.
template <int n>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory");
}

// Four matrices of eight 16-byte rows: lane l says where row l % 8 of matrix l / 8 begins.
__device__ __forceinline__ void stmatrix_x4(bf16 *slab, int at, const float *from) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  unsigned v[4];
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[0]) : "f"(from[1]), "f"(from[0]));
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[1]) : "f"(from[3]), "f"(from[2]));
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[2]) : "f"(from[5]), "f"(from[4]));
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[3]) : "f"(from[7]), "f"(from[6]));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
               :: "r"(to), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory");
}

// The descriptor of the tile that begins at slab[at]: its address beside what does not
// depend on it. In a cluster the address has the rank of the CTA above its 18 bits.
__device__ __forceinline__ unsigned long long tile_of(const bf16 *slab, int at,
    unsigned long long shape) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  return shape | (from & 0x3ffffu) >> 4;
}

// c += a * b in the background, 64 x 64 x 16, by a warpgroup; c = a * b where keep is 0.
// a and b are descriptors of tiles: PTX ISA, section 9.7.15.5.1.1.1 says which lane holds what.
// turned: M or N runs fastest, not K.
template <int a_turned, int b_turned>
__device__ __forceinline__ void wgmma_m64n64k16_f32_bf16(float *c, unsigned long long a,
    unsigned long long b, int keep) {
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13,"
      " %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27,"
      " %28, %29, %30, %31}, "
      "%32, %33, keep, 1, 1, %35, %36;\n}"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]),
        "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]),
        "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]),
        "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]),
        "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]),
        "+f"(c[30]), "+f"(c[31])
      : "l"(a), "l"(b), "r"(keep), "n"(a_turned), "n"(b_turned)
      : "memory");
}

extern "C" __global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(384, 1)
matmul(const __grid_constant__ tensor_map A_map, const __grid_constant__ tensor_map B_map,
    const __grid_constant__ tensor_map C_map) {
  extern __shared__ __align__(1024) bf16 smem[];  // 53272: 106544 bytes
  bf16 *const A_s = smem;          // [3][128][64] BUFFER_COUNT=3: the slab of A
  bf16 *const B_s = smem + 24576;  // [3][64][64] BUFFER_COUNT=3: the slab of B
  bf16 *const C_s = smem + 36864;  // [2][2][64][64] TMA_STORE=1: a row of atoms on its way to C
  // [3] TMA=1: a slot's bytes have come
  unsigned long long *const full = reinterpret_cast<unsigned long long *>(smem + 53248);
  // [3] WARP_SPECIALIZE=1: every consumer warp has left a slot
  unsigned long long *const empty = reinterpret_cast<unsigned long long *>(smem + 53260);

  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const int m_c = blockIdx.x / 2 % 4;  // CLUSTER 0..4, CLUSTER_M=4
  const int n_c = blockIdx.x % 2;      // CLUSTER 0..2, CLUSTER_N=2
  const int m_w = threadIdx.x / 128;   // WARP 0..2, WM=2
  const int lane = threadIdx.x % 128;  // THREAD 0..128, ATOM_KIND=wgmma_m64n256k16_bf16

  // where this thread begins
  bf16 *const A_s_at = A_s + n_c * 64 * 64;
  bf16 *const B_s_at = B_s + m_c * 16 * 64;
  bf16 *const A_s_at2 = A_s + m_w * 64 * 64;
  bf16 *const C_s_at = C_s + m_w * 4096 + (lane % 8 + lane / 32 * 16 + lane / 8 % 2 * 8) * 64;
  bf16 *const C_s_at2 = C_s + m_w * 4096;

  float acc[32];  // ATOM_KIND=wgmma_m64n256k16_bf16: this thread's cells of C

  // TMA=1: a phase of full ends when a slab's bytes have come
  if (warp == 0 && elect_one()) {
    #pragma unroll
    for (int i = 0; i < 3; ++i)
      mbarrier_init(full, i, 1);
    #pragma unroll
    for (int i = 0; i < 3; ++i)
      mbarrier_init(empty, i, 40);

    // TMA=1: they are initialised for the cluster, and for what arrives in the background
    fence_mbarrier_init();
  }

  // MULTICAST=1: the mbarriers of all blocks are there
  cluster_barrier();

  // WARP_SPECIALIZE=1: the producer only fetches
  if (8 <= warp) {
    registers_give<40>();

    if (warp == 8 && elect_one()) {
      for (int t = blockIdx.x / 8; t < 6; t += gridDim.x / 8) {  // PERSISTENT=1
        const int turn = t / (gridDim.x / 8);
        const int m_b = t / 3;
        const int n_b = t % 3;

        // of the ring, counted along
        int slot = turn * 4 % 3, empty_phase = (turn * 4 / 3 + 1) % 2;
        for (int k_o = 0; k_o < 4; ++k_o) {  // WARP_SPECIALIZE=1
          // WARP_SPECIALIZE=1: every consumer has left the slot
          mbarrier_wait(empty, slot, empty_phase);

          mbarrier_expect(full, slot, 24576);

          // MULTICAST=1: a share of the slab, for all who need it
          tma_multicast(A_s_at, slot * 8192, &A_map, k_o * 64, m_b * 512 + m_c * 128 + n_c * 64,
              full, slot, 3 << (m_c * 2));
          tma_multicast(B_s_at, slot * 4096, &B_map, n_b * 128 + n_c * 64, k_o * 64 + m_c * 16,
              full, slot, 85 << n_c);

          if (++slot == 3) {
            slot = 0;
            empty_phase ^= 1;
          }
        }
      }
    }
  }

  // WARP_SPECIALIZE=1: the consumers only multiply
  else {
    registers_take<232>();

    for (int t = blockIdx.x / 8; t < 6; t += gridDim.x / 8) {  // PERSISTENT=1
      const int turn = t / (gridDim.x / 8);
      const int m_b = t / 3;
      const int n_b = t % 3;

      int slot = turn * 4 % 3, full_phase = turn * 4 / 3 % 2;  // of the ring, counted along
      for (int k_o = 0; k_o < 4; ++k_o) {  // BK=4
        // TMA=1: the slab's bytes are there
        mbarrier_wait(full, slot, full_phase);
        wgmma_fence();

        #pragma unroll
        for (int k_i = 0; k_i < 4; ++k_i) {  // BK=4
          // ATOM_KIND=wgmma_m64n256k16_bf16: ask the tensor core for each tile of A times each of B
          wgmma_m64n64k16_f32_bf16<0,
              1>(&acc[0], tile_of(A_s_at2, slot * 8192 + k_i * 16, 0x4000004000010000ull),
              tile_of(B_s, slot * 4096 + k_i * 16 * 64, 0x4000004002000000ull), 0 < k_o + k_i);
        }

        wgmma_commit();
        wgmma_wait<1>();

        // MMA_GROUPS=1: the slab before is multiplied: its slot is free
        if (0 < k_o) {

          // MULTICAST=1: the warp has read the slot to the end
          mbarrier_arrive_at(empty, (slot == 0 ? 2 : slot - 1),
              ((3 << (m_c * 2)) ^ (85 << n_c)) ^ (1 << (m_c * 2 + n_c)));
        }

        if (++slot == 3) {
          slot = 0;
          full_phase ^= 1;
        }
      }

      // MMA_GROUPS=1: the sums are complete
      wgmma_wait<0>();

      // MULTICAST=1: the warp has read the slot to the end
      mbarrier_arrive_at(empty, turn * 4 % 3,
          ((3 << (m_c * 2)) ^ (85 << n_c)) ^ (1 << (m_c * 2 + n_c)));

      // TMA_STORE=1: the slot has been read out
      if (warp % 4 == 0 && elect_one())
        bulk_read<1>();

      // TMA_STORE=1: the slot may be written
      barrier_of<128>(m_w + 2);

      // STMATRIX=1: put the sums into shared memory, eight rows at a time
      #pragma unroll
      for (int n_q = 0; n_q < 4; ++n_q)
        stmatrix_x4(C_s_at, turn % 2 * 8192 + ((n_q * 16 + lane / 16 % 2 * 8) ^ (lane % 8 * 8)),
            &acc[n_q * 8]);

      // TMA_STORE=1: what was written comes before what the copies read
      fence_async();

      // TMA_STORE=1: the piece lies in C_s
      barrier_of<128>(m_w + 2);

      // TMA_STORE=1: one lane sends the piece
      if (warp % 4 == 0 && elect_one()) {
        // TMA_STORE=1: send the piece to C
        tma_store(&C_map, n_b * 128 + n_c * 64, m_b * 512 + m_c * 128 + m_w * 64, C_s_at2,
            turn % 2 * 8192);
        bulk_commit();
      }
    }

    // TMA_STORE=1: no box is left
    if (warp % 4 == 0 && elect_one())
      bulk_wait<0>();
  }

  // MULTICAST=1: no block ends while others arrive at its mbarriers
  cluster_barrier();
}

// ---- fill, check, time --------------------------------------------------------------------

constexpr long long n_rows = 600, n_columns = 304, depth = 256;
// Elements from one row of A to the next, and from one k to the next in it; from one
// column of B to the next, and from one k to the next in it.
constexpr long long a_row = depth, a_next = 1, b_column = 1, b_next = n_columns;
constexpr long long check_step = 1;  // every cell is compared
// An f32 sum of K products strays from the exact one by a few units in the last place
// times the square root of K, relative to the sum of the products' magnitudes.
// Rounding the sum to bf16 costs half a unit in its last place.
constexpr double tolerance = 7.152557e-07, rounding = 3.906250e-03, least = 4.592335e-41;

typedef bf16 In;
typedef bf16 Out;

__device__ double number(bf16 x) {
  return __uint_as_float((unsigned)x.bits << 16);
}

__device__ void set(In *to, float x) {
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to->bits) : "f"(x));
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
  tensor_map C_map;
};

// A persistent kernel has as many blocks as the device holds at once: `most` of them have any
// tile. The driver does not count tensor memory: `most_per_sm` is what that has room for.
template <class Kernel>
static int blocks_that_fit(Kernel kernel, int most, int threads, size_t smem_bytes,
                           int most_per_sm) {
  int device, n_sms, per_sm;
  must(cudaGetDevice(&device), "cudaGetDevice");
  must(cudaDeviceGetAttribute(&n_sms, cudaDevAttrMultiProcessorCount, device), "SMs");
  must(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, threads, smem_bytes),
       "occupancy");
  return std::min(most, n_sms * std::min(per_sm, most_per_sm));
}

// Whole clusters of them: the SMs of a GPC may not come out even, so that there is room for fewer
// than the SMs together would hold, and who waits for one that is not there waits for ever.
template <class Kernel>
static int blocks_in_clusters_that_fit(Kernel kernel, int most, int threads, size_t smem_bytes,
                                       int most_per_sm, int cluster) {
  const int fit = blocks_that_fit(kernel, most, threads, smem_bytes, most_per_sm);
  const int blocks = std::max(fit / cluster, 1) * cluster;
  cudaLaunchAttribute size = {};
  size.id = cudaLaunchAttributeClusterDimension;
  size.val.clusterDim.x = cluster;
  size.val.clusterDim.y = size.val.clusterDim.z = 1;
  cudaLaunchConfig_t launch = {};
  launch.gridDim = dim3(blocks);
  launch.blockDim = dim3(threads);
  launch.dynamicSmemBytes = smem_bytes;
  launch.attrs = &size;
  launch.numAttrs = 1;
  int clusters = 0;
  must(cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch), "clusters that fit");
  return std::min(blocks, clusters * cluster);
}

// Launches the kernels of one product in their order.
static void multiply(const Operands &on) {
  static const int n_blocks = blocks_in_clusters_that_fit(matmul, 48, 384, 106544, 1024, 8);
  matmul<<<n_blocks, 384, 106544>>>(on.A_map, on.B_map, on.C_map);
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
  on.A_map = map_of(on.A, 256, 600, 64, 64, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                    CU_TENSOR_MAP_SWIZZLE_128B);
  on.B_map = map_of(on.B, 304, 256, 64, 16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                    CU_TENSOR_MAP_SWIZZLE_128B);
  on.C_map = map_of(on.C, 304, 600, 64, 64, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                    CU_TENSOR_MAP_SWIZZLE_128B);
  must(cudaFuncSetAttribute(matmul, cudaFuncAttributeMaxDynamicSharedMemorySize, 106544),
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
