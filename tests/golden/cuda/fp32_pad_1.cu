// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f32, row-major
// AUTO=0,BM=8,BN=32,FM=26,FN=4,BK=32,SPLITK=1,STAGE=11,ASYNC_COPY=1,PAD_SMEM=1
// for sm_90a (H200 SXM)
//
//   matmul<<<640, 256>>>(A, B, C)   44032 bytes of shared memory

constexpr int M = 4096, N = 4096, K = 4096;

__device__ __forceinline__ void cp_async1(float *slab, int at,
                                          const float *from_global) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
               :: "r"(to), "l"(from_global) : "memory");
}

__device__ __forceinline__ void cp_async1_or_zero(float *slab, int at,
                                                  const float *from_global, bool inside) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  const int n_bytes = inside ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :: "r"(to), "l"(from_global), "r"(n_bytes) : "memory");
}

// The copies this thread has issued since the last commit become one group.
__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most `n` of this thread's groups are still in flight.
template <int n>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}

extern "C" __global__ void __launch_bounds__(256)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  __shared__ __align__(128) float smem[11008];
  float *const A_s = smem;         // [208][32 + 1] PAD_SMEM=1: the slab of A
  float *const B_s = smem + 6880;  // [32][128 + 1] PAD_SMEM=1: the slab of B

  const int tid = threadIdx.x;
  const int m_b = blockIdx.x / 32;   // BLOCK 0..20, BM=8
  const int n_b = blockIdx.x % 32;   // BLOCK 0..32, BN=32
  const int m_t = threadIdx.x / 32;  // THREAD 0..8, BM=8
  const int n_t = threadIdx.x % 32;  // THREAD 0..32, BN=32

  // where this thread begins
  float *const A_s_at = A_s + tid / 32 * 33 + tid % 32;
  float *const B_s_at = B_s + tid / 128 * 129 + tid % 128;
  float *const A_s_at2 = A_s + m_t * 26 * 33;
  float *const B_s_at2 = B_s + n_t * 4;

  float acc[26][4];  // FM=26: this thread's cells of C
  float a[26];       // FM=26: its values of A for one k
  float b[4];        // FN=4: its values of B for one k

  #pragma unroll
  for (int m_r = 0; m_r < 26; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 4; ++n_r)
      acc[m_r][n_r] = 0.0f;

  for (int k_o = 0; k_o < 128; ++k_o) {  // BK=32
    // ASYNC_COPY=1: start the copy of the slab of A
    #pragma unroll
    for (int c_a = 0; c_a < 26; ++c_a)
      cp_async1_or_zero(A_s_at, c_a * 8 * 33,
          &A[(m_b * 208 + c_a * 8 + tid / 32) * K + k_o * 32 + tid % 32],
          m_b * 208 + c_a * 8 + tid / 32 < M);

    // ASYNC_COPY=1: start the copy of the slab of B
    #pragma unroll
    for (int c_b = 0; c_b < 16; ++c_b)
      cp_async1(B_s_at, c_b * 2 * 129,
          &B[(k_o * 32 + c_b * 2 + tid / 128) * N + n_b * 128 + tid % 128]);
    cp_async_commit();
    cp_async_wait<0>();

    // STAGE=11: the slab is filled
    __syncthreads();

    for (int k_i = 0; k_i < 32; ++k_i) {  // BK=32
      // FM=26: this thread's values of A
      #pragma unroll
      for (int m_r = 0; m_r < 26; ++m_r)
        a[m_r] = A_s_at2[m_r * 33 + k_i];

      // FN=4: this thread's values of B
      #pragma unroll
      for (int n_r = 0; n_r < 4; ++n_r)
        b[n_r] = B_s_at2[k_i * 129 + n_r];

      // FM=26: add the outer product of a and b
      #pragma unroll
      for (int m_r = 0; m_r < 26; ++m_r)
        #pragma unroll
        for (int n_r = 0; n_r < 4; ++n_r)
          acc[m_r][n_r] += a[m_r] * b[n_r];
    }

    // STAGE=11: the slab is read to the end
    __syncthreads();
  }

  // FM=26: write the cells of C
  #pragma unroll
  for (int m_r = 0; m_r < 26; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 4; ++n_r)
      if (m_b * 208 + m_t * 26 + m_r < M)
        C[(m_b * 208 + m_t * 26 + m_r) * N + n_b * 128 + n_t * 4 + n_r] = acc[m_r][n_r];
}
