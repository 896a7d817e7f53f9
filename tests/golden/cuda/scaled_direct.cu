// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], mxf8 summed in f32, C in f32, B column-major, A and C row-major
// AUTO=0,ATOM_KIND=mma_m16n8k32_mxf8,TARGET=rtx5090,B_COL=1,WM=2,WN=2,FM=4,FN=8
// for sm_120a (GeForce RTX 5090)
//
//   matmul<<<1024, 128>>>(A, B, C, SFA, SFB)

constexpr int N = 4096, K = 4096;

struct mxf8 {…}
struct ue8m0 {…}
__device__ __forceinline__ void load4(unsigned *to, const mxf8 *from) {…}
__device__ __forceinline__ void store2(float *to, const float *from) {…}
__device__ __forceinline__ void fill4(float *to, float value) {…}
__device__ __forceinline__ void mma_m16n8k32_f32_mxf8(float *c, const unsigned *a,
    const unsigned *b,
    unsigned sfa, unsigned short byte_a, unsigned sfb, unsigned short byte_b) {…}
__device__ __forceinline__ void insert_ue8m0(unsigned *to, int i, ue8m0 value) {…}

extern "C" __global__ void __launch_bounds__(128)
matmul(const mxf8 *__restrict__ A, const mxf8 *__restrict__ B, float *__restrict__ C,
    const ue8m0 *__restrict__ SFA, const ue8m0 *__restrict__ SFB) {

  const int m_b = blockIdx.x / 32;       // BLOCK 0..32, WM=2
  const int n_b = blockIdx.x % 32;       // BLOCK 0..32, WN=2
  const int m_w = threadIdx.x / 64;      // WARP 0..2, WM=2
  const int n_w = threadIdx.x / 32 % 2;  // WARP 0..2, WN=2
  const int lane = threadIdx.x % 32;     // THREAD 0..32, ATOM_KIND=mma_m16n8k32_mxf8

  float acc[4][8][4];  // ATOM_KIND=mma_m16n8k32_mxf8: this thread's cells of C
  // ATOM_KIND=mma_m16n8k32_mxf8: its values of A for one k-step, four to a register
  unsigned a[4][4];
  // ATOM_KIND=mma_m16n8k32_mxf8: its values of B for one k-step, four to a register
  unsigned b[8][2];
  unsigned sfa[4];     // ATOM_KIND=mma_m16n8k32_mxf8
  unsigned sfb[8];     // ATOM_KIND=mma_m16n8k32_mxf8

  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 8; ++n_r)
      fill4(&acc[m_r][n_r][0], 0.0f);

  for (int k = 0; k < 128; ++k) {  // ATOM_KIND=mma_m16n8k32_mxf8
    // FM=4: this thread's values of A
    #pragma unroll
    for (int m_r = 0; m_r < 4; ++m_r)
      #pragma unroll
      for (int v_a = 0; v_a < 4; ++v_a)
        load4(&a[m_r][v_a],
            &A[(m_b * 128 + m_w * 64 + m_r * 16 + lane / 4 + v_a % 2 * 8) * K + k * 32 +
            lane % 4 * 4 + v_a / 2 * 16]);

    // FN=8: this thread's values of B
    #pragma unroll
    for (int n_r = 0; n_r < 8; ++n_r)
      #pragma unroll
      for (int v_b = 0; v_b < 2; ++v_b)
        load4(&b[n_r][v_b],
            &B[(n_b * 128 + n_w * 64 + n_r * 8 + lane / 4) * K + k * 32 + lane % 4 * 4 + v_b * 16]);

    #pragma unroll
    for (int m_r = 0; m_r < 4; ++m_r)
      insert_ue8m0(&sfa[m_r], 0,
          SFA[(m_b * 128 + m_w * 64 + m_r * 16 + lane % 2 * 8 + lane / 4) * 128 + k]);
    #pragma unroll
    for (int n_r = 0; n_r < 8; ++n_r)
      insert_ue8m0(&sfb[n_r], 0, SFB[(n_b * 128 + n_w * 64 + n_r * 8 + lane / 4) * 128 + k]);

    // FM=4: multiply each fragment of A by each of B
    #pragma unroll
    for (int m_r = 0; m_r < 4; ++m_r)
      #pragma unroll
      for (int n_r = 0; n_r < 8; ++n_r)
        mma_m16n8k32_f32_mxf8(&acc[m_r][n_r][0], &a[m_r][0], &b[n_r][0], sfa[m_r], 0, sfb[n_r], 0);
  }

  // FM=4: write the cells of C
  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 8; ++n_r)
      #pragma unroll
      for (int v_c = 0; v_c < 2; ++v_c)
        store2(&C[(m_b * 128 + m_w * 64 + m_r * 16 + lane / 4 + v_c * 8) * N + n_b * 128 +
            n_w * 64 + n_r * 8 + lane % 4 * 2], &acc[m_r][n_r][v_c * 2]);
}
