// nvcc -O3 -gencode arch=compute_90a,code=sm_90a -o matmul matmul.cu && ./matmul
//
// C[1024, 2048] = A[1024, 512] * B[512, 2048], bf16 summed in f32, row-major
// AUTO=0,M=1024,N=2048,K=512,ATOM_KIND=mma_m16n8k16_bf16,WM=2,WN=2,FM=4,FN=4,BK=4,TMA=1,STAGE=11,WARP_SPECIALIZE=1,BUFFER_COUNT=3,CLUSTER_M=2,MULTICAST=1,PERSISTENT=1,TILE_ORDER=gpc,GROUP_N=8
// for sm_90a (H200 SXM)
//
//   matmul<<<min(256, blocks that fit), 256, 73784>>>(A_map, B_map, C, places, claims, epoch, lists)   73784 bytes of shared memory

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int N = 2048;

// A bfloat16 (1 sign, 8 exponent, 7 fraction bits) as it lies in memory.
struct bf16 {
  unsigned short bits;
};

__device__ __forceinline__ void load2(unsigned *to, const bf16 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

__device__ __forceinline__ void store2(bf16 *to, const float *from) {
  unsigned v[1];
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[0]) : "f"(from[1]), "f"(from[0]));
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

// Goes on when the phase with this bit, 0 or 1, has ended.
__device__ __forceinline__ void mbarrier_wait(unsigned long long *bars, int i, int phase) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("{ .reg .pred ended;\n"
               "again%=: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
               "@!ended bra again%=; }" :: "r"(bar), "r"(phase) : "memory");
}

// The map's box, from this column and row on, goes to element `at` of the slab.
__device__ __forceinline__ void tma_load(bf16 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar) : "memory");
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

// A list of tiles for the cluster of n blocks, which no other has in this launch: that of its SM,
// or the next one that is free. Lists from `lists` on have no tiles.
template <int n, bool indivisible>
__device__ __forceinline__ void claim_list(unsigned long long *word, int none,
                                           const int *places, unsigned *claims,
                                           unsigned epoch, int lists) {
  const int clusters = gridDim.x / n;
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  int list = places[sm % 1024] % clusters, tried = 0;
  for (; tried < clusters; ++tried) {
    const unsigned before = indivisible ? atomicMax(&claims[list], epoch) : claims[list];
    if (!indivisible && before < epoch) claims[list] = epoch;
    if (before < epoch) break;
    list = list + 1 == clusters ? 0 : list + 1;
  }
  *word = tried < clusters && list < lists ? list : none;
}
// What the block of rank 0 has claimed.
template <int n>
__device__ __forceinline__ int claimed_list(const unsigned long long *word) {
  if (n == 1) return static_cast<int>(*word);
  unsigned long long list;
  asm volatile("{ .reg .b32 there;\n"
               "mapa.shared::cluster.u32 there, %1, 0;\n"
               "ld.shared::cluster.u64 %0, [there]; }"
               : "=l"(list)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(word)))
               : "memory");
  return static_cast<int>(list);
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

// c += a * b, 16 x 8 x 16, by a warp; PTX ISA, section 9.7.14.5.8 says which lane holds what.
__device__ __forceinline__ void mma_m16n8k16_f32_bf16(float *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]));
}

// Value i of a register that holds 2; the others stay.
__device__ __forceinline__ void insert_bf16(unsigned *to, int i, bf16 value) {
  const unsigned bits = value.bits;
  *to = (*to & ~(0xffffu << 16 * i)) | bits << 16 * i;
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(256)
matmul(const __grid_constant__ tensor_map A_map, const __grid_constant__ tensor_map B_map,
    bf16 *__restrict__ C, const int *places, unsigned *claims, unsigned epoch, int lists) {
  extern __shared__ __align__(128) bf16 smem[];  // 36892: 73784 bytes
  bf16 *const A_s = smem;          // [3][128][64] BUFFER_COUNT=3: the slab of A
  bf16 *const B_s = smem + 24576;  // [3][64][64] BUFFER_COUNT=3: the slab of B
  // [3] TMA=1: a slot's bytes have come
  unsigned long long *const full = reinterpret_cast<unsigned long long *>(smem + 36864);
  // [3] WARP_SPECIALIZE=1: every consumer warp has left a slot
  unsigned long long *const empty = reinterpret_cast<unsigned long long *>(smem + 36876);
  // [1] TILE_ORDER=gpc: the list of tiles that the cluster has claimed
  unsigned long long *const list = reinterpret_cast<unsigned long long *>(smem + 36888);

  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const int m_c = blockIdx.x % 2;        // CLUSTER 0..2, CLUSTER_M=2
  const int m_w = threadIdx.x / 64;      // WARP 0..2, WM=2
  const int n_w = threadIdx.x / 32 % 2;  // WARP 0..2, WN=2
  const int lane = threadIdx.x % 32;     // THREAD 0..32, ATOM_KIND=mma_m16n8k16_bf16

  // where this thread begins
  bf16 *const B_s_at = B_s + m_c * 32 * 64;
  bf16 *const A_s_at = A_s + (m_w * 64 + lane / 4) * 64 + lane % 4 * 2;
  bf16 *const B_s_at2 = B_s + lane % 4 * 2 * 64 + n_w * 32 + lane / 4;

  float acc[4][4][4];  // ATOM_KIND=mma_m16n8k16_bf16: this thread's cells of C
  // ATOM_KIND=mma_m16n8k16_bf16: its values of A for one k-step, two to a register
  unsigned a[4][4];
  // ATOM_KIND=mma_m16n8k16_bf16: its values of B for one k-step, two to a register
  unsigned b[4][2];

  // TMA=1: a phase of full ends when a slab's bytes have come
  if (warp == 0 && elect_one()) {
    #pragma unroll
    for (int i = 0; i < 3; ++i)
      mbarrier_init(full, i, 1);
    #pragma unroll
    for (int i = 0; i < 3; ++i)
      mbarrier_init(empty, i, 8);

    // TMA=1: they are initialised for the cluster, and for what arrives in the background
    fence_mbarrier_init();

    if (m_c == 0) {
      // TILE_ORDER=gpc: the list that is meant for this place, or the next one that is free
      claim_list<2, true>(list, 128, places, claims, epoch, lists);
    }
  }

  // MULTICAST=1: the mbarriers of all blocks are there
  cluster_barrier();

  // WARP_SPECIALIZE=1: the producer only fetches
  if (4 <= warp) {
    if (warp == 4 && elect_one()) {
      for (int t = claimed_list<2>(list); t < 128; t += lists) {  // PERSISTENT=1
        const int turn = t / lists;
        const int m_b = t % 32 / 8;
        const int n_b = t / 32 * 8 + t % 8;

        // of the ring, counted along
        int slot = turn * 8 % 3, empty_phase = (turn * 8 / 3 + 1) % 2;
        for (int k_o = 0; k_o < 8; ++k_o) {  // WARP_SPECIALIZE=1
          // WARP_SPECIALIZE=1: every consumer has left the slot
          mbarrier_wait(empty, slot, empty_phase);

          mbarrier_expect(full, slot, 24576);

          // TMA=1: ask for the slab of A
          tma_load(A_s, slot * 8192, &A_map, k_o * 64, m_b * 256 + m_c * 128, full, slot);

          // MULTICAST=1: a share of the slab, for all who need it
          tma_multicast(B_s_at, slot * 4096, &B_map, n_b * 64, k_o * 64 + m_c * 32, full, slot, 3);

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
    for (int t = claimed_list<2>(list); t < 128; t += lists) {  // PERSISTENT=1
      const int turn = t / lists;
      const int m_b = t % 32 / 8;
      const int n_b = t / 32 * 8 + t % 8;
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        #pragma unroll
        for (int n_r = 0; n_r < 4; ++n_r)
          fill4(&acc[m_r][n_r][0], 0.0f);

      int slot = turn * 8 % 3, full_phase = turn * 8 / 3 % 2;  // of the ring, counted along
      for (int k_o = 0; k_o < 8; ++k_o) {  // BK=4
        // TMA=1: the slab's bytes are there
        mbarrier_wait(full, slot, full_phase);

        for (int k_i = 0; k_i < 4; ++k_i) {  // BK=4
          // FM=4: this thread's values of A
          #pragma unroll
          for (int m_r = 0; m_r < 4; ++m_r)
            #pragma unroll
            for (int v_a = 0; v_a < 4; ++v_a)
              load2(&a[m_r][v_a],
                  &A_s_at[slot * 8192 + (m_r * 16 + v_a % 2 * 8) * 64 + k_i * 16 + v_a / 2 * 8]);

          // FN=4: this thread's values of B
          #pragma unroll
          for (int n_r = 0; n_r < 4; ++n_r)
            #pragma unroll
            for (int v_b = 0; v_b < 4; ++v_b)
              insert_bf16(&b[n_r][v_b / 2], v_b % 2,
                  B_s_at2[slot * 4096 + (k_i * 16 + v_b % 2 + v_b / 2 * 8) * 64 + n_r * 8]);

          // FM=4: multiply each fragment of A by each of B
          #pragma unroll
          for (int m_r = 0; m_r < 4; ++m_r)
            #pragma unroll
            for (int n_r = 0; n_r < 4; ++n_r)
              mma_m16n8k16_f32_bf16(&acc[m_r][n_r][0], &a[m_r][0], &b[n_r][0]);
        }

        // MULTICAST=1: what was read of the slot comes before copies that other blocks ask for
        fence_async();

        // MULTICAST=1: the warp has read the slot to the end
        mbarrier_arrive_at(empty, slot, 3);

        if (++slot == 3) {
          slot = 0;
          full_phase ^= 1;
        }
      }

      // FM=4: write the cells of C
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        #pragma unroll
        for (int n_r = 0; n_r < 4; ++n_r)
          #pragma unroll
          for (int v_c = 0; v_c < 2; ++v_c)
            store2(&C[(m_b * 256 + m_c * 128 + m_w * 64 + m_r * 16 + lane / 4 + v_c * 8) * N +
                n_b * 64 + n_w * 32 + n_r * 8 + lane % 4 * 2], &acc[m_r][n_r][v_c * 2]);
    }
  }

  // MULTICAST=1: no block ends while others arrive at its mbarriers
  cluster_barrier();
}

// ---- fill, check, time --------------------------------------------------------------------

constexpr long long n_rows = 1024, n_columns = 2048, depth = 512;
// Elements from one row of A to the next, and from one k to the next in it; from one
// column of B to the next, and from one k to the next in it.
constexpr long long a_row = depth, a_next = 1, b_column = 1, b_next = n_columns;
constexpr long long check_step = 1;  // every cell is compared
// An f32 sum of K products strays from the exact one by a few units in the last place
// times the square root of K, relative to the sum of the products' magnitudes.
// Rounding the sum to bf16 costs half a unit in its last place.
constexpr double tolerance = 8.140119e-07, rounding = 3.906250e-03, least = 4.592335e-41;

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

// SMs that were seen in one cluster are in one GPC; which of them share a cluster changes with its
// size, so that parts of a GPC are joined.
__global__ void sm_of_blocks(int *sm_of_block, int clocks) {
  const long long began = clock64();
  int sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (threadIdx.x == 0) sm_of_block[blockIdx.x] = sm;
  while (clock64() - began < clocks) {}
}

static std::vector<std::vector<int>> neighbouring_sms(int n_sms) {
  std::vector<int> set(1024, -1), sm(2 * n_sms);
  int *on_device;
  must(cudaMalloc(&on_device, sm.size() * sizeof(int)), "cudaMalloc");
  for (int cluster = 8; cluster > 1; --cluster) {
    const int n = 2 * n_sms / cluster * cluster;
    cudaLaunchAttribute size = {};
    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim.x = cluster;
    size.val.clusterDim.y = size.val.clusterDim.z = 1;
    cudaLaunchConfig_t launch = {};
    launch.gridDim = dim3(n);
    launch.blockDim = dim3(1024);
    launch.attrs = &size;
    launch.numAttrs = 1;
    must(cudaLaunchKernelEx(&launch, sm_of_blocks, on_device, 30000), "clusters");
    must(cudaMemcpy(sm.data(), on_device, n * sizeof(int), cudaMemcpyDeviceToHost), "SMs");
    for (int i = 0; i < n; ++i) {
      if (set[sm[i]] < 0) set[sm[i]] = sm[i];
      const int from = set[sm[i]], to = set[sm[i - i % cluster]];
      std::replace(set.begin(), set.end(), from, to);
    }
  }
  must(cudaFree(on_device), "cudaFree");
  std::vector<std::vector<int>> places;
  std::vector<int> place_of(1024, -1);
  for (int i = 0; i < 1024; ++i) {
    if (set[i] < 0) continue;
    int &place = place_of[set[i]];
    if (place < 0) {
      place = static_cast<int>(places.size());
      places.emplace_back();
    }
    places[place].push_back(i);
  }
  return places;
}

// Which of n lists of tiles is meant for a cluster by the SM it runs on: neighbouring lists are of
// one GPC. Any table is right.
static std::vector<int> lists_of_sms(const std::vector<std::vector<int>> &gpcs, int tiles,
                                     int clusters, int cluster, int per_sm, int *n) {
  // At most a turn in 24 more than with a list for every cluster, in whole groups of tiles.
  const long long turns = (tiles + clusters - 1) / clusters, most = turns + turns / 24;
  int lists = clusters, owned = 0, first = 0, left_over = 0;
  for (int i = clusters - 1; i > 0 && i * most >= tiles; --i)
    if ((i & -i) > (lists & -lists)) lists = i;
  // A GPC has as many as clusters; where lists are fewer, the fullest give one away.
  std::vector<int> own, order, of_sm(1024);
  for (const auto &sms : gpcs) {
    order.push_back(static_cast<int>(own.size()));
    own.push_back(static_cast<int>(sms.size()) * per_sm / cluster);
    owned += own.back();
  }
  for (; owned > lists; --owned) --*std::max_element(own.begin(), own.end());
  // The commonest share first, so that the odd ones shift nobody else's groups.
  const auto rank = [&](int gpc) {
    return std::make_pair(-std::count(own.begin(), own.end(), own[gpc]), -own[gpc]);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return rank(a) < rank(b); });
  for (int gpc : order) {
    for (size_t i = 0; i < gpcs[gpc].size(); ++i) {
      const int slot = static_cast<int>(i) * per_sm / cluster;
      const bool has = slot < own[gpc];
      const int list = has ? first + slot : owned + left_over++ * per_sm / cluster;
      of_sm[gpcs[gpc][i]] = std::min(list, clusters - 1);
    }
    first += own[gpc];
  }
  *n = lists;
  return of_sm;
}

// The table on the device; claims begin with 0.
struct Lists {
  int *places, n;
  unsigned *claims;
};

static Lists lists_for(int tiles, int n_blocks, int cluster) {
  int device, n_sms, n;
  must(cudaGetDevice(&device), "cudaGetDevice");
  must(cudaDeviceGetAttribute(&n_sms, cudaDevAttrMultiProcessorCount, device), "SMs");
  const int per_sm = (n_blocks + n_sms - 1) / n_sms, clusters = n_blocks / cluster;
  const auto of_sm =
      lists_of_sms(neighbouring_sms(n_sms), tiles, clusters, cluster, per_sm, &n);
  Lists on_device = {nullptr, n, nullptr};
  must(cudaMalloc(&on_device.places, of_sm.size() * sizeof(int)), "cudaMalloc");
  must(cudaMalloc(&on_device.claims, clusters * sizeof(unsigned)), "cudaMalloc");
  must(cudaMemcpy(on_device.places, of_sm.data(), of_sm.size() * sizeof(int),
                  cudaMemcpyHostToDevice),
       "places");
  must(cudaMemset(on_device.claims, 0, clusters * sizeof(unsigned)), "claims");
  return on_device;
}

// Launches the kernels of one product in their order.
static void multiply(const Operands &on) {
  static const int n_blocks = blocks_in_clusters_that_fit(matmul, 256, 256, 73784, 1024, 2);
  static const Lists lists = lists_for(128, n_blocks, 2);
  static unsigned epoch = 0;
  matmul<<<n_blocks, 256, 73784>>>(on.A_map, on.B_map, on.C,
         lists.places, lists.claims, ++epoch, lists.n);
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
  on.A_map = map_of(on.A, 512, 1024, 64, 128, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                    CU_TENSOR_MAP_SWIZZLE_NONE);
  on.B_map = map_of(on.B, 2048, 512, 64, 32, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                    CU_TENSOR_MAP_SWIZZLE_NONE);
  must(cudaFuncSetAttribute(matmul, cudaFuncAttributeMaxDynamicSharedMemorySize, 73784),
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
