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

struct bf16 {…}
__device__ __forceinline__ void load4(float *to, const float *from) {…}
__device__ __forceinline__ void store2(float *to, const float *from) {…}
__device__ __forceinline__ void store4(bf16 *to, const unsigned *from) {…}
struct alignas(64) tensor_map {…}
__device__ __forceinline__ void mbarrier_init(unsigned long long *bars, int i, int arrivals) {…}
__device__ __forceinline__ void mbarrier_expect(unsigned long long *bars, int i, int bytes) {…}
__device__ __forceinline__ void mbarrier_wait(unsigned long long *bars, int i, int phase) {…}
__device__ __forceinline__ void tma_load(bf16 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {…}
__device__ __forceinline__ void tma_multicast(bf16 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i, int mask) {…}
__device__ __forceinline__ void tma_store(const tensor_map *map, int column, int row,
    float *slab, int at) {…}
__device__ __forceinline__ void barrier_of(int id) {…}
__device__ __forceinline__ void bulk_commit() {…}
__device__ __forceinline__ void bulk_read() {…}
__device__ __forceinline__ void bulk_wait() {…}
__device__ __forceinline__ void claim_list(unsigned long long *word, int none,
                                           const int *places, unsigned *claims,
                                           unsigned epoch, int lists) {…}
__device__ __forceinline__ int claimed_list(const unsigned long long *word) {…}
__device__ __forceinline__ void cluster_barrier() {…}
__device__ __forceinline__ bool elect_one() {…}
__device__ __forceinline__ void fence_async() {…}
__device__ __forceinline__ void fence_mbarrier_init() {…}
__device__ __forceinline__ void mbarrier_arrive_at(unsigned long long *bars, int i, int mask) {…}
__device__ __forceinline__ void registers_give() {…}
__device__ __forceinline__ void registers_take() {…}
__device__ __forceinline__ void wgmma_commit() {…}
__device__ __forceinline__ void wgmma_fence() {…}
__device__ __forceinline__ void wgmma_wait() {…}
__device__ __forceinline__ unsigned long long tile_of(const bf16 *slab, int at,
    unsigned long long shape) {…}
__device__ __forceinline__ void wgmma_m64n256k16_f32_bf16(float *c, unsigned long long a,
    unsigned long long b, int keep) {…}
__device__ __forceinline__ float to_float(bf16 from) {…}
__device__ __forceinline__ bf16 to_bf16(float from) {…}
__device__ __forceinline__ bf16 extract_bf16(unsigned from, int i) {…}
__device__ __forceinline__ void insert_bf16(unsigned *to, int i, bf16 value) {…}

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
        // TMA=1: the slab's bytes have arrived
        mbarrier_wait(full, k_o % 4, k_o / 4 % 2);
        wgmma_fence();

        #pragma unroll
        for (int k_i = 0; k_i < 4; ++k_i) {  // BK=4
          // ATOM_KIND=wgmma_m64n256k16_bf16: multiply each tile of A_parts by each of B_parts on
          // the tensor core
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
