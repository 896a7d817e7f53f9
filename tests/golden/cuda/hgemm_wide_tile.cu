// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f16 summed in f32, row-major
// AUTO=0,ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=4,FM=4,FN=8,BK=4,STAGE=11,ASYNC_COPY=1,LDMATRIX=2,SWIZZLE=3,BUFFER_COUNT=3,PIPELINE_STAGES=1,FRAG_BUFFER=2,GROUP_M=32,EPILOGUE=1,COPY_STEPS=2,SERPENTINE=1,UNROLL_RING=1
// for sm_90a (H200 SXM)
//
//   matmul<<<512, 256, 163840>>>(A, B, C)   163840 bytes of shared memory

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

__device__ __forceinline__ void cp_async8(f16 *slab, int at,
                                          const f16 *from_global) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :: "r"(to), "l"(from_global) : "memory");
}

__device__ __forceinline__ void cp_async8_if(f16 *slab, int at,
                                             const f16 *from_global, bool wanted) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0;"
               " @p cp.async.cg.shared.global [%0], [%1], 16; }"
               :: "r"(to), "l"(from_global), "r"(static_cast<int>(wanted)) : "memory");
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

// Four matrices of eight 16-byte rows: lane l says where row l % 8 of matrix l / 8 begins.
__device__ __forceinline__ void ldmatrix_x4(unsigned *to, const f16 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from) : "memory");
}

// Four matrices of eight 16-byte rows: lane l says where row l % 8 of matrix l / 8 begins.
__device__ __forceinline__ void ldmatrix_x4_trans(unsigned *to, const f16 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
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

extern "C" __global__ void __launch_bounds__(256)
matmul(const f16 *__restrict__ A, const f16 *__restrict__ B, f16 *__restrict__ C) {
  extern __shared__ __align__(1024) f16 smem[];  // 81920: 163840 bytes
  f16 *const A_s = smem;          // [3][128][64] BUFFER_COUNT=3: the slab of A
  f16 *const B_s = smem + 24576;  // [3][64][256] BUFFER_COUNT=3: the slab of B
  f16 *const C_s = smem + 73728;  // [32][256] EPILOGUE=1: a row of atoms on its way to C

  const int tid = threadIdx.x;
  const int g = blockIdx.x;              // BLOCK 0..512, GROUP_M=32
  const int m_w = threadIdx.x / 128;     // WARP 0..2, WM=2
  const int n_w = threadIdx.x / 32 % 4;  // WARP 0..4, WN=4
  const int lane = threadIdx.x % 32;     // THREAD 0..32, ATOM_KIND=mma_m16n8k16_f16
  const int m_b = g % 32;
  const int n_b = g / 32;

  // where this thread begins
  f16 *const A_s_at = A_s + tid / 8 * 64 + ((tid % 8 * 8) ^ (tid / 8 % 8 * 8));
  f16 *const B_s_at = B_s + tid / 32 * 256 + ((tid % 32 * 8) ^ (tid / 32 * 8));
  f16 *const A_s_at2 = A_s + (m_w * 64 + lane % 16) * 64 + ((lane / 16 * 8) ^ (lane % 8 * 8));
  f16 *const B_s_at2 = B_s + lane % 16 * 256 + n_w * 64;
  f16 *const A_s_at3 = A_s + (m_w * 64 + lane % 16) * 64;
  f16 *const C_s_at = C_s + (m_w * 16 + lane / 4) * 256 + n_w * 64;
  f16 *const C_s_at2 = C_s + tid / 32 * 256 + ((tid % 32 * 8) ^ (tid / 32 * 8));

  float acc[4][8][4];   // ATOM_KIND=mma_m16n8k16_f16: this thread's cells of C
  unsigned a[2][4][4];  // FRAG_BUFFER=2: its values of A for one k-step, two to a register
  unsigned b[2][8][2];  // FRAG_BUFFER=2: its values of B for one k-step, two to a register
  unsigned r_c[4];      // EPILOGUE=1: on their way to C, two to a register

  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 8; ++n_r)
      fill4(&acc[m_r][n_r][0], 0.0f);

  // ASYNC_COPY=1: start the copy of the slab of A
  #pragma unroll
  for (int c_a = 0; c_a < 4; ++c_a)
    cp_async8(A_s_at, c_a * 32 * 64, &A[(m_b * 128 + c_a * 32 + tid / 8) * K + tid % 8 * 8]);

  // ASYNC_COPY=1: start the copy of the slab of B
  #pragma unroll
  for (int c_b = 0; c_b < 8; ++c_b)
    cp_async8(B_s_at, c_b * 8 * 256, &B[(c_b * 8 + tid / 32) * N + n_b * 256 + tid % 32 * 8]);
  cp_async_commit();

  // ASYNC_COPY=1: start the copy of the slab of A
  #pragma unroll
  for (int c_a = 0; c_a < 4; ++c_a)
    cp_async8(A_s_at, 8192 + c_a * 32 * 64,
        &A[(m_b * 128 + c_a * 32 + tid / 8) * K + tid % 8 * 8 + 64]);

  // ASYNC_COPY=1: start the copy of the slab of B
  #pragma unroll
  for (int c_b = 0; c_b < 8; ++c_b)
    cp_async8(B_s_at, 16384 + c_b * 8 * 256,
        &B[(c_b * 8 + tid / 32 + 64) * N + n_b * 256 + tid % 32 * 8]);
  cp_async_commit();
  cp_async_wait<1>();

  // PIPELINE_STAGES=1: slab 0 is filled
  __syncthreads();

  // LDMATRIX=2: the warp's fragments of A
  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r)
    ldmatrix_x4(&a[0][m_r][0], A_s_at2, m_r * 16 * 64);

  // LDMATRIX=2: the warp's fragments of B
  #pragma unroll
  for (int n_p = 0; n_p < 4; ++n_p)
    ldmatrix_x4_trans(&b[0][n_p * 2][0], B_s_at2, (n_p * 16 + lane / 16 * 8) ^ (lane % 8 * 8));

  #pragma unroll 3
  for (int k_o = 0; k_o < 64; ++k_o) {  // UNROLL_RING=1
    #pragma unroll
    for (int k_i = 0; k_i < 3; ++k_i) {  // BK=4
      // LDMATRIX=2: the warp's fragments of A
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        ldmatrix_x4(&a[(k_i + 1) % 2][m_r][0], A_s_at3,
            k_o % 3 * 8192 + m_r * 16 * 64 + ((k_i * 16 + lane / 16 * 8 + 16) ^ (lane % 8 * 8)));

      // LDMATRIX=2: the warp's fragments of B
      #pragma unroll
      for (int n_p = 0; n_p < 4; ++n_p)
        ldmatrix_x4_trans(&b[(k_i + 1) % 2][n_p * 2][0], B_s_at2,
            k_o % 3 * 16384 + (k_i * 16 + 16) * 256 +
            ((n_p * 16 + lane / 16 * 8) ^ (lane % 8 * 8)));

      // COPY_STEPS=2: this step's share of the copies of a slab ahead
      {
        const int k_n = k_o + 2;
        #pragma unroll
        for (int i = 0; i < 2; ++i) {
          if (k_i * 2 + i < 4) {
            const int c_a = k_i * 2 + i;

            // ASYNC_COPY=1: start the copy of the slab of A
            cp_async8_if(A_s_at, k_n % 3 * 8192 + c_a * 32 * 64,
                &A[(m_b * 128 + c_a * 32 + tid / 8) * K + k_n * 64 + tid % 8 * 8], k_o + 2 < 64);
          }
        }
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
          if (k_i * 4 + i < 8) {
            const int c_b = k_i * 4 + i;

            // ASYNC_COPY=1: start the copy of the slab of B
            cp_async8_if(B_s_at, k_n % 3 * 16384 + c_b * 8 * 256,
                &B[(k_n * 64 + c_b * 8 + tid / 32) * N + n_b * 256 + tid % 32 * 8], k_o + 2 < 64);
          }
        }
      }

      // SERPENTINE=1: multiply each fragment of A by each of B
      #pragma unroll
      for (int n_r = 0; n_r < 8; ++n_r)
        #pragma unroll
        for (int m_r = 0; m_r < 4; ++m_r)
          mma_m16n8k16_f32_f16(&acc[(n_r % 2 ? 3 - m_r : m_r)][n_r][0],
              &a[k_i % 2][(n_r % 2 ? 3 - m_r : m_r)][0], &b[k_i % 2][n_r][0]);
    }

    cp_async_commit();
    cp_async_wait<1>();

    // PIPELINE_STAGES=1: the next slab is filled, this one read to the end
    __syncthreads();

    if (k_o + 1 < 64) {
      const int k_n = k_o + 1;

      // LDMATRIX=2: the warp's fragments of A
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        ldmatrix_x4(&a[0][m_r][0], A_s_at2, k_n % 3 * 8192 + m_r * 16 * 64);

      // LDMATRIX=2: the warp's fragments of B
      #pragma unroll
      for (int n_p = 0; n_p < 4; ++n_p)
        ldmatrix_x4_trans(&b[0][n_p * 2][0], B_s_at2,
            k_n % 3 * 16384 + ((n_p * 16 + lane / 16 * 8) ^ (lane % 8 * 8)));
    }

    // SERPENTINE=1: multiply each fragment of A by each of B
    #pragma unroll
    for (int n_r = 0; n_r < 8; ++n_r)
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        mma_m16n8k16_f32_f16(&acc[(n_r % 2 ? 3 - m_r : m_r)][n_r][0],
            &a[1][(n_r % 2 ? 3 - m_r : m_r)][0], &b[1][n_r][0]);
  }

  // EPILOGUE=1: put a row of atoms into shared memory
  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r) {
    #pragma unroll
    for (int n_r = 0; n_r < 8; ++n_r)
      #pragma unroll
      for (int v_c = 0; v_c < 2; ++v_c)
        store2(&C_s_at[v_c * 8 * 256 + ((n_r * 8 + lane % 4 * 2) ^ (lane / 4 * 8))],
            &acc[m_r][n_r][v_c * 2]);

    // EPILOGUE=1: a row of atoms lies in C_s
    __syncthreads();

    // EPILOGUE=1: take a piece of it, in whole lines
    #pragma unroll
    for (int c_c = 0; c_c < 4; ++c_c) {
      load8(&r_c[0], &C_s_at2[c_c * 8 * 256]);

      // EPILOGUE=1: write the cells of C
      store8(&C[(m_b * 128 + c_c / 2 * 64 + m_r * 16 + (c_c * 8 + tid / 32) % 16) * N + n_b * 256 +
          tid % 32 * 8], &r_c[0]);
    }

    // EPILOGUE=1: C_s is read to the end
    __syncthreads();
  }
}
