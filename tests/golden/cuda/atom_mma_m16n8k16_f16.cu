// C[512, 512] = A[512, 512] * B[512, 512], f16 summed in f32, row-major
// AUTO=0,M=512,N=512,K=512,ATOM_KIND=mma_m16n8k16_f16
// for sm_90a (H200 SXM)
//
//   matmul<<<2048, 32>>>(A, B, C)

constexpr int N = 512, K = 512;

struct f16 {…}
__device__ __forceinline__ void load2(unsigned *to, const f16 *from) {…}
__device__ __forceinline__ void store2(f16 *to, const float *from) {…}
__device__ __forceinline__ void fill4(float *to, float value) {…}
__device__ __forceinline__ void mma_m16n8k16_f32_f16(float *c, const unsigned *a,
    const unsigned *b) {…}
__device__ __forceinline__ void insert_f16(unsigned *to, int i, f16 value) {…}

extern "C" __global__ void __launch_bounds__(32)
matmul(const f16 *__restrict__ A, const f16 *__restrict__ B, f16 *__restrict__ C) {
  const int m_b = blockIdx.x / 64;  // BLOCK 0..32, WM=1
  const int n_b = blockIdx.x % 64;  // BLOCK 0..64, WN=1
  const int lane = threadIdx.x;     // THREAD 0..32, ATOM_KIND=mma_m16n8k16_f16

  float acc[4];   // ATOM_KIND=mma_m16n8k16_f16: this thread's cells of C
  unsigned a[4];  // ATOM_KIND=mma_m16n8k16_f16: its values of A for one k-step, two to a register
  unsigned b[2];  // ATOM_KIND=mma_m16n8k16_f16: its values of B for one k-step, two to a register

  fill4(&acc[0], 0.0f);

  for (int k = 0; k < 32; ++k) {  // ATOM_KIND=mma_m16n8k16_f16
    // ATOM_KIND=mma_m16n8k16_f16: this thread's values of A
    #pragma unroll
    for (int v_a = 0; v_a < 4; ++v_a)
      load2(&a[v_a],
          &A[(m_b * 16 + lane / 4 + v_a % 2 * 8) * K + k * 16 + lane % 4 * 2 + v_a / 2 * 8]);

    // ATOM_KIND=mma_m16n8k16_f16: this thread's values of B
    #pragma unroll
    for (int v_b = 0; v_b < 4; ++v_b)
      insert_f16(&b[v_b / 2], v_b % 2,
          B[(k * 16 + lane % 4 * 2 + v_b % 2 + v_b / 2 * 8) * N + n_b * 8 + lane / 4]);

    // ATOM_KIND=mma_m16n8k16_f16: multiply each fragment of A by each of B
    mma_m16n8k16_f32_f16(&acc[0], &a[0], &b[0]);
  }

  // ATOM_KIND=mma_m16n8k16_f16: write the cells of C
  #pragma unroll
  for (int v_c = 0; v_c < 2; ++v_c)
    store2(&C[(m_b * 16 + lane / 4 + v_c * 8) * N + n_b * 8 + lane % 4 * 2], &acc[v_c * 2]);
}
