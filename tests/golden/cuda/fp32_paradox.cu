// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f32, row-major
// AUTO=0,BM=8,BN=32,FM=1,FN=1,BK=32,SPLITK=1,STAGE=11,VECTORIZE=1,BUFFER_COUNT=2,PIPELINE_STAGES=1,GROUP_M=8
// for sm_90a (H200 SXM)
//
//   matmul<<<65536, 256>>>(A, B, C)   10240 bytes of shared memory

constexpr int M = 4096, N = 4096, K = 4096;

__device__ __forceinline__ void load4(float *to, const float *from) {
  const float4 v = *reinterpret_cast<const float4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void load4_or_zero(float *to, const float *from, bool inside) {
  float4 v = {0.0f, 0.0f, 0.0f, 0.0f};
  if (inside) v = *reinterpret_cast<const float4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void store4(float *to, const float *from) {
  *reinterpret_cast<float4 *>(to) = float4{from[0], from[1], from[2], from[3]};
}

extern "C" __global__ void __launch_bounds__(256)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  __shared__ __align__(128) float smem[2560];
  float *const A_s = smem;        // [2][8][32] BUFFER_COUNT=2: the slab of A
  float *const B_s = smem + 512;  // [2][32][32] BUFFER_COUNT=2: the slab of B

  const int tid = threadIdx.x;
  const int g = blockIdx.x;          // BLOCK 0..65536, GROUP_M=8
  const int m_t = threadIdx.x / 32;  // THREAD 0..8, BM=8
  const int n_t = threadIdx.x % 32;  // THREAD 0..32, BN=32
  const int m_b = g / 1024 * 8 + g % 8;
  const int n_b = g % 1024 / 8;

  // where this thread begins
  float *const A_s_at = A_s + m_t * 32;
  float *const B_s_at = B_s + n_t;
  float *const A_s_at2 = A_s + tid / 8 * 32 + tid % 8 * 4;
  float *const B_s_at2 = B_s + tid / 8 * 32 + tid % 8 * 4;

  float acc;     // this thread's cells of C
  float a;       // its values of A for one k
  float b;       // its values of B for one k
  float r_a[4];  // STAGE=11: on their way from A to shared memory
  float r_b[4];  // STAGE=11: on their way from B to shared memory

  acc = 0.0f;

  // VECTORIZE=1: fetch the slab of A
  if (tid * 4 < 256)
    load4_or_zero(&r_a[0], &A[(m_b * 8 + tid / 8) * K + tid % 8 * 4], m_b * 8 + tid / 8 < M);

  // VECTORIZE=1: fetch the slab of B
  load4(&r_b[0], &B[tid / 8 * N + n_b * 32 + tid % 8 * 4]);

  // VECTORIZE=1: put the slab of A into shared memory
  if (tid * 4 < 256)
    store4(&A_s[tid / 8 * 32 + tid % 8 * 4], &r_a[0]);

  // VECTORIZE=1: put the slab of B into shared memory
  store4(&B_s[tid / 8 * 32 + tid % 8 * 4], &r_b[0]);

  // PIPELINE_STAGES=1: slab 0 is filled
  __syncthreads();

  for (int k_o = 0; k_o < 128; ++k_o) {  // BK=32
    if (k_o + 1 < 128) {
      const int k_n = k_o + 1;

      // VECTORIZE=1: fetch the slab of A
      if (tid * 4 < 256)
        load4_or_zero(&r_a[0], &A[(m_b * 8 + tid / 8) * K + k_n * 32 + tid % 8 * 4],
            m_b * 8 + tid / 8 < M);

      // VECTORIZE=1: fetch the slab of B
      load4(&r_b[0], &B[(k_n * 32 + tid / 8) * N + n_b * 32 + tid % 8 * 4]);
    }

    for (int k_i = 0; k_i < 32; ++k_i) {  // BK=32
      // STAGE=11: this thread's values of A
      a = A_s_at[k_o % 2 * 256 + k_i];

      // STAGE=11: this thread's values of B
      b = B_s_at[k_o % 2 * 1024 + k_i * 32];

      acc += a * b;
    }

    if (k_o + 1 < 128) {
      const int k_n = k_o + 1;

      // VECTORIZE=1: put the slab of A into shared memory
      if (tid * 4 < 256)
        store4(&A_s_at2[k_n % 2 * 256], &r_a[0]);

      // VECTORIZE=1: put the slab of B into shared memory
      store4(&B_s_at2[k_n % 2 * 1024], &r_b[0]);
    }

    // PIPELINE_STAGES=1: the next slab is filled
    __syncthreads();
  }

  C[(m_b * 8 + m_t) * N + n_b * 32 + n_t] = acc;
}
