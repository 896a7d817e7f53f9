// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], mxf8e5m2 summed in f32, C in f32, B column-major, A and C row-major
// AUTO=0,ATOM_KIND=tcgen05_m128n256k32_mxf8e5m2,TARGET=b200,B_COL=1,ATOM_N=256,BK=4,STAGE=11,SWIZZLE=3,TMA=1,BUFFER_COUNT=4,GROUP_M=8,PERSISTENT=1,WARP_SPECIALIZE=1,EPILOGUE=1,TMA_STORE=1,CLUSTER_M=2,CTA_GROUP=2
// for sm_100a (B200 SXM (HGX))
//
//   matmul<<<min(512, blocks that fit), 192, 153688>>>(A_map, B_map, C_map, SFA_map, SFB_map)   153688 bytes of shared memory

// An e5m2 as it lies in memory; each 32 along K share a factor.
struct mxf8e5m2 {
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

// The same, its bytes counted at bars[i] of the even CTA of a pair.
__device__ __forceinline__ void tma_pair(mxf8e5m2 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes.cta_group::2 [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar & 0xfeffffffu) : "memory");
}

// The same, its bytes counted at bars[i] of the even CTA of a pair.
__device__ __forceinline__ void tma_pair(ue8m0 *slab, int at, const tensor_map *map,
    int column, int row, int matrix, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes.cta_group::2 [%0], [%1, {%2, %3, %4}], [%5];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(matrix), "r"(bar & 0xfeffffffu)
               : "memory");
}

// The map's box, from element `at` of the slab on, goes to the matrix from this column and row on.
__device__ __forceinline__ void tma_store(const tensor_map *map, int column, int row,
    float *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"
               " [%0, {%1, %2}], [%3];"
               :: "l"(map), "r"(column), "r"(row), "r"(from) : "memory");
}

// Barrier `id` of the block, at which n threads meet.
template <int n>
__device__ __forceinline__ void barrier_of(int id) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(n) : "memory");
}

// The boxes this thread has sent since the last commit become one group.
__device__ __forceinline__ void bulk_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until at most `n` of this thread's groups have still to be read.
template <int n>
__device__ __forceinline__ void bulk_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(n) : "memory");
}

// Waits until at most `n` of this thread's groups are still in flight.
template <int n>
__device__ __forceinline__ void bulk_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(n) : "memory");
}

// Every thread of the cluster arrives before any goes on, and knows what the others have done.
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release;\n"
               "barrier.cluster.wait.acquire;" ::: "memory");
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

// One arrival for the whole warp at the mbarrier of each block in the mask: lane r's at rank r.
__device__ __forceinline__ void mbarrier_arrive_at(unsigned long long *bars, int i, int mask) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  const int rank = threadIdx.x % 32;
  __syncwarp();
  if (mask >> rank & 1)
    asm volatile("{ .reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there]; }"
                 :: "r"(bar), "r"(rank) : "memory");
}

// What is done to it from now on comes after what was waited for.
__device__ __forceinline__ void tcgen05_after() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// What was done to tensor memory comes before whom this thread tells.
__device__ __forceinline__ void tcgen05_before() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

// One arrival when all that was asked of the pair is done, at bars[i] of each block in the mask.
__device__ __forceinline__ void tcgen05_commit_pair(unsigned long long *bars, int i, int mask) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster"
               ".multicast::cluster.b64 [%0], %1;"
               :: "r"(bar), "h"(static_cast<short>(mask)) : "memory");
}

// 32 rows of 16 bytes that a descriptor finds, in the background, to four columns of tensor memory,
// into the lanes of each quarter, in each CTA of a pair from its own memory. A product that is asked for behind it finds them.
__device__ __forceinline__ void tcgen05_cp_pair(unsigned to, unsigned long long from) {
  asm volatile("tcgen05.cp.cta_group::2.32x128b.warpx4 [%0], %1;"
               :: "r"(to), "l"(from) : "memory");
}

// d += (a * sfa) * (b * sfb) in the background: the same, with scale factors that begin at sfa and
// sfb in tensor memory; bits 29 and 4 of idesc say at which byte of their words.
__device__ __forceinline__ void tcgen05_mma_pair_mxf8f6f4(unsigned d, unsigned long long a,
    unsigned long long b, unsigned idesc, unsigned sfa, unsigned sfb, int keep) {
  asm volatile("{ .reg .pred keep;\nsetp.ne.b32 keep, %6, 0;\n"
               "tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale.scale_vec::1X"
               " [%0], %1, %2, %3, [%4], [%5], keep; }"
               :: "r"(d), "l"(a), "l"(b), "r"(idesc), "r"(sfa), "r"(sfb), "r"(keep)
               : "memory");
}

// What this warp has asked of tensor memory is in its registers.
__device__ __forceinline__ void tcgen05_wait_ld() {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}

// n columns of tensor memory for each of a pair, which a whole warp takes; *base gets their
// address. It gives up the right to have more, so that other blocks of the SM may have
// theirs.
template <int n>
__device__ __forceinline__ void tensor_alloc_pair(unsigned long long *base) {
  asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;\n"
               "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;"
               :: "r"(static_cast<unsigned>(__cvta_generic_to_shared(base))), "n"(n)
               : "memory");
}

// An address in tensor memory: lane << 16 | column. A warp names the first lane of its quarter.
__device__ __forceinline__ unsigned tensor_at(unsigned begin, int lane, int column) {
  return begin + (lane / 32 << 21) + column;
}

// Gives them back, as every block must before it ends.
template <int n>
__device__ __forceinline__ void tensor_free_pair(unsigned begin) {
  asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;"
               :: "r"(begin), "n"(n) : "memory");
}

// The descriptor of the tile that begins at slab[at]: its address beside what does not
// depend on it. In a cluster the address has the rank of the CTA above its 18 bits.
__device__ __forceinline__ unsigned long long tile_of(const mxf8e5m2 *slab, int at,
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

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(192)
matmul(const __grid_constant__ tensor_map A_map, const __grid_constant__ tensor_map B_map,
    const __grid_constant__ tensor_map C_map, const __grid_constant__ tensor_map SFA_map,
    const __grid_constant__ tensor_map SFB_map) {
  extern __shared__ __align__(1024) unsigned char smem[];  // 153688: 153688 bytes
  // [4][128][128] BUFFER_COUNT=4: the slab of A
  mxf8e5m2 *const A_s = reinterpret_cast<mxf8e5m2 *>(smem);
  // [4][128][128] BUFFER_COUNT=4: the slab of B
  mxf8e5m2 *const B_s = reinterpret_cast<mxf8e5m2 *>(smem + 65536);
  ue8m0 *const SFA_s = reinterpret_cast<ue8m0 *>(smem + 131072);  // [4][2][256] TMA=1
  ue8m0 *const SFB_s = reinterpret_cast<ue8m0 *>(smem + 133120);  // [4][4][256] TMA=1
  // [128][32] TMA_STORE=1: a row of atoms on its way to C
  float *const C_s = reinterpret_cast<float *>(smem + 137216);
  // [1] ATOM_KIND=tcgen05_m128n256k32_mxf8e5m2: the sums of a tile are whole
  unsigned long long *const acc_full = reinterpret_cast<unsigned long long *>(smem + 153600);
  // [1] ATOM_KIND=tcgen05_m128n256k32_mxf8e5m2: where the block's tensor memory begins
  unsigned long long *const tensor_base = reinterpret_cast<unsigned long long *>(smem + 153608);
  // [4] TMA=1: a slot's bytes have come
  unsigned long long *const full = reinterpret_cast<unsigned long long *>(smem + 153616);
  // [4] WARP_SPECIALIZE=1: every consumer warp has left a slot
  unsigned long long *const empty = reinterpret_cast<unsigned long long *>(smem + 153648);
  // [1] WARP_SPECIALIZE=1: the sums of a tile have been read
  unsigned long long *const acc_empty = reinterpret_cast<unsigned long long *>(smem + 153680);

  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const int m_c = blockIdx.x % 2;  // CLUSTER 0..2, CLUSTER_M=2
  const int lane = threadIdx.x;    // THREAD 0..128, ATOM_KIND=tcgen05_m128n256k32_mxf8e5m2

  // where this thread begins
  float *const C_s_at = C_s + lane * 32;

  float acc[32];  // ATOM_KIND=tcgen05_m128n256k32_mxf8e5m2: this thread's cells of C

  // TMA=1: a phase of full ends when a slab's bytes have come
  if (warp == 0 && elect_one()) {
    #pragma unroll
    for (int i = 0; i < 4; ++i)
      mbarrier_init(full, i, 1);
    #pragma unroll
    for (int i = 0; i < 4; ++i)
      mbarrier_init(empty, i, 1);
    mbarrier_init(acc_empty, 0, 8);
    mbarrier_init(acc_full, 0, 1);

    // ATOM_KIND=tcgen05_m128n256k32_mxf8e5m2: they are initialised for the cluster, and for what
    // arrives in the background
    fence_mbarrier_init();
  }

  if (warp == 0)
    tensor_alloc_pair<512>(tensor_base);

  // ATOM_KIND=tcgen05_m128n256k32_mxf8e5m2: tensor memory is there
  cluster_barrier();
  const unsigned tensor_begin = static_cast<unsigned>(*tensor_base);

  // WARP_SPECIALIZE=1: the producer only fetches
  if (warp == 5) {
    if (elect_one()) {
      for (int t = blockIdx.x / 2; t < 256; t += gridDim.x / 2) {  // PERSISTENT=1
        const int m_b = t / 128 * 8 + t % 8;
        const int n_b = t % 128 / 8;

        for (int k_o = 0; k_o < 32; ++k_o) {  // WARP_SPECIALIZE=1
          // WARP_SPECIALIZE=1: every consumer has left the slot
          mbarrier_wait(empty, k_o % 4, (k_o / 4 + 1) % 2);

          // CTA_GROUP=2: the bytes of both CTAs count here
          if (m_c == 0)
            mbarrier_expect(full, k_o % 4, 68608);

          // TMA=1: ask for the slab of A
          tma_pair(A_s, k_o % 4 * 16384, &A_map, k_o * 128, m_b * 256 + m_c * 128, full, k_o % 4);

          // TMA=1: ask for the slab of B
          tma_pair(B_s, k_o % 4 * 16384, &B_map, k_o * 128, n_b * 256 + m_c * 128, full, k_o % 4);

          tma_pair(SFA_s, k_o % 4 * 512, &SFA_map, 0, k_o * 2, m_b * 2 + m_c, full, k_o % 4);
          #pragma unroll
          for (int t_b = 0; t_b < 2; ++t_b)
            tma_pair(SFB_s, k_o % 4 * 1024 + t_b * 2 * 256, &SFB_map, 0, k_o * 2, n_b * 2 + t_b,
                full, k_o % 4);
        }
      }
    }
  }

  // WARP_SPECIALIZE=1: the consumers only ask for products
  if (warp == 4) {
    // WARP_SPECIALIZE=1: one thread waits for slabs and asks for their products
    if (elect_one()) {
      // CTA_GROUP=2: one thread of the pair asks for the products of both
      if (m_c == 0) {
        for (int t = blockIdx.x / 2; t < 256; t += gridDim.x / 2) {  // PERSISTENT=1
          const int turn = t / (gridDim.x / 2);

          // WARP_SPECIALIZE=1: the sums have been read
          mbarrier_wait(acc_empty, 0, (turn + 1) % 2);
          tcgen05_after();

          for (int k_o = 0; k_o < 32; ++k_o) {  // BK=4
            // WARP_SPECIALIZE=1: the slab's bytes are there
            mbarrier_wait(full, k_o % 4, k_o / 4 % 2);

            // ATOM_KIND=tcgen05_m128n256k32_mxf8e5m2: factors are there before the products that
            // are asked for behind them
            tcgen05_cp_pair(tensor_at(tensor_begin, 0, k_o % 4 * 4 + 256),
                tile_of(SFA_s, k_o % 4 * 512, 0x400800200000ull));

            // ATOM_KIND=tcgen05_m128n256k32_mxf8e5m2: copy the factors of B to tensor memory
            tcgen05_cp_pair(tensor_at(tensor_begin, 0, k_o % 4 * 8 + 272),
                tile_of(SFB_s, k_o % 4 * 1024, 0x400800200000ull));
            tcgen05_cp_pair(tensor_at(tensor_begin, 0, k_o % 4 * 8 + 276),
                tile_of(SFB_s, k_o % 4 * 1024 + 2 * 256, 0x400800200000ull));

            #pragma unroll
            for (int k_i = 0; k_i < 4; ++k_i) {  // BK=4
              // ATOM_KIND=tcgen05_m128n256k32_mxf8e5m2: ask the tensor core for the tile of A times
              // that of B
              tcgen05_mma_pair_mxf8f6f4(tensor_at(tensor_begin, 0, 0),
                  tile_of(A_s, k_o % 4 * 16384 + k_i * 32, 0x4000404000010000ull),
                  tile_of(B_s, k_o % 4 * 16384 + k_i * 32, 0x4000404000010000ull),
                  0x10c00480u | (k_i) << 29 | (k_i) << 4,
                  tensor_at(tensor_begin, 0, k_o % 4 * 4 + 256),
                  tensor_at(tensor_begin, 0, k_o % 4 * 8 + 272), 0 < k_o + k_i);
            }

            tcgen05_commit_pair(empty, k_o % 4, 3);
          }

          tcgen05_commit_pair(acc_full, 0, 3);
        }
      }
    }
  }

  // WARP_SPECIALIZE=1: these warps only read sums and write C
  if (warp < 4) {
    for (int t = blockIdx.x / 2; t < 256; t += gridDim.x / 2) {  // PERSISTENT=1
      const int turn = t / (gridDim.x / 2);
      const int m_b = t / 128 * 8 + t % 8;
      const int n_b = t % 128 / 8;

      // WARP_SPECIALIZE=1: the sums are whole
      mbarrier_wait(acc_full, 0, turn % 2);
      tcgen05_after();
      #pragma unroll
      for (int n_p = 0; n_p < 8; ++n_p) {
        tcgen05_ld_x32(&acc[0], tensor_at(tensor_begin, lane, n_p * 32));
        tcgen05_wait_ld();

        // WARP_SPECIALIZE=1: all sums of the tile are in registers: the next tile may overwrite
        // them
        if (n_p == 7) {
          tcgen05_before();

          // WARP_SPECIALIZE=1: the warp has read its part of the sums
          mbarrier_arrive_at(acc_empty, 0, 1);
        }

        // TMA_STORE=1: the slot has been read out
        if (warp % 4 == 0 && elect_one())
          bulk_read<0>();

        // TMA_STORE=1: the slot may be written
        barrier_of<128>(2);

        // TMA_STORE=1: put a row of atoms into shared memory
        #pragma unroll
        for (int v_p = 0; v_p < 8; ++v_p)
          store4(&C_s_at[(v_p * 4) ^ (lane % 8 * 4)], &acc[v_p * 4]);

        // TMA_STORE=1: what was written comes before what the copies read
        fence_async();

        // TMA_STORE=1: the piece lies in C_s
        barrier_of<128>(2);

        // TMA_STORE=1: one lane sends the piece
        if (warp % 4 == 0 && elect_one()) {
          // TMA_STORE=1: send the piece to C
          tma_store(&C_map, n_b * 256 + n_p * 32, m_b * 256 + m_c * 128, C_s, 0);
          bulk_commit();
        }
      }
    }

    // TMA_STORE=1: no box is left
    if (warp % 4 == 0 && elect_one())
      bulk_wait<0>();
  }

  // WARP_SPECIALIZE=1: the sums are read
  cluster_barrier();

  if (warp == 0)
    tensor_free_pair<512>(tensor_begin);
}
