// O[64, 4096, 128] = softmax(alpha * Q * K) * V, 4096 keys, bf16 summed in f32
// of rows of 128 in Q, K, V and O; alpha holds the log2(e) of exp2
// AUTO=0,PROGRAM=attention,HEADS=64,M=4096,N=4096,K=128,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=64,WM=2,FUSE=1,STAGE=11,SWIZZLE=3,TMA=1,EAGER_KV=1
// for sm_90a (H200 SXM)
//
//   attention<<<2048, 256, 65560>>>(Q_map, K_map, V_map, O, alpha)   65560 bytes of shared memory

constexpr int HEAD_DIM = 128;

// A bfloat16 (1 sign, 8 exponent, 7 fraction bits) as it lies in memory.
struct bf16 {
  unsigned short bits;
};

__device__ __forceinline__ void store2(bf16 *to, const float *from) {
  unsigned v[1];
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[0]) : "f"(from[1]), "f"(from[0]));
  *reinterpret_cast<unsigned *>(to) = v[0];
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
    int column, int row, int matrix, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(matrix), "r"(bar) : "memory");
}

// a / b in f32, for a b from 1 up to 2^60: a reciprocal and one step of Newton's for it, a
// quotient and its remainder.
__device__ __forceinline__ float divided(float a, float b) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b));
  r = fmaf(r, fmaf(-b, r, 1.0f), r);
  const float q = a * r;
  return fmaf(r, fmaf(-b, q, a), q);
}

// True in one lane of the warp, which the hardware picks, each time the same one.
__device__ __forceinline__ bool elect_one() {
  unsigned picked;
  asm volatile("{ .reg .pred one;\nelect.sync _|one, 0xffffffff;\n"
               "selp.u32 %0, 1, 0, one; }" : "=r"(picked));
  return picked != 0;
}

// 2 to the power of x, within 2 units in the last place; exact for whole numbers.
__device__ __forceinline__ float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// The mbarriers that this thread has initialised are so for all of the cluster, once it has met.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// The largest of the lanes whose numbers differ in those bits alone.
__device__ __forceinline__ float lanes_max(float x, int bits) {
#pragma unroll
  for (int bit = 1; bit < 32; bit *= 2)
    if (bits & bit) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, bit));
  return x;
}

// The sum over the lanes whose numbers differ in those bits alone.
__device__ __forceinline__ float lanes_sum(float x, int bits) {
#pragma unroll
  for (int bit = 1; bit < 32; bit *= 2)
    if (bits & bit) x += __shfl_xor_sync(0xffffffffu, x, bit);
  return x;
}

// Two numbers as one register of two bf16, the first one low.
__device__ __forceinline__ unsigned round_bf16x2(float low, float high) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
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

// c += a * b in the background, 64 x 64 x 16, by a warpgroup; c = a * b where keep is 0.
// a and b are descriptors of tiles: PTX ISA, section 9.7.15.5.1.1.1 says which lane holds what.
// turned: M or N runs fastest, not K.
template <int a_turned, int b_turned>
__device__ __forceinline__ void wgmma_m64n64k16_f32_bf16(float *c, unsigned long long a,
    unsigned long long b, int keep) {
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13,"
      " %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27,"
      " %28, %29, %30, %31}, "
      "%32, %33, keep, 1, 1, %35, %36;\n}"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]),
        "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]),
        "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]),
        "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]),
        "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]),
        "+f"(c[30]), "+f"(c[31])
      : "l"(a), "l"(b), "r"(keep), "n"(a_turned), "n"(b_turned)
      : "memory");
}

// c += a * b in the background, 64 x 128 x 16, by a warpgroup; c = a * b where keep is 0.
// b is the descriptor of a tile, a a fragment: PTX ISA, section 9.7.15.5.1.1.1 says which lane holds what.
// b_turned: N runs fastest, not K.
template <int b_turned>
__device__ __forceinline__ void wgmma_m64n128k16_f32_bf16_rs(float *c, const unsigned *a,
    unsigned long long b, int keep) {
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13,"
      " %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27,"
      " %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41,"
      " %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55,"
      " %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, keep, 1, 1, %70;\n}"
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
        "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep), "n"(b_turned)
      : "memory");
}

extern "C" __global__ void __launch_bounds__(256)
attention(const __grid_constant__ tensor_map Q_map, const __grid_constant__ tensor_map K_map,
    const __grid_constant__ tensor_map V_map, bf16 *__restrict__ O, float alpha) {
  extern __shared__ __align__(1024) bf16 smem[];  // 32780: 65560 bytes
  bf16 *const Q_s = smem;          // [2][128][64] SWIZZLE=3: the slab of Q
  bf16 *const K_s = smem + 16384;  // [2][64][64] SWIZZLE=3: the slab of K
  bf16 *const V_s = smem + 24576;  // [2][64][64] SWIZZLE=3: the slab of V
  // [1] TMA=1: a slot's bytes have come
  unsigned long long *const full_q = reinterpret_cast<unsigned long long *>(smem + 32768);
  // [1] TMA=1: a slot's bytes have come
  unsigned long long *const full_k = reinterpret_cast<unsigned long long *>(smem + 32772);
  // [1] TMA=1: a slot's bytes have come
  unsigned long long *const full_v = reinterpret_cast<unsigned long long *>(smem + 32776);

  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const int h = blockIdx.x / 32;       // BLOCK 0..64, HEADS=64
  const int q_b = blockIdx.x % 32;     // BLOCK 0..32, WM=2
  const int q_w = threadIdx.x / 128;   // WARP 0..2, WM=2
  const int lane = threadIdx.x % 128;  // THREAD 0..128, ATOM_KIND=wgmma_m64n256k16_bf16

  // where this thread begins
  bf16 *const Q_s_at = Q_s + q_w * 64 * 64;

  float S_f[32];      // ATOM_KIND=wgmma_m64n256k16_bf16: this thread's scores, then weights
  // ATOM_KIND=wgmma_m64n256k16_bf16: its weights for one k-step, two to a register
  unsigned P_f[4][4];
  float O_f[64];      // ATOM_KIND=wgmma_m64n256k16_bf16: this thread's cells of O
  float row_max[2];   // FUSE=1: of its rows: the largest score so far
  float row_base[2];  // FUSE=1: alpha times the largest score
  float row_sum[2];   // FUSE=1: the sum of its weights
  float rescale[2];   // FUSE=1: what older sums are worth

  // TMA=1: a phase of full ends when a slab's bytes have come
  if (warp == 0 && elect_one()) {
    mbarrier_init(full_q, 0, 1);
    mbarrier_init(full_k, 0, 1);
    mbarrier_init(full_v, 0, 1);

    // TMA=1: they are initialised for the cluster, and for what arrives in the background
    fence_mbarrier_init();
  }

  // TMA=1: the mbarriers are there
  __syncthreads();

  O_f[0] = 0.0f;
  O_f[1] = 0.0f;
  O_f[2] = 0.0f;
  O_f[3] = 0.0f;
  O_f[4] = 0.0f;
  O_f[5] = 0.0f;
  O_f[6] = 0.0f;
  O_f[7] = 0.0f;
  O_f[8] = 0.0f;
  O_f[9] = 0.0f;
  O_f[10] = 0.0f;
  O_f[11] = 0.0f;
  O_f[12] = 0.0f;
  O_f[13] = 0.0f;
  O_f[14] = 0.0f;
  O_f[15] = 0.0f;
  O_f[16] = 0.0f;
  O_f[17] = 0.0f;
  O_f[18] = 0.0f;
  O_f[19] = 0.0f;
  O_f[20] = 0.0f;
  O_f[21] = 0.0f;
  O_f[22] = 0.0f;
  O_f[23] = 0.0f;
  O_f[24] = 0.0f;
  O_f[25] = 0.0f;
  O_f[26] = 0.0f;
  O_f[27] = 0.0f;
  O_f[28] = 0.0f;
  O_f[29] = 0.0f;
  O_f[30] = 0.0f;
  O_f[31] = 0.0f;
  O_f[32] = 0.0f;
  O_f[33] = 0.0f;
  O_f[34] = 0.0f;
  O_f[35] = 0.0f;
  O_f[36] = 0.0f;
  O_f[37] = 0.0f;
  O_f[38] = 0.0f;
  O_f[39] = 0.0f;
  O_f[40] = 0.0f;
  O_f[41] = 0.0f;
  O_f[42] = 0.0f;
  O_f[43] = 0.0f;
  O_f[44] = 0.0f;
  O_f[45] = 0.0f;
  O_f[46] = 0.0f;
  O_f[47] = 0.0f;
  O_f[48] = 0.0f;
  O_f[49] = 0.0f;
  O_f[50] = 0.0f;
  O_f[51] = 0.0f;
  O_f[52] = 0.0f;
  O_f[53] = 0.0f;
  O_f[54] = 0.0f;
  O_f[55] = 0.0f;
  O_f[56] = 0.0f;
  O_f[57] = 0.0f;
  O_f[58] = 0.0f;
  O_f[59] = 0.0f;
  O_f[60] = 0.0f;
  O_f[61] = 0.0f;
  O_f[62] = 0.0f;
  O_f[63] = 0.0f;
  #pragma unroll
  for (int i = 0; i < 2; ++i)
    row_max[i] = __int_as_float(0xff800000);
  #pragma unroll
  for (int i = 0; i < 2; ++i)
    row_sum[i] = 0.0f;

  // TMA=1: one thread asks for the slab of Q
  if (warp == 0 && elect_one()) {
    mbarrier_expect(full_q, 0, 32768);

    // TMA=1: ask for the slab of Q
    #pragma unroll
    for (int p_q = 0; p_q < 2; ++p_q)
      tma_load(Q_s, p_q * 8192, &Q_map, p_q * 64, q_b * 128, h, full_q, 0);
  }

  // TMA=1: one thread asks for the slab of K
  if (warp == 0 && elect_one()) {
    mbarrier_expect(full_k, 0, 16384);

    // TMA=1: ask for the slab of K
    #pragma unroll
    for (int p_k = 0; p_k < 2; ++p_k)
      tma_load(K_s, p_k * 4096, &K_map, p_k * 64, 0, h, full_k, 0);
  }

  // TMA=1: the slab's bytes are there
  mbarrier_wait(full_q, 0, 0);

  for (int t_o = 0; t_o < 64; ++t_o) {  // FUSE=1
    // STAGE=11: this block's K is there, and the V before it is read
    __syncthreads();

    // EAGER_KV=1: V is wanted by the next product
    if (warp == 0 && elect_one()) {
      mbarrier_expect(full_v, 0, 16384);

      // TMA=1: ask for the slab of V
      #pragma unroll
      for (int p_v = 0; p_v < 2; ++p_v)
        tma_load(V_s, p_v * 4096, &V_map, p_v * 64, t_o * 64, h, full_v, 0);
    }

    // TMA=1: the slab's bytes are there
    mbarrier_wait(full_k, 0, t_o % 2);
    wgmma_fence();

    #pragma unroll
    for (int e_i = 0; e_i < 8; ++e_i)  // ATOM_KIND=wgmma_m64n256k16_bf16
      wgmma_m64n64k16_f32_bf16<0,
          0>(&S_f[0], tile_of(Q_s_at, e_i / 4 * 8192 + e_i % 4 * 16, 0x4000004000010000ull),
          tile_of(K_s, e_i / 4 * 4096 + e_i % 4 * 16, 0x4000004000010000ull), 0 < e_i);

    wgmma_commit();
    wgmma_wait<0>();

    // FUSE=1: the largest score of the blocks before
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      rescale[i] = row_max[i];

    // FUSE=1: the largest score of each row so far
    #pragma unroll
    for (int v = 0; v < 32; ++v)
      row_max[v / 2 % 2] = fmaxf(row_max[v / 2 % 2], S_f[v]);

    // FUSE=1: the lanes that share a row agree on its maximum
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      row_max[i] = lanes_max(row_max[i], 3);

    // FUSE=1: alpha times the largest score
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      row_base[i] = row_max[i];

    #pragma unroll
    for (int i = 0; i < 2; ++i)
      row_base[i] *= alpha;

    // FUSE=1: how much less what was added up so far is worth below the new maximum
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      rescale[i] = exp2_of(alpha * rescale[i] - row_base[i]);

    // FUSE=1: scores become weights, of which the largest is 1
    #pragma unroll
    for (int v = 0; v < 32; ++v)
      S_f[v] = exp2_of(alpha * S_f[v] - row_base[v / 2 % 2]);

    // FUSE=1: what was added up so far belongs to a smaller maximum
    #pragma unroll
    for (int i = 0; i < 2; ++i)
      row_sum[i] *= rescale[i];

    // FUSE=1: add up the weights that this lane has
    #pragma unroll
    for (int v = 0; v < 32; ++v)
      row_sum[v / 2 % 2] += S_f[v];

    // FUSE=1: what was added up so far belongs to a smaller maximum
    #pragma unroll
    for (int v = 0; v < 64; ++v)
      O_f[v] *= rescale[v / 2 % 2];

    // STAGE=11: this block's V is there, and its K is read
    __syncthreads();

    // EAGER_KV=1: K is read: fetch the next block's
    if (t_o + 1 < 64) {
      const int t_n = t_o + 1;

      // TMA=1: one thread asks for the slab of K
      if (warp == 0 && elect_one()) {
        mbarrier_expect(full_k, 0, 16384);

        // TMA=1: ask for the slab of K
        #pragma unroll
        for (int p_k = 0; p_k < 2; ++p_k)
          tma_load(K_s, p_k * 4096, &K_map, p_k * 64, t_n * 64, h, full_k, 0);
      }
    }

    // TMA=1: the slab's bytes are there
    mbarrier_wait(full_v, 0, t_o % 2);

    // A_REGS=0: the sums of one product are the operand of the next, in the same lanes
    #pragma unroll
    for (int k_r = 0; k_r < 4; ++k_r)
      #pragma unroll
      for (int v_p = 0; v_p < 4; ++v_p)
        P_f[k_r][v_p] = round_bf16x2(S_f[k_r * 8 + v_p * 2], S_f[k_r * 8 + v_p * 2 + 1]);
    wgmma_fence();

    #pragma unroll
    for (int u_i = 0; u_i < 4; ++u_i) {  // ATOM_KIND=wgmma_m64n256k16_bf16
      // ATOM_KIND=wgmma_m64n256k16_bf16: ask the tensor core for each tile of P times each of V
      wgmma_m64n128k16_f32_bf16_rs<1>(&O_f[0], &P_f[u_i][0],
          tile_of(V_s, u_i * 16 * 64, 0x4000004002000000ull), 1);
    }

    wgmma_commit();
    wgmma_wait<0>();
  }

  // FUSE=1: the lanes that share a row add up its weights
  #pragma unroll
  for (int i = 0; i < 2; ++i)
    row_sum[i] = lanes_sum(row_sum[i], 3);

  // FUSE=1: the weights of a row add up to its sum, not to 1
  #pragma unroll
  for (int v = 0; v < 64; ++v)
    O_f[v] = divided(O_f[v], row_sum[v / 2 % 2]);

  // ATOM_KIND=wgmma_m64n256k16_bf16: write the cells of O
  #pragma unroll
  for (int v_o = 0; v_o < 32; ++v_o)
    store2(&O[h * 524288 +
        (q_b * 128 + q_w * 64 + lane / 4 % 8 + lane / 32 * 16 + v_o % 2 * 8) * HEAD_DIM +
        lane % 4 * 2 + v_o / 2 * 8], &O_f[v_o * 2]);
}
