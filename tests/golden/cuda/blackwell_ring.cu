// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f16 summed in f32, B column-major, A and C row-major
// AUTO=0,ATOM_KIND=tcgen05_m128n256k16_f16,TARGET=b200,B_COL=1,ATOM_N=128,BK=4,STAGE=11,SWIZZLE=3,TMA=1,BUFFER_COUNT=2,PIPELINE_STAGES=1,TENSOR_COLUMNS=512
// for sm_100a (B200 SXM (HGX))
//
//   matmul<<<1024, 128, 65568>>>(A_map, B_map, C)   65568 bytes of shared memory

constexpr int N = 4096;

// An IEEE half (1 sign, 5 exponent, 10 fraction bits) as it lies in memory.
struct f16 {
  unsigned short bits;
};

__device__ __forceinline__ void store8(f16 *to, const float *from) {
  unsigned v[4];
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[0]) : "f"(from[1]), "f"(from[0]));
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[1]) : "f"(from[3]), "f"(from[2]));
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[2]) : "f"(from[5]), "f"(from[4]));
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[3]) : "f"(from[7]), "f"(from[6]));
  *reinterpret_cast<uint4 *>(to) = uint4{v[0], v[1], v[2], v[3]};
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

// The mbarriers that this thread has initialised are so for all of the cluster, once it has met.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// What is done to it from now on comes after what was waited for.
__device__ __forceinline__ void tcgen05_after() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// One arrival at bars[i] when all that this thread has asked the tensor core for is done.
__device__ __forceinline__ void tcgen05_commit(unsigned long long *bars, int i) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
               :: "r"(bar) : "memory");
}

// d += a * b in the background, d in tensor memory, a and b descriptors of tiles; idesc has
// types and shape. d = a * b where keep is 0.
__device__ __forceinline__ void tcgen05_mma_f16(unsigned d, unsigned long long a,
    unsigned long long b, unsigned idesc, int keep) {
  asm volatile("{ .reg .pred keep;\nsetp.ne.b32 keep, %4, 0;\n"
               "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, keep; }"
               :: "r"(d), "l"(a), "l"(b), "r"(idesc), "r"(keep) : "memory");
}

// What this warp has asked of tensor memory is in its registers.
__device__ __forceinline__ void tcgen05_wait_ld() {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}

// n columns of tensor memory for this block, which a whole warp takes; *base gets their
// address. It gives up the right to have more, so that other blocks of the SM may have
// theirs.
template <int n>
__device__ __forceinline__ void tensor_alloc(unsigned long long *base) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;\n"
               "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"
               :: "r"(static_cast<unsigned>(__cvta_generic_to_shared(base))), "n"(n)
               : "memory");
}

// An address in tensor memory: lane << 16 | column. A warp names the first lane of its quarter.
__device__ __forceinline__ unsigned tensor_at(unsigned begin, int lane, int column) {
  return begin + (lane / 32 << 21) + column;
}

// Gives them back, as every block must before it ends.
template <int n>
__device__ __forceinline__ void tensor_free(unsigned begin) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;"
               :: "r"(begin), "n"(n) : "memory");
}

// The descriptor of the tile that begins at slab[at]: its address beside what does not
// depend on it. In a cluster the address has the rank of the CTA above its 18 bits.
__device__ __forceinline__ unsigned long long tile_of(const f16 *slab, int at,
    unsigned long long shape) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  return shape | (from & 0x3ffffu) >> 4;
}

// 32 columns of the lane of this thread, in the background.
__device__ __forceinline__ void tcgen05_ld_x32(float *to, unsigned from) {
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11,"
      " %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23,"
      " %24, %25, %26, %27, %28, %29, %30, %31}, [%32];"
      : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3]), "=f"(to[4]), "=f"(to[5]),
        "=f"(to[6]), "=f"(to[7]), "=f"(to[8]), "=f"(to[9]), "=f"(to[10]), "=f"(to[11]),
        "=f"(to[12]), "=f"(to[13]), "=f"(to[14]), "=f"(to[15]), "=f"(to[16]), "=f"(to[17]),
        "=f"(to[18]), "=f"(to[19]), "=f"(to[20]), "=f"(to[21]), "=f"(to[22]), "=f"(to[23]),
        "=f"(to[24]), "=f"(to[25]), "=f"(to[26]), "=f"(to[27]), "=f"(to[28]), "=f"(to[29]),
        "=f"(to[30]), "=f"(to[31])
      : "r"(from) : "memory");
}

extern "C" __global__ void __launch_bounds__(128)
matmul(const __grid_constant__ tensor_map A_map, const __grid_constant__ tensor_map B_map,
    f16 *__restrict__ C) {
  extern __shared__ __align__(1024) f16 smem[];  // 32784: 65568 bytes
  f16 *const A_s = smem;          // [2][128][64] BUFFER_COUNT=2: the slab of A
  f16 *const B_s = smem + 16384;  // [2][128][64] BUFFER_COUNT=2: the slab of B
  // [1] ATOM_KIND=tcgen05_m128n256k16_f16: the sums of a tile are whole
  unsigned long long *const acc_full = reinterpret_cast<unsigned long long *>(smem + 32768);
  // [1] ATOM_KIND=tcgen05_m128n256k16_f16: where the block's tensor memory begins
  unsigned long long *const tensor_base = reinterpret_cast<unsigned long long *>(smem + 32772);
  // [2] TMA=1: a slot's bytes have come
  unsigned long long *const full = reinterpret_cast<unsigned long long *>(smem + 32776);

  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const int m_b = blockIdx.x / 32;  // BLOCK 0..32, WM=1
  const int n_b = blockIdx.x % 32;  // BLOCK 0..32, WN=1
  const int lane = threadIdx.x;     // THREAD 0..128, ATOM_KIND=tcgen05_m128n256k16_f16

  float acc[32];  // ATOM_KIND=tcgen05_m128n256k16_f16: this thread's cells of C

  // TMA=1: a phase of full ends when a slab's bytes have come
  if (warp == 0 && elect_one())
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      mbarrier_init(full, i, 1);

  // ATOM_KIND=tcgen05_m128n256k16_f16: a phase of acc_full ends when products are done
  if (warp == 0 && elect_one()) {
    mbarrier_init(acc_full, 0, 1);

    // ATOM_KIND=tcgen05_m128n256k16_f16: they are initialised for the cluster, and for what arrives
    // in the background
    fence_mbarrier_init();
  }

  if (warp == 0)
    tensor_alloc<512>(tensor_base);

  // ATOM_KIND=tcgen05_m128n256k16_f16: tensor memory is there
  __syncthreads();
  const unsigned tensor_begin = static_cast<unsigned>(*tensor_base);

  // TMA=1: one thread asks for the slabs
  if (warp == 0 && elect_one()) {
    mbarrier_expect(full, 0, 32768);

    // TMA=1: ask for the slab of A
    tma_load(A_s, 0, &A_map, 0, m_b * 128, full, 0);

    // TMA=1: ask for the slab of B
    tma_load(B_s, 0, &B_map, 0, n_b * 128, full, 0);
  }

  for (int k_o = 0; k_o < 64; ++k_o) {  // BK=4
    if (k_o + 1 < 64) {
      const int k_n = k_o + 1;

      // TMA=1: one thread asks for the slabs
      if (warp == 0 && elect_one()) {
        mbarrier_expect(full, k_n % 2, 32768);

        // TMA=1: ask for the slab of A
        tma_load(A_s, k_n % 2 * 8192, &A_map, k_n * 64, m_b * 128, full, k_n % 2);

        // TMA=1: ask for the slab of B
        tma_load(B_s, k_n % 2 * 8192, &B_map, k_n * 64, n_b * 128, full, k_n % 2);
      }
    }

    // TMA=1: the slab's bytes are there
    mbarrier_wait(full, k_o % 2, k_o / 2 % 2);

    // ATOM_KIND=tcgen05_m128n256k16_f16: one thread asks for the warpgroup's products
    if (warp == 0 && elect_one()) {
      #pragma unroll
      for (int k_i = 0; k_i < 4; ++k_i) {  // BK=4
        // ATOM_KIND=tcgen05_m128n256k16_f16: ask the tensor core for the tile of A times that of B
        tcgen05_mma_f16(tensor_at(tensor_begin, 0, 0),
            tile_of(A_s, k_o % 2 * 8192 + k_i * 16, 0x4000404000010000ull),
            tile_of(B_s, k_o % 2 * 8192 + k_i * 16, 0x4000404000010000ull), 0x08200010u,
            0 < k_o + k_i);
      }

      tcgen05_commit(acc_full, 0);
    }

    // ATOM_KIND=tcgen05_m128n256k16_f16: the sums are whole
    mbarrier_wait(acc_full, 0, k_o % 2);

    // TMA=1: the slab is read to the end
    __syncthreads();
  }

  tcgen05_after();
  #pragma unroll
  for (int c_t = 0; c_t < 4; ++c_t) {
    tcgen05_ld_x32(&acc[0], tensor_at(tensor_begin, lane, c_t * 32));
    tcgen05_wait_ld();
    #pragma unroll
    for (int v_t = 0; v_t < 4; ++v_t) {
      const int v_c = c_t * 4 + v_t;

      // ATOM_KIND=tcgen05_m128n256k16_f16: write the cells of C
      store8(&C[(m_b * 128 + lane) * N + n_b * 128 + v_c * 8], &acc[v_t * 8]);
    }
  }

  // ATOM_KIND=tcgen05_m128n256k16_f16: the sums are read
  __syncthreads();

  if (warp == 0)
    tensor_free<512>(tensor_begin);
}
