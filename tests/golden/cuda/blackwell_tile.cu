// C[128, 128] = A[128, 64] * B[64, 128], f16 summed in f32, B column-major, A and C row-major
// AUTO=0,M=128,N=128,K=64,ATOM_KIND=tcgen05_m128n256k16_f16,TARGET=b200,B_COL=1,ATOM_N=128,BK=4,STAGE=11,SWIZZLE=3,TENSOR_COLUMNS=512
// for sm_100a (B200 SXM (HGX))
//
//   matmul<<<1, 128>>>(A, B, C)   32784 bytes of shared memory

constexpr int N = 128, K = 64;

struct f16 {…}
__device__ __forceinline__ void load8(unsigned *to, const f16 *from) {…}
__device__ __forceinline__ void store8(f16 *to, const float *from) {…}
__device__ __forceinline__ void store8(f16 *to, const unsigned *from) {…}
__device__ __forceinline__ void mbarrier_init(unsigned long long *bars, int i, int arrivals) {…}
__device__ __forceinline__ void mbarrier_wait(unsigned long long *bars, int i, int phase) {…}
__device__ __forceinline__ bool elect_one() {…}
__device__ __forceinline__ void fence_async() {…}
__device__ __forceinline__ void fence_mbarrier_init() {…}
__device__ __forceinline__ void tcgen05_after() {…}
__device__ __forceinline__ void tcgen05_commit(unsigned long long *bars, int i) {…}
__device__ __forceinline__ void tcgen05_mma_f16(unsigned d, unsigned long long a,
    unsigned long long b, unsigned idesc, int keep) {…}
__device__ __forceinline__ void tcgen05_wait_ld() {…}
__device__ __forceinline__ void tensor_alloc(unsigned long long *base) {…}
__device__ __forceinline__ unsigned tensor_at(unsigned begin, int lane, int column) {…}
__device__ __forceinline__ void tensor_free(unsigned begin) {…}
__device__ __forceinline__ unsigned long long tile_of(const f16 *slab, int at,
    unsigned long long shape) {…}
__device__ __forceinline__ void tcgen05_ld_x32(float *to, unsigned from) {…}

extern "C" __global__ void __launch_bounds__(128)
matmul(const f16 *__restrict__ A, const f16 *__restrict__ B, f16 *__restrict__ C) {
  __shared__ __align__(1024) f16 smem[16392];
  f16 *const A_s = smem;         // [128][64] SWIZZLE=3: the slab of A
  f16 *const B_s = smem + 8192;  // [128][64] SWIZZLE=3: the slab of B
  // [1] ATOM_KIND=tcgen05_m128n256k16_f16: the sums of a tile are whole
  unsigned long long *const acc_full = reinterpret_cast<unsigned long long *>(smem + 16384);
  // [1] ATOM_KIND=tcgen05_m128n256k16_f16: where the block's tensor memory begins
  unsigned long long *const tensor_base = reinterpret_cast<unsigned long long *>(smem + 16388);

  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const int tid = threadIdx.x;
  const int lane = threadIdx.x;  // THREAD 0..128, ATOM_KIND=tcgen05_m128n256k16_f16

  // where this thread begins
  f16 *const A_s_at = A_s + tid / 8 * 64 + ((tid % 8 * 8) ^ (tid / 8 % 8 * 8));
  f16 *const B_s_at = B_s + tid / 8 * 64 + ((tid % 8 * 8) ^ (tid / 8 % 8 * 8));

  float acc[32];     // ATOM_KIND=tcgen05_m128n256k16_f16: this thread's cells of C
  unsigned r_a[32];  // STAGE=11: on their way from A to shared memory, two to a register
  unsigned r_b[32];  // STAGE=11: on their way from B to shared memory, two to a register

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

  // BK=4: fetch the slab of A
  #pragma unroll
  for (int c_a = 0; c_a < 8; ++c_a)
    load8(&r_a[c_a * 4], &A[(c_a * 16 + tid / 8) * K + tid % 8 * 8]);

  // STAGE=11: fetch the slab of B
  #pragma unroll
  for (int c_b = 0; c_b < 8; ++c_b)
    load8(&r_b[c_b * 4], &B[(c_b * 16 + tid / 8) * K + tid % 8 * 8]);

  // STAGE=11: put the slab of A into shared memory
  #pragma unroll
  for (int c_a = 0; c_a < 8; ++c_a)
    store8(&A_s_at[c_a * 16 * 64], &r_a[c_a * 4]);

  // STAGE=11: put the slab of B into shared memory
  #pragma unroll
  for (int c_b = 0; c_b < 8; ++c_b)
    store8(&B_s_at[c_b * 16 * 64], &r_b[c_b * 4]);

  // STAGE=11: what was stored comes before what tcgen05 reads
  fence_async();

  // STAGE=11: the slab is filled
  __syncthreads();

  // ATOM_KIND=tcgen05_m128n256k16_f16: one thread asks for the warpgroup's products
  if (warp == 0 && elect_one()) {
    #pragma unroll
    for (int k_i = 0; k_i < 4; ++k_i) {  // BK=4
      // ATOM_KIND=tcgen05_m128n256k16_f16: multiply the tiles of A and B on the tensor core
      tcgen05_mma_f16(tensor_at(tensor_begin, 0, 0), tile_of(A_s, k_i * 16, 0x4000404000010000ull),
          tile_of(B_s, k_i * 16, 0x4000404000010000ull), 0x08200010u, 0 < k_i);
    }

    tcgen05_commit(acc_full, 0);
  }

  // ATOM_KIND=tcgen05_m128n256k16_f16: the accumulators are complete
  mbarrier_wait(acc_full, 0, 0);

  // STAGE=11: the slab is read to the end
  __syncthreads();
  tcgen05_after();
  #pragma unroll
  for (int c_t = 0; c_t < 4; ++c_t) {
    tcgen05_ld_x32(&acc[0], tensor_at(tensor_begin, lane, c_t * 32));
    tcgen05_wait_ld();
    #pragma unroll
    for (int v_t = 0; v_t < 4; ++v_t) {
      const int v_c = c_t * 4 + v_t;

      // ATOM_KIND=tcgen05_m128n256k16_f16: write the cells of C
      store8(&C[lane * N + v_c * 8], &acc[v_t * 8]);
    }
  }

  // ATOM_KIND=tcgen05_m128n256k16_f16: the sums are read
  __syncthreads();

  if (warp == 0)
    tensor_free<512>(tensor_begin);
}
