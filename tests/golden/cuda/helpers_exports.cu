__device__ double number(float x) {
  return x;
}

__device__ void set(In *to, float x) {
  *to = x;
}

struct Verdict {
  unsigned long long n_checked, n_wrong;
  unsigned worst;  // the largest error in units of its bound: the bits of a float
};

// A NaN is wrong, too. The magnitude is the sum of the terms' absolute values.
__device__ void judge(double cell, double expected, double magnitude, Verdict *verdict) {
  const double error = fabs(cell - expected);
  const double bound = tolerance * magnitude + rounding * fabs(expected) + least;
  atomicAdd(&verdict->n_checked, 1ull);
  if (!(error <= bound)) atomicAdd(&verdict->n_wrong, 1ull);
  if (error > 0) atomicMax(&verdict->worst, __float_as_uint((float)(error / bound)));
}

struct Operands {
  In *A, *B;
  Out *C;
};

// An IEEE half (1 sign, 5 exponent, 10 fraction bits) as it lies in memory.
struct f16 {
  unsigned short bits;
};

__device__ __forceinline__ void load2(unsigned *to, const f16 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

__device__ __forceinline__ void load8(unsigned *to, const f16 *from) {
  const uint4 v = *reinterpret_cast<const uint4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void store2(float *to, const float *from) {
  *reinterpret_cast<float2 *>(to) = float2{from[0], from[1]};
}

__device__ __forceinline__ void store8(f16 *to, const unsigned *from) {
  *reinterpret_cast<uint4 *>(to) = uint4{from[0], from[1], from[2], from[3]};
}

__device__ __forceinline__ void fill4(float *to, float value) {
  to[0] = value, to[1] = value, to[2] = value, to[3] = value;
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

__device__ __forceinline__ f16 to_f16(float from) {
  f16 to;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"(from));
  return to;
}

// Value i of a register that holds 2; the others stay.
__device__ __forceinline__ void insert_f16(unsigned *to, int i, f16 value) {
  const unsigned bits = value.bits;
  *to = (*to & ~(0xffffu << 16 * i)) | bits << 16 * i;
}

__device__ double number(f16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}

// (2)
__device__ void set(In *to, float x) {
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to->bits) : "f"(x));
}

// (2)
struct Operands {
  In *A, *B;
  Out *C;
  float *P;
};

// The kernel launched in front of this one has ended, and what it wrote can be read.
__device__ __forceinline__ void wait_for_kernel_before() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

__device__ __forceinline__ void store2(f16 *to, const unsigned *from) {
  *reinterpret_cast<unsigned *>(to) = from[0];
}

// A register holds 2 values, and so does the constant.
__device__ __forceinline__ void fill4(unsigned *to, unsigned value) {
  to[0] = value, to[1] = value;
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

// A bfloat16 (1 sign, 8 exponent, 7 fraction bits) as it lies in memory.
struct bf16 {
  unsigned short bits;
};

__device__ __forceinline__ void load2(unsigned *to, const bf16 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

__device__ __forceinline__ void store2(bf16 *to, const float *from) {
  unsigned v[1];
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[0]) : "f"(from[1]), "f"(from[0]));
  *reinterpret_cast<unsigned *>(to) = v[0];
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

__device__ double number(bf16 x) {
  return __uint_as_float((unsigned)x.bits << 16);
}

// (3)
__device__ void set(In *to, float x) {
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to->bits) : "f"(x));
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

__device__ __forceinline__ void load4(unsigned *to, const signed char *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

__device__ __forceinline__ void store2(int *to, const int *from) {
  *reinterpret_cast<int2 *>(to) = int2{from[0], from[1]};
}

__device__ __forceinline__ void fill4(int *to, int value) {
  to[0] = value, to[1] = value, to[2] = value, to[3] = value;
}

// c += a * b, 16 x 8 x 32, by a warp; PTX ISA, section 9.7.14.5.10 says which lane holds what.
__device__ __forceinline__ void mma_m16n8k32_s32_s8(int *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]));
}

// Value i of a register that holds 4; the others stay.
__device__ __forceinline__ void insert_s8(unsigned *to, int i, signed char value) {
  const unsigned bits = static_cast<unsigned char>(value);
  *to = (*to & ~(0xffu << 8 * i)) | bits << 8 * i;
}

__device__ double number(signed char x) {
  return x;
}

__device__ double number(int x) {
  return x;
}

// (4)
__device__ void set(In *to, float x) {
  *to = (signed char)fminf(fmaxf(rintf(32 * x), -127), 127);  // uses the range of 8 bits
}

// An 8-bit float (1 sign, 4 exponent, 3 fraction bits) as it lies in memory.
struct e4m3 {
  unsigned char bits;
};

__device__ __forceinline__ void load4(unsigned *to, const e4m3 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

// c += a * b, 16 x 8 x 32, by a warp; PTX ISA, section 9.7.14.5.10 says which lane holds what.
__device__ __forceinline__ void mma_m16n8k32_f32_e4m3(float *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]));
}

// Value i of a register that holds 4; the others stay.
__device__ __forceinline__ void insert_e4m3(unsigned *to, int i, e4m3 value) {
  const unsigned bits = value.bits;
  *to = (*to & ~(0xffu << 8 * i)) | bits << 8 * i;
}

__device__ double number(e4m3 x) {
  float y;
  asm("{ .reg .b16 low, high; .reg .b32 pair;\n"
      "cvt.rn.f16x2.e4m3x2 pair, %1; mov.b32 {low, high}, pair;\n"
      "cvt.f32.f16 %0, low; }" : "=f"(y) : "h"((unsigned short)x.bits));
  return y;
}

// (5)
__device__ void set(In *to, float x) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
  to->bits = (unsigned char)pair;
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
__device__ __forceinline__ void tma_load(bf16 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar) : "memory");
}

// True in one lane of the warp: the hardware picks it, always the same one.
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

// Value i of a register that holds 2; the others stay.
__device__ __forceinline__ void insert_bf16(unsigned *to, int i, bf16 value) {
  const unsigned bits = value.bits;
  *to = (*to & ~(0xffffu << 16 * i)) | bits << 16 * i;
}

// (3)
struct Operands {
  In *A, *B;
  Out *C;
  tensor_map A_map;
  tensor_map B_map;
};

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

// (4)
struct Operands {
  In *A, *B;
  Out *C;
  tensor_map A_map;
  tensor_map B_map;
  tensor_map C_map;
};

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

// The table on the device; claims begin with 0.
struct Lists {
  int *places, n;
  unsigned *claims;
};

// The map's box, from this column and row on, goes to element `at` of the slab.
__device__ __forceinline__ void tma_load(bf16 *slab, int at, const tensor_map *map,
    int column, int row, int matrix, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 2 * at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(matrix), "r"(bar) : "memory");
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

// (5)
struct Operands {
  In *Q, *K, *V;
  Out *O;
  tensor_map Q_map;
  tensor_map K_map;
  tensor_map V_map;
};

// (6)
struct Operands {
  In *Q, *K, *V;
  Out *O;
  float *S;
  float *P;
  float *L;
};

__device__ __forceinline__ void store2(double *to, const double *from) {
  *reinterpret_cast<double2 *>(to) = double2{from[0], from[1]};
}

__device__ __forceinline__ void fill2(double *to, double value) {
  to[0] = value, to[1] = value;
}

// c += a * b, 8 x 8 x 4, by a warp; PTX ISA, section 9.7.14.5.2 says which lane holds what.
__device__ __forceinline__ void mma_m8n8k4_f64_f64(double *c, const double *a,
    const double *b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
               "{%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(c[0]), "+d"(c[1])
               : "d"(a[0]), "d"(b[0]));
}

__device__ double number(double x) {
  return x;
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

// The map's box, from this column and row on, goes to element `at` of the slab.
__device__ __forceinline__ void tma_load(nvfp4 *slab, int at, const tensor_map *map,
    int column, int row, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(bar) : "memory");
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

__device__ double number(Factor x) {
  float y;
  asm("{ .reg .b16 low, high; .reg .b32 pair;\n"
      "cvt.rn.f16x2.e4m3x2 pair, %1; mov.b32 {low, high}, pair;\n"
      "cvt.f32.f16 %0, low; }" : "=f"(y) : "h"((unsigned short)x.bits));
  return y;
}

// Element `at` of a matrix of bytes that hold two.
__device__ double element(const In *x, long long at) {
  const double size[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const unsigned code = x[at / 2].bits >> (at % 2 * 4);
  return code & 8 ? -size[code & 7] : size[code & 7];
}

// (6)
__device__ void set(In *to, float x) {
  const float rest = 64 * x - rintf(64 * x);
  unsigned short both;
  asm("{ .reg .b8 byte; cvt.rn.satfinite.e2m1x2.f32 byte, %1, %2;\n"
      "mov.b16 %0, {byte, 0}; }" : "=h"(both) : "f"(8 * rest), "f"(x));
  to->bits = (unsigned char)both;
}

// (7)
struct Operands {
  In *A, *B;
  Out *C;
  Factor *SFA, *SFB;
  tensor_map A_map;
  tensor_map B_map;
};

__device__ __forceinline__ void store4(float *to, const float *from) {
  *reinterpret_cast<float4 *>(to) = float4{from[0], from[1], from[2], from[3]};
}

// The map's box, from this column and row on, goes to element `at` of the slab.
__device__ __forceinline__ void tma_load(ue4m3 *slab, int at, const tensor_map *map,
    int column, int row, int matrix, unsigned long long *bars, int i) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + at;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
               :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(matrix), "r"(bar) : "memory");
}

// Later accesses to tensor memory come after the event waited for.
__device__ __forceinline__ void tcgen05_after() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// Earlier accesses to tensor memory come before what this thread signals.
__device__ __forceinline__ void tcgen05_before() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

// One arrival at bars[i] when all products that this thread has issued are done.
__device__ __forceinline__ void tcgen05_commit(unsigned long long *bars, int i) {
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
               :: "r"(bar) : "memory");
}

// 32 rows of 16 bytes that a descriptor finds, asynchronously, to four columns of tensor memory,
// into the lanes of each quarter. Products that are issued later find them.
__device__ __forceinline__ void tcgen05_cp(unsigned to, unsigned long long from) {
  asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;"
               :: "r"(to), "l"(from) : "memory");
}

// d += (a * sfa) * (b * sfb), asynchronously: the same, with scale factors that begin at sfa and
// sfb in tensor memory; bits 29 and 4 of idesc say at which byte of their words.
__device__ __forceinline__ void tcgen05_mma_mxf4nvf4(unsigned d, unsigned long long a,
    unsigned long long b, unsigned idesc, unsigned sfa, unsigned sfb, int keep) {
  asm volatile("{ .reg .pred keep;\nsetp.ne.b32 keep, %6, 0;\n"
               "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X"
               " [%0], %1, %2, %3, [%4], [%5], keep; }"
               :: "r"(d), "l"(a), "l"(b), "r"(idesc), "r"(sfa), "r"(sfb), "r"(keep)
               : "memory");
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

// (8)
struct Operands {
  In *A, *B;
  Out *C;
  Factor *SFA, *SFB;
  tensor_map A_map;
  tensor_map B_map;
  tensor_map SFA_map;
  tensor_map SFB_map;
};

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

__device__ double number(In x) {
  float y;
  asm("{ .reg .b16 low, high; .reg .b32 pair;\n"
      "cvt.rn.f16x2.e4m3x2 pair, %1; mov.b32 {low, high}, pair;\n"
      "cvt.f32.f16 %0, low; }" : "=f"(y) : "h"((unsigned short)x.bits));
  return y;
}

// (9)
struct Operands {
  In *A, *B;
  Out *C;
  Factor *SFA, *SFB;
};
