// C[1000, 600] = A[1000, 203] * B[203, 600], f32, row-major
// AUTO=0,M=1000,N=600,K=203,BM=16,BN=16
// for sm_90a (H200 SXM)
//
//   matmul<<<2394, 256>>>(A, B, C)

constexpr int M = 1000, N = 600, K = 203;

extern "C" __global__ void __launch_bounds__(256)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  const int m_b = blockIdx.x / 38;   // BLOCK 0..63, BM=16
  const int n_b = blockIdx.x % 38;   // BLOCK 0..38, BN=16
  const int m_t = threadIdx.x / 16;  // THREAD 0..16, BM=16
  const int n_t = threadIdx.x % 16;  // THREAD 0..16, BN=16

  float acc;  // this thread's cells of C
  float a;    // its values of A for one k
  float b;    // its values of B for one k

  acc = 0.0f;
  for (int k = 0; k < K; ++k) {
    a = m_b * 16 + m_t < M ? A[(m_b * 16 + m_t) * K + k] : 0.0f;
    b = n_b * 16 + n_t < N ? B[k * N + n_b * 16 + n_t] : 0.0f;
    acc += a * b;
  }
  if (m_b * 16 + m_t < M && n_b * 16 + n_t < N) C[(m_b * 16 + m_t) * N + n_b * 16 + n_t] = acc;
}
