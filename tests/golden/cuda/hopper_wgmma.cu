// C[4096, 4096] = A[4096, 4096] * B[4096, 4096], bf16 summed in f32, row-major
// AUTO=0,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=64,BK=4,STAGE=11,TMA=1,SWIZZLE=3
// for sm_90a (H200 SXM)
//
//   matmul<<<4096, 128>>>(A_map, B_map, C)   16392 bytes of shared memory

constexpr int N = 4096;

struct bf16 {…}
__device__ __forceinline__ void store2(bf16 *to, const float *from) {…}
struct alignas(64) tensor_map {…}
__device__ __forceinline__ void mbarrier_init(unsigned long long *bars, int i, int arrivals) {…}
__device__ __forceinline__ void mbarrier_expect(unsigned long long *bars, int i, int bytes) {…}
__device__ __forceinline__ void mbarrier_wait(unsigned long long *bars, int i, int phase) {…}
__device__ __forceinline__ void tma_load(bf16 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {…}
__device__ __forceinline__ bool elect_one() {…}
__device__ __forceinline__ void fence_mbarrier_init() {…}
__device__ __forceinline__ void wgmma_commit() {…}
__device__ __forceinline__ void wgmma_fence() {…}
__device__ __forceinline__ void wgmma_wait() {…}
__device__ __forceinline__ unsigned long long tile_of(const bf16 *slab, int at,
    unsigned long long shape) {…}
__device__ __forceinline__ void wgmma_m64n64k16_f32_bf16(float *c, unsigned long long a,
    unsigned long long b, int keep) {…}

extern "C" __global__ void __launch_bounds__(128)
matmul(const __grid_constant__ tensor_map A_map, const __grid_constant__ tensor_map B_map,
    bf16 *__restrict__ C) {
  __shared__ __align__(1024) bf16 smem[8196];
  bf16 *const A_s = smem;         // [64][64] SWIZZLE=3: the slab of A
  bf16 *const B_s = smem + 4096;  // [64][64] SWIZZLE=3: the slab of B
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
      tma_load(A_s, 0, &A_map, k_o * 64, m_b * 64, full, 0);

      // TMA=1: ask for the slab of B
      tma_load(B_s, 0, &B_map, n_b * 64, k_o * 64, full, 0);
    }

    // TMA=1: the slab's bytes have arrived
    mbarrier_wait(full, 0, k_o % 2);
    wgmma_fence();

    #pragma unroll
    for (int k_i = 0; k_i < 4; ++k_i) {  // BK=4
      // ATOM_KIND=wgmma_m64n256k16_bf16: multiply each tile of A by each of B on the tensor core
      wgmma_m64n64k16_f32_bf16<0,
          1>(&acc[0], tile_of(A_s, k_i * 16, 0x4000004000010000ull),
          tile_of(B_s, k_i * 16 * 64, 0x4000004002000000ull), 0 < k_o + k_i);
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
