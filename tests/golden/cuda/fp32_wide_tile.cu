// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f32, row-major
// AUTO=0,BM=16,BN=16,FM=16,FN=8,BK=8,STAGE=11,TRANSPOSE_A=1,VECTORIZE=1,BUFFER_COUNT=2,PIPELINE_STAGES=1,PAD_SMEM=4,CELL_GROUP=4,LANES_M=4,LANE_ORDER=1,FRAG_BUFFER=2
// for sm_90a (H200 SXM)
//
//   matmul<<<512, 256>>>(A, B, C)   25088 bytes of shared memory

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
  __shared__ __align__(128) float smem[6272];
  float *const A_s = smem;         // [2][8][256 + 4] BUFFER_COUNT=2: the slab of A
  float *const B_s = smem + 4160;  // [2][8][128 + 4] BUFFER_COUNT=2: the slab of B

  const int tid = threadIdx.x;
  const int m_b = blockIdx.x / 32;        // BLOCK 0..16, BM=16
  const int n_b = blockIdx.x % 32;        // BLOCK 0..32, BN=16
  const int m_w = threadIdx.x / 64;       // WARP 0..4, LANES_M=4
  const int n_w = threadIdx.x / 32 % 2;   // WARP 0..2, LANES_M=4
  const int n_l2 = threadIdx.x / 16 % 2;  // THREAD 0..2, LANE_ORDER=1
  const int m_l1 = threadIdx.x / 8 % 2;   // THREAD 0..2, LANE_ORDER=1
  const int n_l1 = threadIdx.x / 4 % 2;   // THREAD 0..2, LANE_ORDER=1
  const int m_l = threadIdx.x / 2 % 2;    // THREAD 0..2, LANE_ORDER=1
  const int n_l = threadIdx.x % 2;        // THREAD 0..2, LANES_M=4

  // where this thread begins
  float *const A_s_at = A_s + tid % 2 * 4 * 260 + tid / 2;
  float *const A_s_at2 = A_s + m_w * 16 + m_l1 * 8 + m_l * 4;
  float *const B_s_at = B_s + n_w * 32 + n_l2 * 16 + n_l1 * 8 + n_l * 4;
  float *const B_s_at2 = B_s + tid / 32 * 132 + tid % 32 * 4;

  float acc[16][8];  // FM=16: this thread's cells of C
  float a[2][16];    // FRAG_BUFFER=2: its values of A for one k
  float b[2][8];     // FRAG_BUFFER=2: its values of B for one k
  float r_a[8];      // STAGE=11: on their way from A to shared memory
  float r_b[4];      // STAGE=11: on their way from B to shared memory

  #pragma unroll
  for (int m_g = 0; m_g < 4; ++m_g)
    #pragma unroll
    for (int m_v = 0; m_v < 4; ++m_v)
      #pragma unroll
      for (int n_g = 0; n_g < 2; ++n_g)
        #pragma unroll
        for (int n_v = 0; n_v < 4; ++n_v)
          acc[m_g * 4 + m_v][n_g * 4 + n_v] = 0.0f;

  // VECTORIZE=1: fetch the slab of A
  #pragma unroll
  for (int c_a = 0; c_a < 2; ++c_a)
    load4(&r_a[c_a * 4], &A[(m_b * 256 + c_a * 128 + tid / 2) * K + tid % 2 * 4]);

  // VECTORIZE=1: fetch the slab of B
  load4(&r_b[0], &B[tid / 32 * N + n_b * 128 + tid % 32 * 4]);

  // VECTORIZE=1: put the slab of A into shared memory
  #pragma unroll
  for (int c_a = 0; c_a < 2; ++c_a)
    #pragma unroll
    for (int v = 0; v < 4; ++v)
      A_s_at[v * 260 + c_a * 128] = r_a[c_a * 4 + v];

  // VECTORIZE=1: put the slab of B into shared memory
  store4(&B_s[tid / 32 * 132 + tid % 32 * 4], &r_b[0]);

  // PIPELINE_STAGES=1: slab 0 is filled
  __syncthreads();

  // CELL_GROUP=4: this thread's values of A
  #pragma unroll
  for (int m_g = 0; m_g < 4; ++m_g)
    load4(&a[0][m_g * 4], &A_s_at2[m_g * 64]);

  // CELL_GROUP=4: this thread's values of B
  #pragma unroll
  for (int n_g = 0; n_g < 2; ++n_g)
    load4(&b[0][n_g * 4], &B_s_at[n_g * 64]);

  for (int k_o = 0; k_o < 512; ++k_o) {  // BK=8
    if (k_o + 1 < 512) {
      const int k_n = k_o + 1;

      // VECTORIZE=1: fetch the slab of A
      #pragma unroll
      for (int c_a = 0; c_a < 2; ++c_a)
        load4(&r_a[c_a * 4], &A[(m_b * 256 + c_a * 128 + tid / 2) * K + k_n * 8 + tid % 2 * 4]);

      // VECTORIZE=1: fetch the slab of B
      load4(&r_b[0], &B[(k_n * 8 + tid / 32) * N + n_b * 128 + tid % 32 * 4]);
    }

    #pragma unroll
    for (int k_i = 0; k_i < 7; ++k_i) {  // BK=8
      // CELL_GROUP=4: this thread's values of A
      #pragma unroll
      for (int m_g = 0; m_g < 4; ++m_g)
        load4(&a[(k_i + 1) % 2][m_g * 4], &A_s_at2[k_o % 2 * 2080 + (k_i + 1) * 260 + m_g * 64]);

      // CELL_GROUP=4: this thread's values of B
      #pragma unroll
      for (int n_g = 0; n_g < 2; ++n_g)
        load4(&b[(k_i + 1) % 2][n_g * 4], &B_s_at[k_o % 2 * 1056 + (k_i + 1) * 132 + n_g * 64]);

      // CELL_GROUP=4: add the outer product of a and b
      #pragma unroll
      for (int m_g = 0; m_g < 4; ++m_g)
        #pragma unroll
        for (int m_v = 0; m_v < 4; ++m_v)
          #pragma unroll
          for (int n_g = 0; n_g < 2; ++n_g)
            #pragma unroll
            for (int n_v = 0; n_v < 4; ++n_v)
              acc[m_g * 4 + m_v][n_g * 4 + n_v] +=
                  a[k_i % 2][m_g * 4 + m_v] * b[k_i % 2][n_g * 4 + n_v];
    }

    if (k_o + 1 < 512) {
      const int k_n = k_o + 1;

      // VECTORIZE=1: put the slab of A into shared memory
      #pragma unroll
      for (int c_a = 0; c_a < 2; ++c_a)
        #pragma unroll
        for (int v = 0; v < 4; ++v)
          A_s_at[k_n % 2 * 2080 + v * 260 + c_a * 128] = r_a[c_a * 4 + v];

      // VECTORIZE=1: put the slab of B into shared memory
      store4(&B_s_at2[k_n % 2 * 1056], &r_b[0]);
    }

    // PIPELINE_STAGES=1: the next slab is filled
    __syncthreads();

    if (k_o + 1 < 512) {
      const int k_n = k_o + 1;

      // CELL_GROUP=4: this thread's values of A
      #pragma unroll
      for (int m_g = 0; m_g < 4; ++m_g)
        load4(&a[0][m_g * 4], &A_s_at2[k_n % 2 * 2080 + m_g * 64]);

      // CELL_GROUP=4: this thread's values of B
      #pragma unroll
      for (int n_g = 0; n_g < 2; ++n_g)
        load4(&b[0][n_g * 4], &B_s_at[k_n % 2 * 1056 + n_g * 64]);
    }

    // CELL_GROUP=4: add the outer product of a and b
    #pragma unroll
    for (int m_g = 0; m_g < 4; ++m_g)
      #pragma unroll
      for (int m_v = 0; m_v < 4; ++m_v)
        #pragma unroll
        for (int n_g = 0; n_g < 2; ++n_g)
          #pragma unroll
          for (int n_v = 0; n_v < 4; ++n_v)
            acc[m_g * 4 + m_v][n_g * 4 + n_v] += a[1][m_g * 4 + m_v] * b[1][n_g * 4 + n_v];
  }

  // CELL_GROUP=4: write the cells of C
  #pragma unroll
  for (int m_g = 0; m_g < 4; ++m_g)
    #pragma unroll
    for (int m_v = 0; m_v < 4; ++m_v)
      #pragma unroll
      for (int n_g = 0; n_g < 2; ++n_g)
        store4(&C[(m_b * 256 + m_g * 64 + m_w * 16 + m_l1 * 8 + m_l * 4 + m_v) * N + n_b * 128 +
            n_g * 64 + n_w * 32 + n_l2 * 16 + n_l1 * 8 + n_l * 4], &acc[m_g * 4 + m_v][n_g * 4]);
}
