// O[64, 4096, 128] = softmax(alpha * Q * K) * V, 4096 keys, bf16 summed in f32
// of rows of 128 in Q, K, V and O; alpha holds the log2(e) of exp2
// AUTO=0,PROGRAM=attention,HEADS=64,M=4096,N=4096,K=128,ATOM_KIND=mma_m16n8k16_bf16,WM=4,FN=8,FUSE=1,STAGE=11,LDMATRIX=2,ASYNC_COPY=1,FRAG_ORDER=1,A_REGS=1
// for sm_90a (H200 SXM)
//
//   attention<<<4096, 128>>>(Q, K, V, O, alpha)   49152 bytes of shared memory

constexpr int HEAD_DIM = 128;

struct bf16 {…}
__device__ __forceinline__ void store2(bf16 *to, const float *from) {…}
__device__ __forceinline__ void fill4(float *to, float value) {…}
__device__ __forceinline__ void cp_async8(bf16 *slab, int at,
                                          const bf16 *from_global) {…}
__device__ __forceinline__ void cp_async_commit() {…}
__device__ __forceinline__ void cp_async_wait() {…}
__device__ __forceinline__ float exp2_of(float x) {…}
__device__ __forceinline__ float lanes_max(float x, int bits) {…}
__device__ __forceinline__ float lanes_sum(float x, int bits) {…}
__device__ __forceinline__ unsigned round_bf16x2(float low, float high) {…}
__device__ __forceinline__ void ldmatrix_x4(unsigned *to, const bf16 *slab, int at) {…}
__device__ __forceinline__ void ldmatrix_x4_trans(unsigned *to, const bf16 *slab, int at) {…}
__device__ __forceinline__ void mma_m16n8k16_f32_bf16(float *c, const unsigned *a,
    const unsigned *b) {…}

extern "C" __global__ void __launch_bounds__(128)
attention(const bf16 *__restrict__ Q, const bf16 *__restrict__ K, const bf16 *__restrict__ V,
    bf16 *__restrict__ O, float alpha) {
  __shared__ __align__(128) bf16 smem[24576];
  bf16 *const Q_s = smem;          // [64][128] STAGE=11: the slab of Q
  bf16 *const K_s = smem + 8192;   // [64][128] STAGE=11: the slab of K
  bf16 *const V_s = smem + 16384;  // [64][128] STAGE=11: the slab of V

  const int tid = threadIdx.x;
  const int h = blockIdx.x / 64;      // BLOCK 0..64, HEADS=64
  const int q_b = blockIdx.x % 64;    // BLOCK 0..64, WM=4
  const int q_w = threadIdx.x / 32;   // WARP 0..4, WM=4
  const int lane = threadIdx.x % 32;  // THREAD 0..32, ATOM_KIND=mma_m16n8k16_bf16

  // where this thread begins
  bf16 *const Q_s_at = Q_s + tid / 16 * 128 + tid % 16 * 8;
  bf16 *const Q_s_at2 = Q_s + (q_w * 16 + lane % 16) * 128 + lane / 16 * 8;
  bf16 *const K_s_at = K_s + tid / 16 * 128 + tid % 16 * 8;
  bf16 *const K_s_at2 = K_s + (lane % 8 + lane / 16 * 8) * 128 + lane / 8 % 2 * 8;
  bf16 *const V_s_at = V_s + tid / 16 * 128 + tid % 16 * 8;
  bf16 *const V_s_at2 = V_s + lane % 16 * 128 + lane / 16 * 8;

  unsigned Q_f[8][4];      // A_REGS=1: its values of Q for one k-step, two to a register
  unsigned K_f[8][8][2];   // FRAG_ORDER=1: its values of K for one k-step, two to a register
  float S_f[8][4];         // ATOM_KIND=mma_m16n8k16_bf16: this thread's scores, then weights
  unsigned P_f[4][4];      // FRAG_ORDER=1: its weights for one k-step, two to a register
  unsigned V_f[4][16][2];  // FRAG_ORDER=1: its values of V for one k-step, two to a register
  float O_f[16][4];        // ATOM_KIND=mma_m16n8k16_bf16: this thread's cells of O
  float row_max[2];        // FUSE=1: of its rows: the largest score so far
  float row_base[2];       // FUSE=1: alpha times the largest score
  float row_sum[2];        // FUSE=1: the sum of its weights
  float rescale[2];        // FUSE=1: what older sums are worth

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
  cp_async_commit();
  cp_async_wait<0>();

  // A_REGS=1: the slab of Q is filled
  __syncthreads();

  // A_REGS=1: the warp's fragments of Q
  #pragma unroll
  for (int e_q = 0; e_q < 8; ++e_q)
    ldmatrix_x4(&Q_f[e_q][0], Q_s_at2, e_q * 16);

  for (int t_o = 0; t_o < 64; ++t_o) {  // FUSE=1
    #pragma unroll
    for (int t_r = 0; t_r < 8; ++t_r)
      fill4(&S_f[t_r][0], 0.0f);

    // ASYNC_COPY=1: start the copy of the slab of K
    #pragma unroll
    for (int c_k = 0; c_k < 8; ++c_k)
      cp_async8(K_s_at, c_k * 8 * 128,
          &K[h * 524288 + (t_o * 64 + c_k * 8 + tid / 16) * HEAD_DIM + tid % 16 * 8]);
    cp_async_commit();
    cp_async_wait<0>();

    // STAGE=11: the slab is filled, the other one read
    __syncthreads();

    // FRAG_ORDER=1: the warp's fragments of K
    #pragma unroll
    for (int e_f = 0; e_f < 8; ++e_f)
      #pragma unroll
      for (int t_p = 0; t_p < 4; ++t_p)
        ldmatrix_x4(&K_f[e_f][t_p * 2][0], K_s_at2, t_p * 16 * 128 + e_f * 16);

    #pragma unroll
    for (int e_i = 0; e_i < 8; ++e_i) {  // A_REGS=1
      // FN=8: multiply each fragment of Q by each of K
      #pragma unroll
      for (int t_r = 0; t_r < 8; ++t_r)
        mma_m16n8k16_f32_bf16(&S_f[t_r][0], &Q_f[e_i][0], &K_f[e_i][t_r][0]);
    }

    // FUSE=1: the largest score of the blocks before
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      rescale[i] = row_max[i];

    // FUSE=1: the largest score of each row so far
    #pragma unroll
    for (int t_r = 0; t_r < 8; ++t_r)
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

    // FUSE=1: the factor that scales earlier sums to the new maximum
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      rescale[i] = exp2_of(alpha * rescale[i] - row_base[i]);

    // FUSE=1: scores become weights; the largest is 1
    #pragma unroll
    for (int t_r = 0; t_r < 8; ++t_r)
      #pragma unroll
      for (int v = 0; v < 4; ++v)
        S_f[t_r][v] = exp2_of(alpha * S_f[t_r][v] - row_base[v / 2]);

    // FUSE=1: earlier sums used a smaller maximum
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      row_sum[i] *= rescale[i];

    // FUSE=1: add up the weights that this lane has
    #pragma unroll
    for (int t_r = 0; t_r < 8; ++t_r)
      #pragma unroll
      for (int v = 0; v < 4; ++v)
        row_sum[v / 2] += S_f[t_r][v];

    // FUSE=1: earlier sums used a smaller maximum
    #pragma unroll
    for (int d_r = 0; d_r < 16; ++d_r)
      #pragma unroll
      for (int v = 0; v < 4; ++v)
        O_f[d_r][v] *= rescale[v / 2];

    // ASYNC_COPY=1: start the copy of the slab of V
    #pragma unroll
    for (int c_v = 0; c_v < 8; ++c_v)
      cp_async8(V_s_at, c_v * 8 * 128,
          &V[h * 524288 + (t_o * 64 + c_v * 8 + tid / 16) * HEAD_DIM + tid % 16 * 8]);
    cp_async_commit();
    cp_async_wait<0>();

    // STAGE=11: the slab is filled, the other one read
    __syncthreads();

    // FRAG_ORDER=1: the accumulators of one product are the operand of the next, in the same lanes
    #pragma unroll
    for (int u_f = 0; u_f < 4; ++u_f) {
      #pragma unroll
      for (int v_p = 0; v_p < 4; ++v_p)
        P_f[u_f][v_p] =
            round_bf16x2(S_f[u_f * 2 + v_p / 2][v_p % 2 * 2],
            S_f[u_f * 2 + v_p / 2][v_p % 2 * 2 + 1]);

      // LDMATRIX=2: the warp's fragments of V
      #pragma unroll
      for (int d_p = 0; d_p < 8; ++d_p)
        ldmatrix_x4_trans(&V_f[u_f][d_p * 2][0], V_s_at2, u_f * 16 * 128 + d_p * 16);
    }

    #pragma unroll
    for (int u_i = 0; u_i < 4; ++u_i) {  // FRAG_ORDER=1
      // K=128: multiply each fragment of P by each of V
      #pragma unroll
      for (int d_r = 0; d_r < 16; ++d_r)
        mma_m16n8k16_f32_bf16(&O_f[d_r][0], &P_f[u_i][0], &V_f[u_i][d_r][0]);
    }
  }

  // FUSE=1: the lanes that share a row add up its weights
  #pragma unroll
  for (int i = 0; i < 2; ++i)
    row_sum[i] = lanes_sum(row_sum[i], 3);

  // FUSE=1: divide by the row's sum: its weights do not yet add up to 1
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
