// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f32, row-major
// AUTO=0,BM=8,BN=32,FM=26,FN=4,BK=32,SPLITK=1,STAGE=11,TMA=0,ASYNC_COPY=1,PIPELINE_STAGES=0,BUFFER_COUNT=2,VECTORIZE=1,INTERLEAVE_LOADS=1,UNROLL_K=32,GROUP_M=8,PAD_CELLS=1,PAD_OPERANDS=01
// for sm_90a (H200 SXM)
//
//   matmul<<<640, 256, 94208>>>(A, B, C)   94208 bytes of shared memory

constexpr int M = 4096, N = 4096, K = 4096;

__device__ __forceinline__ void store4(float *to, const float *from) {
  *reinterpret_cast<float4 *>(to) = float4{from[0], from[1], from[2], from[3]};
}

__device__ __forceinline__ void cp_async1(float *slab, int at,
                                          const float *from_global) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
               :: "r"(to), "l"(from_global) : "memory");
}

__device__ __forceinline__ void cp_async4_or_zero(float *slab, int at,
                                                  const float *from_global, bool inside) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  const int n_bytes = inside ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
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
  extern __shared__ __align__(128) float smem[];  // 23552: 94208 bytes
  float *const A_s = smem;          // [2][208][32] BUFFER_COUNT=2: the slab of A
  float *const B_s = smem + 13312;  // [2][32][128 + 32] BUFFER_COUNT=2: the slab of B

  const int tid = threadIdx.x;
  const int g = blockIdx.x;          // BLOCK 0..640, GROUP_M=8
  const int m_t = threadIdx.x / 32;  // THREAD 0..8, BM=8
  const int n_t = threadIdx.x % 32;  // THREAD 0..32, BN=32
  const int m_b = g / 256 * 8 + g % 256 % min(8, 20 - g / 256 * 8);
  const int n_b = g % 256 / min(8, 20 - g / 256 * 8);

  // where this thread begins
  float *const A_s_at = A_s + tid / 8 * 32 + tid % 8 * 4;
  float *const B_s_at = B_s + tid / 128 * 160 + tid % 128 + tid % 128 / 4;
  float *const B_s_at2 = B_s + n_t * 4 + n_t;
  float *const A_s_at2 = A_s + m_t * 26 * 32;

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
    for (int c_a = 0; c_a < 7; ++c_a) {
      if (c_a * 1024 + tid * 4 < 6656)
        cp_async4_or_zero(A_s_at, k_o % 2 * 6656 + c_a * 32 * 32,
            &A[(m_b * 208 + c_a * 32 + tid / 8) * K + k_o * 32 + tid % 8 * 4],
            m_b * 208 + c_a * 32 + tid / 8 < M);
    }

    // ASYNC_COPY=1: start the copy of the slab of B
    #pragma unroll
    for (int c_b = 0; c_b < 16; ++c_b)
      cp_async1(B_s_at, k_o % 2 * 5120 + c_b * 2 * 160,
          &B[(k_o * 32 + c_b * 2 + tid / 128) * N + n_b * 128 + tid % 128]);
    cp_async_commit();
    cp_async_wait<0>();

    // STAGE=11: the slab is filled
    __syncthreads();

    #pragma unroll
    for (int k_i = 0; k_i < 32; ++k_i) {  // UNROLL_K=32
      // FN=4: this thread's values of B
      #pragma unroll
      for (int n_r = 0; n_r < 4; ++n_r)
        b[n_r] = B_s_at2[k_o % 2 * 5120 + k_i * 160 + n_r];

      // INTERLEAVE_LOADS=1: this thread's values of A
      #pragma unroll
      for (int m_r = 0; m_r < 26; ++m_r) {
        a[m_r] = A_s_at2[k_o % 2 * 6656 + m_r * 32 + k_i];

        // FN=4: add the outer product of a and b
        #pragma unroll
        for (int n_r = 0; n_r < 4; ++n_r)
          acc[m_r][n_r] += a[m_r] * b[n_r];
      }
    }
  }

  // FM=26: write the cells of C
  #pragma unroll
  for (int m_r = 0; m_r < 26; ++m_r)
    if (m_b * 208 + m_t * 26 + m_r < M)
      store4(&C[(m_b * 208 + m_t * 26 + m_r) * N + n_b * 128 + n_t * 4], &acc[m_r][0]);
}
