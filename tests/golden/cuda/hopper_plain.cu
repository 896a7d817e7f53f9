// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], bf16 summed in f32, row-major
// AUTO=0,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=64,BK=4,STAGE=11,TMA=1,SWIZZLE=0
// for sm_90a (H200 SXM)
//
//   matmul<<<4096, 128>>>(A_map, B_map, C)   16392 bytes of shared memory

constexpr int N = 4096;

// A bfloat16 (1 sign, 8 exponent, 7 fraction bits) as it lies in memory.
struct bf16 {
  unsigned short bits;
};

__device__ __forceinline__ void store2(bf16 *to, const float *from) {
  unsigned v[1];
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[0]) : "f"(from[1]), "f"(from[0]));
  *reinterpret_cast<unsigned *>(to) = v[0];
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
__device__ __forceinline__ void tma_load(bf16 *slab, int at, const tensor_map *map,
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

// The mbarriers that this thread has initialised are so for all of the cluster, once it has met.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// What the warpgroup has asked for since the last commit becomes one group.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// What this warpgroup did to its registers comes before what wgmma does to them.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// Waits until at most n groups are in flight.
template <int n>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory");
}

// The descriptor of the tile that begins at slab[at]: its address beside what does not
// depend on it. In a cluster the address has the rank of the CTA above its 18 bits.
__device__ __forceinline__ unsigned long long tile_of(const bf16 *slab, int at,
    unsigned long long shape) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  return shape | (from & 0x3ffffu) >> 4;
}

// c += a * b in the background, 64 x 64 x 16, by a warpgroup; c = a * b where keep is 0.
// a and b are descriptors of tiles: PTX ISA, section 9.7.15.5.1.1.1 says which lane holds what.
// turned: M or N runs fastest, not K.
template <int a_turned, int b_turned>
__device__ __forceinline__ void wgmma_m64n64k16_f32_bf16(float *c, unsigned long long a,
    unsigned long long b, int keep) {
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13,"
      " %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27,"
      " %28, %29, %30, %31}, "
      "%32, %33, keep, 1, 1, %35, %36;\n}"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]),
        "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]),
        "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]),
        "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]),
        "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]),
        "+f"(c[30]), "+f"(c[31])
      : "l"(a), "l"(b), "r"(keep), "n"(a_turned), "n"(b_turned)
      : "memory");
}

extern "C" __global__ void __launch_bounds__(128)
matmul(const __grid_constant__ tensor_map A_map, const __grid_constant__ tensor_map B_map,
    bf16 *__restrict__ C) {
  __shared__ __align__(128) bf16 smem[8196];
  bf16 *const A_s = smem;         // [8][64][8] STAGE=11: the slab of A
  bf16 *const B_s = smem + 4096;  // [8][64][8] STAGE=11: the slab of B
  // [1] TMA=1: a slot's bytes have come
  unsigned long long *const full = reinterpret_cast<unsigned long long *>(smem + 8192);

  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const int m_b = blockIdx.x / 64;  // BLOCK 0..64, WM=1
  const int n_b = blockIdx.x % 64;  // BLOCK 0..64, WN=1
  const int lane = threadIdx.x;     // THREAD 0..128, ATOM_KIND=wgmma_m64n256k16_bf16

  float acc[32];  // ATOM_KIND=wgmma_m64n256k16_bf16: this thread's cells of C

  // TMA=1: a phase of full ends when a slab's bytes have come
  if (warp == 0 && elect_one()) {
    mbarrier_init(full, 0, 1);

    // TMA=1: they are initialised for the cluster, and for what arrives in the background
    fence_mbarrier_init();
  }

  // TMA=1: the mbarriers are there
  __syncthreads();

  for (int k_o = 0; k_o < 64; ++k_o) {  // BK=4
    // TMA=1: one thread asks for the slabs
    if (warp == 0 && elect_one()) {
      mbarrier_expect(full, 0, 16384);

      // TMA=1: ask for the slab of A
      #pragma unroll
      for (int p_a = 0; p_a < 8; ++p_a)
        tma_load(A_s, p_a * 512, &A_map, k_o * 64 + p_a * 8, m_b * 64, full, 0);

      // TMA=1: ask for the slab of B
      #pragma unroll
      for (int p_b = 0; p_b < 8; ++p_b)
        tma_load(B_s, p_b * 512, &B_map, n_b * 64 + p_b * 8, k_o * 64, full, 0);
    }

    // TMA=1: the slab's bytes are there
    mbarrier_wait(full, 0, k_o % 2);
    wgmma_fence();

    #pragma unroll
    for (int k_i = 0; k_i < 4; ++k_i) {  // BK=4
      // ATOM_KIND=wgmma_m64n256k16_bf16: ask the tensor core for each tile of A times each of B
      wgmma_m64n64k16_f32_bf16<0,
          1>(&acc[0], tile_of(A_s, k_i * 2 * 512, 0x800400000ull),
          tile_of(B_s, k_i * 16 * 8, 0x4000080000ull), 0 < k_o + k_i);
    }

    wgmma_commit();
    wgmma_wait<0>();

    // STAGE=11: the slab is read to the end
    __syncthreads();
  }

  // ATOM_KIND=wgmma_m64n256k16_bf16: write the cells of C
  #pragma unroll
  for (int v_c = 0; v_c < 16; ++v_c)
    store2(&C[(m_b * 64 + lane / 4 % 8 + lane / 32 * 16 + v_c % 2 * 8) * N + n_b * 64 +
        lane % 4 * 2 + v_c / 2 * 8], &acc[v_c * 2]);
}
