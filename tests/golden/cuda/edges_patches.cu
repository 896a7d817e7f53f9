// C[1000, 600] = A[1000, 203] * B[203, 600], f32, row-major
// AUTO=0,M=1000,N=600,K=203,FM=4,FN=4,STAGE=11,GROUP_M=3,GROUP_N=4
// for sm_90a (H200 SXM)
//
//   matmul<<<160, 256>>>(A, B, C)   8192 bytes of shared memory

constexpr int M = 1000, N = 600, K = 203;

extern "C" __global__ void __launch_bounds__(256)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  __shared__ __align__(128) float smem[2048];
  float *const A_s = smem;         // [64][16] STAGE=11: the slab of A
  float *const B_s = smem + 1024;  // [16][64] STAGE=11: the slab of B

  const int tid = threadIdx.x;
  const int g = blockIdx.x;          // BLOCK 0..160, GROUP_M=3
  const int m_t = threadIdx.x / 16;  // THREAD 0..16, BM=16
  const int n_t = threadIdx.x % 16;  // THREAD 0..16, BN=16
  const int m_p = g % 64 / (min(4, 10 - g / 64 * 4) * 3);
  const int m_b = m_p * 3 + g % 64 % (min(4, 10 - g / 64 * 4) * 3) % min(3, 16 - m_p * 3);
  const int n_b = g / 64 * 4 + g % 64 % (min(4, 10 - g / 64 * 4) * 3) / min(3, 16 - m_p * 3);

  // where this thread begins
  float *const A_s_at = A_s + tid / 16 * 16 + tid % 16;
  float *const B_s_at = B_s + tid / 64 * 64 + tid % 64;
  float *const A_s_at2 = A_s + m_t * 4 * 16;
  float *const B_s_at2 = B_s + n_t * 4;

  float acc[4][4];  // FM=4: this thread's cells of C
  float a[4];       // FM=4: its values of A for one k
  float b[4];       // FN=4: its values of B for one k
  float r_a[4];     // STAGE=11: on their way from A to shared memory
  float r_b[4];     // STAGE=11: on their way from B to shared memory

  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 4; ++n_r)
      acc[m_r][n_r] = 0.0f;

  for (int k_o = 0; k_o < 13; ++k_o) {  // BK=16
    // STAGE=11: fetch the slab of A
    #pragma unroll
    for (int c_a = 0; c_a < 4; ++c_a)
      r_a[c_a] = m_b * 64 + c_a * 16 + tid / 16 < M && k_o * 16 + tid % 16 < K
          ? A[(m_b * 64 + c_a * 16 + tid / 16) * K + k_o * 16 + tid % 16] : 0.0f;

    // STAGE=11: fetch the slab of B
    #pragma unroll
    for (int c_b = 0; c_b < 4; ++c_b)
      r_b[c_b] = k_o * 16 + c_b * 4 + tid / 64 < K && n_b * 64 + tid % 64 < N
          ? B[(k_o * 16 + c_b * 4 + tid / 64) * N + n_b * 64 + tid % 64] : 0.0f;

    // STAGE=11: put the slab of A into shared memory
    #pragma unroll
    for (int c_a = 0; c_a < 4; ++c_a)
      A_s_at[c_a * 16 * 16] = r_a[c_a];

    // STAGE=11: put the slab of B into shared memory
    #pragma unroll
    for (int c_b = 0; c_b < 4; ++c_b)
      B_s_at[c_b * 4 * 64] = r_b[c_b];

    // STAGE=11: the slab is filled
    __syncthreads();

    for (int k_i = 0; k_i < 16; ++k_i) {  // BK=16
      // FM=4: this thread's values of A
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        a[m_r] = A_s_at2[m_r * 16 + k_i];

      // FN=4: this thread's values of B
      #pragma unroll
      for (int n_r = 0; n_r < 4; ++n_r)
        b[n_r] = B_s_at2[k_i * 64 + n_r];

      // FM=4: add the outer product of a and b
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        #pragma unroll
        for (int n_r = 0; n_r < 4; ++n_r)
          acc[m_r][n_r] += a[m_r] * b[n_r];
    }

    // STAGE=11: the slab is read to the end
    __syncthreads();
  }

  // FM=4: write the cells of C
  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 4; ++n_r)
      if (m_b * 64 + m_t * 4 + m_r < M && n_b * 64 + n_t * 4 + n_r < N)
        C[(m_b * 64 + m_t * 4 + m_r) * N + n_b * 64 + n_t * 4 + n_r] = acc[m_r][n_r];
}
