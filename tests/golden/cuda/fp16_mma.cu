// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f16 summed in f32, row-major
// AUTO=0,ATOM_KIND=mma_m16n8k16_f16,WM=1,WN=4,FM=4,FN=2,BK=2,GROUP_M=8
// for sm_90a (H200 SXM)
//
//   matmul<<<4096, 128>>>(A, B, C)

constexpr int N = 4096, K = 4096;

// An IEEE half (1 sign, 5 exponent, 10 fraction bits) as it lies in memory.
struct f16 {
  unsigned short bits;
};

__device__ __forceinline__ void load2(unsigned *to, const f16 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

__device__ __forceinline__ void store2(f16 *to, const float *from) {
  unsigned v[1];
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[0]) : "f"(from[1]), "f"(from[0]));
  *reinterpret_cast<unsigned *>(to) = v[0];
}

__device__ __forceinline__ void fill4(float *to, float value) {
  to[0] = value, to[1] = value, to[2] = value, to[3] = value;
}

// c += a * b, 16 x 8 x 16, by a warp; PTX ISA, section 9.7.14.5.8 says which lane holds what.
__device__ __forceinline__ void mma_m16n8k16_f32_f16(float *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]));
}

// Value i of a register that holds 2; the others stay.
__device__ __forceinline__ void insert_f16(unsigned *to, int i, f16 value) {
  const unsigned bits = value.bits;
  *to = (*to & ~(0xffffu << 16 * i)) | bits << 16 * i;
}

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
