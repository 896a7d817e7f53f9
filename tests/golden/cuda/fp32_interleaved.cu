// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f32, row-major
// AUTO=0,BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,INTERLEAVE_LOADS=1
// for sm_90a (H200 SXM)
//
//   matmul<<<1024, 256>>>(A, B, C)   16384 bytes of shared memory

constexpr int N = 4096, K = 4096;

extern "C" __global__ void __launch_bounds__(256)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  __shared__ __align__(128) float smem[4096];
  float *const A_s = smem;         // [128][16] STAGE=11: the slab of A
  float *const B_s = smem + 2048;  // [16][128] STAGE=11: the slab of B

  const int tid = threadIdx.x;
  const int m_b = blockIdx.x / 32;   // BLOCK 0..32, BM=16
  const int n_b = blockIdx.x % 32;   // BLOCK 0..32, BN=16
  const int m_t = threadIdx.x / 16;  // THREAD 0..16, BM=16
  const int n_t = threadIdx.x % 16;  // THREAD 0..16, BN=16

  // where this thread begins
  float *const A_s_at = A_s + tid / 16 * 16 + tid % 16;
  float *const B_s_at = B_s + tid / 128 * 128 + tid % 128;
  float *const B_s_at2 = B_s + n_t * 8;
  float *const A_s_at2 = A_s + m_t * 8 * 16;

  float acc[8][8];  // FM=8: this thread's cells of C
  float a[8];       // FM=8: its values of A for one k
  float b[8];       // FN=8: its values of B for one k
  float r_a[8];     // STAGE=11: on their way from A to shared memory
  float r_b[8];     // STAGE=11: on their way from B to shared memory

  #pragma unroll
  for (int m_r = 0; m_r < 8; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 8; ++n_r)
      acc[m_r][n_r] = 0.0f;

  for (int k_o = 0; k_o < 256; ++k_o) {  // BK=16
    // STAGE=11: fetch the slab of A
    #pragma unroll
    for (int c_a = 0; c_a < 8; ++c_a)
      r_a[c_a] = A[(m_b * 128 + c_a * 16 + tid / 16) * K + k_o * 16 + tid % 16];

    // STAGE=11: fetch the slab of B
    #pragma unroll
    for (int c_b = 0; c_b < 8; ++c_b)
      r_b[c_b] = B[(k_o * 16 + c_b * 2 + tid / 128) * N + n_b * 128 + tid % 128];

    // STAGE=11: put the slab of A into shared memory
    #pragma unroll
    for (int c_a = 0; c_a < 8; ++c_a)
      A_s_at[c_a * 16 * 16] = r_a[c_a];

    // STAGE=11: put the slab of B into shared memory
    #pragma unroll
    for (int c_b = 0; c_b < 8; ++c_b)
      B_s_at[c_b * 2 * 128] = r_b[c_b];

    // STAGE=11: the slab is filled
    __syncthreads();

    for (int k_i = 0; k_i < 16; ++k_i) {  // BK=16
      // FN=8: this thread's values of B
      #pragma unroll
      for (int n_r = 0; n_r < 8; ++n_r)
        b[n_r] = B_s_at2[k_i * 128 + n_r];

      // INTERLEAVE_LOADS=1: this thread's values of A
      #pragma unroll
      for (int m_r = 0; m_r < 8; ++m_r) {
        a[m_r] = A_s_at2[m_r * 16 + k_i];

        // FN=8: add the outer product of a and b
        #pragma unroll
        for (int n_r = 0; n_r < 8; ++n_r)
          acc[m_r][n_r] += a[m_r] * b[n_r];
      }
    }

    // STAGE=11: the slab is read to the end
    __syncthreads();
  }

  // FM=8: write the cells of C
  #pragma unroll
  for (int m_r = 0; m_r < 8; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 8; ++n_r)
      C[(m_b * 128 + m_t * 8 + m_r) * N + n_b * 128 + n_t * 8 + n_r] = acc[m_r][n_r];
}
