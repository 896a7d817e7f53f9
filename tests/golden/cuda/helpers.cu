// A bfloat16 (1 sign, 8 exponent, 7 fraction bits) as it lies in memory.
struct bf16 {
  unsigned short bits;
};

__device__ __forceinline__ void store2(bf16 *to, const float *from) {
  unsigned v[1];
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[0]) : "f"(from[1]), "f"(from[0]));
  *reinterpret_cast<unsigned *>(to) = v[0];
}

__device__ __forceinline__ void fill4(float *to, float value) {
  to[0] = value, to[1] = value, to[2] = value, to[3] = value;
}

__device__ __forceinline__ void cp_async8(bf16 *slab, int at,
                                          const bf16 *from_global) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :: "r"(to), "l"(from_global) : "memory");
}

// The copies this thread has issued since the last commit become one group.
__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most `n` of this thread's groups are still in flight.
template <int n>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}

// 2 to the power of x, within 2 units in the last place; exact for whole numbers.
__device__ __forceinline__ float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
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

// Four matrices of eight 16-byte rows: lane l has the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void ldmatrix_x4(unsigned *to, const bf16 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from) : "memory");
}

// Four matrices of eight 16-byte rows: lane l has the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void ldmatrix_x4_trans(unsigned *to, const bf16 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from) : "memory");
}

// c += a * b, 16 x 8 x 16, by a warp; PTX ISA, section 9.7.14.5.8 says which lane holds what.
__device__ __forceinline__ void mma_m16n8k16_f32_bf16(float *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]));
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

// What was read of shared memory, by all whom this thread has waited for, is read before a
// copy that it asks for later overwrites it.
__device__ __forceinline__ void fence_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// The mbarriers that this thread has initialised are so for all of the cluster, once it has met.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
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

// True in one lane of the warp: the hardware picks it, always the same one.
__device__ __forceinline__ bool elect_one() {
  unsigned picked;
  asm volatile("{ .reg .pred one;\nelect.sync _|one, 0xffffffff;\n"
               "selp.u32 %0, 1, 0, one; }" : "=r"(picked));
  return picked != 0;
}

// x, computed here: the compiler moves it past no fence that follows.
__device__ __forceinline__ float ready(float x) {
  asm volatile("" : "+f"(x));
  return x;
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

// c += a * b, asynchronously, 64 x 64 x 16, by a warpgroup; c = a * b where keep is 0.
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

// c += a * b, asynchronously, 64 x 128 x 16, by a warpgroup; c = a * b where keep is 0.
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

// One arrival for the whole warp.
__device__ __forceinline__ void mbarrier_arrive(unsigned long long *bars, int i) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  __syncwarp();
  if (threadIdx.x % 32 == 0)
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(bar) : "memory");
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

// c += a * b, asynchronously, 64 x 128 x 16, by a warpgroup; c = a * b where keep is 0.
// a and b are descriptors of tiles: PTX ISA, section 9.7.15.5.1.1.1 says which lane holds what.
// turned: M or N runs fastest, not K.
template <int a_turned, int b_turned>
__device__ __forceinline__ void wgmma_m64n128k16_f32_bf16(float *c, unsigned long long a,
    unsigned long long b, int keep) {
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13,"
      " %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27,"
      " %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41,"
      " %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55,"
      " %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, keep, 1, 1, %67, %68;\n}"
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
      : "l"(a), "l"(b), "r"(keep), "n"(a_turned), "n"(b_turned)
      : "memory");
}

// Barrier `id` of the block awaits n threads: this warp is there, and goes on.
template <int n>
__device__ __forceinline__ void barrier_arrive(int id) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(n) : "memory");
}

// Barrier `id` of the block, at which n threads meet.
template <int n>
__device__ __forceinline__ void barrier_of(int id) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(n) : "memory");
}

// An IEEE half (1 sign, 5 exponent, 10 fraction bits) as it lies in memory.
struct f16 {
  unsigned short bits;
};

__device__ __forceinline__ void load8(unsigned *to, const f16 *from) {
  const uint4 v = *reinterpret_cast<const uint4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void store8(f16 *to, const float *from) {
  unsigned v[4];
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[0]) : "f"(from[1]), "f"(from[0]));
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[1]) : "f"(from[3]), "f"(from[2]));
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[2]) : "f"(from[5]), "f"(from[4]));
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[3]) : "f"(from[7]), "f"(from[6]));
  *reinterpret_cast<uint4 *>(to) = uint4{v[0], v[1], v[2], v[3]};
}

__device__ __forceinline__ void store8(f16 *to, const unsigned *from) {
  *reinterpret_cast<uint4 *>(to) = uint4{from[0], from[1], from[2], from[3]};
}

// Later accesses to tensor memory come after the event waited for.
__device__ __forceinline__ void tcgen05_after() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// One arrival at bars[i] when all products that this thread has issued are done.
__device__ __forceinline__ void tcgen05_commit(unsigned long long *bars, int i) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
               :: "r"(bar) : "memory");
}

// d += a * b, asynchronously: d in tensor memory, a and b descriptors of tiles; idesc has
// types and shape. d = a * b where keep is 0.
__device__ __forceinline__ void tcgen05_mma_f16(unsigned d, unsigned long long a,
    unsigned long long b, unsigned idesc, int keep) {
  asm volatile("{ .reg .pred keep;\nsetp.ne.b32 keep, %4, 0;\n"
               "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, keep; }"
               :: "r"(d), "l"(a), "l"(b), "r"(idesc), "r"(keep) : "memory");
}

// Waits until this warp's loads from tensor memory are in its registers.
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

// 32 columns of this thread's lane, asynchronously.
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

// The map's box, from this column and row on, goes to element `at` of the slab.
__device__ __forceinline__ void tma_load(f16 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar) : "memory");
}

// Earlier accesses to tensor memory come before what this thread signals.
__device__ __forceinline__ void tcgen05_before() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

// The map's box, from element `at` of the slab on, goes to the matrix from this column and row on.
__device__ __forceinline__ void tma_store(const tensor_map *map, int column, int row,
    f16 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"
               " [%0, {%1, %2}], [%3];"
               :: "l"(map), "r"(column), "r"(row), "r"(from) : "memory");
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

// The same, its bytes counted at bars[i] of the even CTA of a pair.
__device__ __forceinline__ void tma_pair(f16 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes.cta_group::2 [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar & 0xfeffffffu) : "memory");
}

// Every thread of the cluster arrives before any goes on, and knows what the others have done.
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release;\n"
               "barrier.cluster.wait.acquire;" ::: "memory");
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

// One arrival when all products issued to the pair are done, at bars[i] of each block in the mask.
__device__ __forceinline__ void tcgen05_commit_pair(unsigned long long *bars, int i, int mask) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster"
               ".multicast::cluster.b64 [%0], %1;"
               :: "r"(bar), "h"(static_cast<short>(mask)) : "memory");
}

// d += a * b, asynchronously: d in tensor memory, a and b descriptors of tiles; idesc has
// types and shape. d = a * b where keep is 0.
__device__ __forceinline__ void tcgen05_mma_pair_f16(unsigned d, unsigned long long a,
    unsigned long long b, unsigned idesc, int keep) {
  asm volatile("{ .reg .pred keep;\nsetp.ne.b32 keep, %4, 0;\n"
               "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, keep; }"
               :: "r"(d), "l"(a), "l"(b), "r"(idesc), "r"(keep) : "memory");
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

// Gives them back, as every block must before it ends.
template <int n>
__device__ __forceinline__ void tensor_free_pair(unsigned begin) {
  asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;"
               :: "r"(begin), "n"(n) : "memory");
}

// 64 columns of this thread's lane, asynchronously.
__device__ __forceinline__ void tcgen05_ld_x64(float *to, unsigned from) {
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x64.b32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11,"
      " %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23,"
      " %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35,"
      " %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
      " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59,"
      " %60, %61, %62, %63}, [%64];"
      : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3]), "=f"(to[4]), "=f"(to[5]),
        "=f"(to[6]), "=f"(to[7]), "=f"(to[8]), "=f"(to[9]), "=f"(to[10]), "=f"(to[11]),
        "=f"(to[12]), "=f"(to[13]), "=f"(to[14]), "=f"(to[15]), "=f"(to[16]), "=f"(to[17]),
        "=f"(to[18]), "=f"(to[19]), "=f"(to[20]), "=f"(to[21]), "=f"(to[22]), "=f"(to[23]),
        "=f"(to[24]), "=f"(to[25]), "=f"(to[26]), "=f"(to[27]), "=f"(to[28]), "=f"(to[29]),
        "=f"(to[30]), "=f"(to[31]), "=f"(to[32]), "=f"(to[33]), "=f"(to[34]), "=f"(to[35]),
        "=f"(to[36]), "=f"(to[37]), "=f"(to[38]), "=f"(to[39]), "=f"(to[40]), "=f"(to[41]),
        "=f"(to[42]), "=f"(to[43]), "=f"(to[44]), "=f"(to[45]), "=f"(to[46]), "=f"(to[47]),
        "=f"(to[48]), "=f"(to[49]), "=f"(to[50]), "=f"(to[51]), "=f"(to[52]), "=f"(to[53]),
        "=f"(to[54]), "=f"(to[55]), "=f"(to[56]), "=f"(to[57]), "=f"(to[58]), "=f"(to[59]),
        "=f"(to[60]), "=f"(to[61]), "=f"(to[62]), "=f"(to[63])
      : "r"(from) : "memory");
}

__device__ __forceinline__ void store8(bf16 *to, const float *from) {
  unsigned v[4];
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[0]) : "f"(from[1]), "f"(from[0]));
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[1]) : "f"(from[3]), "f"(from[2]));
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[2]) : "f"(from[5]), "f"(from[4]));
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[3]) : "f"(from[7]), "f"(from[6]));
  *reinterpret_cast<uint4 *>(to) = uint4{v[0], v[1], v[2], v[3]};
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

// The map's box, from element `at` of the slab on, goes to the matrix from this column and row on.
__device__ __forceinline__ void tma_store(const tensor_map *map, int column, int row,
    bf16 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"
               " [%0, {%1, %2}], [%3];"
               :: "l"(map), "r"(column), "r"(row), "r"(from) : "memory");
}

// An 8-bit float (1 sign, 4 exponent, 3 fraction bits) as it lies in memory.
struct e4m3 {
  unsigned char bits;
};

__device__ __forceinline__ void store4(float *to, const float *from) {
  *reinterpret_cast<float4 *>(to) = float4{from[0], from[1], from[2], from[3]};
}

// The map's box, from this column and row on, goes to element `at` of the slab.
__device__ __forceinline__ void tma_load(e4m3 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar) : "memory");
}

// The map's box, from element `at` of the slab on, goes to the matrix from this column and row on.
__device__ __forceinline__ void tma_store(const tensor_map *map, int column, int row,
    float *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"
               " [%0, {%1, %2}], [%3];"
               :: "l"(map), "r"(column), "r"(row), "r"(from) : "memory");
}

// d += a * b, asynchronously: d in tensor memory, a and b descriptors of tiles; idesc has
// types and shape. d = a * b where keep is 0.
__device__ __forceinline__ void tcgen05_mma_f8f6f4(unsigned d, unsigned long long a,
    unsigned long long b, unsigned idesc, int keep) {
  asm volatile("{ .reg .pred keep;\nsetp.ne.b32 keep, %4, 0;\n"
               "tcgen05.mma.cta_group::1.kind::f8f6f4 [%0], %1, %2, %3, keep; }"
               :: "r"(d), "l"(a), "l"(b), "r"(idesc), "r"(keep) : "memory");
}

// The descriptor of the tile that begins at slab[at]: its address beside what does not
// depend on it. In a cluster the address has the rank of the CTA above its 18 bits.
__device__ __forceinline__ unsigned long long tile_of(const e4m3 *slab, int at,
    unsigned long long shape) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 1 * at;
  return shape | (from & 0x3ffffu) >> 4;
}

// The map's box, from this column and row on, goes to element `at` of the slab.
__device__ __forceinline__ void tma_load(float *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar) : "memory");
}

// d += a * b, asynchronously: d in tensor memory, a and b descriptors of tiles; idesc has
// types and shape. d = a * b where keep is 0.
__device__ __forceinline__ void tcgen05_mma_tf32(unsigned d, unsigned long long a,
    unsigned long long b, unsigned idesc, int keep) {
  asm volatile("{ .reg .pred keep;\nsetp.ne.b32 keep, %4, 0;\n"
               "tcgen05.mma.cta_group::1.kind::tf32 [%0], %1, %2, %3, keep; }"
               :: "r"(d), "l"(a), "l"(b), "r"(idesc), "r"(keep) : "memory");
}

// The descriptor of the tile that begins at slab[at]: its address beside what does not
// depend on it. In a cluster the address has the rank of the CTA above its 18 bits.
__device__ __forceinline__ unsigned long long tile_of(const float *slab, int at,
    unsigned long long shape) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  return shape | (from & 0x3ffffu) >> 4;
}

__device__ __forceinline__ void load2(unsigned *to, const f16 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

__device__ __forceinline__ void store2(f16 *to, const float *from) {
  unsigned v[1];
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[0]) : "f"(from[1]), "f"(from[0]));
  *reinterpret_cast<unsigned *>(to) = v[0];
}

// c += a * b, 16 x 8 x 16, by a warp; PTX ISA, section 9.7.14.5.8 says which lane holds what.
__device__ __forceinline__ void mma_m16n8k16_f32_f16(float *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]));
}

// Value i of a register that holds 2; the others stay.
__device__ __forceinline__ void insert_f16(unsigned *to, int i, f16 value) {
  const unsigned bits = value.bits;
  *to = (*to & ~(0xffffu << 16 * i)) | bits << 16 * i;
}

// Two matrices of eight 16-byte rows: lane l has the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void ldmatrix_x2_trans(unsigned *to, const f16 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(from) : "memory");
}

// Four matrices of eight 16-byte rows: lane l has the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void ldmatrix_x4(unsigned *to, const f16 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from) : "memory");
}

__device__ __forceinline__ void load4(float *to, const float *from) {
  const float4 v = *reinterpret_cast<const float4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void cp_async4(float *slab, int at,
                                          const float *from_global) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :: "r"(to), "l"(from_global) : "memory");
}

__device__ __forceinline__ void load4_or_zero(float *to, const float *from, bool inside) {
  float4 v = {0.0f, 0.0f, 0.0f, 0.0f};
  if (inside) v = *reinterpret_cast<const float4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void cp_async1(float *slab, int at,
                                          const float *from_global) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
               :: "r"(to), "l"(from_global) : "memory");
}

__device__ __forceinline__ void cp_async1_or_zero(float *slab, int at,
                                                  const float *from_global, bool inside) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  const int n_bytes = inside ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :: "r"(to), "l"(from_global), "r"(n_bytes) : "memory");
}

__device__ __forceinline__ void cp_async4_or_zero(float *slab, int at,
                                                  const float *from_global, bool inside) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  const int n_bytes = inside ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"(to), "l"(from_global), "r"(n_bytes) : "memory");
}

__device__ __forceinline__ void store2(f16 *to, const unsigned *from) {
  *reinterpret_cast<unsigned *>(to) = from[0];
}

// A register holds 2 values, and so does the constant.
__device__ __forceinline__ void fill4(unsigned *to, unsigned value) {
  to[0] = value, to[1] = value;
}

__device__ __forceinline__ void cp_async8(f16 *slab, int at,
                                          const f16 *from_global) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :: "r"(to), "l"(from_global) : "memory");
}

// c += a * b, 16 x 8 x 16, by a warp; PTX ISA, section 9.7.14.5.8 says which lane holds what.
__device__ __forceinline__ void mma_m16n8k16_f16_f16(unsigned *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
               "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
               : "+r"(c[0]), "+r"(c[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]));
}

// Four matrices of eight 16-byte rows: lane l has the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void ldmatrix_x4_trans(unsigned *to, const f16 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from) : "memory");
}

__device__ __forceinline__ void cp_async8_if(f16 *slab, int at,
                                             const f16 *from_global, bool wanted) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0;"
               " @p cp.async.cg.shared.global [%0], [%1], 16; }"
               :: "r"(to), "l"(from_global), "r"(static_cast<int>(wanted)) : "memory");
}

__device__ __forceinline__ void load8(unsigned *to, const bf16 *from) {
  const uint4 v = *reinterpret_cast<const uint4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void store8(bf16 *to, const unsigned *from) {
  *reinterpret_cast<uint4 *>(to) = uint4{from[0], from[1], from[2], from[3]};
}

__device__ __forceinline__ void cp_async8_if(bf16 *slab, int at,
                                             const bf16 *from_global, bool wanted) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0;"
               " @p cp.async.cg.shared.global [%0], [%1], 16; }"
               :: "r"(to), "l"(from_global), "r"(static_cast<int>(wanted)) : "memory");
}

// c += a * b, asynchronously, 64 x 64 x 16, by a warpgroup; c = a * b where keep is 0.
// b is the descriptor of a tile, a a fragment: PTX ISA, section 9.7.15.5.1.1.1 says which lane holds what.
// b_turned: N runs fastest, not K.
template <int b_turned>
__device__ __forceinline__ void wgmma_m64n64k16_f32_bf16_rs(float *c, const unsigned *a,
    unsigned long long b, int keep) {
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13,"
      " %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27,"
      " %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, keep, 1, 1, %38;\n}"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]),
        "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]),
        "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]),
        "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]),
        "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]),
        "+f"(c[30]), "+f"(c[31])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep), "n"(b_turned)
      : "memory");
}

// c += a * b, asynchronously, 64 x 256 x 16, by a warpgroup; c = a * b where keep is 0.
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

// Four matrices of eight 16-byte rows: lane l has the address of row l % 8 of matrix l / 8.
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

// Claims a list of tiles for the cluster of n blocks; no other cluster gets it in this
// launch: the list of its SM, or the next free one. Lists from `lists` on have no tiles.
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

// The list that the block of rank 0 has claimed.
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

// c += a * b, asynchronously, 64 x 192 x 16, by a warpgroup; c = a * b where keep is 0.
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

__device__ __forceinline__ void store2(float *to, const float *from) {
  *reinterpret_cast<float2 *>(to) = float2{from[0], from[1]};
}

__device__ __forceinline__ bf16 to_bf16(float from) {
  bf16 to;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to.bits) : "f"(from));
  return to;
}

// The same to each block of the cluster in the mask, where its bytes count at bars[i].
__device__ __forceinline__ void tma_multicast(f16 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i, int mask) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes.multicast::cluster"
               " [%0], [%1, {%2, %3}], [%4], %5;"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar),
               "h"(static_cast<unsigned short>(mask)) : "memory");
}

// Four matrices of eight 16-byte rows: lane l has the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void stmatrix_x4(f16 *slab, int at, const float *from) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  unsigned v[4];
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[0]) : "f"(from[1]), "f"(from[0]));
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[1]) : "f"(from[3]), "f"(from[2]));
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[2]) : "f"(from[5]), "f"(from[4]));
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[3]) : "f"(from[7]), "f"(from[6]));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
               :: "r"(to), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory");
}

// c += a * b, asynchronously, 64 x 256 x 16, by a warpgroup; c = a * b where keep is 0.
// a and b are descriptors of tiles: PTX ISA, section 9.7.15.5.1.1.1 says which lane holds what.
// turned: M or N runs fastest, not K.
template <int a_turned, int b_turned>
__device__ __forceinline__ void wgmma_m64n256k16_f32_f16(float *c, unsigned long long a,
    unsigned long long b, int keep) {
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
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

// Four matrices of eight 16-byte rows: lane l has the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void stmatrix_x4(f16 *slab, int at, const unsigned *from) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
               :: "r"(to), "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]) : "memory");
}

// c += a * b, asynchronously, 64 x 256 x 16, by a warpgroup; c = a * b where keep is 0.
// a and b are descriptors of tiles: PTX ISA, section 9.7.15.5.1.1.1 says which lane holds what.
// turned: M or N runs fastest, not K.
template <int a_turned, int b_turned>
__device__ __forceinline__ void wgmma_m64n256k16_f16_f16(unsigned *c, unsigned long long a,
    unsigned long long b, int keep) {
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f16.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13,"
      " %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27,"
      " %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41,"
      " %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55,"
      " %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, keep, 1, 1, %67, %68;\n}"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]), "+r"(c[4]), "+r"(c[5]),
        "+r"(c[6]), "+r"(c[7]), "+r"(c[8]), "+r"(c[9]), "+r"(c[10]), "+r"(c[11]),
        "+r"(c[12]), "+r"(c[13]), "+r"(c[14]), "+r"(c[15]), "+r"(c[16]), "+r"(c[17]),
        "+r"(c[18]), "+r"(c[19]), "+r"(c[20]), "+r"(c[21]), "+r"(c[22]), "+r"(c[23]),
        "+r"(c[24]), "+r"(c[25]), "+r"(c[26]), "+r"(c[27]), "+r"(c[28]), "+r"(c[29]),
        "+r"(c[30]), "+r"(c[31]), "+r"(c[32]), "+r"(c[33]), "+r"(c[34]), "+r"(c[35]),
        "+r"(c[36]), "+r"(c[37]), "+r"(c[38]), "+r"(c[39]), "+r"(c[40]), "+r"(c[41]),
        "+r"(c[42]), "+r"(c[43]), "+r"(c[44]), "+r"(c[45]), "+r"(c[46]), "+r"(c[47]),
        "+r"(c[48]), "+r"(c[49]), "+r"(c[50]), "+r"(c[51]), "+r"(c[52]), "+r"(c[53]),
        "+r"(c[54]), "+r"(c[55]), "+r"(c[56]), "+r"(c[57]), "+r"(c[58]), "+r"(c[59]),
        "+r"(c[60]), "+r"(c[61]), "+r"(c[62]), "+r"(c[63])
      : "l"(a), "l"(b), "r"(keep), "n"(a_turned), "n"(b_turned)
      : "memory");
}

// The same to each block of the cluster in the mask, where its bytes count at bars[i].
__device__ __forceinline__ void tma_multicast(float *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i, int mask) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes.multicast::cluster"
               " [%0], [%1, {%2, %3}], [%4], %5;"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar),
               "h"(static_cast<unsigned short>(mask)) : "memory");
}

// c += a * b, asynchronously, 64 x 256 x 8, by a warpgroup; c = a * b where keep is 0.
// a and b are descriptors of tiles: PTX ISA, section 9.7.15.5.1.1.2 says which lane holds what.
__device__ __forceinline__ void wgmma_m64n256k8_f32_tf32(float *c, unsigned long long a,
    unsigned long long b, int keep) {
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 "
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
      "%128, %129, keep, 1, 1;\n}"
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
      : "l"(a), "l"(b), "r"(keep)
      : "memory");
}

// c += a * b, asynchronously, 64 x 192 x 8, by a warpgroup; c = a * b where keep is 0.
// a and b are descriptors of tiles: PTX ISA, section 9.7.15.5.1.1.2 says which lane holds what.
__device__ __forceinline__ void wgmma_m64n192k8_f32_tf32(float *c, unsigned long long a,
    unsigned long long b, int keep) {
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %98, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192k8.f32.tf32.tf32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13,"
      " %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27,"
      " %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41,"
      " %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55,"
      " %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69,"
      " %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83,"
      " %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, "
      "%96, %97, keep, 1, 1;\n}"
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
      : "l"(a), "l"(b), "r"(keep)
      : "memory");
}

// The same to each block of the cluster in the mask, where its bytes count at bars[i].
__device__ __forceinline__ void tma_multicast(e4m3 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i, int mask) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes.multicast::cluster"
               " [%0], [%1, {%2, %3}], [%4], %5;"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar),
               "h"(static_cast<unsigned short>(mask)) : "memory");
}

// c += a * b, asynchronously, 64 x 128 x 32, by a warpgroup; c = a * b where keep is 0.
// a and b are descriptors of tiles: PTX ISA, section 9.7.15.5.1.1.3 says which lane holds what.
__device__ __forceinline__ void wgmma_m64n128k32_f32_e4m3(float *c, unsigned long long a,
    unsigned long long b, int keep) {
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13,"
      " %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27,"
      " %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41,"
      " %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55,"
      " %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, keep, 1, 1;\n}"
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
      : "l"(a), "l"(b), "r"(keep)
      : "memory");
}

// An e4m3 as it lies in memory; each 32 along K share a factor.
struct mxf8 {
  unsigned char bits;
};

// A factor: 2 to the power of bits - 127.
struct ue8m0 {
  unsigned char bits;
};

__device__ __forceinline__ void load4(unsigned *to, const mxf8 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

// c += a * b, 16 x 8 x 32, by a warp; PTX ISA, section 9.7.14.5.10 says which lane holds what.
// Each 32 elements along K are scaled by a ue8m0: of a row of A by one of lane 4 * (row % 8) +
// row / 8, of a column of B by one of lane 4 * column, in 1 byte of sfa and sfb from byte_a and
// byte_b on (thread-id 0: the first lanes of each four).
__device__ __forceinline__ void mma_m16n8k32_f32_mxf8(float *c, const unsigned *a,
    const unsigned *b,
    unsigned sfa, unsigned short byte_a, unsigned sfb, unsigned short byte_b) {
  asm volatile("mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X"
               ".m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3},"
               " {%10}, {%11, 0}, {%12}, {%13, 0};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]),
                 "r"(sfa), "h"(byte_a), "r"(sfb), "h"(byte_b));
}

// Value i of a register that holds 4; the others stay.
__device__ __forceinline__ void insert_ue8m0(unsigned *to, int i, ue8m0 value) {
  const unsigned bits = value.bits;
  *to = (*to & ~(0xffu << 8 * i)) | bits << 8 * i;
}

__device__ __forceinline__ void cp_async16(mxf8 *slab, int at,
                                           const mxf8 *from_global) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :: "r"(to), "l"(from_global) : "memory");
}

// Two matrices of eight 16-byte rows: lane l has the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void ldmatrix_x2(unsigned *to, const mxf8 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(from) : "memory");
}

// Four matrices of eight 16-byte rows: lane l has the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void ldmatrix_x4(unsigned *to, const mxf8 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from) : "memory");
}

__device__ __forceinline__ void load4(unsigned *to, const ue8m0 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

// Two e2m1, neighbours along K, the first in the low half; each 32 share a factor.
struct mxf4 {
  unsigned char bits;
};

__device__ __forceinline__ void cp_async16(mxf4 *slab, int at,
                                           const mxf4 *from_global) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :: "r"(to), "l"(from_global) : "memory");
}

// Two matrices of eight 16-byte rows: lane l has the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void ldmatrix_x2(unsigned *to, const mxf4 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(from) : "memory");
}

// Four matrices of eight 16-byte rows: lane l has the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void ldmatrix_x4(unsigned *to, const mxf4 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from) : "memory");
}

// c += a * b, 16 x 8 x 64, by a warp; PTX ISA, section 9.7.14.5.11 says which lane holds what.
// Each 32 elements along K are scaled by a ue8m0: of a row of A by one of lane 4 * (row % 8) +
// row / 8, of a column of B by one of lane 4 * column, in 2 bytes of sfa and sfb from byte_a and
// byte_b on (thread-id 0: the first lanes of each four).
__device__ __forceinline__ void mma_m16n8k64_f32_mxf4(float *c, const unsigned *a,
    const unsigned *b,
    unsigned sfa, unsigned short byte_a, unsigned sfb, unsigned short byte_b) {
  asm volatile("mma.sync.aligned.kind::mxf4.block_scale.scale_vec::2X"
               ".m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3},"
               " {%10}, {%11, 0}, {%12}, {%13, 0};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]),
                 "r"(sfa), "h"(byte_a), "r"(sfb), "h"(byte_b));
}

// Two e2m1, neighbours along K, the first in the low half; each 16 share a factor.
struct nvfp4 {
  unsigned char bits;
};

// A factor: an e4m3 without a sign.
struct ue4m3 {
  unsigned char bits;
};

__device__ __forceinline__ void load4(unsigned *to, const ue4m3 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

__device__ __forceinline__ void cp_async16(nvfp4 *slab, int at,
                                           const nvfp4 *from_global) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :: "r"(to), "l"(from_global) : "memory");
}

// Two matrices of eight 16-byte rows: lane l has the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void ldmatrix_x2(unsigned *to, const nvfp4 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(from) : "memory");
}

// Four matrices of eight 16-byte rows: lane l has the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void ldmatrix_x4(unsigned *to, const nvfp4 *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from) : "memory");
}

// c += a * b, 16 x 8 x 64, by a warp; PTX ISA, section 9.7.14.5.11 says which lane holds what.
// Each 16 elements along K are scaled by a ue4m3: of a row of A by one of lane 4 * (row % 8) +
// row / 8, of a column of B by one of lane 4 * column, in 4 bytes of sfa and sfb from byte_a and
// byte_b on (thread-id 0: the first lanes of each four).
__device__ __forceinline__ void mma_m16n8k64_f32_nvfp4(float *c, const unsigned *a,
    const unsigned *b,
    unsigned sfa, unsigned short byte_a, unsigned sfb, unsigned short byte_b) {
  asm volatile("mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X"
               ".m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3},"
               " {%10}, {%11, 0}, {%12}, {%13, 0};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]),
                 "r"(sfa), "h"(byte_a), "r"(sfb), "h"(byte_b));
}

__device__ __forceinline__ void store4(bf16 *to, const unsigned *from) {
  *reinterpret_cast<uint2 *>(to) = uint2{from[0], from[1]};
}

__device__ __forceinline__ float to_float(bf16 from) {
  return __uint_as_float(static_cast<unsigned>(from.bits) << 16);
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

// The nearest tf32, as an f32 whose last 13 bits are 0.
__device__ __forceinline__ float round_tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
}

// c += a * b, asynchronously, 64 x 128 x 8, by a warpgroup; c = a * b where keep is 0.
// a and b are descriptors of tiles: PTX ISA, section 9.7.15.5.1.1.2 says which lane holds what.
__device__ __forceinline__ void wgmma_m64n128k8_f32_tf32(float *c, unsigned long long a,
    unsigned long long b, int keep) {
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13,"
      " %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27,"
      " %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41,"
      " %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55,"
      " %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, keep, 1, 1;\n}"
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
      : "l"(a), "l"(b), "r"(keep)
      : "memory");
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

// 32 rows of 16 bytes that a descriptor finds, asynchronously, to four columns of tensor memory,
// into the lanes of each quarter. Products that are issued later find them.
__device__ __forceinline__ void tcgen05_cp(unsigned to, unsigned long long from) {
  asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;"
               :: "r"(to), "l"(from) : "memory");
}

// d += (a * sfa) * (b * sfb), asynchronously: the same, with scale factors that begin at sfa and
// sfb in tensor memory; bits 29 and 4 of idesc say at which byte of their words.
__device__ __forceinline__ void tcgen05_mma_mxf8f6f4(unsigned d, unsigned long long a,
    unsigned long long b, unsigned idesc, unsigned sfa, unsigned sfb, int keep) {
  asm volatile("{ .reg .pred keep;\nsetp.ne.b32 keep, %6, 0;\n"
               "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X"
               " [%0], %1, %2, %3, [%4], [%5], keep; }"
               :: "r"(d), "l"(a), "l"(b), "r"(idesc), "r"(sfa), "r"(sfb), "r"(keep)
               : "memory");
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

// The same, its bytes counted at bars[i] of the even CTA of a pair.
__device__ __forceinline__ void tma_pair(mxf8 *slab, int at, const tensor_map *map,
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

// 32 rows of 16 bytes that a descriptor finds, asynchronously, to four columns of tensor memory,
// into the lanes of each quarter, in each CTA of a pair from its own memory. Products that are issued later find them.
__device__ __forceinline__ void tcgen05_cp_pair(unsigned to, unsigned long long from) {
  asm volatile("tcgen05.cp.cta_group::2.32x128b.warpx4 [%0], %1;"
               :: "r"(to), "l"(from) : "memory");
}

// d += (a * sfa) * (b * sfb), asynchronously: the same, with scale factors that begin at sfa and
// sfb in tensor memory; bits 29 and 4 of idesc say at which byte of their words.
__device__ __forceinline__ void tcgen05_mma_pair_mxf8f6f4(unsigned d, unsigned long long a,
    unsigned long long b, unsigned idesc, unsigned sfa, unsigned sfb, int keep) {
  asm volatile("{ .reg .pred keep;\nsetp.ne.b32 keep, %6, 0;\n"
               "tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale.scale_vec::1X"
               " [%0], %1, %2, %3, [%4], [%5], keep; }"
               :: "r"(d), "l"(a), "l"(b), "r"(idesc), "r"(sfa), "r"(sfb), "r"(keep)
               : "memory");
}

// The same, its bytes counted at bars[i] of the even CTA of a pair.
__device__ __forceinline__ void tma_pair(mxf4 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes.cta_group::2 [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar & 0xfeffffffu) : "memory");
}

// d += (a * sfa) * (b * sfb), asynchronously: the same, with scale factors that begin at sfa and
// sfb in tensor memory; bits 29 and 4 of idesc say at which byte of their words.
__device__ __forceinline__ void tcgen05_mma_pair_mxf4(unsigned d, unsigned long long a,
    unsigned long long b, unsigned idesc, unsigned sfa, unsigned sfb, int keep) {
  asm volatile("{ .reg .pred keep;\nsetp.ne.b32 keep, %6, 0;\n"
               "tcgen05.mma.cta_group::2.kind::mxf4.block_scale.scale_vec::2X"
               " [%0], %1, %2, %3, [%4], [%5], keep; }"
               :: "r"(d), "l"(a), "l"(b), "r"(idesc), "r"(sfa), "r"(sfb), "r"(keep)
               : "memory");
}

// The descriptor of the tile that begins at slab[at]: its address beside what does not
// depend on it. In a cluster the address has the rank of the CTA above its 18 bits.
__device__ __forceinline__ unsigned long long tile_of(const mxf4 *slab, int at,
    unsigned long long shape) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 1 * at;
  return shape | (from & 0x3ffffu) >> 4;
}

// The same, its bytes counted at bars[i] of the even CTA of a pair.
__device__ __forceinline__ void tma_pair(nvfp4 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes.cta_group::2 [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar & 0xfeffffffu) : "memory");
}

// The same, its bytes counted at bars[i] of the even CTA of a pair.
__device__ __forceinline__ void tma_pair(ue4m3 *slab, int at, const tensor_map *map,
    int column, int row, int matrix, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes.cta_group::2 [%0], [%1, {%2, %3, %4}], [%5];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(matrix), "r"(bar & 0xfeffffffu)
               : "memory");
}

// d += (a * sfa) * (b * sfb), asynchronously: the same, with scale factors that begin at sfa and
// sfb in tensor memory; bits 29 and 4 of idesc say at which byte of their words.
__device__ __forceinline__ void tcgen05_mma_pair_mxf4nvf4(unsigned d, unsigned long long a,
    unsigned long long b, unsigned idesc, unsigned sfa, unsigned sfb, int keep) {
  asm volatile("{ .reg .pred keep;\nsetp.ne.b32 keep, %6, 0;\n"
               "tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.scale_vec::4X"
               " [%0], %1, %2, %3, [%4], [%5], keep; }"
               :: "r"(d), "l"(a), "l"(b), "r"(idesc), "r"(sfa), "r"(sfb), "r"(keep)
               : "memory");
}

// The descriptor of the tile that begins at slab[at]: its address beside what does not
// depend on it. In a cluster the address has the rank of the CTA above its 18 bits.
__device__ __forceinline__ unsigned long long tile_of(const nvfp4 *slab, int at,
    unsigned long long shape) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 1 * at;
  return shape | (from & 0x3ffffu) >> 4;
}

// The descriptor of the tile that begins at slab[at]: its address beside what does not
// depend on it. In a cluster the address has the rank of the CTA above its 18 bits.
__device__ __forceinline__ unsigned long long tile_of(const ue4m3 *slab, int at,
    unsigned long long shape) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 1 * at;
  return shape | (from & 0x3ffffu) >> 4;
}

// An e5m2 as it lies in memory; each 32 along K share a factor.
struct mxf8e5m2 {
  unsigned char bits;
};

// The same, its bytes counted at bars[i] of the even CTA of a pair.
__device__ __forceinline__ void tma_pair(mxf8e5m2 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes.cta_group::2 [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar & 0xfeffffffu) : "memory");
}

// The descriptor of the tile that begins at slab[at]: its address beside what does not
// depend on it. In a cluster the address has the rank of the CTA above its 18 bits.
__device__ __forceinline__ unsigned long long tile_of(const mxf8e5m2 *slab, int at,
    unsigned long long shape) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 1 * at;
  return shape | (from & 0x3ffffu) >> 4;
}

// (2)
__device__ __forceinline__ void cp_async4(float *slab, int at,
                                          const float *from_global) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;"
               :: "r"(to), "l"(from_global) : "memory");
}

// Two matrices of eight 16-byte rows: lane l has the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void ldmatrix_x2(float *to, const float *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  unsigned bits[2];
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(bits[0]), "=r"(bits[1])
               : "r"(from) : "memory");
  to[0] = __uint_as_float(bits[0]);
  to[1] = __uint_as_float(bits[1]);
}

// Four matrices of eight 16-byte rows: lane l has the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void ldmatrix_x4(float *to, const float *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  unsigned bits[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(bits[0]), "=r"(bits[1]), "=r"(bits[2]), "=r"(bits[3])
               : "r"(from) : "memory");
  to[0] = __uint_as_float(bits[0]);
  to[1] = __uint_as_float(bits[1]);
  to[2] = __uint_as_float(bits[2]);
  to[3] = __uint_as_float(bits[3]);
}

// c += a * b, 16 x 8 x 8, by a warp; PTX ISA, section 9.7.14.5.7 says which lane holds what.
// The unit reads the upper 19 bits of a and b: fractions are cut to 10 bits.
__device__ __forceinline__ void mma_m16n8k8_f32_tf32(float *c, const float *a,
    const float *b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])),
                 "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
                 "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
}

__device__ __forceinline__ float load_shared(const float *slab, int at) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  float value;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(from) : "memory");
  return value;
}

__device__ __forceinline__ void cp_async4_if(float *slab, int at,
                                             const float *from_global, bool wanted) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0;"
               " @p cp.async.cg.shared.global [%0], [%1], 16; }"
               :: "r"(to), "l"(from_global), "r"(static_cast<int>(wanted)) : "memory");
}
