// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f16 summed in f32, row-major
// AUTO=0,ATOM_KIND=mma_m16n8k16_f16,WM=1,WN=4,FM=4,FN=2,BK=2,GROUP_M=8
// for sm_90a (H200 SXM)
//
//   matmul<<<4096, 128>>>(A, B, C)

constexpr int N = 4096, K = 4096;

struct f16 {…}
__device__ __forceinline__ void load2(unsigned *to, const f16 *from) {…}
__device__ __forceinline__ void store2(f16 *to, const float *from) {…}
__device__ __forceinline__ void fill4(float *to, float value) {…}
__device__ __forceinline__ void mma_m16n8k16_f32_f16(float *c, const unsigned *a,
    const unsigned *b) {…}
__device__ __forceinline__ void insert_f16(unsigned *to, int i, f16 value) {…}

extern "C" __global__ void __launch_bounds__(128)
matmul(const f16 *__restrict__ A, const f16 *__restrict__ B, f16 *__restrict__ C) {
  const int g = blockIdx.x;           // BLOCK 0..4096, GROUP_M=8
  const int n_w = threadIdx.x / 32;   // WARP 0..4, WN=4
  const int lane = threadIdx.x % 32;  // THREAD 0..32, ATOM_KIND=mma_m16n8k16_f16
  const int m_b = g / 512 * 8 + g % 8;
  const int n_b = g % 512 / 8;

  float acc[4][2][4];  // ATOM_KIND=mma_m16n8k16_f16: this thread's cells of C
  // ATOM_KIND=mma_m16n8k16_f16: its values of A for one k-step, two to a register
  unsigned a[4][4];
  // ATOM_KIND=mma_m16n8k16_f16: its values of B for one k-step, two to a register
  unsigned b[2][2];

  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 2; ++n_r)
      fill4(&acc[m_r][n_r][0], 0.0f);

  for (int k = 0; k < 256; ++k) {  // ATOM_KIND=mma_m16n8k16_f16
    // FM=4: this thread's values of A
    #pragma unroll
    for (int m_r = 0; m_r < 4; ++m_r)
      #pragma unroll
      for (int v_a = 0; v_a < 4; ++v_a)
        load2(&a[m_r][v_a],
            &A[(m_b * 64 + m_r * 16 + lane / 4 + v_a % 2 * 8) * K + k * 16 + lane % 4 * 2 +
            v_a / 2 * 8]);

    // FN=2: this thread's values of B
    #pragma unroll
    for (int n_r = 0; n_r < 2; ++n_r)
      #pragma unroll
      for (int v_b = 0; v_b < 4; ++v_b)
        insert_f16(&b[n_r][v_b / 2], v_b % 2,
            B[(k * 16 + lane % 4 * 2 + v_b % 2 + v_b / 2 * 8) * N + n_b * 64 + n_w * 16 + n_r * 8 +
            lane / 4]);

    // FM=4: multiply each fragment of A by each of B
    #pragma unroll
    for (int m_r = 0; m_r < 4; ++m_r)
      #pragma unroll
      for (int n_r = 0; n_r < 2; ++n_r)
        mma_m16n8k16_f32_f16(&acc[m_r][n_r][0], &a[m_r][0], &b[n_r][0]);
  }

  // FM=4: write the cells of C
  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 2; ++n_r)
      #pragma unroll
      for (int v_c = 0; v_c < 2; ++v_c)
        store2(&C[(m_b * 64 + m_r * 16 + lane / 4 + v_c * 8) * N + n_b * 64 + n_w * 16 + n_r * 8 +
            lane % 4 * 2], &acc[m_r][n_r][v_c * 2]);
}
