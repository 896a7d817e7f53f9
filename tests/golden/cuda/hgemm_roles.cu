// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f16 summed in f32, row-major
// AUTO=0,ATOM_KIND=mma_m16n8k16_f16,WM=4,WN=2,FM=4,FN=8,BK=4,STAGE=11,TMA=1,LDMATRIX=2,SWIZZLE=3,BUFFER_COUNT=4,FRAG_BUFFER=2,GROUP_M=8,EPILOGUE=1,SERPENTINE=1,UNROLL_RING=1,WARP_SPECIALIZE=1
// for sm_90a (H200 SXM)
//
//   matmul<<<512, 384, 213056>>>(A_map, B_map, C)   213056 bytes of shared memory

constexpr int N = 4096;

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

// Barrier `id` of the block, at which n threads meet.
template <int n>
__device__ __forceinline__ void barrier_of(int id) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(n) : "memory");
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

// Each thread of the warp keeps n registers and gives the others back.
template <int n>
__device__ __forceinline__ void registers_give() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n));
}

// The warp goes on when each of its threads has n registers.
template <int n>
__device__ __forceinline__ void registers_take() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n));
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

extern "C" __global__ void __launch_bounds__(384, 1)
matmul(const __grid_constant__ tensor_map A_map, const __grid_constant__ tensor_map B_map,
    f16 *__restrict__ C) {
  extern __shared__ __align__(1024) f16 smem[];  // 106528: 213056 bytes
  f16 *const A_s = smem;          // [4][256][64] BUFFER_COUNT=4: the slab of A
  f16 *const B_s = smem + 65536;  // [4][2][64][64] BUFFER_COUNT=4: the slab of B
  f16 *const C_s = smem + 98304;  // [64][128] EPILOGUE=1: a row of atoms on its way to C
  // [4] TMA=1: a slot's bytes have come
  unsigned long long *const full = reinterpret_cast<unsigned long long *>(smem + 106496);
  // [4] WARP_SPECIALIZE=1: every consumer warp has left a slot
  unsigned long long *const empty = reinterpret_cast<unsigned long long *>(smem + 106512);

  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const int tid = threadIdx.x;
  const int g = blockIdx.x;              // BLOCK 0..512, GROUP_M=8
  const int m_w = threadIdx.x / 64;      // WARP 0..4, WM=4
  const int n_w = threadIdx.x / 32 % 2;  // WARP 0..2, WN=2
  const int lane = threadIdx.x % 32;     // THREAD 0..32, ATOM_KIND=mma_m16n8k16_f16
  const int m_b = g / 256 * 8 + g % 8;
  const int n_b = g % 256 / 8;

  // where this thread begins
  f16 *const A_s_at = A_s + (m_w * 64 + lane % 16) * 64 + ((lane / 16 * 8) ^ (lane % 8 * 8));
  f16 *const B_s_at = B_s + n_w * 4096 + lane % 16 * 64;
  f16 *const A_s_at2 = A_s + (m_w * 64 + lane % 16) * 64;
  f16 *const C_s_at = C_s + (m_w * 16 + lane / 4) * 128 + n_w * 64;
  f16 *const C_s_at2 = C_s + tid / 16 * 128 + ((tid % 16 * 8) ^ (tid / 16 % 8 * 8));

  float acc[4][8][4];   // ATOM_KIND=mma_m16n8k16_f16: this thread's cells of C
  unsigned a[2][4][4];  // FRAG_BUFFER=2: its values of A for one k-step, two to a register
  unsigned b[2][8][2];  // FRAG_BUFFER=2: its values of B for one k-step, two to a register
  unsigned r_c[4];      // EPILOGUE=1: on their way to C, two to a register

  // TMA=1: a phase of full ends when a slab's bytes have come
  if (warp == 0 && elect_one()) {
    #pragma unroll
    for (int i = 0; i < 4; ++i)
      mbarrier_init(full, i, 1);
    #pragma unroll
    for (int i = 0; i < 4; ++i)
      mbarrier_init(empty, i, 8);

    // TMA=1: they are initialised for the cluster, and for what arrives in the background
    fence_mbarrier_init();
  }

  // TMA=1: the mbarriers are there
  __syncthreads();

  // WARP_SPECIALIZE=1: the producer only fetches
  if (8 <= warp) {
    registers_give<40>();

    if (warp == 8 && elect_one()) {
      for (int k_o = 0; k_o < 64; ++k_o) {  // WARP_SPECIALIZE=1
        // WARP_SPECIALIZE=1: every consumer has left the slot
        mbarrier_wait(empty, k_o % 4, (k_o / 4 + 1) % 2);

        // TMA=1: reads of the slot that still wait for a bank come before the copies
        fence_async();

        mbarrier_expect(full, k_o % 4, 49152);

        // TMA=1: ask for the slab of A
        tma_load(A_s, k_o % 4 * 16384, &A_map, k_o * 64, m_b * 256, full, k_o % 4);

        // TMA=1: ask for the slab of B
        #pragma unroll
        for (int p_b = 0; p_b < 2; ++p_b)
          tma_load(B_s, k_o % 4 * 8192 + p_b * 4096, &B_map, n_b * 128 + p_b * 64, k_o * 64, full,
              k_o % 4);
      }
    }
  }

  // WARP_SPECIALIZE=1: the consumers only multiply
  else {
    registers_take<232>();
    #pragma unroll
    for (int m_r = 0; m_r < 4; ++m_r)
      #pragma unroll
      for (int n_r = 0; n_r < 8; ++n_r)
        fill4(&acc[m_r][n_r][0], 0.0f);

    // TMA=1: the slab's bytes are there
    mbarrier_wait(full, 0, 0);

    // LDMATRIX=2: the warp's fragments of A
    #pragma unroll
    for (int m_r = 0; m_r < 4; ++m_r)
      ldmatrix_x4(&a[0][m_r][0], A_s_at, m_r * 16 * 64);

    // LDMATRIX=2: the warp's fragments of B
    #pragma unroll
    for (int n_p = 0; n_p < 4; ++n_p)
      ldmatrix_x4_trans(&b[0][n_p * 2][0], B_s_at, (n_p * 16 + lane / 16 * 8) ^ (lane % 8 * 8));

    #pragma unroll 4
    for (int k_o = 0; k_o < 64; ++k_o) {  // UNROLL_RING=1
      #pragma unroll
      for (int k_i = 0; k_i < 3; ++k_i) {  // BK=4
        // LDMATRIX=2: the warp's fragments of A
        #pragma unroll
        for (int m_r = 0; m_r < 4; ++m_r)
          ldmatrix_x4(&a[(k_i + 1) % 2][m_r][0], A_s_at2,
              k_o % 4 * 16384 + m_r * 16 * 64 + ((k_i * 16 + lane / 16 * 8 + 16) ^ (lane % 8 * 8)));

        // LDMATRIX=2: the warp's fragments of B
        #pragma unroll
        for (int n_p = 0; n_p < 4; ++n_p)
          ldmatrix_x4_trans(&b[(k_i + 1) % 2][n_p * 2][0], B_s_at,
              k_o % 4 * 8192 + (k_i * 16 + 16) * 64 +
              ((n_p * 16 + lane / 16 * 8) ^ (lane % 8 * 8)));

        // SERPENTINE=1: multiply each fragment of A by each of B
        #pragma unroll
        for (int n_r = 0; n_r < 8; ++n_r)
          #pragma unroll
          for (int m_r = 0; m_r < 4; ++m_r)
            mma_m16n8k16_f32_f16(&acc[(n_r % 2 ? 3 - m_r : m_r)][n_r][0],
                &a[k_i % 2][(n_r % 2 ? 3 - m_r : m_r)][0], &b[k_i % 2][n_r][0]);
      }

      // WARP_SPECIALIZE=1: the warp has read the slot to the end
      mbarrier_arrive(empty, k_o % 4);

      if (k_o + 1 < 64) {
        const int k_n = k_o + 1;

        // TMA=1: the slab's bytes are there
        mbarrier_wait(full, k_n % 4, k_n / 4 % 2);

        // LDMATRIX=2: the warp's fragments of A
        #pragma unroll
        for (int m_r = 0; m_r < 4; ++m_r)
          ldmatrix_x4(&a[0][m_r][0], A_s_at, k_n % 4 * 16384 + m_r * 16 * 64);

        // LDMATRIX=2: the warp's fragments of B
        #pragma unroll
        for (int n_p = 0; n_p < 4; ++n_p)
          ldmatrix_x4_trans(&b[0][n_p * 2][0], B_s_at,
              k_n % 4 * 8192 + ((n_p * 16 + lane / 16 * 8) ^ (lane % 8 * 8)));
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
          store2(&C_s_at[v_c * 8 * 128 + ((n_r * 8 + lane % 4 * 2) ^ (lane / 4 * 8))],
              &acc[m_r][n_r][v_c * 2]);

      // EPILOGUE=1: a row of atoms lies in C_s
      barrier_of<256>(1);

      // EPILOGUE=1: take a piece of it, in whole lines
      #pragma unroll
      for (int c_c = 0; c_c < 4; ++c_c) {
        load8(&r_c[0], &C_s_at2[c_c * 16 * 128]);

        // EPILOGUE=1: write the cells of C
        store8(&C[(m_b * 256 + c_c * 64 + m_r * 16 + tid / 16) * N + n_b * 128 + tid % 16 * 8],
            &r_c[0]);
      }

      // EPILOGUE=1: C_s is read to the end
      barrier_of<256>(1);
    }
  }
}
