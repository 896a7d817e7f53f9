// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f16, row-major
// AUTO=0,ATOM_KIND=mma_m16n8k16_f16,ACC=f16,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,ASYNC_COPY=1
// for sm_90a (H200 SXM)
//
//   matmul<<<1024, 128>>>(A, B, C)   32768 bytes of shared memory

constexpr int N = 4096, K = 4096;

struct f16 {…}
__device__ __forceinline__ void load2(unsigned *to, const f16 *from) {…}
__device__ __forceinline__ void store2(f16 *to, const unsigned *from) {…}
__device__ __forceinline__ void fill4(unsigned *to, unsigned value) {…}
__device__ __forceinline__ void cp_async8(f16 *slab, int at,
                                          const f16 *from_global) {…}
__device__ __forceinline__ void cp_async_commit() {…}
__device__ __forceinline__ void cp_async_wait() {…}
__device__ __forceinline__ void mma_m16n8k16_f16_f16(unsigned *c, const unsigned *a,
    const unsigned *b) {…}
__device__ __forceinline__ void insert_f16(unsigned *to, int i, f16 value) {…}

extern "C" __global__ void __launch_bounds__(128)
matmul(const f16 *__restrict__ A, const f16 *__restrict__ B, f16 *__restrict__ C) {
  __shared__ __align__(128) f16 smem[16384];
  f16 *const A_s = smem;         // [128][64] STAGE=11: the slab of A
  f16 *const B_s = smem + 8192;  // [64][128] STAGE=11: the slab of B

  const int tid = threadIdx.x;
  const int m_b = blockIdx.x / 32;       // BLOCK 0..32, WM=2
  const int n_b = blockIdx.x % 32;       // BLOCK 0..32, WN=2
  const int m_w = threadIdx.x / 64;      // WARP 0..2, WM=2
  const int n_w = threadIdx.x / 32 % 2;  // WARP 0..2, WN=2
  const int lane = threadIdx.x % 32;     // THREAD 0..32, ATOM_KIND=mma_m16n8k16_f16

  // where this thread begins
  f16 *const A_s_at = A_s + tid / 8 * 64 + tid % 8 * 8;
  f16 *const B_s_at = B_s + tid / 16 * 128 + tid % 16 * 8;
  f16 *const A_s_at2 = A_s + (m_w * 64 + lane / 4) * 64 + lane % 4 * 2;
  f16 *const B_s_at2 = B_s + lane % 4 * 2 * 128 + n_w * 64 + lane / 4;

  unsigned acc[4][8][2];  // ATOM_KIND=mma_m16n8k16_f16: this thread's cells of C, two to a register
  // ATOM_KIND=mma_m16n8k16_f16: its values of A for one k-step, two to a register
  unsigned a[4][4];
  // ATOM_KIND=mma_m16n8k16_f16: its values of B for one k-step, two to a register
  unsigned b[8][2];

  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 8; ++n_r)
      fill4(&acc[m_r][n_r][0], 0u);

  for (int k_o = 0; k_o < 64; ++k_o) {  // BK=4
    // ASYNC_COPY=1: start the copy of the slab of A
    #pragma unroll
    for (int c_a = 0; c_a < 8; ++c_a)
      cp_async8(A_s_at, c_a * 16 * 64,
          &A[(m_b * 128 + c_a * 16 + tid / 8) * K + k_o * 64 + tid % 8 * 8]);

    // ASYNC_COPY=1: start the copy of the slab of B
    #pragma unroll
    for (int c_b = 0; c_b < 8; ++c_b)
      cp_async8(B_s_at, c_b * 8 * 128,
          &B[(k_o * 64 + c_b * 8 + tid / 16) * N + n_b * 128 + tid % 16 * 8]);
    cp_async_commit();
    cp_async_wait<0>();

    // STAGE=11: the slab is filled
    __syncthreads();

    for (int k_i = 0; k_i < 4; ++k_i) {  // BK=4
      // FM=4: this thread's values of A
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        #pragma unroll
        for (int v_a = 0; v_a < 4; ++v_a)
          load2(&a[m_r][v_a], &A_s_at2[(m_r * 16 + v_a % 2 * 8) * 64 + k_i * 16 + v_a / 2 * 8]);

      // FN=8: this thread's values of B
      #pragma unroll
      for (int n_r = 0; n_r < 8; ++n_r)
        #pragma unroll
        for (int v_b = 0; v_b < 4; ++v_b)
          insert_f16(&b[n_r][v_b / 2], v_b % 2,
              B_s_at2[(k_i * 16 + v_b % 2 + v_b / 2 * 8) * 128 + n_r * 8]);

      // FM=4: multiply each fragment of A by each of B
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        #pragma unroll
        for (int n_r = 0; n_r < 8; ++n_r)
          mma_m16n8k16_f16_f16(&acc[m_r][n_r][0], &a[m_r][0], &b[n_r][0]);
    }

    // STAGE=11: the slab is read to the end
    __syncthreads();
  }

  // FM=4: write the cells of C
  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 8; ++n_r)
      #pragma unroll
      for (int v_c = 0; v_c < 2; ++v_c)
        store2(&C[(m_b * 128 + m_w * 64 + m_r * 16 + lane / 4 + v_c * 8) * N + n_b * 128 +
            n_w * 64 + n_r * 8 + lane % 4 * 2], &acc[m_r][n_r][v_c]);
}
