// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f16, row-major
// AUTO=0,ATOM_KIND=mma_m16n8k16_f16,ACC=f16,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,ASYNC_COPY=1,LDMATRIX=1,SWIZZLE=3
// for sm_90a (H200 SXM)
//
//   matmul<<<1024, 128>>>(A, B, C)   32768 bytes of shared memory

constexpr int N = 4096, K = 4096;

// An IEEE half (1 sign, 5 exponent, 10 fraction bits) as it lies in memory.
struct f16 {
  unsigned short bits;
};

__device__ __forceinline__ void store2(f16 *to, const unsigned *from) {
  *reinterpret_cast<unsigned *>(to) = from[0];
}

// A register holds 2 values, and so does the constant.
__device__ __forceinline__ void fill4(unsigned *to, unsigned value) {
  to[0] = value, to[1] = value;
}

__device__ __forceinline__ void cp_async8(f16 *slab, int at,
                                          const f16 *from_global) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :: "r"(to), "l"(from_global) : "memory");
}

// The copies this thread has issued since the last commit become one group.
__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most `n` of this thread's groups are still in flight.
template <int n>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
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
__device__ __forceinline__ void mma_m16n8k16_f16_f16(unsigned *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
               "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
               : "+r"(c[0]), "+r"(c[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void __launch_bounds__(128)
matmul(const f16 *__restrict__ A, const f16 *__restrict__ B, f16 *__restrict__ C) {
  __shared__ __align__(1024) f16 smem[16384];
  f16 *const A_s = smem;         // [128][64] SWIZZLE=3: the slab of A
  f16 *const B_s = smem + 8192;  // [64][128] SWIZZLE=3: the slab of B

  const int tid = threadIdx.x;
  const int m_b = blockIdx.x / 32;       // BLOCK 0..32, WM=2
  const int n_b = blockIdx.x % 32;       // BLOCK 0..32, WN=2
  const int m_w = threadIdx.x / 64;      // WARP 0..2, WM=2
  const int n_w = threadIdx.x / 32 % 2;  // WARP 0..2, WN=2
  const int lane = threadIdx.x % 32;     // THREAD 0..32, ATOM_KIND=mma_m16n8k16_f16

  // where this thread begins
  f16 *const A_s_at = A_s + tid / 8 * 64 + ((tid % 8 * 8) ^ (tid / 8 % 8 * 8));
  f16 *const B_s_at = B_s + tid / 16 * 128 + ((tid % 16 * 8) ^ (tid / 16 * 8));
  f16 *const A_s_at2 = A_s + (m_w * 64 + lane % 16) * 64;
  f16 *const B_s_at2 = B_s + lane % 16 * 128 + n_w * 64;

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
      // LDMATRIX=1: the warp's fragments of A
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        ldmatrix_x4(&a[m_r][0], A_s_at2,
            m_r * 16 * 64 + ((k_i * 16 + lane / 16 * 8) ^ (lane % 8 * 8)));

      // LDMATRIX=1: the warp's fragments of B
      #pragma unroll
      for (int n_r = 0; n_r < 8; ++n_r)
        ldmatrix_x2_trans(&b[n_r][0], B_s_at2, k_i * 16 * 128 + ((n_r * 8) ^ (lane % 8 * 8)));

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
