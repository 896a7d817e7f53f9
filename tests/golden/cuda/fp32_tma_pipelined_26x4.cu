// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f32, row-major
// AUTO=0,BM=8,BN=32,FM=26,FN=4,BK=32,SPLITK=1,STAGE=11,TMA=1,PIPELINE_STAGES=1,BUFFER_COUNT=2,VECTORIZE=1,INTERLEAVE_LOADS=1,UNROLL_K=32,GROUP_M=8
// for sm_90a (H200 SXM)
//
//   matmul<<<640, 256, 86032>>>(A_map, B_map, C)   86032 bytes of shared memory

constexpr int M = 4096, N = 4096;

__device__ __forceinline__ void load4(float *to, const float *from) {
  const float4 v = *reinterpret_cast<const float4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void store4(float *to, const float *from) {
  *reinterpret_cast<float4 *>(to) = float4{from[0], from[1], from[2], from[3]};
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

// Goes on when the phase with this bit, 0 or 1, has ended.
__device__ __forceinline__ void mbarrier_wait(unsigned long long *bars, int i, int phase) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("{ .reg .pred ended;\n"
               "again%=: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
               "@!ended bra again%=; }" :: "r"(bar), "r"(phase) : "memory");
}

// The map's box, from this column and row on, goes to element `at` of the slab.
__device__ __forceinline__ void tma_load(float *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
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

extern "C" __global__ void __launch_bounds__(256)
matmul(const __grid_constant__ tensor_map A_map, const __grid_constant__ tensor_map B_map,
    float *__restrict__ C) {
  extern __shared__ __align__(128) float smem[];  // 21508: 86032 bytes
  float *const A_s = smem;          // [2][208][32] BUFFER_COUNT=2: the slab of A
  float *const B_s = smem + 13312;  // [2][32][128] BUFFER_COUNT=2: the slab of B
  // [2] TMA=1: a slot's bytes have come
  unsigned long long *const full = reinterpret_cast<unsigned long long *>(smem + 21504);

  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const int g = blockIdx.x;          // BLOCK 0..640, GROUP_M=8
  const int m_t = threadIdx.x / 32;  // THREAD 0..8, BM=8
  const int n_t = threadIdx.x % 32;  // THREAD 0..32, BN=32
  const int m_b = g / 256 * 8 + g % 256 % min(8, 20 - g / 256 * 8);
  const int n_b = g % 256 / min(8, 20 - g / 256 * 8);

  // where this thread begins
  float *const B_s_at = B_s + n_t * 4;
  float *const A_s_at = A_s + m_t * 26 * 32;

  float acc[26][4];  // FM=26: this thread's cells of C
  float a[26];       // FM=26: its values of A for one k
  float b[4];        // FN=4: its values of B for one k

  // TMA=1: a phase of full ends when a slab's bytes have come
  if (warp == 0 && elect_one()) {
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      mbarrier_init(full, i, 1);

    // TMA=1: they are initialised for the cluster, and for what arrives in the background
    fence_mbarrier_init();
  }

  // TMA=1: the mbarriers are there
  __syncthreads();

  #pragma unroll
  for (int m_r = 0; m_r < 26; ++m_r)
    #pragma unroll
    for (int n_r = 0; n_r < 4; ++n_r)
      acc[m_r][n_r] = 0.0f;

  // TMA=1: one thread asks for the slabs
  if (warp == 0 && elect_one()) {
    mbarrier_expect(full, 0, 43008);

    // TMA=1: ask for the slab of A
    tma_load(A_s, 0, &A_map, 0, m_b * 208, full, 0);

    // TMA=1: ask for the slab of B
    tma_load(B_s, 0, &B_map, n_b * 128, 0, full, 0);
  }

  for (int k_o = 0; k_o < 128; ++k_o) {  // BK=32
    if (k_o + 1 < 128) {
      const int k_n = k_o + 1;

      // TMA=1: one thread asks for the slabs
      if (warp == 0 && elect_one()) {
        // TMA=1: reads of the slot that still wait for a bank come before the copies
        fence_async();

        mbarrier_expect(full, k_n % 2, 43008);

        // TMA=1: ask for the slab of A
        tma_load(A_s, k_n % 2 * 6656, &A_map, k_n * 32, m_b * 208, full, k_n % 2);

        // TMA=1: ask for the slab of B
        tma_load(B_s, k_n % 2 * 4096, &B_map, n_b * 128, k_n * 32, full, k_n % 2);
      }
    }

    // TMA=1: the slab's bytes are there
    mbarrier_wait(full, k_o % 2, k_o / 2 % 2);

    #pragma unroll
    for (int k_i = 0; k_i < 32; ++k_i) {  // UNROLL_K=32
      // VECTORIZE=1: this thread's values of B
      load4(&b[0], &B_s_at[k_o % 2 * 4096 + k_i * 128]);

      // INTERLEAVE_LOADS=1: this thread's values of A
      #pragma unroll
      for (int m_r = 0; m_r < 26; ++m_r) {
        a[m_r] = A_s_at[k_o % 2 * 6656 + m_r * 32 + k_i];

        // FN=4: add the outer product of a and b
        #pragma unroll
        for (int n_r = 0; n_r < 4; ++n_r)
          acc[m_r][n_r] += a[m_r] * b[n_r];
      }
    }

    // TMA=1: the slab is read to the end
    __syncthreads();
  }

  // FM=26: write the cells of C
  #pragma unroll
  for (int m_r = 0; m_r < 26; ++m_r)
    if (m_b * 208 + m_t * 26 + m_r < M)
      store4(&C[(m_b * 208 + m_t * 26 + m_r) * N + n_b * 128 + n_t * 4], &acc[m_r][0]);
}
