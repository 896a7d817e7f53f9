// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f32, row-major
// AUTO=0,BM=8,BN=32,FM=1,FN=1,BK=32,SPLITK=1,TMA=1,STAGE=11,PIPELINE_STAGES=1,BUFFER_COUNT=4,VECTORIZE=1,INTERLEAVE_LOADS=1,UNROLL_K=32,GROUP_M=8
// for sm_90a (H200 SXM)
//
//   matmul<<<65536, 256>>>(A_map, B_map, C)   20512 bytes of shared memory

constexpr int N = 4096;

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
  __shared__ __align__(128) float smem[5128];
  float *const A_s = smem;         // [4][8][32] BUFFER_COUNT=4: the slab of A
  float *const B_s = smem + 1024;  // [4][32][32] BUFFER_COUNT=4: the slab of B
  // [4] TMA=1: a slot's bytes have come
  unsigned long long *const full = reinterpret_cast<unsigned long long *>(smem + 5120);

  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const int g = blockIdx.x;          // BLOCK 0..65536, GROUP_M=8
  const int m_t = threadIdx.x / 32;  // THREAD 0..8, BM=8
  const int n_t = threadIdx.x % 32;  // THREAD 0..32, BN=32
  const int m_b = g / 1024 * 8 + g % 8;
  const int n_b = g % 1024 / 8;

  // where this thread begins
  float *const A_s_at = A_s + m_t * 32;
  float *const B_s_at = B_s + n_t;

  float acc;  // this thread's cells of C
  float a;    // its values of A for one k
  float b;    // its values of B for one k

  // TMA=1: a phase of full ends when a slab's bytes have come
  if (warp == 0 && elect_one()) {
    #pragma unroll
    for (int i = 0; i < 4; ++i)
      mbarrier_init(full, i, 1);

    // TMA=1: they are initialised for the cluster, and for what arrives in the background
    fence_mbarrier_init();
  }

  // TMA=1: the mbarriers are there
  __syncthreads();

  acc = 0.0f;

  // TMA=1: one thread asks for the slabs
  if (warp == 0 && elect_one()) {
    mbarrier_expect(full, 0, 5120);

    // TMA=1: ask for the slab of A
    tma_load(A_s, 0, &A_map, 0, m_b * 8, full, 0);

    // TMA=1: ask for the slab of B
    tma_load(B_s, 0, &B_map, n_b * 32, 0, full, 0);
  }

  if (warp == 0 && elect_one()) {
    mbarrier_expect(full, 1, 5120);

    // TMA=1: ask for the slab of A
    tma_load(A_s, 256, &A_map, 32, m_b * 8, full, 1);

    // TMA=1: ask for the slab of B
    tma_load(B_s, 1024, &B_map, n_b * 32, 32, full, 1);
  }

  if (warp == 0 && elect_one()) {
    mbarrier_expect(full, 2, 5120);

    // TMA=1: ask for the slab of A
    tma_load(A_s, 2 * 256, &A_map, 64, m_b * 8, full, 2);

    // TMA=1: ask for the slab of B
    tma_load(B_s, 2 * 1024, &B_map, n_b * 32, 64, full, 2);
  }

  for (int k_o = 0; k_o < 128; ++k_o) {  // BK=32
    if (k_o + 3 < 128) {
      const int k_n = k_o + 3;

      // TMA=1: one thread asks for the slabs
      if (warp == 0 && elect_one()) {
        // TMA=1: reads of the slot that still wait for a bank come before the copies
        fence_async();

        mbarrier_expect(full, k_n % 4, 5120);

        // TMA=1: ask for the slab of A
        tma_load(A_s, k_n % 4 * 256, &A_map, k_n * 32, m_b * 8, full, k_n % 4);

        // TMA=1: ask for the slab of B
        tma_load(B_s, k_n % 4 * 1024, &B_map, n_b * 32, k_n * 32, full, k_n % 4);
      }
    }

    // TMA=1: the slab's bytes are there
    mbarrier_wait(full, k_o % 4, k_o / 4 % 2);

    #pragma unroll
    for (int k_i = 0; k_i < 32; ++k_i) {  // UNROLL_K=32
      // STAGE=11: this thread's values of A
      a = A_s_at[k_o % 4 * 256 + k_i];

      // STAGE=11: this thread's values of B
      b = B_s_at[k_o % 4 * 1024 + k_i * 32];

      acc += a * b;
    }

    // TMA=1: the slab is read to the end
    __syncthreads();
  }

  C[(m_b * 8 + m_t) * N + n_b * 32 + n_t] = acc;
}
