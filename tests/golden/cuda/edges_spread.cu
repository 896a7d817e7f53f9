// C[1000, 600] = A[1000, 203] * B[203, 600], f32, row-major
// AUTO=0,M=1000,N=600,K=203,FM=8,FN=8,STAGE=11,VECTORIZE=1,BUFFER_COUNT=3,PIPELINE_STAGES=1,ASYNC_COPY=1,COPY_STEPS=3,UNROLL_RING=1
// for sm_90a (H200 SXM)
//
//   matmul<<<40, 256>>>(A, B, C)   49152 bytes of shared memory

constexpr int M = 1000, N = 600, K = 203;

__device__ __forceinline__ void load4(float *to, const float *from) {
  const float4 v = *reinterpret_cast<const float4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void store4(float *to, const float *from) {
  *reinterpret_cast<float4 *>(to) = float4{from[0], from[1], from[2], from[3]};
}

__device__ __forceinline__ void cp_async1_or_zero(float *slab, int at,
                                                  const float *from_global, bool inside) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  const int n_bytes = inside ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :: "r"(to), "l"(from_global), "r"(n_bytes) : "memory");
}

__device__ __forceinline__ void cp_async4_or_zero(float *slab, int at,
                                                  const float *from_global, bool inside) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  const int n_bytes = inside ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"(to), "l"(from_global), "r"(n_bytes) : "memory");
}

__device__ __forceinline__ void cp_async1_or_zero_if(float *slab, int at,
                                                     const float *from_global, bool inside, bool wanted) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  const int n_bytes = inside ? 4 : 0;
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %3, 0;"
               " @p cp.async.ca.shared.global [%0], [%1], 4, %2; }"
               :: "r"(to), "l"(from_global), "r"(n_bytes), "r"(static_cast<int>(wanted)) : "memory");
}

__device__ __forceinline__ void cp_async4_or_zero_if(float *slab, int at,
                                                     const float *from_global, bool inside, bool wanted) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  const int n_bytes = inside ? 16 : 0;
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %3, 0;"
               " @p cp.async.cg.shared.global [%0], [%1], 16, %2; }"
               :: "r"(to), "l"(from_global), "r"(n_bytes), "r"(static_cast<int>(wanted)) : "memory");
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

// The same number, of which the compiler no longer knows what it is.
__device__ __forceinline__ int opaque(int number) {
  asm volatile("" : "+r"(number));
  return number;
}

extern "C" __global__ void __launch_bounds__(256)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  __shared__ __align__(128) float smem[12288];
  float *const A_s = smem;         // [3][128][16] BUFFER_COUNT=3: the slab of A
  float *const B_s = smem + 6144;  // [3][16][128] BUFFER_COUNT=3: the slab of B

  const int tid = threadIdx.x;
  const int m_b = blockIdx.x / 5;    // BLOCK 0..8, BM=16
  const int n_b = blockIdx.x % 5;    // BLOCK 0..5, BN=16
  const int m_t = threadIdx.x / 16;  // THREAD 0..16, BM=16
  const int n_t = threadIdx.x % 16;  // THREAD 0..16, BN=16

  // where this thread begins
  float *const A_s_at = A_s + tid / 16 * 16 + tid % 16;
  float *const B_s_at = B_s + tid / 32 * 128 + tid % 32 * 4;
  float *const A_s_at2 = A_s + m_t * 8 * 16;
  float *const B_s_at2 = B_s + n_t * 8;

  float acc[8][8];  // FM=8: this thread's cells of C
  float a[8];       // FM=8: its values of A for one k
  float b[8];       // FN=8: its values of B for one k

  #pragma unroll
  for (int m_r = 0; m_r < 8; ++m_r)
    #pragma unroll
    for (int n_q = 0; n_q < 2; ++n_q)
      #pragma unroll
      for (int n_v = 0; n_v < 4; ++n_v)
        acc[m_r][n_q * 4 + n_v] = 0.0f;

  // ASYNC_COPY=1: start the copy of the slab of A
  #pragma unroll
  for (int c_a = 0; c_a < 8; ++c_a)
    cp_async1_or_zero(A_s_at, c_a * 16 * 16, &A[(m_b * 128 + c_a * 16 + tid / 16) * K + tid % 16],
        m_b * 128 + c_a * 16 + tid / 16 < M);

  // ASYNC_COPY=1: start the copy of the slab of B
  #pragma unroll
  for (int c_b = 0; c_b < 2; ++c_b)
    cp_async4_or_zero(B_s_at, c_b * 8 * 128,
        &B[(c_b * 8 + tid / 32) * N + n_b * 128 + tid % 32 * 4], n_b * 128 + tid % 32 * 4 < N);
  cp_async_commit();

  // ASYNC_COPY=1: start the copy of the slab of A
  #pragma unroll
  for (int c_a = 0; c_a < 8; ++c_a)
    cp_async1_or_zero(A_s_at, 2048 + c_a * 16 * 16,
        &A[(m_b * 128 + c_a * 16 + tid / 16) * K + tid % 16 + 16],
        m_b * 128 + c_a * 16 + tid / 16 < M);

  // ASYNC_COPY=1: start the copy of the slab of B
  #pragma unroll
  for (int c_b = 0; c_b < 2; ++c_b)
    cp_async4_or_zero(B_s_at, 2048 + c_b * 8 * 128,
        &B[(c_b * 8 + tid / 32 + 16) * N + n_b * 128 + tid % 32 * 4], n_b * 128 + tid % 32 * 4 < N);
  cp_async_commit();
  cp_async_wait<1>();

  // PIPELINE_STAGES=1: slab 0 is filled
  __syncthreads();

  #pragma unroll 3
  for (int k_o = 0; k_o < 13; ++k_o) {  // UNROLL_RING=1
    const int m_end = opaque(M);
    const int n_end = opaque(N);
    const int k_end = opaque(K);
    #pragma unroll
    for (int k_i = 0; k_i < 16; ++k_i) {  // BK=16
      // FM=8: this thread's values of A
      #pragma unroll
      for (int m_r = 0; m_r < 8; ++m_r)
        a[m_r] = A_s_at2[k_o % 3 * 2048 + m_r * 16 + k_i];

      // VECTORIZE=1: this thread's values of B
      #pragma unroll
      for (int n_q = 0; n_q < 2; ++n_q)
        load4(&b[n_q * 4], &B_s_at2[k_o % 3 * 2048 + k_i * 128 + n_q * 4]);

      // COPY_STEPS=3: this step's share of the copies of a slab ahead
      {
        const int k_n = k_o + 2;
        #pragma unroll
        for (int i = 0; i < 3; ++i) {
          if (k_i * 3 + i < 8) {
            const int c_a = k_i * 3 + i;

            // ASYNC_COPY=1: start the copy of the slab of A
            cp_async1_or_zero_if(A_s_at, k_n % 3 * 2048 + c_a * 16 * 16,
                &A[(m_b * 128 + c_a * 16 + tid / 16) * K + k_n * 16 + tid % 16],
                m_b * 128 + c_a * 16 + tid / 16 < m_end && k_n * 16 + tid % 16 < k_end,
                k_o + 2 < 13);
          }
        }

        if (k_i < 2) {
          const int c_b = k_i;

          // ASYNC_COPY=1: start the copy of the slab of B
          cp_async4_or_zero_if(B_s_at, k_n % 3 * 2048 + c_b * 8 * 128,
              &B[(k_n * 16 + c_b * 8 + tid / 32) * N + n_b * 128 + tid % 32 * 4],
              k_n * 16 + c_b * 8 + tid / 32 < k_end && n_b * 128 + tid % 32 * 4 < n_end,
              k_o + 2 < 13);
        }
      }

      // FM=8: add the outer product of a and b
      #pragma unroll
      for (int m_r = 0; m_r < 8; ++m_r)
        #pragma unroll
        for (int n_q = 0; n_q < 2; ++n_q)
          #pragma unroll
          for (int n_v = 0; n_v < 4; ++n_v)
            acc[m_r][n_q * 4 + n_v] += a[m_r] * b[n_q * 4 + n_v];
    }

    cp_async_commit();
    cp_async_wait<1>();

    // PIPELINE_STAGES=1: the next slab is filled, this one read to the end
    __syncthreads();
  }

  // FM=8: write the cells of C
  #pragma unroll
  for (int m_r = 0; m_r < 8; ++m_r)
    #pragma unroll
    for (int n_q = 0; n_q < 2; ++n_q)
      if (m_b * 128 + m_t * 8 + m_r < M && n_b * 128 + n_t * 8 + n_q * 4 < N)
        store4(&C[(m_b * 128 + m_t * 8 + m_r) * N + n_b * 128 + n_t * 8 + n_q * 4],
            &acc[m_r][n_q * 4]);
}
