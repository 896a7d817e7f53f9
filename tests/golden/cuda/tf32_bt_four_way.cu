// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], tf32 summed in f32, C in f32, row-major
// AUTO=0,ATOM_KIND=mma_m16n8k8_tf32,WM=2,WN=4,FM=4,FN=4,BK=2,STAGE=11,TRANSPOSE_B=1,LDMATRIX=1,LAYOUT_A=xor:'col ^ (((row >> 1) & 3) << 2)',LAYOUT_B=xoroff:'off ^ ((((row >> 1) ^ (row >> 3)) & 3) << 2) ^ (((row >> 5) & 1) << 4)',ASYNC_COPY=1,ASYNC_OPERANDS=10,L2_HINT=1,MIN_BLOCKS=2
// for sm_90a (H200 SXM)
//
//   matmul<<<1024, 256>>>(A, B, C)   16384 bytes of shared memory

constexpr int N = 4096, K = 4096;

__device__ __forceinline__ void load4(float *to, const float *from) {
  const float4 v = *reinterpret_cast<const float4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void store2(float *to, const float *from) {
  *reinterpret_cast<float2 *>(to) = float2{from[0], from[1]};
}

__device__ __forceinline__ void fill4(float *to, float value) {
  to[0] = value, to[1] = value, to[2] = value, to[3] = value;
}

__device__ __forceinline__ void cp_async4(float *slab, int at,
                                          const float *from_global) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;"
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
__device__ __forceinline__ void ldmatrix_x2(float *to, const float *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  unsigned bits[2];
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(bits[0]), "=r"(bits[1])
               : "r"(from) : "memory");
  to[0] = __uint_as_float(bits[0]);
  to[1] = __uint_as_float(bits[1]);
}

// Four matrices of eight 16-byte rows: lane l says where row l % 8 of matrix l / 8 begins.
__device__ __forceinline__ void ldmatrix_x4(float *to, const float *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  unsigned bits[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(bits[0]), "=r"(bits[1]), "=r"(bits[2]), "=r"(bits[3])
               : "r"(from) : "memory");
  to[0] = __uint_as_float(bits[0]);
  to[1] = __uint_as_float(bits[1]);
  to[2] = __uint_as_float(bits[2]);
  to[3] = __uint_as_float(bits[3]);
}

// c += a * b, 16 x 8 x 8, by a warp; PTX ISA, section 9.7.14.5.7 says which lane holds what.
// The unit reads the upper 19 bits of a and b: fractions are cut to 10 bits.
__device__ __forceinline__ void mma_m16n8k8_f32_tf32(float *c, const float *a,
    const float *b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])),
                 "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
                 "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
}

extern "C" __global__ void __launch_bounds__(256, 2)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  __shared__ __align__(1024) float smem[4096];
  float *const A_s = smem;  // [128][16] LAYOUT_A=xor:'col ^ (((row >> 1) & 3) << 2)': the slab of A
  // [128][16] LAYOUT_B=xoroff:'off ^ ((((row >> 1) ^ (row >> 3)) & 3) << 2) ^ (((row >> 5) & 1) <<
  // 4)': the slab of B
  float *const B_s = smem + 2048;

  const int tid = threadIdx.x;
  const int m_b = blockIdx.x / 32;       // BLOCK 0..32, WM=2
  const int n_b = blockIdx.x % 32;       // BLOCK 0..32, WN=4
  const int m_w = threadIdx.x / 128;     // WARP 0..2, WM=2
  const int n_w = threadIdx.x / 32 % 4;  // WARP 0..4, WN=4
  const int lane = threadIdx.x % 32;     // THREAD 0..32, ATOM_KIND=mma_m16n8k8_tf32

  // where this thread begins
  float *const A_s_at = A_s + tid / 4 * 16 + ((tid % 4 * 4) ^ (tid / 8 % 4 * 4));
  float *const B_s_at = B_s + tid % 32 * 4 * 16;
  float *const A_s_at2 = A_s + (m_w * 64 + lane % 16) * 16;
  float *const B_s_at2 = B_s + n_w * 32 * 16;

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
        B_s_at[(v * 16 + ((c_b * 8 + tid / 32) ^ ((tid % 32 * 2 + v / 2) % 4 * 4))) ^
            (tid % 32 / 2 % 8 * 4)] = r_b[c_b * 4 + v];
    cp_async_commit();
    cp_async_wait<0>();

    // STAGE=11: the slab is filled
    __syncthreads();

    for (int k_i = 0; k_i < 2; ++k_i) {  // BK=2
      // LDMATRIX=1: the warp's fragments of A
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        ldmatrix_x4(&a[m_r][0], A_s_at2,
            m_r * 16 * 16 + ((k_i * 8 + lane / 16 * 4) ^ (lane % 16 / 2 % 4 * 4)));

      // LDMATRIX=1: the warp's fragments of B
      #pragma unroll
      for (int n_r = 0; n_r < 4; ++n_r)
        ldmatrix_x2(&b[n_r][0], B_s_at2,
            n_r * 8 * 16 +
            ((lane % 8 * 16 + ((k_i * 8 + lane / 8 % 2 * 4) ^ (lane % 8 / 2 * 4))) ^
            ((n_w * 4 + n_r) % 8 * 4)));

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
