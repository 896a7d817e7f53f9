// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], mxf8 summed in f32, C in f32, B column-major, A and C row-major
// AUTO=0,ATOM_KIND=tcgen05_m128n256k32_mxf8,TARGET=b200,B_COL=1,ATOM_N=128,BK=4,STAGE=11,SWIZZLE=3,TMA=1
// for sm_100a (B200 SXM (HGX))
//
//   matmul<<<1024, 128>>>(A_map, B_map, C, SFA_map, SFB_map)   33816 bytes of shared memory

constexpr int N = 4096;

// An e4m3 as it lies in memory; each 32 along K share a factor.
struct mxf8 {
  unsigned char bits;
};

// A factor: 2 to the power of bits - 127.
struct ue8m0 {
  unsigned char bits;
};

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
__device__ __forceinline__ void tma_load(mxf8 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar) : "memory");
}

// The map's box, from this column and row on, goes to element `at` of the slab.
__device__ __forceinline__ void tma_load(ue8m0 *slab, int at, const tensor_map *map,
    int column, int row, int matrix, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(matrix), "r"(bar) : "memory");
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

// 32 rows of 16 bytes that a descriptor finds, in the background, to four columns of tensor memory,
// into the lanes of each quarter. A product that is asked for behind it finds them.
__device__ __forceinline__ void tcgen05_cp(unsigned to, unsigned long long from) {
  asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;"
               :: "r"(to), "l"(from) : "memory");
}

// d += (a * sfa) * (b * sfb) in the background: the same, with scale factors that begin at sfa and
// sfb in tensor memory; bits 29 and 4 of idesc say at which byte of their words.
__device__ __forceinline__ void tcgen05_mma_mxf8f6f4(unsigned d, unsigned long long a,
    unsigned long long b, unsigned idesc, unsigned sfa, unsigned sfb, int keep) {
  asm volatile("{ .reg .pred keep;\nsetp.ne.b32 keep, %6, 0;\n"
               "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X"
               " [%0], %1, %2, %3, [%4], [%5], keep; }"
               :: "r"(d), "l"(a), "l"(b), "r"(idesc), "r"(sfa), "r"(sfb), "r"(keep)
               : "memory");
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
__device__ __forceinline__ unsigned long long tile_of(const mxf8 *slab, int at,
    unsigned long long shape) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 1 * at;
  return shape | (from & 0x3ffffu) >> 4;
}

// The descriptor of the tile that begins at slab[at]: its address beside what does not
// depend on it. In a cluster the address has the rank of the CTA above its 18 bits.
__device__ __forceinline__ unsigned long long tile_of(const ue8m0 *slab, int at,
    unsigned long long shape) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 1 * at;
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
    float *__restrict__ C, const __grid_constant__ tensor_map SFA_map,
    const __grid_constant__ tensor_map SFB_map) {
  __shared__ __align__(1024) unsigned char smem[33816];
  mxf8 *const A_s = reinterpret_cast<mxf8 *>(smem);  // [128][128] SWIZZLE=3: the slab of A
  mxf8 *const B_s = reinterpret_cast<mxf8 *>(smem + 16384);  // [128][128] SWIZZLE=3: the slab of B
  ue8m0 *const SFA_s = reinterpret_cast<ue8m0 *>(smem + 32768);  // [2][256] TMA=1
  ue8m0 *const SFB_s = reinterpret_cast<ue8m0 *>(smem + 33280);  // [2][256] TMA=1
  // [1] ATOM_KIND=tcgen05_m128n256k32_mxf8: the sums of a tile are whole
  unsigned long long *const acc_full = reinterpret_cast<unsigned long long *>(smem + 33792);
  // [1] ATOM_KIND=tcgen05_m128n256k32_mxf8: where the block's tensor memory begins
  unsigned long long *const tensor_base = reinterpret_cast<unsigned long long *>(smem + 33800);
  // [1] TMA=1: a slot's bytes have come
  unsigned long long *const full = reinterpret_cast<unsigned long long *>(smem + 33808);

  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const int m_b = blockIdx.x / 32;  // BLOCK 0..32, WM=1
  const int n_b = blockIdx.x % 32;  // BLOCK 0..32, WN=1
  const int lane = threadIdx.x;     // THREAD 0..128, ATOM_KIND=tcgen05_m128n256k32_mxf8

  float acc[32];  // ATOM_KIND=tcgen05_m128n256k32_mxf8: this thread's cells of C

  // TMA=1: a phase of full ends when a slab's bytes have come
  if (warp == 0 && elect_one())
    mbarrier_init(full, 0, 1);

  // ATOM_KIND=tcgen05_m128n256k32_mxf8: a phase of acc_full ends when products are done
  if (warp == 0 && elect_one()) {
    mbarrier_init(acc_full, 0, 1);

    // ATOM_KIND=tcgen05_m128n256k32_mxf8: they are initialised for the cluster, and for what
    // arrives in the background
    fence_mbarrier_init();
  }

  if (warp == 0)
    tensor_alloc<256>(tensor_base);

  // ATOM_KIND=tcgen05_m128n256k32_mxf8: tensor memory is there
  __syncthreads();
  const unsigned tensor_begin = static_cast<unsigned>(*tensor_base);

  for (int k_o = 0; k_o < 32; ++k_o) {  // BK=4
    // TMA=1: one thread asks for the slabs
    if (warp == 0 && elect_one()) {
      mbarrier_expect(full, 0, 33792);

      // TMA=1: ask for the slab of A
      tma_load(A_s, 0, &A_map, k_o * 128, m_b * 128, full, 0);

      // TMA=1: ask for the slab of B
      tma_load(B_s, 0, &B_map, k_o * 128, n_b * 128, full, 0);

      tma_load(SFA_s, 0, &SFA_map, 0, k_o * 2, m_b, full, 0);
      tma_load(SFB_s, 0, &SFB_map, 0, k_o * 2, n_b, full, 0);
    }

    // TMA=1: the slab's bytes are there
    mbarrier_wait(full, 0, k_o % 2);

    // ATOM_KIND=tcgen05_m128n256k32_mxf8: one thread asks for the warpgroup's products
    if (warp == 0 && elect_one()) {
      // ATOM_KIND=tcgen05_m128n256k32_mxf8: factors are there before the products that are asked
      // for behind them
      tcgen05_cp(tensor_at(tensor_begin, 0, 128), tile_of(SFA_s, 0, 0x400800200000ull));

      // ATOM_KIND=tcgen05_m128n256k32_mxf8: copy the factors of B to tensor memory
      tcgen05_cp(tensor_at(tensor_begin, 0, 132), tile_of(SFB_s, 0, 0x400800200000ull));

      #pragma unroll
      for (int k_i = 0; k_i < 4; ++k_i) {  // BK=4
        // ATOM_KIND=tcgen05_m128n256k32_mxf8: ask the tensor core for the tile of A times that of B
        tcgen05_mma_mxf8f6f4(tensor_at(tensor_begin, 0, 0),
            tile_of(A_s, k_i * 32, 0x4000404000010000ull),
            tile_of(B_s, k_i * 32, 0x4000404000010000ull), 0x08a00000u | (k_i) << 29 | (k_i) << 4,
            tensor_at(tensor_begin, 0, 128), tensor_at(tensor_begin, 0, 132), 0 < k_o + k_i);
      }

      tcgen05_commit(acc_full, 0);
    }

    // ATOM_KIND=tcgen05_m128n256k32_mxf8: the sums are whole
    mbarrier_wait(acc_full, 0, k_o % 2);

    // STAGE=11: the slab is read to the end
    __syncthreads();
  }

  tcgen05_after();
  #pragma unroll
  for (int c_t = 0; c_t < 4; ++c_t) {
    tcgen05_ld_x32(&acc[0], tensor_at(tensor_begin, lane, c_t * 32));
    tcgen05_wait_ld();
    #pragma unroll
    for (int v_t = 0; v_t < 8; ++v_t) {
      const int v_c = c_t * 8 + v_t;

      // ATOM_KIND=tcgen05_m128n256k32_mxf8: write the cells of C
      store4(&C[(m_b * 128 + lane) * N + n_b * 128 + v_c * 4], &acc[v_t * 4]);
    }
  }

  // ATOM_KIND=tcgen05_m128n256k32_mxf8: the sums are read
  __syncthreads();

  if (warp == 0)
    tensor_free<256>(tensor_begin);
}
