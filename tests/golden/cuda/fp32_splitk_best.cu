// C[128, 128] = A[128, 16384] * B[16384, 128], f32, row-major
// AUTO=0,M=128,N=128,K=16384,BM=8,BN=16,FM=8,FN=4,BK=16,STAGE=11,TRANSPOSE_A=1,VECTORIZE=1,BUFFER_COUNT=2,PIPELINE_STAGES=1,PAD_SMEM=4,CELL_GROUP=4,FRAG_BUFFER=2,SPLITK=64,ATOMIC_FREE_SPLITK=1
// for sm_90a (H200 SXM)
//
//   matmul<<<256, 128>>>(A, B, P)   17408 bytes of shared memory
//   reduce<<<64, 256>>>(C, P)
//   workspace: 4194304 bytes

constexpr int N = 128, K = 16384;

__device__ __forceinline__ void load4(float *to, const float *from) {
  const float4 v = *reinterpret_cast<const float4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void store4(float *to, const float *from) {
  *reinterpret_cast<float4 *>(to) = float4{from[0], from[1], from[2], from[3]};
}

extern "C" __global__ void __launch_bounds__(128)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ P) {
  __shared__ __align__(128) float smem[4352];
  float *const A_s = smem;         // [2][16][64 + 4] BUFFER_COUNT=2: the slab of A
  float *const B_s = smem + 2176;  // [2][16][64 + 4] BUFFER_COUNT=2: the slab of B

  const int tid = threadIdx.x;
  const int k_s = blockIdx.x / 4;      // BLOCK 0..64, SPLITK=64
  const int m_b = blockIdx.x / 2 % 2;  // BLOCK 0..2, BM=8
  const int n_b = blockIdx.x % 2;      // BLOCK 0..2, BN=16
  const int m_t = threadIdx.x / 16;    // THREAD 0..8, BM=8
  const int n_t = threadIdx.x % 16;    // THREAD 0..16, BN=16

  // where this thread begins
  float *const A_s_at = A_s + tid % 4 * 4 * 68 + tid / 4;
  float *const B_s_at = B_s + tid / 16 * 68 + tid % 16 * 4;
  float *const A_s_at2 = A_s + m_t * 4;
  float *const B_s_at2 = B_s + n_t * 4;

  float acc[8][4];  // FM=8: this thread's cells of C
  float a[2][8];    // FRAG_BUFFER=2: its values of A for one k
  float b[2][4];    // FRAG_BUFFER=2: its values of B for one k
  float r_a[8];     // STAGE=11: on their way from A to shared memory
  float r_b[8];     // STAGE=11: on their way from B to shared memory

  #pragma unroll
  for (int m_g = 0; m_g < 2; ++m_g)
    #pragma unroll
    for (int m_v = 0; m_v < 4; ++m_v)
      #pragma unroll
      for (int n_r = 0; n_r < 4; ++n_r)
        acc[m_g * 4 + m_v][n_r] = 0.0f;

  // VECTORIZE=1: fetch the slab of A
  #pragma unroll
  for (int c_a = 0; c_a < 2; ++c_a)
    load4(&r_a[c_a * 4], &A[(m_b * 64 + c_a * 32 + tid / 4) * K + k_s * 256 + tid % 4 * 4]);

  // VECTORIZE=1: fetch the slab of B
  #pragma unroll
  for (int c_b = 0; c_b < 2; ++c_b)
    load4(&r_b[c_b * 4], &B[(k_s * 256 + c_b * 8 + tid / 16) * N + n_b * 64 + tid % 16 * 4]);

  // VECTORIZE=1: put the slab of A into shared memory
  #pragma unroll
  for (int c_a = 0; c_a < 2; ++c_a)
    #pragma unroll
    for (int v = 0; v < 4; ++v)
      A_s_at[v * 68 + c_a * 32] = r_a[c_a * 4 + v];

  // VECTORIZE=1: put the slab of B into shared memory
  #pragma unroll
  for (int c_b = 0; c_b < 2; ++c_b)
    store4(&B_s_at[c_b * 8 * 68], &r_b[c_b * 4]);

  // PIPELINE_STAGES=1: slab 0 is filled
  __syncthreads();

  // CELL_GROUP=4: this thread's values of A
  #pragma unroll
  for (int m_g = 0; m_g < 2; ++m_g)
    load4(&a[0][m_g * 4], &A_s_at2[m_g * 32]);

  // VECTORIZE=1: this thread's values of B
  load4(&b[0][0], &B_s[n_t * 4]);

  for (int k_o = 0; k_o < 16; ++k_o) {  // BK=16
    if (k_o + 1 < 16) {
      const int k_n = k_o + 1;

      // VECTORIZE=1: fetch the slab of A
      #pragma unroll
      for (int c_a = 0; c_a < 2; ++c_a)
        load4(&r_a[c_a * 4],
            &A[(m_b * 64 + c_a * 32 + tid / 4) * K + k_s * 256 + k_n * 16 + tid % 4 * 4]);

      // VECTORIZE=1: fetch the slab of B
      #pragma unroll
      for (int c_b = 0; c_b < 2; ++c_b)
        load4(&r_b[c_b * 4],
            &B[(k_s * 256 + k_n * 16 + c_b * 8 + tid / 16) * N + n_b * 64 + tid % 16 * 4]);
    }

    #pragma unroll
    for (int k_i = 0; k_i < 15; ++k_i) {  // BK=16
      // CELL_GROUP=4: this thread's values of A
      #pragma unroll
      for (int m_g = 0; m_g < 2; ++m_g)
        load4(&a[(k_i + 1) % 2][m_g * 4], &A_s_at2[k_o % 2 * 1088 + (k_i + 1) * 68 + m_g * 32]);

      // VECTORIZE=1: this thread's values of B
      load4(&b[(k_i + 1) % 2][0], &B_s_at2[k_o % 2 * 1088 + (k_i + 1) * 68]);

      // CELL_GROUP=4: add the outer product of a and b
      #pragma unroll
      for (int m_g = 0; m_g < 2; ++m_g)
        #pragma unroll
        for (int m_v = 0; m_v < 4; ++m_v)
          #pragma unroll
          for (int n_r = 0; n_r < 4; ++n_r)
            acc[m_g * 4 + m_v][n_r] += a[k_i % 2][m_g * 4 + m_v] * b[k_i % 2][n_r];
    }

    if (k_o + 1 < 16) {
      const int k_n = k_o + 1;

      // VECTORIZE=1: put the slab of A into shared memory
      #pragma unroll
      for (int c_a = 0; c_a < 2; ++c_a)
        #pragma unroll
        for (int v = 0; v < 4; ++v)
          A_s_at[k_n % 2 * 1088 + v * 68 + c_a * 32] = r_a[c_a * 4 + v];

      // VECTORIZE=1: put the slab of B into shared memory
      #pragma unroll
      for (int c_b = 0; c_b < 2; ++c_b)
        store4(&B_s_at[k_n % 2 * 1088 + c_b * 8 * 68], &r_b[c_b * 4]);
    }

    // PIPELINE_STAGES=1: the next slab is filled
    __syncthreads();

    if (k_o + 1 < 16) {
      const int k_n = k_o + 1;

      // CELL_GROUP=4: this thread's values of A
      #pragma unroll
      for (int m_g = 0; m_g < 2; ++m_g)
        load4(&a[0][m_g * 4], &A_s_at2[k_n % 2 * 1088 + m_g * 32]);

      // VECTORIZE=1: this thread's values of B
      load4(&b[0][0], &B_s_at2[k_n % 2 * 1088]);
    }

    // CELL_GROUP=4: add the outer product of a and b
    #pragma unroll
    for (int m_g = 0; m_g < 2; ++m_g)
      #pragma unroll
      for (int m_v = 0; m_v < 4; ++m_v)
        #pragma unroll
        for (int n_r = 0; n_r < 4; ++n_r)
          acc[m_g * 4 + m_v][n_r] += a[1][m_g * 4 + m_v] * b[1][n_r];
  }

  // CELL_GROUP=4: write this split's partial sums
  #pragma unroll
  for (int m_g = 0; m_g < 2; ++m_g)
    #pragma unroll
    for (int m_v = 0; m_v < 4; ++m_v)
      store4(&P[k_s * 16384 + (m_b * 64 + m_g * 32 + m_t * 4 + m_v) * N + n_b * 64 + n_t * 4],
          &acc[m_g * 4 + m_v][0]);
}

// ATOMIC_FREE_SPLITK=1
extern "C" __global__ void __launch_bounds__(256)
reduce(float *__restrict__ C, const float *__restrict__ P) {
  const int f_b = blockIdx.x;   // BLOCK 0..64, ATOMIC_FREE_SPLITK=1
  const int f_t = threadIdx.x;  // THREAD 0..256, ATOMIC_FREE_SPLITK=1

  float sum;   // ATOMIC_FREE_SPLITK=1
  float part;  // ATOMIC_FREE_SPLITK=1

  sum = 0.0f;

  for (int s = 0; s < 64; ++s) {  // ATOMIC_FREE_SPLITK=1
    part = P[s * 16384 + (f_b * 2 + f_t / 128) * N + f_t % 128];
    sum += part;
  }

  // ATOMIC_FREE_SPLITK=1: write the cells of C
  C[(f_b * 2 + f_t / 128) * N + f_t % 128] = sum;
}
