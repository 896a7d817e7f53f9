// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], f32, row-major
// AUTO=0,SPLIT_F32=3xbf16,ATOM_KIND=wgmma_m64n256k16_bf16,WM=2,ATOM_N=256,BK=4,STAGE=11,TMA=1,SWIZZLE=3,BUFFER_COUNT=4,WARP_SPECIALIZE=1,PERSISTENT=1,MMA_GROUPS=1,CLUSTER_M=2,MULTICAST=1,EPILOGUE=1,TMA_STORE=1,TILE_ORDER=gpc,GROUP_N=8
// for sm_90a (H200 SXM)
//
//   split_a<<<16384, 256>>>(A, A_parts)
//   split_b<<<16384, 256>>>(B, B_parts)
//   matmul<<<min(512, blocks that fit), 384, 213064>>>(C_map, A_parts_map, B_parts_map, places, claims, epoch, lists)   213064 bytes of shared memory
//   workspace: 134217728 bytes

constexpr int M = 4096, N = 4096;
__constant__ const int table_0[] = {1, 0, 0};
__constant__ const int table_1[] = {0, 1, 0};

// A bfloat16 (1 sign, 8 exponent, 7 fraction bits) as it lies in memory.
struct bf16 {
  unsigned short bits;
};

__device__ __forceinline__ void load4(float *to, const float *from) {
  const float4 v = *reinterpret_cast<const float4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void store2(float *to, const float *from) {
  *reinterpret_cast<float2 *>(to) = float2{from[0], from[1]};
}

__device__ __forceinline__ void store4(bf16 *to, const unsigned *from) {
  *reinterpret_cast<uint2 *>(to) = uint2{from[0], from[1]};
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

// The descriptor of the tile that begins at slab[at]: its address beside what does not
// depend on it. In a cluster the address has the rank of the CTA above its 18 bits.
__device__ __forceinline__ unsigned long long tile_of(const bf16 *slab, int at,
    unsigned long long shape) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  return shape | (from & 0x3ffffu) >> 4;
}

// c += a * b in the background, 64 x 256 x 16, by a warpgroup; c = a * b where keep is 0.
// a and b are descriptors of tiles: PTX ISA, section 9.7.15.5.1.1.1 says which lane holds what.
// turned: M or N runs fastest, not K.
template <int a_turned, int b_turned>
__device__ __forceinline__ void wgmma_m64n256k16_f32_bf16(float *c, unsigned long long a,
    unsigned long long b, int keep) {
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13,"
      " %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27,"
      " %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41,"
      " %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55,"
      " %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69,"
      " %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83,"
      " %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97,"
      " %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111,"
      " %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125,"
      " %126, %127}, "
      "%128, %129, keep, 1, 1, %131, %132;\n}"
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
        "+f"(c[90]), "+f"(c[91]), "+f"(c[92]), "+f"(c[93]), "+f"(c[94]), "+f"(c[95]),
        "+f"(c[96]), "+f"(c[97]), "+f"(c[98]), "+f"(c[99]), "+f"(c[100]), "+f"(c[101]),
        "+f"(c[102]), "+f"(c[103]), "+f"(c[104]), "+f"(c[105]), "+f"(c[106]), "+f"(c[107]),
        "+f"(c[108]), "+f"(c[109]), "+f"(c[110]), "+f"(c[111]), "+f"(c[112]), "+f"(c[113]),
        "+f"(c[114]), "+f"(c[115]), "+f"(c[116]), "+f"(c[117]), "+f"(c[118]), "+f"(c[119]),
        "+f"(c[120]), "+f"(c[121]), "+f"(c[122]), "+f"(c[123]), "+f"(c[124]), "+f"(c[125]),
        "+f"(c[126]), "+f"(c[127])
      : "l"(a), "l"(b), "r"(keep), "n"(a_turned), "n"(b_turned)
      : "memory");
}

__device__ __forceinline__ float to_float(bf16 from) {
  return __uint_as_float(static_cast<unsigned>(from.bits) << 16);
}

__device__ __forceinline__ bf16 to_bf16(float from) {
  bf16 to;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to.bits) : "f"(from));
  return to;
}

// Value i of a register that holds 2.
__device__ __forceinline__ bf16 extract_bf16(unsigned from, int i) {
  return bf16{static_cast<unsigned short>(from >> 16 * i)};
}

// Value i of a register that holds 2; the others stay.
__device__ __forceinline__ void insert_bf16(unsigned *to, int i, bf16 value) {
  const unsigned bits = value.bits;
  *to = (*to & ~(0xffffu << 16 * i)) | bits << 16 * i;
}

// SPLIT_F32=3xbf16
extern "C" __global__ void __launch_bounds__(256)
split_a(const float *__restrict__ A, bf16 *__restrict__ A_parts) {
  const int f_b = blockIdx.x;   // BLOCK 0..16384, SPLIT_F32=3xbf16
  const int f_t = threadIdx.x;  // THREAD 0..256, SPLIT_F32=3xbf16

  unsigned part_a[2];  // SPLIT_F32=3xbf16
  float x_a[4];        // SPLIT_F32=3xbf16

  load4(&x_a[0], &A[f_b / 4 * 4096 + (f_b * 256 + f_t) % 1024 * 4]);
  #pragma unroll
  for (int e = 0; e < 4; ++e)
    insert_bf16(&part_a[e / 2], e % 2, to_bf16(x_a[e]));
  store4(&A_parts[f_b / 4 * 8192 + (f_b * 256 + f_t) % 1024 * 4], &part_a[0]);
  #pragma unroll
  for (int r = 0; r < 4; ++r)
    x_a[r] -= to_float(extract_bf16(part_a[r / 2], r % 2));
  #pragma unroll
  for (int e = 0; e < 4; ++e)
    insert_bf16(&part_a[e / 2], e % 2, to_bf16(x_a[e]));
  store4(&A_parts[f_b / 4 * 8192 + (f_b * 256 + f_t) % 1024 * 4 + 4096], &part_a[0]);
}

// SPLIT_F32=3xbf16
extern "C" __global__ void __launch_bounds__(256)
split_b(const float *__restrict__ B, bf16 *__restrict__ B_parts) {
  const int f_b = blockIdx.x;   // BLOCK 0..16384, SPLIT_F32=3xbf16
  const int f_t = threadIdx.x;  // THREAD 0..256, SPLIT_F32=3xbf16

  unsigned part_b[2];  // SPLIT_F32=3xbf16
  float x_b[4];        // SPLIT_F32=3xbf16

  load4(&x_b[0], &B[f_b / 4 * N + (f_b * 256 + f_t) % 1024 * 4]);
  #pragma unroll
  for (int e = 0; e < 4; ++e)
    insert_bf16(&part_b[e / 2], e % 2, to_bf16(x_b[e]));
  store4(&B_parts[f_b / 4 * M + (f_b * 256 + f_t) % 1024 * 4], &part_b[0]);
  #pragma unroll
  for (int r = 0; r < 4; ++r)
    x_b[r] -= to_float(extract_bf16(part_b[r / 2], r % 2));
  #pragma unroll
  for (int e = 0; e < 4; ++e)
    insert_bf16(&part_b[e / 2], e % 2, to_bf16(x_b[e]));
  store4(&B_parts[(f_b / 4 + 4096) * M + (f_b * 256 + f_t) % 1024 * 4], &part_b[0]);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)
matmul(const __grid_constant__ tensor_map C_map, const __grid_constant__ tensor_map A_parts_map,
    const __grid_constant__ tensor_map B_parts_map, const int *places, unsigned *claims,
    unsigned epoch, int lists) {
  extern __shared__ __align__(1024) unsigned char smem[];  // 213064: 213064 bytes
  // [4][128][64] BUFFER_COUNT=4: the slab of A_parts
  bf16 *const A_parts_s = reinterpret_cast<bf16 *>(smem);
  // [4][4][64][64] BUFFER_COUNT=4: the slab of B_parts
  bf16 *const B_parts_s = reinterpret_cast<bf16 *>(smem + 65536);
  // [2][64][32] TMA_STORE=1: a row of atoms on its way to C
  float *const C_s = reinterpret_cast<float *>(smem + 196608);
  // [4] TMA=1: a slot's bytes have come
  unsigned long long *const full = reinterpret_cast<unsigned long long *>(smem + 212992);
  // [4] WARP_SPECIALIZE=1: every consumer warp has left a slot
  unsigned long long *const empty = reinterpret_cast<unsigned long long *>(smem + 213024);
  // [1] TILE_ORDER=gpc: the list of tiles that the cluster has claimed
  unsigned long long *const list = reinterpret_cast<unsigned long long *>(smem + 213056);

  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const int m_c = blockIdx.x % 2;      // CLUSTER 0..2, CLUSTER_M=2
  const int m_w = threadIdx.x / 128;   // WARP 0..2, WM=2
  const int lane = threadIdx.x % 128;  // THREAD 0..128, ATOM_KIND=wgmma_m64n256k16_bf16

  // where this thread begins
  bf16 *const B_parts_s_at = B_parts_s + m_c * 2 * 4096;
  bf16 *const A_parts_s_at = A_parts_s + m_w * 64 * 64;
  float *const C_s_at = C_s + m_w * 2048 + (lane / 4 % 8 + lane / 32 * 16) * 32;

  float acc[128];  // ATOM_KIND=wgmma_m64n256k16_bf16: this thread's cells of C

  // TMA=1: a phase of full ends when a slab's bytes have come
  if (warp == 0 && elect_one()) {
    #pragma unroll
    for (int i = 0; i < 4; ++i)
      mbarrier_init(full, i, 1);
    #pragma unroll
    for (int i = 0; i < 4; ++i)
      mbarrier_init(empty, i, 16);

    // TMA=1: they are initialised for the cluster, and for what arrives in the background
    fence_mbarrier_init();

    if (m_c == 0) {
      // TILE_ORDER=gpc: the list that is meant for this place, or the next one that is free
      claim_list<2, true>(list, 256, places, claims, epoch, lists);
    }
  }

  // MULTICAST=1: the mbarriers of all blocks are there
  cluster_barrier();

  // WARP_SPECIALIZE=1: the producer only fetches
  if (8 <= warp) {
    registers_give<40>();

    if (warp == 8 && elect_one()) {
      for (int t = claimed_list<2>(list); t < 256; t += lists) {  // PERSISTENT=1
        const int m_b = t % 128 / 8;
        const int n_b = t / 128 * 8 + t % 8;

        for (int k_o = 0; k_o < 192; ++k_o) {  // WARP_SPECIALIZE=1
          // WARP_SPECIALIZE=1: every consumer has left the slot
          mbarrier_wait(empty, k_o % 4, (k_o / 4 + 1) % 2);

          mbarrier_expect(full, k_o % 4, 49152);

          // TMA=1: ask for the slab of A_parts
          tma_load(A_parts_s, k_o % 4 * 8192, &A_parts_map,
              table_0[k_o / 64] * 4096 + k_o % 64 * 64, m_b * 256 + m_c * 128, full, k_o % 4);

          // TMA=1: ask for the slab of B_parts
          #pragma unroll
          for (int p_b = 0; p_b < 2; ++p_b) {
            // MULTICAST=1: a share of the slab, for all who need it
            tma_multicast(B_parts_s_at, k_o % 4 * 16384 + p_b * 4096, &B_parts_map,
                n_b * 256 + m_c * 128 + p_b * 64, table_1[k_o / 64] * 4096 + k_o % 64 * 64, full,
                k_o % 4, 3);
          }
        }
      }
    }
  }

  // WARP_SPECIALIZE=1: the consumers only multiply
  else {
    registers_take<232>();

    for (int t = claimed_list<2>(list); t < 256; t += lists) {  // PERSISTENT=1
      const int m_b = t % 128 / 8;
      const int n_b = t / 128 * 8 + t % 8;

      for (int k_o = 0; k_o < 192; ++k_o) {  // BK=4
        // TMA=1: the slab's bytes are there
        mbarrier_wait(full, k_o % 4, k_o / 4 % 2);
        wgmma_fence();

        #pragma unroll
        for (int k_i = 0; k_i < 4; ++k_i) {  // BK=4
          // ATOM_KIND=wgmma_m64n256k16_bf16: ask the tensor core for each tile of A_parts times
          // each of B_parts
          wgmma_m64n256k16_f32_bf16<0,
              1>(&acc[0], tile_of(A_parts_s_at, k_o % 4 * 8192 + k_i * 16, 0x4000004000010000ull),
              tile_of(B_parts_s, k_o % 4 * 16384 + k_i * 16 * 64, 0x4000004002000000ull),
              0 < k_o + k_i);
        }

        wgmma_commit();
        wgmma_wait<1>();

        // MMA_GROUPS=1: the slab before is multiplied: its slot is free
        if (0 < k_o) {
          const int k_p = k_o + -1;

          // MULTICAST=1: the warp has read the slot to the end
          mbarrier_arrive_at(empty, k_p % 4, 3);
        }
      }

      // MMA_GROUPS=1: the sums are complete
      wgmma_wait<0>();

      // MULTICAST=1: the warp has read the slot to the end
      mbarrier_arrive_at(empty, 3, 3);

      #pragma unroll
      for (int n_p = 0; n_p < 8; ++n_p) {
        // TMA_STORE=1: the slot has been read out
        if (warp % 4 == 0 && elect_one())
          bulk_read<0>();

        // TMA_STORE=1: the slot may be written
        barrier_of<128>(m_w + 2);

        // TMA_STORE=1: put a row of atoms into shared memory
        #pragma unroll
        for (int v_p = 0; v_p < 8; ++v_p)
          store2(&C_s_at[v_p % 2 * 8 * 32 + ((lane % 4 * 2 + v_p / 2 * 8) ^ (lane / 4 % 8 * 4))],
              &acc[n_p * 16 + v_p * 2]);

        // TMA_STORE=1: what was written comes before what the copies read
        fence_async();

        // TMA_STORE=1: the piece lies in C_s
        barrier_of<128>(m_w + 2);

        // TMA_STORE=1: one lane sends the piece
        if (warp % 4 == 0 && elect_one()) {
          // TMA_STORE=1: send the piece to C
          tma_store(&C_map, n_b * 256 + n_p * 32, m_b * 256 + m_c * 128 + m_w * 64, C_s,
              m_w * 2048);
          bulk_commit();
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
