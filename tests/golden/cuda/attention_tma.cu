// O[64, 4096, 128] = softmax(alpha * Q * K) * V, 4096 keys, bf16 summed in f32
// of rows of 128 in Q, K, V and O; alpha holds the log2(e) of exp2
// AUTO=0,PROGRAM=attention,HEADS=64,M=4096,N=4096,K=128,ATOM_KIND=mma_m16n8k16_bf16,WM=4,FM=2,FN=8,FUSE=1,STAGE=11,LDMATRIX=2,SWIZZLE=3,EAGER_KV=1,TMA=1,FRAG_ORDER=1,ELECT=0
// for sm_90a (H200 SXM)
//
//   attention<<<2048, 128, 65560>>>(Q_map, K_map, V_map, O, alpha)   65560 bytes of shared memory

constexpr int HEAD_DIM = 128;

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
  extern __shared__ __align__(1024) bf16 smem[];  // 32780: 65560 bytes
  bf16 *const Q_s = smem;          // [2][128][64] SWIZZLE=3: the slab of Q
  bf16 *const K_s = smem + 16384;  // [2][64][64] SWIZZLE=3: the slab of K
  bf16 *const V_s = smem + 24576;  // [2][64][64] SWIZZLE=3: the slab of V
  // [1] TMA=1: a slot's bytes have come
  unsigned long long *const full_q = reinterpret_cast<unsigned long long *>(smem + 32768);
  // [1] TMA=1: a slot's bytes have come
  unsigned long long *const full_k = reinterpret_cast<unsigned long long *>(smem + 32772);
  // [1] TMA=1: a slot's bytes have come
  unsigned long long *const full_v = reinterpret_cast<unsigned long long *>(smem + 32776);

  const int tid = threadIdx.x;
  const int h = blockIdx.x / 32;      // BLOCK 0..64, HEADS=64
  const int q_b = blockIdx.x % 32;    // BLOCK 0..32, WM=4
  const int q_w = threadIdx.x / 32;   // WARP 0..4, WM=4
  const int lane = threadIdx.x % 32;  // THREAD 0..32, ATOM_KIND=mma_m16n8k16_bf16

  // where this thread begins
  bf16 *const Q_s_at = Q_s + (q_w * 32 + lane % 16) * 64;
  bf16 *const K_s_at = K_s + (lane % 8 + lane / 16 * 8) * 64;
  bf16 *const V_s_at = V_s + lane % 16 * 64;

  unsigned Q_f[8][2][4];   // FRAG_ORDER=1: its values of Q for one k-step, two to a register
  unsigned K_f[8][8][2];   // FRAG_ORDER=1: its values of K for one k-step, two to a register
  float S_f[2][8][4];      // ATOM_KIND=mma_m16n8k16_bf16: this thread's scores, then weights
  unsigned P_f[4][2][4];   // FRAG_ORDER=1: its weights for one k-step, two to a register
  unsigned V_f[4][16][2];  // FRAG_ORDER=1: its values of V for one k-step, two to a register
  float O_f[2][16][4];     // ATOM_KIND=mma_m16n8k16_bf16: this thread's cells of O
  float row_max[2][2];     // FUSE=1: of its rows: the largest score so far
  float row_base[2][2];    // FUSE=1: alpha times the largest score
  float row_sum[2][2];     // FUSE=1: the sum of its weights
  float rescale[2][2];     // FUSE=1: what older sums are worth

  // TMA=1: a phase of full ends when a slab's bytes have come
  if (tid == 0) {
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
    for (int d_r = 0; d_r < 16; ++d_r)
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
  if (tid == 0) {
    mbarrier_expect(full_q, 0, 32768);

    // TMA=1: ask for the slab of Q
    #pragma unroll
    for (int p_q = 0; p_q < 2; ++p_q)
      tma_load(Q_s, p_q * 8192, &Q_map, p_q * 64, q_b * 128, h, full_q, 0);
  }

  // TMA=1: one thread asks for the slab of K
  if (tid == 0) {
    // TMA=1: reads of the slot that still wait for a bank come before the copies
    fence_async();

    mbarrier_expect(full_k, 0, 16384);

    // TMA=1: ask for the slab of K
    #pragma unroll
    for (int p_k = 0; p_k < 2; ++p_k)
      tma_load(K_s, p_k * 4096, &K_map, p_k * 64, 0, h, full_k, 0);
  }

  // TMA=1: the slab's bytes are there
  mbarrier_wait(full_q, 0, 0);

  for (int t_o = 0; t_o < 64; ++t_o) {  // FUSE=1
    #pragma unroll
    for (int q_r = 0; q_r < 2; ++q_r)
      #pragma unroll
      for (int t_r = 0; t_r < 8; ++t_r)
        fill4(&S_f[q_r][t_r][0], 0.0f);

    // STAGE=11: this block's K is there, and the V before it is read
    __syncthreads();

    // EAGER_KV=1: V is wanted by the next product
    if (tid == 0) {
      // TMA=1: reads of the slot that still wait for a bank come before the copies
      fence_async();

      mbarrier_expect(full_v, 0, 16384);

      // TMA=1: ask for the slab of V
      #pragma unroll
      for (int p_v = 0; p_v < 2; ++p_v)
        tma_load(V_s, p_v * 4096, &V_map, p_v * 64, t_o * 64, h, full_v, 0);
    }

    // TMA=1: the slab's bytes are there
    mbarrier_wait(full_k, 0, t_o % 2);

    // FRAG_ORDER=1: the warp's fragments of Q
    #pragma unroll
    for (int e_f = 0; e_f < 8; ++e_f) {
      #pragma unroll
      for (int q_r = 0; q_r < 2; ++q_r)
        ldmatrix_x4(&Q_f[e_f][q_r][0], Q_s_at,
            e_f / 4 * 8192 + q_r * 16 * 64 + (((e_f * 2 + lane / 16) % 8 * 8) ^ (lane % 8 * 8)));

      // LDMATRIX=2: the warp's fragments of K
      #pragma unroll
      for (int t_p = 0; t_p < 4; ++t_p)
        ldmatrix_x4(&K_f[e_f][t_p * 2][0], K_s_at,
            e_f / 4 * 4096 + t_p * 16 * 64 + (((e_f * 2 + lane / 8 % 2) % 8 * 8) ^ (lane % 8 * 8)));
    }

    #pragma unroll
    for (int e_i = 0; e_i < 8; ++e_i) {  // FRAG_ORDER=1
      // FM=2: multiply each fragment of Q by each of K
      #pragma unroll
      for (int q_r = 0; q_r < 2; ++q_r)
        #pragma unroll
        for (int t_r = 0; t_r < 8; ++t_r)
          mma_m16n8k16_f32_bf16(&S_f[q_r][t_r][0], &Q_f[e_i][q_r][0], &K_f[e_i][t_r][0]);
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
      for (int d_r = 0; d_r < 16; ++d_r)
        #pragma unroll
        for (int v = 0; v < 4; ++v)
          O_f[q_r][d_r][v] *= rescale[q_r][v / 2];

    // STAGE=11: this block's V is there, and its K is read
    __syncthreads();

    // EAGER_KV=1: K is read: fetch the next block's
    if (t_o + 1 < 64) {
      const int t_n = t_o + 1;

      // TMA=1: one thread asks for the slab of K
      if (tid == 0) {
        // TMA=1: reads of the slot that still wait for a bank come before the copies
        fence_async();

        mbarrier_expect(full_k, 0, 16384);

        // TMA=1: ask for the slab of K
        #pragma unroll
        for (int p_k = 0; p_k < 2; ++p_k)
          tma_load(K_s, p_k * 4096, &K_map, p_k * 64, t_n * 64, h, full_k, 0);
      }
    }

    // TMA=1: the slab's bytes are there
    mbarrier_wait(full_v, 0, t_o % 2);

    // FRAG_ORDER=1: the sums of one product are the operand of the next, in the same lanes
    #pragma unroll
    for (int u_f = 0; u_f < 4; ++u_f) {
      #pragma unroll
      for (int q_r = 0; q_r < 2; ++q_r)
        #pragma unroll
        for (int v_p = 0; v_p < 4; ++v_p)
          P_f[u_f][q_r][v_p] =
              round_bf16x2(S_f[q_r][u_f * 2 + v_p / 2][v_p % 2 * 2],
              S_f[q_r][u_f * 2 + v_p / 2][v_p % 2 * 2 + 1]);

      // LDMATRIX=2: the warp's fragments of V
      #pragma unroll
      for (int d_p = 0; d_p < 8; ++d_p)
        ldmatrix_x4_trans(&V_f[u_f][d_p * 2][0], V_s_at,
            d_p / 4 * 4096 + u_f * 16 * 64 + (((d_p * 2 + lane / 16) % 8 * 8) ^ (lane % 8 * 8)));
    }

    #pragma unroll
    for (int u_i = 0; u_i < 4; ++u_i) {  // FRAG_ORDER=1
      // FM=2: multiply each fragment of P by each of V
      #pragma unroll
      for (int q_r = 0; q_r < 2; ++q_r)
        #pragma unroll
        for (int d_r = 0; d_r < 16; ++d_r)
          mma_m16n8k16_f32_bf16(&O_f[q_r][d_r][0], &P_f[u_i][q_r][0], &V_f[u_i][d_r][0]);
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
    for (int d_r = 0; d_r < 16; ++d_r)
      #pragma unroll
      for (int v = 0; v < 4; ++v)
        O_f[q_r][d_r][v] /= row_sum[q_r][v / 2];

  // FM=2: write the cells of O
  #pragma unroll
  for (int q_r = 0; q_r < 2; ++q_r)
    #pragma unroll
    for (int d_r = 0; d_r < 16; ++d_r)
      #pragma unroll
      for (int v_o = 0; v_o < 2; ++v_o)
        store2(&O[h * 524288 + (q_b * 128 + q_w * 32 + q_r * 16 + lane / 4 + v_o * 8) * HEAD_DIM +
            d_r * 8 + lane % 4 * 2], &O_f[q_r][d_r][v_o * 2]);
}
