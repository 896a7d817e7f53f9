// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], nvfp4 summed in f32, C in f32, B column-major, A and C row-major
// AUTO=0,ATOM_KIND=mma_m16n8k64_nvfp4,TARGET=rtx5090,B_COL=1,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,ASYNC_COPY=1,LDMATRIX=1,SWIZZLE=3,BUFFER_COUNT=3,PIPELINE_STAGES=1
// for sm_120a (GeForce RTX 5090)
//
//   matmul<<<1024, 128, 98304>>>(A, B, C, SFA, SFB)   98304 bytes of shared memory

constexpr int N = 4096, K = 2048;

// Two e2m1, neighbours along K, the first in the low half; each 16 share a factor.
struct nvfp4 {
  unsigned char bits;
};

// A factor: an e4m3 without a sign.
struct ue4m3 {
  unsigned char bits;
};

__device__ __forceinline__ void load4(unsigned *to, const ue4m3 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

__device__ __forceinline__ void store2(float *to, const float *from) {
  *reinterpret_cast<float2 *>(to) = float2{from[0], from[1]};
}

__device__ __forceinline__ void fill4(float *to, float value) {
  to[0] = value, to[1] = value, to[2] = value, to[3] = value;
}

__device__ __forceinline__ void cp_async16(nvfp4 *slab, int at,
                                           const nvfp4 *from_global) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
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
__device__ __forceinline__ void ldmatrix_x2(unsigned *to, const nvfp4 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(from) : "memory");
}

// Four matrices of eight 16-byte rows: lane l says where row l % 8 of matrix l / 8 begins.
__device__ __forceinline__ void ldmatrix_x4(unsigned *to, const nvfp4 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from) : "memory");
}

// c += a * b, 16 x 8 x 64, by a warp; PTX ISA, section 9.7.14.5.11 says which lane holds what.
// Each 16 elements along K are scaled by a ue4m3: of a row of A by one of lane 4 * (row % 8) +
// row / 8, of a column of B by one of lane 4 * column, in 4 bytes of sfa and sfb from byte_a and
// byte_b on (thread-id 0: the first lanes of each four).
__device__ __forceinline__ void mma_m16n8k64_f32_nvfp4(float *c, const unsigned *a,
    const unsigned *b,
    unsigned sfa, unsigned short byte_a, unsigned sfb, unsigned short byte_b) {
  asm volatile("mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X"
               ".m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3},"
               " {%10}, {%11, 0}, {%12}, {%13, 0};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]),
                 "r"(sfa), "h"(byte_a), "r"(sfb), "h"(byte_b));
}

extern "C" __global__ void __launch_bounds__(128)
matmul(const nvfp4 *__restrict__ A, const nvfp4 *__restrict__ B, float *__restrict__ C,
    const ue4m3 *__restrict__ SFA, const ue4m3 *__restrict__ SFB) {
  extern __shared__ __align__(1024) nvfp4 smem[];  // 98304: 98304 bytes
  nvfp4 *const A_s = smem;          // [3][128][128] BUFFER_COUNT=3: the slab of A
  nvfp4 *const B_s = smem + 49152;  // [3][128][128] BUFFER_COUNT=3: the slab of B

  const int tid = threadIdx.x;
  const int m_b = blockIdx.x / 32;       // BLOCK 0..32, WM=2
  const int n_b = blockIdx.x % 32;       // BLOCK 0..32, WN=2
  const int m_w = threadIdx.x / 64;      // WARP 0..2, WM=2
  const int n_w = threadIdx.x / 32 % 2;  // WARP 0..2, WN=2
  const int lane = threadIdx.x % 32;     // THREAD 0..32, ATOM_KIND=mma_m16n8k64_nvfp4

  // where this thread begins
  nvfp4 *const A_s_at = A_s + tid / 8 * 128 + ((tid % 8 * 16) ^ (tid / 8 % 8 * 16));
  nvfp4 *const B_s_at = B_s + tid / 8 * 128 + ((tid % 8 * 16) ^ (tid / 8 % 8 * 16));
  nvfp4 *const A_s_at2 = A_s + (m_w * 64 + lane % 16) * 128;
  nvfp4 *const B_s_at2 = B_s + (n_w * 64 + lane % 8) * 128;

  float acc[4][8][4];  // ATOM_KIND=mma_m16n8k64_nvfp4: this thread's cells of C
  // ATOM_KIND=mma_m16n8k64_nvfp4: its values of A for one k-step, four to a register
  unsigned a[4][4];
  // ATOM_KIND=mma_m16n8k64_nvfp4: its values of B for one k-step, four to a register
  unsigned b[8][2];
  unsigned sfa[4];     // ATOM_KIND=mma_m16n8k64_nvfp4
  unsigned sfb[8];     // ATOM_KIND=mma_m16n8k64_nvfp4

  #pragma unroll
  for (int m_r = 0; m_r < 4; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 8; ++n_r)
      fill4(&acc[m_r][n_r][0], 0.0f);

  // ASYNC_COPY=1: start the copy of the slab of A
  #pragma unroll
  for (int c_a = 0; c_a < 8; ++c_a)
    cp_async16(A_s_at, c_a * 16 * 128, &A[(m_b * 128 + c_a * 16 + tid / 8) * K + tid % 8 * 16]);

  // ASYNC_COPY=1: start the copy of the slab of B
  #pragma unroll
  for (int c_b = 0; c_b < 8; ++c_b)
    cp_async16(B_s_at, c_b * 16 * 128, &B[(n_b * 128 + c_b * 16 + tid / 8) * K + tid % 8 * 16]);
  cp_async_commit();

  // ASYNC_COPY=1: start the copy of the slab of A
  #pragma unroll
  for (int c_a = 0; c_a < 8; ++c_a)
    cp_async16(A_s_at, 16384 + c_a * 16 * 128,
        &A[(m_b * 128 + c_a * 16 + tid / 8) * K + tid % 8 * 16 + 128]);

  // ASYNC_COPY=1: start the copy of the slab of B
  #pragma unroll
  for (int c_b = 0; c_b < 8; ++c_b)
    cp_async16(B_s_at, 16384 + c_b * 16 * 128,
        &B[(n_b * 128 + c_b * 16 + tid / 8) * K + tid % 8 * 16 + 128]);
  cp_async_commit();
  cp_async_wait<1>();

  // PIPELINE_STAGES=1: slab 0 is filled
  __syncthreads();

  for (int k_o = 0; k_o < 16; ++k_o) {  // BK=4
    if (k_o + 2 < 16) {
      const int k_n = k_o + 2;

      // ASYNC_COPY=1: start the copy of the slab of A
      #pragma unroll
      for (int c_a = 0; c_a < 8; ++c_a)
        cp_async16(A_s_at, k_n % 3 * 16384 + c_a * 16 * 128,
            &A[(m_b * 128 + c_a * 16 + tid / 8) * K + k_n * 128 + tid % 8 * 16]);

      // ASYNC_COPY=1: start the copy of the slab of B
      #pragma unroll
      for (int c_b = 0; c_b < 8; ++c_b)
        cp_async16(B_s_at, k_n % 3 * 16384 + c_b * 16 * 128,
            &B[(n_b * 128 + c_b * 16 + tid / 8) * K + k_n * 128 + tid % 8 * 16]);
    }

    cp_async_commit();

    for (int k_i = 0; k_i < 4; ++k_i) {  // BK=4
      // LDMATRIX=1: the warp's fragments of A
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        ldmatrix_x4(&a[m_r][0], A_s_at2,
            k_o % 3 * 16384 + m_r * 16 * 128 + ((k_i * 32 + lane / 16 * 16) ^ (lane % 8 * 16)));

      // LDMATRIX=1: the warp's fragments of B
      #pragma unroll
      for (int n_r = 0; n_r < 8; ++n_r)
        ldmatrix_x2(&b[n_r][0], B_s_at2,
            k_o % 3 * 16384 + n_r * 8 * 128 + ((k_i * 32 + lane / 8 % 2 * 16) ^ (lane % 8 * 16)));

      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        load4(&sfa[m_r],
            &SFA[(m_b * 128 + m_w * 64 + m_r * 16 + lane % 2 * 8 + lane / 4) * 256 + k_o * 16 +
            k_i * 4]);
      #pragma unroll
      for (int n_r = 0; n_r < 8; ++n_r)
        load4(&sfb[n_r],
            &SFB[(n_b * 128 + n_w * 64 + n_r * 8 + lane / 4) * 256 + k_o * 16 + k_i * 4]);

      // FM=4: multiply each fragment of A by each of B
      #pragma unroll
      for (int m_r = 0; m_r < 4; ++m_r)
        #pragma unroll
        for (int n_r = 0; n_r < 8; ++n_r)
          mma_m16n8k64_f32_nvfp4(&acc[m_r][n_r][0], &a[m_r][0], &b[n_r][0], sfa[m_r], 0, sfb[n_r],
              0);
    }

    cp_async_wait<1>();

    // PIPELINE_STAGES=1: the next slab is filled, this one read to the end
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
            n_w * 64 + n_r * 8 + lane % 4 * 2], &acc[m_r][n_r][v_c * 2]);
}
