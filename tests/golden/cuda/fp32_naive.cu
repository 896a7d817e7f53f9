// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f32, row-major
// AUTO=0,BM=1,BN=1
// for sm_90a (H200 SXM)
//
//   matmul<<<16777216, 1>>>(A, B, C)

constexpr int N = 4096, K = 4096;

extern "C" __global__ void __launch_bounds__(1)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  const int m_b = blockIdx.x / 4096;  // BLOCK 0..4096, BM=1
  const int n_b = blockIdx.x % 4096;  // BLOCK 0..4096, BN=1

  float acc;  // this thread's cells of C
  float a;    // its values of A for one k
  float b;    // its values of B for one k

  acc = 0.0f;
  for (int k = 0; k < K; ++k) {
    a = A[m_b * K + k];
    b = B[k * N + n_b];
    acc += a * b;
  }
  C[m_b * N + n_b] = acc;
}
