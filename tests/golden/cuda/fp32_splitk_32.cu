// C[128, 128] = A[128, 16384] * B[16384, 128], f32, row-major
// AUTO=0,M=128,N=128,K=16384,BM=16,BN=16,FM=2,FN=2,BK=32,STAGE=11,SPLITK=32
// for sm_90a (H200 SXM)
//
//   zero<<<64, 256>>>(C)
//   matmul<<<512, 256>>>(A, B, C)   8192 bytes of shared memory

constexpr int N = 128, K = 16384;

// SPLITK=32
extern "C" __global__ void __launch_bounds__(256)
zero(float *__restrict__ C) {
  const int f_b = blockIdx.x;   // BLOCK 0..64, SPLITK=32
  const int f_t = threadIdx.x;  // THREAD 0..256, SPLITK=32

  float zero;  // SPLITK=32

  zero = 0.0f;

  // SPLITK=32: write the cells of C
  C[(f_b * 2 + f_t / 128) * N + f_t % 128] = zero;
}

extern "C" __global__ void __launch_bounds__(256)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  __shared__ __align__(128) float smem[2048];
  float *const A_s = smem;         // [32][32] STAGE=11: the slab of A
  float *const B_s = smem + 1024;  // [32][32] STAGE=11: the slab of B

  const int tid = threadIdx.x;
  const int k_s = blockIdx.x / 16;     // BLOCK 0..32, SPLITK=32
  const int m_b = blockIdx.x / 4 % 4;  // BLOCK 0..4, BM=16
  const int n_b = blockIdx.x % 4;      // BLOCK 0..4, BN=16
  const int m_t = threadIdx.x / 16;    // THREAD 0..16, BM=16
  const int n_t = threadIdx.x % 16;    // THREAD 0..16, BN=16

  // where this thread begins
  float *const A_s_at = A_s + tid / 32 * 32 + tid % 32;
  float *const B_s_at = B_s + tid / 32 * 32 + tid % 32;
  float *const A_s_at2 = A_s + m_t * 2 * 32;
  float *const B_s_at2 = B_s + n_t * 2;

  float acc[2][2];  // FM=2: this thread's cells of C
  float a[2];       // FM=2: its values of A for one k
  float b[2];       // FN=2: its values of B for one k
  float r_a[4];     // STAGE=11: on their way from A to shared memory
  float r_b[4];     // STAGE=11: on their way from B to shared memory

  #pragma unroll
  for (int m_r = 0; m_r < 2; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 2; ++n_r)
      acc[m_r][n_r] = 0.0f;

  for (int k_o = 0; k_o < 16; ++k_o) {  // BK=32
    // STAGE=11: fetch the slab of A
    #pragma unroll
    for (int c_a = 0; c_a < 4; ++c_a)
      r_a[c_a] = A[(m_b * 32 + c_a * 8 + tid / 32) * K + k_s * 512 + k_o * 32 + tid % 32];

    // STAGE=11: fetch the slab of B
    #pragma unroll
    for (int c_b = 0; c_b < 4; ++c_b)
      r_b[c_b] = B[(k_s * 512 + k_o * 32 + c_b * 8 + tid / 32) * N + n_b * 32 + tid % 32];

    // STAGE=11: put the slab of A into shared memory
    #pragma unroll
    for (int c_a = 0; c_a < 4; ++c_a)
      A_s_at[c_a * 8 * 32] = r_a[c_a];

    // STAGE=11: put the slab of B into shared memory
    #pragma unroll
    for (int c_b = 0; c_b < 4; ++c_b)
      B_s_at[c_b * 8 * 32] = r_b[c_b];

    // STAGE=11: the slab is filled
    __syncthreads();

    for (int k_i = 0; k_i < 32; ++k_i) {  // BK=32
      // FM=2: this thread's values of A
      #pragma unroll
      for (int m_r = 0; m_r < 2; ++m_r)
        a[m_r] = A_s_at2[m_r * 32 + k_i];

      // FN=2: this thread's values of B
      #pragma unroll
      for (int n_r = 0; n_r < 2; ++n_r)
        b[n_r] = B_s_at2[k_i * 32 + n_r];

      // FM=2: add the outer product of a and b
      #pragma unroll
      for (int m_r = 0; m_r < 2; ++m_r)
        #pragma unroll
        for (int n_r = 0; n_r < 2; ++n_r)
          acc[m_r][n_r] += a[m_r] * b[n_r];
    }

    // STAGE=11: the slab is read to the end
    __syncthreads();
  }

  // FM=2: add this split's part of the cells
  #pragma unroll
  for (int m_r = 0; m_r < 2; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 2; ++n_r)
      atomicAdd(&C[(m_b * 32 + m_t * 2 + m_r) * N + n_b * 32 + n_t * 2 + n_r], acc[m_r][n_r]);
}
