// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f32, row-major
// AUTO=0,BM=16,BN=16
// for sm_90a (H200 SXM)
//
//   matmul<<<65536, 256>>>(A, B, C)

constexpr int N = 4096, K = 4096;

extern "C" __global__ void __launch_bounds__(256)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  const int m_b = blockIdx.x / 256;  // BLOCK 0..256, BM=16
  const int n_b = blockIdx.x % 256;  // BLOCK 0..256, BN=16
  const int m_t = threadIdx.x / 16;  // THREAD 0..16, BM=16
  const int n_t = threadIdx.x % 16;  // THREAD 0..16, BN=16

  float acc;  // this thread's cells of C
  float a;    // its values of A for one k
  float b;    // its values of B for one k

  acc = 0.0f;
  for (int k = 0; k < K; ++k) {
    a = A[(m_b * 16 + m_t) * K + k];
    b = B[k * N + n_b * 16 + n_t];
    acc += a * b;
  }
  C[(m_b * 16 + m_t) * N + n_b * 16 + n_t] = acc;
}
