// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f16 summed in f32, row-major
// AUTO=0,ATOM_KIND=mma_m16n8k16_f16,WM=1,WN=4,FM=4,FN=2,BK=2,STAGE=11,LDMATRIX=1,SWIZZLE=2,BUFFER_COUNT=2,GROUP_M=8
// for sm_90a (H200 SXM)
//
//   matmul<<<4096, 128>>>(A, B, C)   16384 bytes of shared memory

constexpr int N = 4096, K = 4096;

// An IEEE half (1 sign, 5 exponent, 10 fraction bits) as it lies in memory.
struct f16 {
  unsigned short bits;
};

__device__ __forceinline__ void load8(unsigned *to, const f16 *from) {
  const uint4 v = *reinterpret_cast<const uint4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void store2(f16 *to, const float *from) {
  unsigned v[1];
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[0]) : "f"(from[1]), "f"(from[0]));
  *reinterpret_cast<unsigned *>(to) = v[0];
}

__device__ __forceinline__ void store8(f16 *to, const unsigned *from) {
  *reinterpret_cast<uint4 *>(to) = uint4{from[0], from[1], from[2], from[3]};
}

__device__ __forceinline__ void fill4(float *to, float value) {
  to[0] = value, to[1] = value, to[2] = value, to[3] = value;
}

// Two matrices of eight 16-byte rows: lane l says where row l % 8 of matrix l / 8 begins.
__device__ __forceinline__ void ldmatrix_x2_trans(unsigned *to, const f16 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(from) : "memory");
}

// Four matrices of eight 16-byte rows: lane l says where row l % 8 of matrix l / 8 begins.
__device__ __forceinline__ void ldmatrix_x4(unsigned *to, const f16 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from) : "memory");
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

extern "C" __global__ void __launch_bounds__(128)
matmul(const f16 *__restrict__ A, const f16 *__restrict__ B, f16 *__restrict__ C) {
  __shared__ __align__(1024) f16 smem[8192];
  f16 *const A_s = smem;         // [2][64][32] BUFFER_COUNT=2: the slab of A
  f16 *const B_s = smem + 4096;  // [2][32][64] BUFFER_COUNT=2: the slab of B

  const int tid = threadIdx.x;
  const int g = blockIdx.x;           // BLOCK 0..4096, GROUP_M=8
  const int n_w = threadIdx.x / 32;   // WARP 0..4, WN=4
  const int lane = threadIdx.x % 32;  // THREAD 0..32, ATOM_KIND=mma_m16n8k16_f16
  const int m_b = g / 512 * 8 + g % 8;
  const int n_b = g % 512 / 8;

  // where this thread begins
  f16 *const A_s_at = A_s + tid / 4 * 32 + ((tid % 4 * 8) ^ (tid / 8 % 4 * 8));
  f16 *const B_s_at = B_s + tid / 8 * 64 + ((tid % 8 * 8) ^ (tid / 8 % 4 * 8));
  f16 *const A_s_at2 = A_s + lane % 16 * 32;
  f16 *const B_s_at2 = B_s + lane % 16 * 64;

  float acc[4][2][4];  // ATOM_KIND=mma_m16n8k16_f16: this thread's cells of C
  // ATOM_KIND=mma_m16n8k16_f16: its values of A for one k-step, two to a register
  unsigned a[4][4];
  // ATOM_KIND=mma_m16n8k16_f16: its values of B for one k-step, two to a register
  unsigned b[2][2];
  unsigned r_a[8];     // STAGE=11: on their way from A to shared memory, two to a register
  unsigned r_b[8];     // STAGE=11: on their way from B to shared memory, two to a register

  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 2; ++n_r)
      fill4(&acc[m_r][n_r][0], 0.0f);

  for (int k_o = 0; k_o < 128; ++k_o) {  // BK=2
    // STAGE=11: fetch the slab of A
    #pragma unroll
    for (int c_a = 0; c_a < 2; ++c_a)
      load8(&r_a[c_a * 4], &A[(m_b * 64 + c_a * 32 + tid / 4) * K + k_o * 32 + tid % 4 * 8]);

    // STAGE=11: fetch the slab of B
    #pragma unroll
    for (int c_b = 0; c_b < 2; ++c_b)
      load8(&r_b[c_b * 4], &B[(k_o * 32 + c_b * 16 + tid / 8) * N + n_b * 64 + tid % 8 * 8]);

    // STAGE=11: put the slab of A into shared memory
    #pragma unroll
    for (int c_a = 0; c_a < 2; ++c_a)
      store8(&A_s_at[k_o % 2 * 2048 + c_a * 32 * 32], &r_a[c_a * 4]);

    // STAGE=11: put the slab of B into shared memory
    #pragma unroll
    for (int c_b = 0; c_b < 2; ++c_b)
      store8(&B_s_at[k_o % 2 * 2048 + c_b * 16 * 64], &r_b[c_b * 4]);

    // STAGE=11: the slab is filled
    __syncthreads();

    for (int k_i = 0; k_i < 2; ++k_i) {  // BK=2
      // LDMATRIX=1: the warp's fragments of A
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        ldmatrix_x4(&a[m_r][0], A_s_at2,
            k_o % 2 * 2048 + m_r * 16 * 32 +
            ((k_i * 16 + lane / 16 * 8) ^ (lane % 16 / 2 % 4 * 8)));

      // LDMATRIX=1: the warp's fragments of B
      #pragma unroll
      for (int n_r = 0; n_r < 2; ++n_r)
        ldmatrix_x2_trans(&b[n_r][0], B_s_at2,
            k_o % 2 * 2048 + k_i * 16 * 64 + ((n_w * 16 + n_r * 8) ^ (lane % 4 * 8)));

      // FM=4: multiply each fragment of A by each of B
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        #pragma unroll
        for (int n_r = 0; n_r < 2; ++n_r)
          mma_m16n8k16_f32_f16(&acc[m_r][n_r][0], &a[m_r][0], &b[n_r][0]);
    }
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
