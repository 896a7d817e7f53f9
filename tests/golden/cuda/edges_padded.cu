// C[1000, 600] = A[1000, 203] * B[203, 600], f32, row-major
// AUTO=0,M=1000,N=600,K=203,FM=8,FN=8,STAGE=11,TRANSPOSE_A=1,VECTORIZE=1,PAD_SMEM=4
// for sm_90a (H200 SXM)
//
//   matmul<<<40, 256>>>(A, B, C)   16896 bytes of shared memory

constexpr int M = 1000, N = 600, K = 203;

__device__ __forceinline__ void load4(float *to, const float *from) {
  const float4 v = *reinterpret_cast<const float4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void load4_or_zero(float *to, const float *from, bool inside) {
  float4 v = {0.0f, 0.0f, 0.0f, 0.0f};
  if (inside) v = *reinterpret_cast<const float4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void store4(float *to, const float *from) {
  *reinterpret_cast<float4 *>(to) = float4{from[0], from[1], from[2], from[3]};
}

extern "C" __global__ void __launch_bounds__(256)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  __shared__ __align__(128) float smem[4224];
  float *const A_s = smem;         // [16][128 + 4] PAD_SMEM=4: the slab of A
  float *const B_s = smem + 2112;  // [16][128 + 4] PAD_SMEM=4: the slab of B

  const int tid = threadIdx.x;
  const int m_b = blockIdx.x / 5;    // BLOCK 0..8, BM=16
  const int n_b = blockIdx.x % 5;    // BLOCK 0..5, BN=16
  const int m_t = threadIdx.x / 16;  // THREAD 0..16, BM=16
  const int n_t = threadIdx.x % 16;  // THREAD 0..16, BN=16

  // where this thread begins
  float *const A_s_at = A_s + tid % 16 * 132 + tid / 16;
  float *const B_s_at = B_s + tid / 32 * 132 + tid % 32 * 4;
  float *const A_s_at2 = A_s + m_t * 8;
  float *const B_s_at2 = B_s + n_t * 8;

  float acc[8][8];  // FM=8: this thread's cells of C
  float a[8];       // FM=8: its values of A for one k
  float b[8];       // FN=8: its values of B for one k
  float r_a[8];     // STAGE=11: on their way from A to shared memory
  float r_b[8];     // STAGE=11: on their way from B to shared memory

  #pragma unroll
  for (int m_q = 0; m_q < 2; ++m_q)
    #pragma unroll
    for (int m_v = 0; m_v < 4; ++m_v)
      #pragma unroll
      for (int n_q = 0; n_q < 2; ++n_q)
        #pragma unroll
        for (int n_v = 0; n_v < 4; ++n_v)
          acc[m_q * 4 + m_v][n_q * 4 + n_v] = 0.0f;

  for (int k_o = 0; k_o < 13; ++k_o) {  // BK=16
    // STAGE=11: fetch the slab of A
    #pragma unroll
    for (int c_a = 0; c_a < 8; ++c_a)
      r_a[c_a] = m_b * 128 + c_a * 16 + tid / 16 < M && k_o * 16 + tid % 16 < K
          ? A[(m_b * 128 + c_a * 16 + tid / 16) * K + k_o * 16 + tid % 16] : 0.0f;

    // VECTORIZE=1: fetch the slab of B
    #pragma unroll
    for (int c_b = 0; c_b < 2; ++c_b)
      load4_or_zero(&r_b[c_b * 4],
          &B[(k_o * 16 + c_b * 8 + tid / 32) * N + n_b * 128 + tid % 32 * 4],
          k_o * 16 + c_b * 8 + tid / 32 < K && n_b * 128 + tid % 32 * 4 < N);

    // STAGE=11: put the slab of A into shared memory
    #pragma unroll
    for (int c_a = 0; c_a < 8; ++c_a)
      A_s_at[c_a * 16] = r_a[c_a];

    // VECTORIZE=1: put the slab of B into shared memory
    #pragma unroll
    for (int c_b = 0; c_b < 2; ++c_b)
      store4(&B_s_at[c_b * 8 * 132], &r_b[c_b * 4]);

    // STAGE=11: the slab is filled
    __syncthreads();

    for (int k_i = 0; k_i < 16; ++k_i) {  // BK=16
      // VECTORIZE=1: this thread's values of A
      #pragma unroll
      for (int m_q = 0; m_q < 2; ++m_q)
        load4(&a[m_q * 4], &A_s_at2[k_i * 132 + m_q * 4]);

      // VECTORIZE=1: this thread's values of B
      #pragma unroll
      for (int n_q = 0; n_q < 2; ++n_q)
        load4(&b[n_q * 4], &B_s_at2[k_i * 132 + n_q * 4]);

      // VECTORIZE=1: add the outer product of a and b
      #pragma unroll
      for (int m_q = 0; m_q < 2; ++m_q)
        #pragma unroll
        for (int m_v = 0; m_v < 4; ++m_v)
          #pragma unroll
          for (int n_q = 0; n_q < 2; ++n_q)
            #pragma unroll
            for (int n_v = 0; n_v < 4; ++n_v)
              acc[m_q * 4 + m_v][n_q * 4 + n_v] += a[m_q * 4 + m_v] * b[n_q * 4 + n_v];
    }

    // STAGE=11: the slab is read to the end
    __syncthreads();
  }

  // VECTORIZE=1: write the cells of C
  #pragma unroll
  for (int m_q = 0; m_q < 2; ++m_q)
    #pragma unroll
    for (int m_v = 0; m_v < 4; ++m_v)
      #pragma unroll
      for (int n_q = 0; n_q < 2; ++n_q)
        if (m_b * 128 + m_t * 8 + m_q * 4 + m_v < M && n_b * 128 + n_t * 8 + n_q * 4 < N)
          store4(&C[(m_b * 128 + m_t * 8 + m_q * 4 + m_v) * N + n_b * 128 + n_t * 8 + n_q * 4],
              &acc[m_q * 4 + m_v][n_q * 4]);
}
