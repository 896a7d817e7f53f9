// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f32, row-major
// AUTO=0,BM=16,BN=16,FM=8,FN=8
// for sm_90a (H200 SXM)
//
//   matmul<<<1024, 256>>>(A, B, C)

constexpr int N = 4096, K = 4096;

extern "C" __global__ void __launch_bounds__(256)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  const int m_b = blockIdx.x / 32;   // BLOCK 0..32, BM=16
  const int n_b = blockIdx.x % 32;   // BLOCK 0..32, BN=16
  const int m_t = threadIdx.x / 16;  // THREAD 0..16, BM=16
  const int n_t = threadIdx.x % 16;  // THREAD 0..16, BN=16

  float acc[8][8];  // FM=8: this thread's cells of C
  float a[8];       // FM=8: its values of A for one k
  float b[8];       // FN=8: its values of B for one k

  #pragma unroll
  for (int m_r = 0; m_r < 8; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 8; ++n_r)
      acc[m_r][n_r] = 0.0f;
  for (int k = 0; k < K; ++k) {
    // FM=8: this thread's values of A
    #pragma unroll
    for (int m_r = 0; m_r < 8; ++m_r)
      a[m_r] = A[(m_b * 128 + m_t * 8 + m_r) * K + k];

    // FN=8: this thread's values of B
    #pragma unroll
    for (int n_r = 0; n_r < 8; ++n_r)
      b[n_r] = B[k * N + n_b * 128 + n_t * 8 + n_r];

    // FM=8: add the outer product of a and b
    #pragma unroll
    for (int m_r = 0; m_r < 8; ++m_r)
      #pragma unroll
      for (int n_r = 0; n_r < 8; ++n_r)
        acc[m_r][n_r] += a[m_r] * b[n_r];
  }

  // FM=8: write the cells of C
  #pragma unroll
  for (int m_r = 0; m_r < 8; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 8; ++n_r)
      C[(m_b * 128 + m_t * 8 + m_r) * N + n_b * 128 + n_t * 8 + n_r] = acc[m_r][n_r];
}
