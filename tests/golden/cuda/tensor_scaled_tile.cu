// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], mxf8 summed in f32, C in f32, B column-major, A and C row-major
// AUTO=0,ATOM_KIND=tcgen05_m128n256k32_mxf8,TARGET=b200,B_COL=1,ATOM_N=128,BK=4,STAGE=11,SWIZZLE=3,TMA=1
// for sm_100a (B200 SXM (HGX))
//
//   matmul<<<1024, 128>>>(A_map, B_map, C, SFA_map, SFB_map)   33816 bytes of shared memory

constexpr int N = 4096;

struct mxf8 {…}
struct ue8m0 {…}
__device__ __forceinline__ void store4(float *to, const float *from) {…}
struct alignas(64) tensor_map {…}
__device__ __forceinline__ void mbarrier_init(unsigned long long *bars, int i, int arrivals) {…}
__device__ __forceinline__ void mbarrier_expect(unsigned long long *bars, int i, int bytes) {…}
__device__ __forceinline__ void mbarrier_wait(unsigned long long *bars, int i, int phase) {…}
__device__ __forceinline__ void tma_load(mxf8 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {…}
__device__ __forceinline__ void tma_load(ue8m0 *slab, int at, const tensor_map *map,
    int column, int row, int matrix, unsigned long long *bars, int i) {…}
__device__ __forceinline__ bool elect_one() {…}
__device__ __forceinline__ void fence_mbarrier_init() {…}
__device__ __forceinline__ void tcgen05_after() {…}
__device__ __forceinline__ void tcgen05_commit(unsigned long long *bars, int i) {…}
__device__ __forceinline__ void tcgen05_cp(unsigned to, unsigned long long from) {…}
__device__ __forceinline__ void tcgen05_mma_mxf8f6f4(unsigned d, unsigned long long a,
    unsigned long long b, unsigned idesc, unsigned sfa, unsigned sfb, int keep) {…}
__device__ __forceinline__ void tcgen05_wait_ld() {…}
__device__ __forceinline__ void tensor_alloc(unsigned long long *base) {…}
__device__ __forceinline__ unsigned tensor_at(unsigned begin, int lane, int column) {…}
__device__ __forceinline__ void tensor_free(unsigned begin) {…}
__device__ __forceinline__ unsigned long long tile_of(const mxf8 *slab, int at,
    unsigned long long shape) {…}
__device__ __forceinline__ unsigned long long tile_of(const ue8m0 *slab, int at,
    unsigned long long shape) {…}
__device__ __forceinline__ void tcgen05_ld_x32(float *to, unsigned from) {…}

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

    // TMA=1: the slab's bytes have arrived
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
        // ATOM_KIND=tcgen05_m128n256k32_mxf8: multiply the tiles of A and B on the tensor core
        tcgen05_mma_mxf8f6f4(tensor_at(tensor_begin, 0, 0),
            tile_of(A_s, k_i * 32, 0x4000404000010000ull),
            tile_of(B_s, k_i * 32, 0x4000404000010000ull), 0x08a00000u | (k_i) << 29 | (k_i) << 4,
            tensor_at(tensor_begin, 0, 128), tensor_at(tensor_begin, 0, 132), 0 < k_o + k_i);
      }

      tcgen05_commit(acc_full, 0);
    }

    // ATOM_KIND=tcgen05_m128n256k32_mxf8: the accumulators are complete
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
