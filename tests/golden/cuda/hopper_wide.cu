// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], bf16 summed in f32, row-major
// AUTO=0,ATOM_KIND=wgmma_m64n256k16_bf16,WM=2,FM=2,ATOM_N=192,BK=4,STAGE=11,TMA=1,SWIZZLE=3,BUFFER_COUNT=3,WARP_SPECIALIZE=1,GROUP_M=8,PERSISTENT=1,MMA_GROUPS=1,CLUSTER_N=2,MULTICAST=1,EPILOGUE=1,TMA_STORE=1,STMATRIX=1,TILE_ORDER=gpc,SERPENTINE_K=1,EPI_BUFFERS=2
// for sm_90a (H200 SXM)
//
//   matmul<<<min(352, blocks that fit), 384, 204856>>>(A_map, B_map, C_map, places, claims, epoch, lists)   204856 bytes of shared memory

// A bfloat16 (1 sign, 8 exponent, 7 fraction bits) as it lies in memory.
struct bf16 {
  unsigned short bits;
};

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

// The same to each block of the cluster in the mask, where its bytes count at bars[i].
__device__ __forceinline__ void tma_multicast(bf16 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i, int mask) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes.multicast::cluster"
               " [%0], [%1, {%2, %3}], [%4], %5;"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar),
               "h"(static_cast<unsigned short>(mask)) : "memory");
}

// The map's box, from element `at` of the slab on, goes to the matrix from this column and row on.
__device__ __forceinline__ void tma_store(const tensor_map *map, int column, int row,
    bf16 *slab, int at) {
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

// A list of tiles for the cluster of n blocks, which no other has in this launch: that of its SM,
// or the next one that is free. Lists from `lists` on have no tiles.
template <int n, bool indivisible>
__device__ __forceinline__ void claim_list(unsigned long long *word, int none,
                                           const int *places, unsigned *claims,
                                           unsigned epoch, int lists) {
  const int clusters = gridDim.x / n;
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  int list = places[sm % 1024] % clusters, tried = 0;
  for (; tried < clusters; ++tried) {
    const unsigned before = indivisible ? atomicMax(&claims[list], epoch) : claims[list];
    if (!indivisible && before < epoch) claims[list] = epoch;
    if (before < epoch) break;
    list = list + 1 == clusters ? 0 : list + 1;
  }
  *word = tried < clusters && list < lists ? list : none;
}
// What the block of rank 0 has claimed.
template <int n>
__device__ __forceinline__ int claimed_list(const unsigned long long *word) {
  if (n == 1) return static_cast<int>(*word);
  unsigned long long list;
  asm volatile("{ .reg .b32 there;\n"
               "mapa.shared::cluster.u32 there, %1, 0;\n"
               "ld.shared::cluster.u64 %0, [there]; }"
               : "=l"(list)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(word)))
               : "memory");
  return static_cast<int>(list);
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

// Four matrices of eight 16-byte rows: lane l says where row l % 8 of matrix l / 8 begins.
__device__ __forceinline__ void stmatrix_x4(bf16 *slab, int at, const float *from) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  unsigned v[4];
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[0]) : "f"(from[1]), "f"(from[0]));
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[1]) : "f"(from[3]), "f"(from[2]));
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[2]) : "f"(from[5]), "f"(from[4]));
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[3]) : "f"(from[7]), "f"(from[6]));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
               :: "r"(to), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory");
}

// The descriptor of the tile that begins at slab[at]: its address beside what does not
// depend on it. In a cluster the address has the rank of the CTA above its 18 bits.
__device__ __forceinline__ unsigned long long tile_of(const bf16 *slab, int at,
    unsigned long long shape) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  return shape | (from & 0x3ffffu) >> 4;
}

// c += a * b in the background, 64 x 192 x 16, by a warpgroup; c = a * b where keep is 0.
// a and b are descriptors of tiles: PTX ISA, section 9.7.15.5.1.1.1 says which lane holds what.
// turned: M or N runs fastest, not K.
template <int a_turned, int b_turned>
__device__ __forceinline__ void wgmma_m64n192k16_f32_bf16(float *c, unsigned long long a,
    unsigned long long b, int keep) {
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %98, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13,"
      " %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27,"
      " %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41,"
      " %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55,"
      " %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69,"
      " %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83,"
      " %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, "
      "%96, %97, keep, 1, 1, %99, %100;\n}"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]),
        "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]),
        "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]),
        "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]),
        "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]),
        "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]),
        "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]),
        "+f"(c[42]), "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]),
        "+f"(c[48]), "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]),
        "+f"(c[54]), "+f"(c[55]), "+f"(c[56]), "+f"(c[57]), "+f"(c[58]), "+f"(c[59]),
        "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63]), "+f"(c[64]), "+f"(c[65]),
        "+f"(c[66]), "+f"(c[67]), "+f"(c[68]), "+f"(c[69]), "+f"(c[70]), "+f"(c[71]),
        "+f"(c[72]), "+f"(c[73]), "+f"(c[74]), "+f"(c[75]), "+f"(c[76]), "+f"(c[77]),
        "+f"(c[78]), "+f"(c[79]), "+f"(c[80]), "+f"(c[81]), "+f"(c[82]), "+f"(c[83]),
        "+f"(c[84]), "+f"(c[85]), "+f"(c[86]), "+f"(c[87]), "+f"(c[88]), "+f"(c[89]),
        "+f"(c[90]), "+f"(c[91]), "+f"(c[92]), "+f"(c[93]), "+f"(c[94]), "+f"(c[95])
      : "l"(a), "l"(b), "r"(keep), "n"(a_turned), "n"(b_turned)
      : "memory");
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)
matmul(const __grid_constant__ tensor_map A_map, const __grid_constant__ tensor_map B_map,
    const __grid_constant__ tensor_map C_map, const int *places, unsigned *claims, unsigned epoch,
    int lists) {
  extern __shared__ __align__(1024) bf16 smem[];  // 102428: 204856 bytes
  bf16 *const A_s = smem;          // [3][256][64] BUFFER_COUNT=3: the slab of A
  bf16 *const B_s = smem + 49152;  // [3][3][64][64] BUFFER_COUNT=3: the slab of B
  bf16 *const C_s = smem + 86016;  // [2][2][64][64] TMA_STORE=1: a row of atoms on its way to C
  // [3] TMA=1: a slot's bytes have come
  unsigned long long *const full = reinterpret_cast<unsigned long long *>(smem + 102400);
  // [3] WARP_SPECIALIZE=1: every consumer warp has left a slot
  unsigned long long *const empty = reinterpret_cast<unsigned long long *>(smem + 102412);
  // [1] TILE_ORDER=gpc: the list of tiles that the cluster has claimed
  unsigned long long *const list = reinterpret_cast<unsigned long long *>(smem + 102424);

  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const int n_c = blockIdx.x % 2;      // CLUSTER 0..2, CLUSTER_N=2
  const int m_w = threadIdx.x / 128;   // WARP 0..2, WM=2
  const int lane = threadIdx.x % 128;  // THREAD 0..128, ATOM_KIND=wgmma_m64n256k16_bf16

  // where this thread begins
  bf16 *const A_s_at = A_s + n_c * 128 * 64;
  bf16 *const A_s_at2 = A_s + m_w * 128 * 64;
  bf16 *const C_s_at = C_s + m_w * 4096 + (lane % 8 + lane / 32 * 16 + lane / 8 % 2 * 8) * 64;
  bf16 *const C_s_at2 = C_s + m_w * 4096;

  float acc[2][96];  // ATOM_KIND=wgmma_m64n256k16_bf16: this thread's cells of C

  // TMA=1: a phase of full ends when a slab's bytes have come
  if (warp == 0 && elect_one()) {
    #pragma unroll
    for (int i = 0; i < 3; ++i)
      mbarrier_init(full, i, 1);
    #pragma unroll
    for (int i = 0; i < 3; ++i)
      mbarrier_init(empty, i, 16);

    // TMA=1: they are initialised for the cluster, and for what arrives in the background
    fence_mbarrier_init();

    if (n_c == 0) {
      // TILE_ORDER=gpc: the list that is meant for this place, or the next one that is free
      claim_list<2, true>(list, 176, places, claims, epoch, lists);
    }
  }

  // MULTICAST=1: the mbarriers of all blocks are there
  cluster_barrier();

  // WARP_SPECIALIZE=1: the producer only fetches
  if (8 <= warp) {
    registers_give<40>();

    if (warp == 8 && elect_one()) {
      for (int t = claimed_list<2>(list); t < 176; t += lists) {  // PERSISTENT=1
        const int turn = t / lists;
        const int down = turn % 2;
        const int m_b = t / 88 * 8 + t % 8;
        const int n_b = t % 88 / 8;

        // of the ring, counted along
        int slot = turn * 64 % 3, empty_phase = (turn * 64 / 3 + 1) % 2;
        for (int k_o = 0; k_o < 64; ++k_o) {  // WARP_SPECIALIZE=1
          // WARP_SPECIALIZE=1: every consumer has left the slot
          mbarrier_wait(empty, slot, empty_phase);

          mbarrier_expect(full, slot, 57344);

          // MULTICAST=1: a share of the slab, for all who need it
          tma_multicast(A_s_at, slot * 16384, &A_map, (down ? 63 - k_o : k_o) * 64,
              m_b * 256 + n_c * 128, full, slot, 3);

          // TMA=1: ask for the slab of B
          #pragma unroll
          for (int p_b = 0; p_b < 3; ++p_b)
            tma_load(B_s, slot * 12288 + p_b * 4096, &B_map, n_b * 384 + n_c * 192 + p_b * 64,
                (down ? 63 - k_o : k_o) * 64, full, slot);

          if (++slot == 3) {
            slot = 0;
            empty_phase ^= 1;
          }
        }
      }
    }
  }

  // WARP_SPECIALIZE=1: the consumers only multiply
  else {
    registers_take<232>();

    for (int t = claimed_list<2>(list); t < 176; t += lists) {  // PERSISTENT=1
      const int turn = t / lists;
      const int m_b = t / 88 * 8 + t % 8;
      const int n_b = t % 88 / 8;

      int slot = turn * 64 % 3, full_phase = turn * 64 / 3 % 2;  // of the ring, counted along
      for (int k_o = 0; k_o < 64; ++k_o) {  // BK=4
        // TMA=1: the slab's bytes are there
        mbarrier_wait(full, slot, full_phase);
        wgmma_fence();

        #pragma unroll
        for (int k_i = 0; k_i < 4; ++k_i) {  // BK=4
          // FM=2: ask the tensor core for each tile of A times each of B
          #pragma unroll
          for (int m_r = 0; m_r < 2; ++m_r)
            wgmma_m64n192k16_f32_bf16<0,
                1>(&acc[m_r][0],
                tile_of(A_s_at2, slot * 16384 + m_r * 64 * 64 + k_i * 16, 0x4000004000010000ull),
                tile_of(B_s, slot * 12288 + k_i * 16 * 64, 0x4000004002000000ull), 0 < k_o + k_i);
        }

        wgmma_commit();
        wgmma_wait<1>();

        // MMA_GROUPS=1: the slab before is multiplied: its slot is free
        if (0 < k_o) {

          // MULTICAST=1: the warp has read the slot to the end
          mbarrier_arrive_at(empty, (slot == 0 ? 2 : slot - 1), 3);
        }

        if (++slot == 3) {
          slot = 0;
          full_phase ^= 1;
        }
      }

      // MMA_GROUPS=1: the sums are complete
      wgmma_wait<0>();

      // MULTICAST=1: the warp has read the slot to the end
      mbarrier_arrive_at(empty, turn * 64 % 3, 3);

      #pragma unroll
      for (int m_r = 0; m_r < 2; ++m_r) {
        #pragma unroll
        for (int n_p = 0; n_p < 3; ++n_p) {
          // TMA_STORE=1: the slot has been read out
          if (warp % 4 == 0 && elect_one())
            bulk_read<1>();

          // TMA_STORE=1: the slot may be written
          barrier_of<128>(m_w + 2);

          // STMATRIX=1: put the sums into shared memory, eight rows at a time
          #pragma unroll
          for (int n_q = 0; n_q < 4; ++n_q)
            stmatrix_x4(C_s_at,
                (m_r * 3 + n_p) % 2 * 8192 + ((n_q * 16 + lane / 16 % 2 * 8) ^ (lane % 8 * 8)),
                &acc[m_r][n_p * 32 + n_q * 8]);

          // TMA_STORE=1: what was written comes before what the copies read
          fence_async();

          // TMA_STORE=1: the piece lies in C_s
          barrier_of<128>(m_w + 2);

          // TMA_STORE=1: one lane sends the piece
          if (warp % 4 == 0 && elect_one()) {
            // TMA_STORE=1: send the piece to C
            tma_store(&C_map, n_b * 384 + n_c * 192 + n_p * 64, m_b * 256 + m_w * 128 + m_r * 64,
                C_s_at2, (m_r * 3 + n_p) % 2 * 8192);
            bulk_commit();
          }
        }
      }
    }

    // TMA_STORE=1: no box is left
    if (warp % 4 == 0 && elect_one())
      bulk_wait<0>();
  }

  // MULTICAST=1: no block ends while others arrive at its mbarriers
  cluster_barrier();
}
