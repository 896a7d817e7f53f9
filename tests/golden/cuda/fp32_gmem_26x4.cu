// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f32, row-major
// AUTO=0,BM=8,BN=32,FM=26,FN=4,BK=32,SPLITK=1,STAGE=00,VECTORIZE=1,INTERLEAVE_LOADS=1,GROUP_M=8
// for sm_90a (H200 SXM)
//
//   matmul<<<640, 256>>>(A, B, C)

constexpr int M = 4096, N = 4096, K = 4096;

__device__ __forceinline__ void load4(float *to, const float *from) {
  const float4 v = *reinterpret_cast<const float4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void store4(float *to, const float *from) {
  *reinterpret_cast<float4 *>(to) = float4{from[0], from[1], from[2], from[3]};
}

extern "C" __global__ void __launch_bounds__(256)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  const int g = blockIdx.x;          // BLOCK 0..640, GROUP_M=8
  const int m_t = threadIdx.x / 32;  // THREAD 0..8, BM=8
  const int n_t = threadIdx.x % 32;  // THREAD 0..32, BN=32
  const int m_b = g / 256 * 8 + g % 256 % min(8, 20 - g / 256 * 8);
  const int n_b = g % 256 / min(8, 20 - g / 256 * 8);

  float acc[26][4];  // FM=26: this thread's cells of C
  float a[26];       // FM=26: its values of A for one k
  float b[4];        // FN=4: its values of B for one k

  #pragma unroll
  for (int m_r = 0; m_r < 26; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 4; ++n_r)
      acc[m_r][n_r] = 0.0f;
  for (int k = 0; k < K; ++k) {
    // VECTORIZE=1: this thread's values of B
    load4(&b[0], &B[k * N + n_b * 128 + n_t * 4]);

    // INTERLEAVE_LOADS=1: this thread's values of A
    #pragma unroll
    for (int m_r = 0; m_r < 26; ++m_r) {
      a[m_r] = m_b * 208 + m_t * 26 + m_r < M ? A[(m_b * 208 + m_t * 26 + m_r) * K + k] : 0.0f;

      // FN=4: add the outer product of a and b
      #pragma unroll
      for (int n_r = 0; n_r < 4; ++n_r)
        acc[m_r][n_r] += a[m_r] * b[n_r];
    }
  }

  // FM=26: write the cells of C
  #pragma unroll
  for (int m_r = 0; m_r < 26; ++m_r)
    if (m_b * 208 + m_t * 26 + m_r < M)
      store4(&C[(m_b * 208 + m_t * 26 + m_r) * N + n_b * 128 + n_t * 4], &acc[m_r][0]);
}
