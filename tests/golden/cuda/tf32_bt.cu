// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], tf32 summed in f32, C in f32, row-major
// AUTO=0,ATOM_KIND=mma_m16n8k8_tf32,WM=2,WN=4,FM=4,FN=4,BK=2,STAGE=11,TRANSPOSE_B=1,LDMATRIX=1,ASYNC_COPY=1,ASYNC_OPERANDS=10,L2_HINT=1,MIN_BLOCKS=2
// for sm_90a (H200 SXM)
//
//   matmul<<<1024, 256>>>(A, B, C)   16384 bytes of shared memory

constexpr int N = 4096, K = 4096;

__device__ __forceinline__ void load4(float *to, const float *from) {…}
__device__ __forceinline__ void store2(float *to, const float *from) {…}
__device__ __forceinline__ void fill4(float *to, float value) {…}
__device__ __forceinline__ void cp_async4(float *slab, int at,
                                          const float *from_global) {…}  // (2)
__device__ __forceinline__ void cp_async_commit() {…}
__device__ __forceinline__ void cp_async_wait() {…}
__device__ __forceinline__ void ldmatrix_x2(float *to, const float *slab, int at) {…}
__device__ __forceinline__ void ldmatrix_x4(float *to, const float *slab, int at) {…}
__device__ __forceinline__ void mma_m16n8k8_f32_tf32(float *c, const float *a,
    const float *b) {…}

extern "C" __global__ void __launch_bounds__(256, 2)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  __shared__ __align__(128) float smem[4096];
  float *const A_s = smem;         // [128][16] STAGE=11: the slab of A
  float *const B_s = smem + 2048;  // [128][16] TRANSPOSE_B=1: the slab of B

  const int tid = threadIdx.x;
  const int m_b = blockIdx.x / 32;       // BLOCK 0..32, WM=2
  const int n_b = blockIdx.x % 32;       // BLOCK 0..32, WN=4
  const int m_w = threadIdx.x / 128;     // WARP 0..2, WM=2
  const int n_w = threadIdx.x / 32 % 4;  // WARP 0..4, WN=4
  const int lane = threadIdx.x % 32;     // THREAD 0..32, ATOM_KIND=mma_m16n8k8_tf32

  // where this thread begins
  float *const A_s_at = A_s + tid / 4 * 16 + tid % 4 * 4;
  float *const B_s_at = B_s + tid % 32 * 4 * 16 + tid / 32;
  float *const A_s_at2 = A_s + (m_w * 64 + lane % 16) * 16 + lane / 16 * 4;
  float *const B_s_at2 = B_s + (n_w * 32 + lane % 8) * 16 + lane / 8 % 2 * 4;

  float acc[4][4][4];  // ATOM_KIND=mma_m16n8k8_tf32: this thread's cells of C
  float a[4][4];       // ATOM_KIND=mma_m16n8k8_tf32: its values of A for one k-step
  float b[4][2];       // ATOM_KIND=mma_m16n8k8_tf32: its values of B for one k-step
  float r_b[8];        // STAGE=11: on their way from B to shared memory

  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 4; ++n_r)
      fill4(&acc[m_r][n_r][0], 0.0f);

  for (int k_o = 0; k_o < 256; ++k_o) {  // BK=2
    // ASYNC_COPY=1: start the copy of the slab of A
    #pragma unroll
    for (int c_a = 0; c_a < 2; ++c_a)
      cp_async4(A_s_at, c_a * 64 * 16,
          &A[(m_b * 128 + c_a * 64 + tid / 4) * K + k_o * 16 + tid % 4 * 4]);

    // TRANSPOSE_B=1: fetch the slab of B
    #pragma unroll
    for (int c_b = 0; c_b < 2; ++c_b)
      load4(&r_b[c_b * 4], &B[(k_o * 16 + c_b * 8 + tid / 32) * N + n_b * 128 + tid % 32 * 4]);

    // TRANSPOSE_B=1: put the slab of B into shared memory
    #pragma unroll
    for (int c_b = 0; c_b < 2; ++c_b)
      #pragma unroll
      for (int v = 0; v < 4; ++v)
        B_s_at[v * 16 + c_b * 8] = r_b[c_b * 4 + v];
    cp_async_commit();
    cp_async_wait<0>();

    // STAGE=11: the slab is filled
    __syncthreads();

    for (int k_i = 0; k_i < 2; ++k_i) {  // BK=2
      // LDMATRIX=1: the warp's fragments of A
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        ldmatrix_x4(&a[m_r][0], A_s_at2, m_r * 16 * 16 + k_i * 8);

      // LDMATRIX=1: the warp's fragments of B
      #pragma unroll
      for (int n_r = 0; n_r < 4; ++n_r)
        ldmatrix_x2(&b[n_r][0], B_s_at2, n_r * 8 * 16 + k_i * 8);

      // FM=4: multiply each fragment of A by each of B
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        #pragma unroll
        for (int n_r = 0; n_r < 4; ++n_r)
          mma_m16n8k8_f32_tf32(&acc[m_r][n_r][0], &a[m_r][0], &b[n_r][0]);
    }

    // STAGE=11: the slab is read to the end
    __syncthreads();
  }

  // FM=4: write the cells of C
  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 4; ++n_r)
      #pragma unroll
      for (int v_c = 0; v_c < 2; ++v_c)
        store2(&C[(m_b * 128 + m_w * 64 + m_r * 16 + lane / 4 + v_c * 8) * N + n_b * 128 +
            n_w * 32 + n_r * 8 + lane % 4 * 2], &acc[m_r][n_r][v_c * 2]);
}
