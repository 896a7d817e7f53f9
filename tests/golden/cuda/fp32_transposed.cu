// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f32, row-major
// AUTO=0,BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,TRANSPOSE_A=1,VECTORIZE=1,BUFFER_COUNT=2,PIPELINE_STAGES=1
// for sm_90a (H200 SXM)
//
//   matmul<<<1024, 256>>>(A, B, C)   32768 bytes of shared memory

constexpr int N = 4096, K = 4096;

__device__ __forceinline__ void load4(float *to, const float *from) {
  const float4 v = *reinterpret_cast<const float4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void store4(float *to, const float *from) {
  *reinterpret_cast<float4 *>(to) = float4{from[0], from[1], from[2], from[3]};
}

extern "C" __global__ void __launch_bounds__(256)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  __shared__ __align__(128) float smem[8192];
  float *const A_s = smem;         // [2][16][128] BUFFER_COUNT=2: the slab of A
  float *const B_s = smem + 4096;  // [2][16][128] BUFFER_COUNT=2: the slab of B

  const int tid = threadIdx.x;
  const int m_b = blockIdx.x / 32;   // BLOCK 0..32, BM=16
  const int n_b = blockIdx.x % 32;   // BLOCK 0..32, BN=16
  const int m_t = threadIdx.x / 16;  // THREAD 0..16, BM=16
  const int n_t = threadIdx.x % 16;  // THREAD 0..16, BN=16

  // where this thread begins
  float *const A_s_at = A_s + tid % 4 * 4 * 128 + tid / 4;
  float *const B_s_at = B_s + tid / 32 * 128 + tid % 32 * 4;
  float *const A_s_at2 = A_s + m_t * 8;
  float *const B_s_at2 = B_s + n_t * 8;

  float acc[8][8];  // FM=8: this thread's cells of C
  float a[8];       // FM=8: its values of A for one k
  float b[8];       // FN=8: its values of B for one k
  float r_a[8];     // STAGE=11: on their way from A to shared memory
  float r_b[8];     // STAGE=11: on their way from B to shared memory

  #pragma unroll
  for (int m_q = 0; m_q < 2; ++m_q)
    #pragma unroll
    for (int m_v = 0; m_v < 4; ++m_v)
      #pragma unroll
      for (int n_q = 0; n_q < 2; ++n_q)
        #pragma unroll
        for (int n_v = 0; n_v < 4; ++n_v)
          acc[m_q * 4 + m_v][n_q * 4 + n_v] = 0.0f;

  // VECTORIZE=1: fetch the slab of A
  #pragma unroll
  for (int c_a = 0; c_a < 2; ++c_a)
    load4(&r_a[c_a * 4], &A[(m_b * 128 + c_a * 64 + tid / 4) * K + tid % 4 * 4]);

  // VECTORIZE=1: fetch the slab of B
  #pragma unroll
  for (int c_b = 0; c_b < 2; ++c_b)
    load4(&r_b[c_b * 4], &B[(c_b * 8 + tid / 32) * N + n_b * 128 + tid % 32 * 4]);

  // VECTORIZE=1: put the slab of A into shared memory
  #pragma unroll
  for (int c_a = 0; c_a < 2; ++c_a)
    #pragma unroll
    for (int v = 0; v < 4; ++v)
      A_s_at[v * 128 + c_a * 64] = r_a[c_a * 4 + v];

  // VECTORIZE=1: put the slab of B into shared memory
  #pragma unroll
  for (int c_b = 0; c_b < 2; ++c_b)
    store4(&B_s_at[c_b * 8 * 128], &r_b[c_b * 4]);

  // PIPELINE_STAGES=1: slab 0 is filled
  __syncthreads();

  for (int k_o = 0; k_o < 256; ++k_o) {  // BK=16
    if (k_o + 1 < 256) {
      const int k_n = k_o + 1;

      // VECTORIZE=1: fetch the slab of A
      #pragma unroll
      for (int c_a = 0; c_a < 2; ++c_a)
        load4(&r_a[c_a * 4], &A[(m_b * 128 + c_a * 64 + tid / 4) * K + k_n * 16 + tid % 4 * 4]);

      // VECTORIZE=1: fetch the slab of B
      #pragma unroll
      for (int c_b = 0; c_b < 2; ++c_b)
        load4(&r_b[c_b * 4], &B[(k_n * 16 + c_b * 8 + tid / 32) * N + n_b * 128 + tid % 32 * 4]);
    }

    for (int k_i = 0; k_i < 16; ++k_i) {  // BK=16
      // VECTORIZE=1: this thread's values of A
      #pragma unroll
      for (int m_q = 0; m_q < 2; ++m_q)
        load4(&a[m_q * 4], &A_s_at2[k_o % 2 * 2048 + k_i * 128 + m_q * 4]);

      // VECTORIZE=1: this thread's values of B
      #pragma unroll
      for (int n_q = 0; n_q < 2; ++n_q)
        load4(&b[n_q * 4], &B_s_at2[k_o % 2 * 2048 + k_i * 128 + n_q * 4]);

      // VECTORIZE=1: add the outer product of a and b
      #pragma unroll
      for (int m_q = 0; m_q < 2; ++m_q)
        #pragma unroll
        for (int m_v = 0; m_v < 4; ++m_v)
          #pragma unroll
          for (int n_q = 0; n_q < 2; ++n_q)
            #pragma unroll
            for (int n_v = 0; n_v < 4; ++n_v)
              acc[m_q * 4 + m_v][n_q * 4 + n_v] += a[m_q * 4 + m_v] * b[n_q * 4 + n_v];
    }

    if (k_o + 1 < 256) {
      const int k_n = k_o + 1;

      // VECTORIZE=1: put the slab of A into shared memory
      #pragma unroll
      for (int c_a = 0; c_a < 2; ++c_a)
        #pragma unroll
        for (int v = 0; v < 4; ++v)
          A_s_at[k_n % 2 * 2048 + v * 128 + c_a * 64] = r_a[c_a * 4 + v];

      // VECTORIZE=1: put the slab of B into shared memory
      #pragma unroll
      for (int c_b = 0; c_b < 2; ++c_b)
        store4(&B_s_at[k_n % 2 * 2048 + c_b * 8 * 128], &r_b[c_b * 4]);
    }

    // PIPELINE_STAGES=1: the next slab is filled
    __syncthreads();
  }

  // VECTORIZE=1: write the cells of C
  #pragma unroll
  for (int m_q = 0; m_q < 2; ++m_q)
    #pragma unroll
    for (int m_v = 0; m_v < 4; ++m_v)
      #pragma unroll
      for (int n_q = 0; n_q < 2; ++n_q)
        store4(&C[(m_b * 128 + m_t * 8 + m_q * 4 + m_v) * N + n_b * 128 + n_t * 8 + n_q * 4],
            &acc[m_q * 4 + m_v][n_q * 4]);
}
