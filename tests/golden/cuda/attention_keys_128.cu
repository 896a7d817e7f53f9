// O[64, 4096, 128] = softmax(alpha * Q * K) * V, 4096 keys, bf16 summed in f32
// of rows of 128 in Q, K, V and O; alpha holds the log2(e) of exp2
// AUTO=0,PROGRAM=attention,HEADS=64,M=4096,N=4096,K=128,ATOM_KIND=mma_m16n8k16_bf16,WM=4,FN=16,FUSE=1,STAGE=11,LDMATRIX=2,ASYNC_COPY=1,SWIZZLE=3,EAGER_KV=1
// for sm_90a (H200 SXM)
//
//   attention<<<4096, 128, 81920>>>(Q, K, V, O, alpha)   81920 bytes of shared memory

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

__device__ __forceinline__ void cp_async8(bf16 *slab, int at,
                                          const bf16 *from_global) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :: "r"(to), "l"(from_global) : "memory");
}

// The copies this thread has issued since the last commit become one group.
__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most `n` of this thread's groups are still in flight.
template <int n>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}

// 2 to the power of x, within 2 units in the last place; exact for whole numbers.
__device__ __forceinline__ float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
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
attention(const bf16 *__restrict__ Q, const bf16 *__restrict__ K, const bf16 *__restrict__ V,
    bf16 *__restrict__ O, float alpha) {
  extern __shared__ __align__(1024) bf16 smem[];  // 40960: 81920 bytes
  bf16 *const Q_s = smem;          // [64][128] SWIZZLE=3: the slab of Q
  bf16 *const K_s = smem + 8192;   // [128][128] SWIZZLE=3: the slab of K
  bf16 *const V_s = smem + 24576;  // [128][128] SWIZZLE=3: the slab of V

  const int tid = threadIdx.x;
  const int h = blockIdx.x / 64;      // BLOCK 0..64, HEADS=64
  const int q_b = blockIdx.x % 64;    // BLOCK 0..64, WM=4
  const int q_w = threadIdx.x / 32;   // WARP 0..4, WM=4
  const int lane = threadIdx.x % 32;  // THREAD 0..32, ATOM_KIND=mma_m16n8k16_bf16

  // where this thread begins
  bf16 *const Q_s_at = Q_s + tid / 16 * 128 + ((tid % 16 * 8) ^ (tid / 16 * 8));
  bf16 *const K_s_at = K_s + tid / 16 * 128 + ((tid % 16 * 8) ^ (tid / 16 * 8));
  bf16 *const V_s_at = V_s + tid / 16 * 128 + ((tid % 16 * 8) ^ (tid / 16 * 8));
  bf16 *const Q_s_at2 = Q_s + (q_w * 16 + lane % 16) * 128;
  bf16 *const K_s_at2 = K_s + (lane % 8 + lane / 16 * 8) * 128;
  bf16 *const V_s_at2 = V_s + lane % 16 * 128;

  // ATOM_KIND=mma_m16n8k16_bf16: its values of Q for one k-step, two to a register
  unsigned Q_f[4];
  // ATOM_KIND=mma_m16n8k16_bf16: its values of K for one k-step, two to a register
  unsigned K_f[16][2];
  float S_f[16][4];   // ATOM_KIND=mma_m16n8k16_bf16: this thread's scores, then weights
  unsigned P_f[4];    // ATOM_KIND=mma_m16n8k16_bf16: its weights for one k-step, two to a register
  // ATOM_KIND=mma_m16n8k16_bf16: its values of V for one k-step, two to a register
  unsigned V_f[16][2];
  float O_f[16][4];   // ATOM_KIND=mma_m16n8k16_bf16: this thread's cells of O
  float row_max[2];   // FUSE=1: of its rows: the largest score so far
  float row_base[2];  // FUSE=1: alpha times the largest score
  float row_sum[2];   // FUSE=1: the sum of its weights
  float rescale[2];   // FUSE=1: what older sums are worth

  #pragma unroll
  for (int d_r = 0; d_r < 16; ++d_r)
    fill4(&O_f[d_r][0], 0.0f);
  #pragma unroll
  for (int i = 0; i < 2; ++i)
    row_max[i] = __int_as_float(0xff800000);
  #pragma unroll
  for (int i = 0; i < 2; ++i)
    row_sum[i] = 0.0f;

  // ASYNC_COPY=1: start the copy of the slab of Q
  #pragma unroll
  for (int c_q = 0; c_q < 8; ++c_q)
    cp_async8(Q_s_at, c_q * 8 * 128,
        &Q[h * 524288 + (q_b * 64 + c_q * 8 + tid / 16) * HEAD_DIM + tid % 16 * 8]);

  // ASYNC_COPY=1: start the copy of the slab of K
  #pragma unroll
  for (int c_k = 0; c_k < 16; ++c_k)
    cp_async8(K_s_at, c_k * 8 * 128,
        &K[h * 524288 + (c_k * 8 + tid / 16) * HEAD_DIM + tid % 16 * 8]);
  cp_async_commit();

  for (int t_o = 0; t_o < 32; ++t_o) {  // FUSE=1
    #pragma unroll
    for (int t_r = 0; t_r < 16; ++t_r)
      fill4(&S_f[t_r][0], 0.0f);
    cp_async_wait<0>();

    // STAGE=11: this block's K is there, and the V before it is read
    __syncthreads();

    // EAGER_KV=1: V is wanted by the next product
    #pragma unroll
    for (int c_v = 0; c_v < 16; ++c_v) {
      // ASYNC_COPY=1: start the copy of the slab of V
      cp_async8(V_s_at, c_v * 8 * 128,
          &V[h * 524288 + (t_o * 128 + c_v * 8 + tid / 16) * HEAD_DIM + tid % 16 * 8]);
    }
    cp_async_commit();

    for (int e_i = 0; e_i < 8; ++e_i) {  // ATOM_KIND=mma_m16n8k16_bf16
      // LDMATRIX=2: the warp's fragments of Q
      ldmatrix_x4(&Q_f[0], Q_s_at2, (e_i * 16 + lane / 16 * 8) ^ (lane % 8 * 8));

      // LDMATRIX=2: the warp's fragments of K
      #pragma unroll
      for (int t_p = 0; t_p < 8; ++t_p)
        ldmatrix_x4(&K_f[t_p * 2][0], K_s_at2,
            t_p * 16 * 128 + ((e_i * 16 + lane / 8 % 2 * 8) ^ (lane % 8 * 8)));

      // FN=16: multiply each fragment of Q by each of K
      #pragma unroll
      for (int t_r = 0; t_r < 16; ++t_r)
        mma_m16n8k16_f32_bf16(&S_f[t_r][0], &Q_f[0], &K_f[t_r][0]);
    }

    // FUSE=1: the largest score of the blocks before
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      rescale[i] = row_max[i];

    // FUSE=1: the largest score of each row so far
    #pragma unroll
    for (int t_r = 0; t_r < 16; ++t_r)
      #pragma unroll
      for (int v = 0; v < 4; ++v)
        row_max[v / 2] = fmaxf(row_max[v / 2], S_f[t_r][v]);

    // FUSE=1: the lanes that share a row agree on its maximum
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      row_max[i] = lanes_max(row_max[i], 3);

    // FUSE=1: alpha times the largest score
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      row_base[i] = row_max[i];

    #pragma unroll
    for (int i = 0; i < 2; ++i)
      row_base[i] *= alpha;

    // FUSE=1: how much less what was added up so far is worth below the new maximum
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      rescale[i] = exp2_of(alpha * rescale[i] - row_base[i]);

    // FUSE=1: scores become weights, of which the largest is 1
    #pragma unroll
    for (int t_r = 0; t_r < 16; ++t_r)
      #pragma unroll
      for (int v = 0; v < 4; ++v)
        S_f[t_r][v] = exp2_of(alpha * S_f[t_r][v] - row_base[v / 2]);

    // FUSE=1: what was added up so far belongs to a smaller maximum
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      row_sum[i] *= rescale[i];

    // FUSE=1: add up the weights that this lane has
    #pragma unroll
    for (int t_r = 0; t_r < 16; ++t_r)
      #pragma unroll
      for (int v = 0; v < 4; ++v)
        row_sum[v / 2] += S_f[t_r][v];

    // FUSE=1: what was added up so far belongs to a smaller maximum
    #pragma unroll
    for (int d_r = 0; d_r < 16; ++d_r)
      #pragma unroll
      for (int v = 0; v < 4; ++v)
        O_f[d_r][v] *= rescale[v / 2];
    cp_async_wait<0>();

    // STAGE=11: this block's V is there, and its K is read
    __syncthreads();

    // EAGER_KV=1: K is read: fetch the next block's
    if (t_o + 1 < 32) {
      const int t_n = t_o + 1;

      // ASYNC_COPY=1: start the copy of the slab of K
      #pragma unroll
      for (int c_k = 0; c_k < 16; ++c_k)
        cp_async8(K_s_at, c_k * 8 * 128,
            &K[h * 524288 + (t_n * 128 + c_k * 8 + tid / 16) * HEAD_DIM + tid % 16 * 8]);
      cp_async_commit();
    }

    #pragma unroll
    for (int u_i = 0; u_i < 8; ++u_i) {  // ATOM_KIND=mma_m16n8k16_bf16
      // FUSE=1: the sums of one product are the operand of the next, in the same lanes
      #pragma unroll
      for (int v_p = 0; v_p < 4; ++v_p)
        P_f[v_p] =
            round_bf16x2(S_f[u_i * 2 + v_p / 2][v_p % 2 * 2],
            S_f[u_i * 2 + v_p / 2][v_p % 2 * 2 + 1]);

      // LDMATRIX=2: the warp's fragments of V
      #pragma unroll
      for (int d_p = 0; d_p < 8; ++d_p)
        ldmatrix_x4_trans(&V_f[d_p * 2][0], V_s_at2,
            u_i * 16 * 128 + ((d_p * 16 + lane / 16 * 8) ^ (lane % 8 * 8)));

      // K=128: multiply each fragment of P by each of V
      #pragma unroll
      for (int d_r = 0; d_r < 16; ++d_r)
        mma_m16n8k16_f32_bf16(&O_f[d_r][0], &P_f[0], &V_f[d_r][0]);
    }
  }

  // FUSE=1: the lanes that share a row add up its weights
  #pragma unroll
  for (int i = 0; i < 2; ++i)
    row_sum[i] = lanes_sum(row_sum[i], 3);

  // FUSE=1: the weights of a row add up to its sum, not to 1
  #pragma unroll
  for (int d_r = 0; d_r < 16; ++d_r)
    #pragma unroll
    for (int v = 0; v < 4; ++v)
      O_f[d_r][v] /= row_sum[v / 2];

  // K=128: write the cells of O
  #pragma unroll
  for (int d_r = 0; d_r < 16; ++d_r)
    #pragma unroll
    for (int v_o = 0; v_o < 2; ++v_o)
      store2(&O[h * 524288 + (q_b * 64 + q_w * 16 + lane / 4 + v_o * 8) * HEAD_DIM + d_r * 8 +
          lane % 4 * 2], &O_f[d_r][v_o * 2]);
}
