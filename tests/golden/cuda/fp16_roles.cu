// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f16 summed in f32, row-major
// AUTO=0,TMA=1,ATOM_KIND=mma_m16n8k16_f16,WM=1,WN=4,FM=4,FN=2,BK=2,BUFFER_COUNT=2,WARP_SPECIALIZE=1,SPLITK=1,STAGE=11,LDMATRIX=1,SWIZZLE=2,GROUP_M=8,PRODUCER_WARPS=1
// for sm_90a (H200 SXM)
//
//   matmul<<<4096, 160>>>(A_map, B_map, C)   16416 bytes of shared memory

constexpr int N = 4096;

// An IEEE half (1 sign, 5 exponent, 10 fraction bits) as it lies in memory.
struct f16 {
  unsigned short bits;
};

__device__ __forceinline__ void store2(f16 *to, const float *from) {
  unsigned v[1];
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[0]) : "f"(from[1]), "f"(from[0]));
  *reinterpret_cast<unsigned *>(to) = v[0];
}

__device__ __forceinline__ void fill4(float *to, float value) {
  to[0] = value, to[1] = value, to[2] = value, to[3] = value;
}

// A matrix and the box that is copied of it at a time, as the driver encodes them.
struct alignas(64) tensor_map {
  unsigned long long word[16];
};

// Phase 0 begins; a phase ends after so many arrivals and all expected bytes.
__device__ __forceinline__ void mbarrier_init(unsigned long long *bars, int i, int arrivals) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
               :: "r"(bar), "r"(arrivals) : "memory");
}

// Arrives, and lets the phase wait for so many bytes.
__device__ __forceinline__ void mbarrier_expect(unsigned long long *bars, int i, int bytes) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"(bar), "r"(bytes) : "memory");
}

// One arrival for the whole warp.
__device__ __forceinline__ void mbarrier_arrive(unsigned long long *bars, int i) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  __syncwarp();
  if (threadIdx.x % 32 == 0)
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(bar) : "memory");
}

// Goes on when the phase with this bit, 0 or 1, has ended.
__device__ __forceinline__ void mbarrier_wait(unsigned long long *bars, int i, int phase) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("{ .reg .pred ended;\n"
               "again%=: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
               "@!ended bra again%=; }" :: "r"(bar), "r"(phase) : "memory");
}

// The map's box, from this column and row on, goes to element `at` of the slab.
__device__ __forceinline__ void tma_load(f16 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar) : "memory");
}

// True in one lane of the warp, which the hardware picks, each time the same one.
__device__ __forceinline__ bool elect_one() {
  unsigned picked;
  asm volatile("{ .reg .pred one;\nelect.sync _|one, 0xffffffff;\n"
               "selp.u32 %0, 1, 0, one; }" : "=r"(picked));
  return picked != 0;
}

// What was read of shared memory, by all whom this thread has waited for, is read before a
// copy that it asks for later overwrites it.
__device__ __forceinline__ void fence_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// The mbarriers that this thread has initialised are so for all of the cluster, once it has met.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
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

extern "C" __global__ void __launch_bounds__(160)
matmul(const __grid_constant__ tensor_map A_map, const __grid_constant__ tensor_map B_map,
    f16 *__restrict__ C) {
  __shared__ __align__(1024) f16 smem[8208];
  f16 *const A_s = smem;         // [2][64][32] BUFFER_COUNT=2: the slab of A
  f16 *const B_s = smem + 4096;  // [2][2][32][32] BUFFER_COUNT=2: the slab of B
  // [2] TMA=1: a slot's bytes have come
  unsigned long long *const full = reinterpret_cast<unsigned long long *>(smem + 8192);
  // [2] WARP_SPECIALIZE=1: every consumer warp has left a slot
  unsigned long long *const empty = reinterpret_cast<unsigned long long *>(smem + 8200);

  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const int g = blockIdx.x;           // BLOCK 0..4096, GROUP_M=8
  const int n_w = threadIdx.x / 32;   // WARP 0..4, WN=4
  const int lane = threadIdx.x % 32;  // THREAD 0..32, ATOM_KIND=mma_m16n8k16_f16
  const int m_b = g / 512 * 8 + g % 8;
  const int n_b = g % 512 / 8;

  // where this thread begins
  f16 *const A_s_at = A_s + lane % 16 * 32;
  f16 *const B_s_at = B_s + n_w / 2 * 1024 + lane % 16 * 32;

  float acc[4][2][4];  // ATOM_KIND=mma_m16n8k16_f16: this thread's cells of C
  // ATOM_KIND=mma_m16n8k16_f16: its values of A for one k-step, two to a register
  unsigned a[4][4];
  // ATOM_KIND=mma_m16n8k16_f16: its values of B for one k-step, two to a register
  unsigned b[2][2];

  // TMA=1: a phase of full ends when a slab's bytes have come
  if (warp == 0 && elect_one()) {
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      mbarrier_init(full, i, 1);
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      mbarrier_init(empty, i, 4);

    // TMA=1: they are initialised for the cluster, and for what arrives in the background
    fence_mbarrier_init();
  }

  // TMA=1: the mbarriers are there
  __syncthreads();

  // WARP_SPECIALIZE=1: the producer only fetches; no setmaxnreg, which needs whole warpgroups
  if (warp == 4) {
    if (elect_one()) {
      for (int k_o = 0; k_o < 128; ++k_o) {  // WARP_SPECIALIZE=1
        // WARP_SPECIALIZE=1: every consumer has left the slot
        mbarrier_wait(empty, k_o % 2, (k_o / 2 + 1) % 2);

        // TMA=1: reads of the slot that still wait for a bank come before the copies
        fence_async();

        mbarrier_expect(full, k_o % 2, 8192);

        // TMA=1: ask for the slab of A
        tma_load(A_s, k_o % 2 * 2048, &A_map, k_o * 32, m_b * 64, full, k_o % 2);

        // TMA=1: ask for the slab of B
        #pragma unroll
        for (int p_b = 0; p_b < 2; ++p_b)
          tma_load(B_s, k_o % 2 * 2048 + p_b * 1024, &B_map, n_b * 64 + p_b * 32, k_o * 32, full,
              k_o % 2);
      }
    }
  }

  // WARP_SPECIALIZE=1: the consumers only multiply
  else {
    #pragma unroll
    for (int m_r = 0; m_r < 4; ++m_r)
      #pragma unroll
      for (int n_r = 0; n_r < 2; ++n_r)
        fill4(&acc[m_r][n_r][0], 0.0f);

    for (int k_o = 0; k_o < 128; ++k_o) {  // BK=2
      // TMA=1: the slab's bytes are there
      mbarrier_wait(full, k_o % 2, k_o / 2 % 2);

      for (int k_i = 0; k_i < 2; ++k_i) {  // BK=2
        // LDMATRIX=1: the warp's fragments of A
        #pragma unroll
        for (int m_r = 0; m_r < 4; ++m_r)
          ldmatrix_x4(&a[m_r][0], A_s_at,
              k_o % 2 * 2048 + m_r * 16 * 32 +
              ((k_i * 16 + lane / 16 * 8) ^ (lane % 16 / 2 % 4 * 8)));

        // LDMATRIX=1: the warp's fragments of B
        #pragma unroll
        for (int n_r = 0; n_r < 2; ++n_r)
          ldmatrix_x2_trans(&b[n_r][0], B_s_at,
              k_o % 2 * 2048 + k_i * 16 * 32 +
              (((n_w * 2 + n_r) % 4 * 8) ^ (lane % 16 / 2 % 4 * 8)));

        // FM=4: multiply each fragment of A by each of B
        #pragma unroll
        for (int m_r = 0; m_r < 4; ++m_r)
          #pragma unroll
          for (int n_r = 0; n_r < 2; ++n_r)
            mma_m16n8k16_f32_f16(&acc[m_r][n_r][0], &a[m_r][0], &b[n_r][0]);
      }

      // WARP_SPECIALIZE=1: the warp has read the slot to the end
      mbarrier_arrive(empty, k_o % 2);
    }

    // FM=4: write the cells of C
    #pragma unroll
    for (int m_r = 0; m_r < 4; ++m_r)
      #pragma unroll
      for (int n_r = 0; n_r < 2; ++n_r)
        #pragma unroll
        for (int v_c = 0; v_c < 2; ++v_c)
          store2(&C[(m_b * 64 + m_r * 16 + lane / 4 + v_c * 8) * N + n_b * 64 + n_w * 16 +
              n_r * 8 + lane % 4 * 2], &acc[m_r][n_r][v_c * 2]);
  }
}
