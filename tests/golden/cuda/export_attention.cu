// nvcc -O3 -gencode arch=compute_90a,code=sm_90a -o attention attention.cu && ./attention
//
// O[4, 300, 64] = softmax(alpha * Q * K) * V, 512 keys, bf16 summed in f32, causal
// of rows of 64 in Q, K, V and O; alpha holds the log2(e) of exp2
// AUTO=0,PROGRAM=attention,HEADS=4,M=300,N=512,K=64,ATOM_KIND=mma_m16n8k16_bf16,WM=4,FM=2,FN=8,FUSE=1,STAGE=11,LDMATRIX=2,SWIZZLE=3,EAGER_KV=1,TMA=1,CAUSAL=1
// for sm_90a (H200 SXM)
//
//   attention<<<12, 128>>>(Q_map, K_map, V_map, O, alpha)   32792 bytes of shared memory

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int QUERIES = 300, HEAD_DIM = 64;

// A bfloat16 (1 sign, 8 exponent, 7 fraction bits) as it lies in memory.
struct bf16 {
  unsigned short bits;
};

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
    int column, int row, int matrix, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
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

// 2 to the power of x, within 2 units in the last place; exact for whole numbers.
__device__ __forceinline__ float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
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

// The largest of the lanes whose numbers differ in those bits alone.
__device__ __forceinline__ float lanes_max(float x, int bits) {
#pragma unroll
  for (int bit = 1; bit < 32; bit *= 2)
    if (bits & bit) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, bit));
  return x;
}

// The sum over the lanes whose numbers differ in those bits alone.
__device__ __forceinline__ float lanes_sum(float x, int bits) {
#pragma unroll
  for (int bit = 1; bit < 32; bit *= 2)
    if (bits & bit) x += __shfl_xor_sync(0xffffffffu, x, bit);
  return x;
}

// Two numbers as one register of two bf16, the first one low.
__device__ __forceinline__ unsigned round_bf16x2(float low, float high) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

// Four matrices of eight 16-byte rows: lane l says where row l % 8 of matrix l / 8 begins.
__device__ __forceinline__ void ldmatrix_x4(unsigned *to, const bf16 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from) : "memory");
}

// Four matrices of eight 16-byte rows: lane l says where row l % 8 of matrix l / 8 begins.
__device__ __forceinline__ void ldmatrix_x4_trans(unsigned *to, const bf16 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from) : "memory");
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

extern "C" __global__ void __launch_bounds__(128)
attention(const __grid_constant__ tensor_map Q_map, const __grid_constant__ tensor_map K_map,
    const __grid_constant__ tensor_map V_map, bf16 *__restrict__ O, float alpha) {
  __shared__ __align__(1024) bf16 smem[16396];
  bf16 *const Q_s = smem;          // [128][64] SWIZZLE=3: the slab of Q
  bf16 *const K_s = smem + 8192;   // [64][64] SWIZZLE=3: the slab of K
  bf16 *const V_s = smem + 12288;  // [64][64] SWIZZLE=3: the slab of V
  // [1] TMA=1: a slot's bytes have come
  unsigned long long *const full_q = reinterpret_cast<unsigned long long *>(smem + 16384);
  // [1] TMA=1: a slot's bytes have come
  unsigned long long *const full_k = reinterpret_cast<unsigned long long *>(smem + 16388);
  // [1] TMA=1: a slot's bytes have come
  unsigned long long *const full_v = reinterpret_cast<unsigned long long *>(smem + 16392);

  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const int h = blockIdx.x / 3;       // BLOCK 0..4, HEADS=4
  const int q_b = blockIdx.x % 3;     // BLOCK 0..3, WM=4
  const int q_w = threadIdx.x / 32;   // WARP 0..4, WM=4
  const int lane = threadIdx.x % 32;  // THREAD 0..32, ATOM_KIND=mma_m16n8k16_bf16

  // where this thread begins
  bf16 *const Q_s_at = Q_s + (q_w * 32 + lane % 16) * 64;
  bf16 *const K_s_at = K_s + (lane % 8 + lane / 16 * 8) * 64;
  bf16 *const V_s_at = V_s + lane % 16 * 64;

  // ATOM_KIND=mma_m16n8k16_bf16: its values of Q for one k-step, two to a register
  unsigned Q_f[2][4];
  // ATOM_KIND=mma_m16n8k16_bf16: its values of K for one k-step, two to a register
  unsigned K_f[8][2];
  float S_f[2][8][4];    // ATOM_KIND=mma_m16n8k16_bf16: this thread's scores, then weights
  unsigned P_f[2][4];  // ATOM_KIND=mma_m16n8k16_bf16: its weights for one k-step, two to a register
  // ATOM_KIND=mma_m16n8k16_bf16: its values of V for one k-step, two to a register
  unsigned V_f[8][2];
  float O_f[2][8][4];    // ATOM_KIND=mma_m16n8k16_bf16: this thread's cells of O
  float row_max[2][2];   // FUSE=1: of its rows: the largest score so far
  float row_base[2][2];  // FUSE=1: alpha times the largest score
  float row_sum[2][2];   // FUSE=1: the sum of its weights
  float rescale[2][2];   // FUSE=1: what older sums are worth

  // TMA=1: a phase of full ends when a slab's bytes have come
  if (warp == 0 && elect_one()) {
    mbarrier_init(full_q, 0, 1);
    mbarrier_init(full_k, 0, 1);
    mbarrier_init(full_v, 0, 1);

    // TMA=1: they are initialised for the cluster, and for what arrives in the background
    fence_mbarrier_init();
  }

  // TMA=1: the mbarriers are there
  __syncthreads();

  #pragma unroll
  for (int q_r = 0; q_r < 2; ++q_r)
    #pragma unroll
    for (int d_r = 0; d_r < 8; ++d_r)
      fill4(&O_f[q_r][d_r][0], 0.0f);
  #pragma unroll
  for (int q_r = 0; q_r < 2; ++q_r)
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      row_max[q_r][i] = __int_as_float(0xff800000);
  #pragma unroll
  for (int q_r = 0; q_r < 2; ++q_r)
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      row_sum[q_r][i] = 0.0f;

  // TMA=1: one thread asks for the slab of Q
  if (warp == 0 && elect_one()) {
    mbarrier_expect(full_q, 0, 16384);

    // TMA=1: ask for the slab of Q
    tma_load(Q_s, 0, &Q_map, 0, q_b * 128, h, full_q, 0);
  }

  // TMA=1: one thread asks for the slab of K
  if (warp == 0 && elect_one()) {
    // TMA=1: reads of the slot that still wait for a bank come before the copies
    fence_async();

    mbarrier_expect(full_k, 0, 8192);

    // TMA=1: ask for the slab of K
    tma_load(K_s, 0, &K_map, 0, 0, h, full_k, 0);
  }

  // TMA=1: the slab's bytes are there
  mbarrier_wait(full_q, 0, 0);

  for (int t_o = 0; t_o < min(q_b * 2 + 6, 8); ++t_o) {  // FUSE=1
    #pragma unroll
    for (int q_r = 0; q_r < 2; ++q_r)
      #pragma unroll
      for (int t_r = 0; t_r < 8; ++t_r)
        fill4(&S_f[q_r][t_r][0], 0.0f);

    // STAGE=11: this block's K is there, and the V before it is read
    __syncthreads();

    // EAGER_KV=1: V is wanted by the next product
    if (warp == 0 && elect_one()) {
      // TMA=1: reads of the slot that still wait for a bank come before the copies
      fence_async();

      mbarrier_expect(full_v, 0, 8192);

      // TMA=1: ask for the slab of V
      tma_load(V_s, 0, &V_map, 0, t_o * 64, h, full_v, 0);
    }

    // TMA=1: the slab's bytes are there
    mbarrier_wait(full_k, 0, t_o % 2);

    for (int e_i = 0; e_i < 4; ++e_i) {  // ATOM_KIND=mma_m16n8k16_bf16
      // LDMATRIX=2: the warp's fragments of Q
      #pragma unroll
      for (int q_r = 0; q_r < 2; ++q_r)
        ldmatrix_x4(&Q_f[q_r][0], Q_s_at,
            q_r * 16 * 64 + ((e_i * 16 + lane / 16 * 8) ^ (lane % 8 * 8)));

      // LDMATRIX=2: the warp's fragments of K
      #pragma unroll
      for (int t_p = 0; t_p < 4; ++t_p)
        ldmatrix_x4(&K_f[t_p * 2][0], K_s_at,
            t_p * 16 * 64 + ((e_i * 16 + lane / 8 % 2 * 8) ^ (lane % 8 * 8)));

      // FM=2: multiply each fragment of Q by each of K
      #pragma unroll
      for (int q_r = 0; q_r < 2; ++q_r)
        #pragma unroll
        for (int t_r = 0; t_r < 8; ++t_r)
          mma_m16n8k16_f32_bf16(&S_f[q_r][t_r][0], &Q_f[q_r][0], &K_f[t_r][0]);
    }

    if (q_b * 128 + q_w * 32 + 212 < t_o * 64 + 63) {
      #pragma unroll
      for (int q_r = 0; q_r < 2; ++q_r) {
        #pragma unroll
        for (int t_r = 0; t_r < 8; ++t_r) {
          #pragma unroll
          for (int v = 0; v < 4; ++v) {
            if (q_b * 128 + q_w * 32 + q_r * 16 + lane / 4 + v / 2 * 8 + 212 < t_o * 64 + t_r * 8 +
                lane % 4 * 2 + v % 2)
              S_f[q_r][t_r][v] = __int_as_float(0xff800000);
          }
        }
      }
    }

    // FUSE=1: the largest score of the blocks before
    #pragma unroll
    for (int q_r = 0; q_r < 2; ++q_r)
      #pragma unroll
      for (int i = 0; i < 2; ++i)
        rescale[q_r][i] = row_max[q_r][i];

    // FUSE=1: the largest score of each row so far
    #pragma unroll
    for (int q_r = 0; q_r < 2; ++q_r)
      #pragma unroll
      for (int t_r = 0; t_r < 8; ++t_r)
        #pragma unroll
        for (int v = 0; v < 4; ++v)
          row_max[q_r][v / 2] = fmaxf(row_max[q_r][v / 2], S_f[q_r][t_r][v]);

    // FUSE=1: the lanes that share a row agree on its maximum
    #pragma unroll
    for (int q_r = 0; q_r < 2; ++q_r)
      #pragma unroll
      for (int i = 0; i < 2; ++i)
        row_max[q_r][i] = lanes_max(row_max[q_r][i], 3);

    // FUSE=1: alpha times the largest score
    #pragma unroll
    for (int q_r = 0; q_r < 2; ++q_r)
      #pragma unroll
      for (int i = 0; i < 2; ++i)
        row_base[q_r][i] = row_max[q_r][i];

    #pragma unroll
    for (int q_r = 0; q_r < 2; ++q_r)
      #pragma unroll
      for (int i = 0; i < 2; ++i)
        row_base[q_r][i] *= alpha;

    // FUSE=1: how much less what was added up so far is worth below the new maximum
    #pragma unroll
    for (int q_r = 0; q_r < 2; ++q_r)
      #pragma unroll
      for (int i = 0; i < 2; ++i)
        rescale[q_r][i] = exp2_of(alpha * rescale[q_r][i] - row_base[q_r][i]);

    // FUSE=1: scores become weights, of which the largest is 1
    #pragma unroll
    for (int q_r = 0; q_r < 2; ++q_r)
      #pragma unroll
      for (int t_r = 0; t_r < 8; ++t_r)
        #pragma unroll
        for (int v = 0; v < 4; ++v)
          S_f[q_r][t_r][v] = exp2_of(alpha * S_f[q_r][t_r][v] - row_base[q_r][v / 2]);

    // FUSE=1: what was added up so far belongs to a smaller maximum
    #pragma unroll
    for (int q_r = 0; q_r < 2; ++q_r)
      #pragma unroll
      for (int i = 0; i < 2; ++i)
        row_sum[q_r][i] *= rescale[q_r][i];

    // FUSE=1: add up the weights that this lane has
    #pragma unroll
    for (int q_r = 0; q_r < 2; ++q_r)
      #pragma unroll
      for (int t_r = 0; t_r < 8; ++t_r)
        #pragma unroll
        for (int v = 0; v < 4; ++v)
          row_sum[q_r][v / 2] += S_f[q_r][t_r][v];

    // FUSE=1: what was added up so far belongs to a smaller maximum
    #pragma unroll
    for (int q_r = 0; q_r < 2; ++q_r)
      #pragma unroll
      for (int d_r = 0; d_r < 8; ++d_r)
        #pragma unroll
        for (int v = 0; v < 4; ++v)
          O_f[q_r][d_r][v] *= rescale[q_r][v / 2];

    // STAGE=11: this block's V is there, and its K is read
    __syncthreads();

    // EAGER_KV=1: K is read: fetch the next block's
    if (t_o + 1 < min(q_b * 2 + 6, 8)) {
      const int t_n = t_o + 1;

      // TMA=1: one thread asks for the slab of K
      if (warp == 0 && elect_one()) {
        // TMA=1: reads of the slot that still wait for a bank come before the copies
        fence_async();

        mbarrier_expect(full_k, 0, 8192);

        // TMA=1: ask for the slab of K
        tma_load(K_s, 0, &K_map, 0, t_n * 64, h, full_k, 0);
      }
    }

    // TMA=1: the slab's bytes are there
    mbarrier_wait(full_v, 0, t_o % 2);

    #pragma unroll
    for (int u_i = 0; u_i < 4; ++u_i) {  // ATOM_KIND=mma_m16n8k16_bf16
      // FM=2: the sums of one product are the operand of the next, in the same lanes
      #pragma unroll
      for (int q_r = 0; q_r < 2; ++q_r)
        #pragma unroll
        for (int v_p = 0; v_p < 4; ++v_p)
          P_f[q_r][v_p] =
              round_bf16x2(S_f[q_r][u_i * 2 + v_p / 2][v_p % 2 * 2],
              S_f[q_r][u_i * 2 + v_p / 2][v_p % 2 * 2 + 1]);

      // LDMATRIX=2: the warp's fragments of V
      #pragma unroll
      for (int d_p = 0; d_p < 4; ++d_p)
        ldmatrix_x4_trans(&V_f[d_p * 2][0], V_s_at,
            u_i * 16 * 64 + ((d_p * 16 + lane / 16 * 8) ^ (lane % 8 * 8)));

      // FM=2: multiply each fragment of P by each of V
      #pragma unroll
      for (int q_r = 0; q_r < 2; ++q_r)
        #pragma unroll
        for (int d_r = 0; d_r < 8; ++d_r)
          mma_m16n8k16_f32_bf16(&O_f[q_r][d_r][0], &P_f[q_r][0], &V_f[d_r][0]);
    }
  }

  // FUSE=1: the lanes that share a row add up its weights
  #pragma unroll
  for (int q_r = 0; q_r < 2; ++q_r)
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      row_sum[q_r][i] = lanes_sum(row_sum[q_r][i], 3);

  // FUSE=1: the weights of a row add up to its sum, not to 1
  #pragma unroll
  for (int q_r = 0; q_r < 2; ++q_r)
    #pragma unroll
    for (int d_r = 0; d_r < 8; ++d_r)
      #pragma unroll
      for (int v = 0; v < 4; ++v)
        O_f[q_r][d_r][v] /= row_sum[q_r][v / 2];

  // FM=2: write the cells of O
  #pragma unroll
  for (int q_r = 0; q_r < 2; ++q_r)
    #pragma unroll
    for (int d_r = 0; d_r < 8; ++d_r)
      #pragma unroll
      for (int v_o = 0; v_o < 2; ++v_o)
        if (q_b * 128 + q_w * 32 + q_r * 16 + lane / 4 + v_o * 8 < QUERIES)
          store2(&O[h * 19200 + (q_b * 128 + q_w * 32 + q_r * 16 + lane / 4 + v_o * 8) * HEAD_DIM +
              d_r * 8 + lane % 4 * 2], &O_f[q_r][d_r][v_o * 2]);
}

// ---- fill, check, time --------------------------------------------------------------------

constexpr long long n_heads = 4, n_queries = 300, n_keys = 512, head_dim = 64;
constexpr long long n_rows = n_heads * n_queries, n_columns = head_dim;
constexpr bool causal = true;
// Scores are divided by the square root of head_dim; weights are powers of 2, not of e.
constexpr float alpha = 0.180336878f;
constexpr double operations = 111360000;  // multiplications and additions of both products
constexpr long long check_step = 1;  // every row is compared
// An f32 sum of K products strays from the exact one by a few units in the last place
// times the square root of K, relative to the sum of the products' magnitudes.
// Rounding the sum to bf16 costs half a unit in its last place.
constexpr double tolerance = 3.910879e-03, rounding = 3.906250e-03, least = 4.592335e-41;

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

__global__ void __launch_bounds__(256)
check_rows(const In *Q, const In *K, const In *V, const Out *O, Verdict *verdict) {
  __shared__ double weight[256], most[256];
  const int i = threadIdx.x;
  for (long long row = blockIdx.x; row < n_rows; row += gridDim.x) {
    const double o = i < head_dim ? number(O[row * head_dim + i]) : 0;
    if (!__syncthreads_or(o != o) && row % check_step != 0) continue;
    const long long head = row / n_queries;
    const long long seen = causal ? row % n_queries + n_keys - n_queries + 1 : n_keys;
    double best = -1e300, sum = 0, out = 0, size = 0;
    for (long long first = 0; first < seen; first += 256) {
      const long long t = first + i;
      double score = -1e300;
      if (t < seen) {
        score = 0;
        for (int e = 0; e < head_dim; ++e)
          score += number(Q[row * head_dim + e]) *
                   number(K[(head * n_keys + t) * head_dim + e]);
      }
      most[i] = score;
      __syncthreads();
      for (int half = 128; half > 0; half /= 2) {
        if (i < half) most[i] = fmax(most[i], most[i + half]);
        __syncthreads();
      }
      const double now = fmax(best, most[0]), factor = exp2(alpha * (best - now));
      weight[i] = t < seen ? exp2(alpha * (score - now)) : 0;
      __syncthreads();
      best = now, sum *= factor, out *= factor, size *= factor;
      for (int j = 0; j < 256 && first + j < seen; ++j) {
        sum += weight[j];
        if (i >= head_dim) continue;
        const double v = number(V[(head * n_keys + first + j) * head_dim + i]);
        out += weight[j] * v;
        size += weight[j] * fabs(v);
      }
      __syncthreads();
    }
    if (i >= head_dim) continue;
    judge(o, out / sum, size / sum, verdict);
  }
}

struct Operands {
  In *Q, *K, *V;
  Out *O;
  tensor_map Q_map;
  tensor_map K_map;
  tensor_map V_map;
};

// Launches the kernels of one run in their order.
static void attend(const Operands &on) {
  attention<<<12, 128, 0>>>(on.Q_map, on.K_map, on.V_map, on.O, alpha);
  must(cudaGetLastError(), "launch");
}

static bool is_right(const In *Q, const In *K, const In *V, const Out *O) {
  Verdict *on_device, verdict = {};
  must(cudaMalloc(&on_device, sizeof verdict), "cudaMalloc");
  must(cudaMemset(on_device, 0, sizeof verdict), "cudaMemset");
  check_rows<<<4096, 256>>>(Q, K, V, O, on_device);
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
  on.Q = operand(n_rows * head_dim, 1);
  on.K = operand(n_heads * n_keys * head_dim, 2);
  on.V = operand(n_heads * n_keys * head_dim, 3);
  on.O = unwritten<Out>(n_rows * n_columns);
  on.Q_map = map_of(on.Q, 64, 300, 4, 64, 128, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                    CU_TENSOR_MAP_SWIZZLE_128B);
  on.K_map = map_of(on.K, 64, 512, 4, 64, 64, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                    CU_TENSOR_MAP_SWIZZLE_128B);
  on.V_map = map_of(on.V, 64, 512, 4, 64, 64, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                    CU_TENSOR_MAP_SWIZZLE_128B);
  return on;
}

// Milliseconds of `n` runs in a row.
static float time_products(const Operands &on, int n) {
  cudaEvent_t start, stop;
  must(cudaEventCreate(&start), "cudaEventCreate");
  must(cudaEventCreate(&stop), "cudaEventCreate");
  must(cudaEventRecord(start), "cudaEventRecord");
  for (int i = 0; i < n; ++i) attend(on);
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
  attend(on);
  must(cudaDeviceSynchronize(), "launch");
  if (!is_right(on.Q, on.K, on.V, on.O)) return 1;  // a wrong kernel has no speed
  const float once_ms = time_products(on, 3) / 3;  // warms up, too
  const int n = std::max(1, std::min(1000, (int)(2.0f / once_ms)));
  std::vector<float> ms;
  for (int i = 0; i < 21; ++i) ms.push_back(time_products(on, n) / n);
  std::sort(ms.begin(), ms.end());
  const double median_ms = ms[ms.size() / 2];
  std::printf("%.4f ms (median of %d samples of %d, fastest %.4f ms, L2 warm), "
              "%.2f TFLOP/s\n",
              median_ms, (int)ms.size(), n, ms[0],
              1e-9 * operations / median_ms);
  return 0;
}
