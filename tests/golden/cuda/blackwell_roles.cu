// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f16 summed in f32, B column-major, A and C row-major
// AUTO=0,ATOM_KIND=tcgen05_m128n256k16_f16,TARGET=b200,B_COL=1,ATOM_N=128,BK=4,STAGE=11,SWIZZLE=3,TMA=1,BUFFER_COUNT=2,GROUP_M=8,PERSISTENT=1,WARP_SPECIALIZE=1,EPILOGUE=1,TMA_STORE=1,TENSOR_COLUMNS=512
// for sm_100a (B200 SXM (HGX))
//
//   matmul<<<min(1024, blocks that fit), 192, 73784>>>(A_map, B_map, C_map)   73784 bytes of shared memory

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

// The map's box, from element `at` of the slab on, goes to the matrix from this column and row on.
__device__ __forceinline__ void tma_store(const tensor_map *map, int column, int row,
    f16 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
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

// What is done to it from now on comes after what was waited for.
__device__ __forceinline__ void tcgen05_after() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// What was done to tensor memory comes before whom this thread tells.
__device__ __forceinline__ void tcgen05_before() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
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

extern "C" __global__ void __launch_bounds__(192)
matmul(const __grid_constant__ tensor_map A_map, const __grid_constant__ tensor_map B_map,
    const __grid_constant__ tensor_map C_map) {
  extern __shared__ __align__(1024) f16 smem[];  // 36892: 73784 bytes
  f16 *const A_s = smem;          // [2][128][64] BUFFER_COUNT=2: the slab of A
  f16 *const B_s = smem + 16384;  // [2][128][64] BUFFER_COUNT=2: the slab of B
  f16 *const C_s = smem + 32768;  // [128][32] TMA_STORE=1: a row of atoms on its way to C
  // [1] ATOM_KIND=tcgen05_m128n256k16_f16: the sums of a tile are whole
  unsigned long long *const acc_full = reinterpret_cast<unsigned long long *>(smem + 36864);
  // [1] ATOM_KIND=tcgen05_m128n256k16_f16: where the block's tensor memory begins
  unsigned long long *const tensor_base = reinterpret_cast<unsigned long long *>(smem + 36868);
  // [2] TMA=1: a slot's bytes have come
  unsigned long long *const full = reinterpret_cast<unsigned long long *>(smem + 36872);
  // [2] WARP_SPECIALIZE=1: every consumer warp has left a slot
  unsigned long long *const empty = reinterpret_cast<unsigned long long *>(smem + 36880);
  // [1] WARP_SPECIALIZE=1: the sums of a tile have been read
  unsigned long long *const acc_empty = reinterpret_cast<unsigned long long *>(smem + 36888);

  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const int lane = threadIdx.x;  // THREAD 0..128, ATOM_KIND=tcgen05_m128n256k16_f16

  // where this thread begins
  f16 *const C_s_at = C_s + lane * 32;

  float acc[32];  // ATOM_KIND=tcgen05_m128n256k16_f16: this thread's cells of C

  // TMA=1: a phase of full ends when a slab's bytes have come
  if (warp == 0 && elect_one()) {
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      mbarrier_init(full, i, 1);
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      mbarrier_init(empty, i, 1);
    mbarrier_init(acc_empty, 0, 4);
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

  // WARP_SPECIALIZE=1: the producer only fetches
  if (warp == 5) {
    if (elect_one()) {
      for (int t = blockIdx.x; t < 1024; t += gridDim.x) {  // PERSISTENT=1
        const int m_b = t / 256 * 8 + t % 8;
        const int n_b = t % 256 / 8;

        for (int k_o = 0; k_o < 64; ++k_o) {  // WARP_SPECIALIZE=1
          // WARP_SPECIALIZE=1: every consumer has left the slot
          mbarrier_wait(empty, k_o % 2, (k_o / 2 + 1) % 2);

          mbarrier_expect(full, k_o % 2, 32768);

          // TMA=1: ask for the slab of A
          tma_load(A_s, k_o % 2 * 8192, &A_map, k_o * 64, m_b * 128, full, k_o % 2);

          // TMA=1: ask for the slab of B
          tma_load(B_s, k_o % 2 * 8192, &B_map, k_o * 64, n_b * 128, full, k_o % 2);
        }
      }
    }
  }

  // WARP_SPECIALIZE=1: the consumers only ask for products
  if (warp == 4) {
    // WARP_SPECIALIZE=1: one thread waits for slabs and asks for their products
    if (elect_one()) {
      for (int t = blockIdx.x; t < 1024; t += gridDim.x) {  // PERSISTENT=1
        const int turn = t / gridDim.x;

        // WARP_SPECIALIZE=1: the sums have been read
        mbarrier_wait(acc_empty, 0, (turn + 1) % 2);
        tcgen05_after();

        for (int k_o = 0; k_o < 64; ++k_o) {  // BK=4
          // WARP_SPECIALIZE=1: the slab's bytes are there
          mbarrier_wait(full, k_o % 2, k_o / 2 % 2);

          #pragma unroll
          for (int k_i = 0; k_i < 4; ++k_i) {  // BK=4
            // ATOM_KIND=tcgen05_m128n256k16_f16: ask the tensor core for the tile of A times that
            // of B
            tcgen05_mma_f16(tensor_at(tensor_begin, 0, 0),
                tile_of(A_s, k_o % 2 * 8192 + k_i * 16, 0x4000404000010000ull),
                tile_of(B_s, k_o % 2 * 8192 + k_i * 16, 0x4000404000010000ull), 0x08200010u,
                0 < k_o + k_i);
          }

          tcgen05_commit(empty, k_o % 2);
        }

        tcgen05_commit(acc_full, 0);
      }
    }
  }

  // WARP_SPECIALIZE=1: these warps only read sums and write C
  if (warp < 4) {
    for (int t = blockIdx.x; t < 1024; t += gridDim.x) {  // PERSISTENT=1
      const int turn = t / gridDim.x;
      const int m_b = t / 256 * 8 + t % 8;
      const int n_b = t % 256 / 8;

      // WARP_SPECIALIZE=1: the sums are whole
      mbarrier_wait(acc_full, 0, turn % 2);
      tcgen05_after();
      #pragma unroll
      for (int n_p = 0; n_p < 4; ++n_p) {
        tcgen05_ld_x32(&acc[0], tensor_at(tensor_begin, lane, n_p * 32));
        tcgen05_wait_ld();

        // WARP_SPECIALIZE=1: all sums of the tile are in registers: the next tile may overwrite
        // them
        if (n_p == 3) {
          tcgen05_before();

          // WARP_SPECIALIZE=1: the warp has read its part of the sums
          mbarrier_arrive(acc_empty, 0);
        }

        // TMA_STORE=1: the slot has been read out
        if (warp % 4 == 0 && elect_one())
          bulk_read<0>();

        // TMA_STORE=1: the slot may be written
        barrier_of<128>(2);

        // TMA_STORE=1: put a row of atoms into shared memory
        #pragma unroll
        for (int v_p = 0; v_p < 4; ++v_p)
          store8(&C_s_at[(v_p * 8) ^ (lane / 2 % 4 * 8)], &acc[v_p * 8]);

        // TMA_STORE=1: what was written comes before what the copies read
        fence_async();

        // TMA_STORE=1: the piece lies in C_s
        barrier_of<128>(2);

        // TMA_STORE=1: one lane sends the piece
        if (warp % 4 == 0 && elect_one()) {
          // TMA_STORE=1: send the piece to C
          tma_store(&C_map, n_b * 128 + n_p * 32, m_b * 128, C_s, 0);
          bulk_commit();
        }
      }
    }

    // TMA_STORE=1: no box is left
    if (warp % 4 == 0 && elect_one())
      bulk_wait<0>();
  }

  // WARP_SPECIALIZE=1: the sums are read
  __syncthreads();

  if (warp == 0)
    tensor_free<512>(tensor_begin);
}
