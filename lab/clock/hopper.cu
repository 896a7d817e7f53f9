// All that sm_90a has beside it: mbarriers, copies by TMA, wgmma.

FENCE(fence_async_rate, "fence.proxy.async.shared::cta;")
FENCE(fence_async_all_rate, "fence.proxy.async;")

__device__ __forceinline__ void mbarrier_init(unsigned at, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(count) : "memory");
}
__device__ __forceinline__ void mbarrier_arrive(unsigned at) {
  asm volatile("{ .reg .b64 t; mbarrier.arrive.shared::cta.b64 t, [%0]; }" ::"r"(at) : "memory");
}
__device__ __forceinline__ void mbarrier_expect(unsigned at, unsigned bytes) {
  asm volatile("{ .reg .b64 t; mbarrier.arrive.expect_tx.shared::cta.b64 t, [%0], %1; }" ::"r"(at),
               "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void mbarrier_wait(unsigned at, unsigned phase) {
  asm volatile(
      "{ .reg .pred p;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@p bra there;\n"
      "bra again;\n"
      "there: }" ::"r"(at),
      "r"(phase)
      : "memory");
}

// mbarrier.test_wait asks once and never sleeps.
__device__ __forceinline__ void mbarrier_poll(unsigned at, unsigned phase) {
  asm volatile(
      "{ .reg .pred p;\n"
      "again:\n"
      "mbarrier.test_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@!p bra again; }" ::"r"(at),
      "r"(phase)
      : "memory");
}
KERNEL(mbarrier_polled)(ARGUMENTS) {
  const unsigned at = shared_address(tile);
  if (threadIdx.x == 0) mbarrier_init(at, 1);
  __syncthreads();
  const long long begin = begin_clock();
  if (threadIdx.x == 0)
    _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
      mbarrier_arrive(at);
      mbarrier_poll(at, r & 1);
    }
  end_clock(clocks, begin);
}

// A thread that waits for what it has arrived at itself.
KERNEL(mbarrier_alone)(ARGUMENTS) {
  const unsigned at = shared_address(tile);
  if (threadIdx.x == 0) mbarrier_init(at, 1);
  __syncthreads();
  const long long begin = begin_clock();
  if (threadIdx.x == 0)
    _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
      mbarrier_arrive(at);
      mbarrier_wait(at, r & 1);
    }
  end_clock(clocks, begin);
}
// A phase that is over: the one before the first.
KERNEL(mbarrier_over)(ARGUMENTS) {
  const unsigned at = shared_address(tile);
  if (threadIdx.x == 0) mbarrier_init(at, 1);
  __syncthreads();
  const long long begin = begin_clock();
  if (threadIdx.x == 0)
    _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
      _Pragma("unroll") for (int i = 0; i < UNROLL; i++) mbarrier_wait(at, 1);
    }
  end_clock(clocks, begin);
}
KERNEL(mbarrier_arrivals)(ARGUMENTS) {
  const unsigned at = shared_address(tile);
  if (threadIdx.x == 0) mbarrier_init(at, 1);
  __syncthreads();
  const long long begin = begin_clock();
  if (threadIdx.x == 0)
    _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
      _Pragma("unroll") for (int i = 0; i < UNROLL; i++) mbarrier_arrive(at);
    }
  end_clock(clocks, begin);
}
// Two warps that wake each other: a round is two wakings.
KERNEL(mbarrier_turns)(ARGUMENTS) {
  const unsigned at = shared_address(tile);
  if (threadIdx.x < 2) mbarrier_init(at + 8 * threadIdx.x, 1);
  __syncthreads();
  const long long begin = begin_clock();
  const int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0)
    _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
      if (warp) mbarrier_wait(at, r & 1);
      mbarrier_arrive(at + 8 * warp);
      if (!warp) mbarrier_wait(at + 8, r & 1);
    }
  end_clock(clocks, begin);
}

// ---- copies by TMA ------------------------------------------------------------------------------

struct __align__(64) Map { u64 word[16]; };

// `sink[0]` boxes of `sink[1]` bytes each; a round waits for all of them.
extern "C" __global__ void __launch_bounds__(1024)
box_load(ARGUMENTS, const __grid_constant__ Map map) {
  const unsigned at = shared_address(tile), to = at + 1024, n = sink[0], bytes = sink[1];
  const int rows = (int)sink[2];
  if (threadIdx.x == 0) mbarrier_init(at, 1);
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  __syncthreads();
  const long long begin = begin_clock();
  if (threadIdx.x == 0)
    _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
      mbarrier_expect(at, n * bytes);
      for (unsigned i = 0; i < n; i++)
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
            "{%2, %3}], [%4];" ::"r"(to + i * ((bytes + 1023) & ~1023u)),
            "l"(&map), "r"(0), "r"((int)((r % 4 * n + i) * gridDim.x + blockIdx.x) * rows & 8191), "r"(at)
            : "memory");
      if (sink[3])
        mbarrier_poll(at, r & 1);
      else
        mbarrier_wait(at, r & 1);
    }
  end_clock(clocks, begin);
}
extern "C" __global__ void __launch_bounds__(1024)
box_store(ARGUMENTS, const __grid_constant__ Map map) {
  const unsigned from = shared_address(tile) + 1024, n = sink[0], bytes = sink[1];
  const int rows = (int)sink[2];
  const long long begin = begin_clock();
  if (threadIdx.x == 0)
    _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
      for (unsigned i = 0; i < n; i++)
        asm volatile(
            "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
            "r"(0), "r"((int)((r % 4 * n + i) * gridDim.x + blockIdx.x) * rows & 8191),
            "r"(from + i * ((bytes + 1023) & ~1023u))
            : "memory");
      if (sink[3])
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
      else
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
    }
  end_clock(clocks, begin);
}

// ---- wgmma --------------------------------------------------------------------------------------

// Rows of 128 bytes, swizzled: B of 16 x N lies in N rows, A in 64.
__device__ __forceinline__ u64 tile_descriptor(unsigned at) {
  return (u64)(at >> 4 & 0x3fff) | (u64)1 << 16 | (u64)64 << 32 | (u64)1 << 62;
}
#define E8(d, b) \
  "+f"(d[b]), "+f"(d[b + 1]), "+f"(d[b + 2]), "+f"(d[b + 3]), "+f"(d[b + 4]), "+f"(d[b + 5]), "+f"(d[b + 6]), "+f"(d[b + 7])
#define E32(d, b) E8(d, b), E8(d, b + 8), E8(d, b + 16), E8(d, b + 24)
#define E64(d, b) E32(d, b), E32(d, b + 32)
#define E128(d, b) E64(d, b), E64(d, b + 64)
#define T10(t) "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9"
#define T0 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9"
#define T32 T0 ", " T10(1) ", " T10(2) ", %30, %31"
#define T64 T0 ", " T10(1) ", " T10(2) ", " T10(3) ", " T10(4) ", " T10(5) ", %60, %61, %62, %63"
#define T128 \
  T0 ", " T10(1) ", " T10(2) ", " T10(3) ", " T10(4) ", " T10(5) ", " T10(6) ", " T10(7) ", " T10(8) ", " \
  T10(9) ", " T10(10) ", " T10(11) ", %120, %121, %122, %123, %124, %125, %126, %127"
#define TIMES1(p) p
#define TIMES4(p) p p p p
#define TIMES16(p) TIMES4(p) TIMES4(p) TIMES4(p) TIMES4(p)
// One group in a round, waited for. `which`: the places of the descriptors among the operands.
#define GROUP(name, n, list, elements, sums, a, tail, times, ...)                             \
  extern "C" __global__ void __launch_bounds__(128) name(ARGUMENTS) {                         \
    float d[sums] = {};                                                                       \
    unsigned x[4];                                                                            \
    for (int i = 0; i < 4; i++) x[i] = sink[threadIdx.x + i], (void)x[i];                     \
    const u64 da = tile_descriptor(shared_address(tile)),                                     \
              db = tile_descriptor(shared_address(tile) + 8192);                              \
    const long long begin = begin_clock();                                                    \
    _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {                                    \
      asm volatile("wgmma.fence.sync.aligned;\n" times(                                       \
                       "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32.bf16.bf16 {" list      \
                       "}, " a ", 1, 1, 1" tail ";\n")                                        \
                   "wgmma.commit_group.sync.aligned;\n"                                       \
                   "wgmma.wait_group.sync.aligned 0;\n"                                       \
                   : elements(d, 0) : __VA_ARGS__ : "memory");                                \
    }                                                                                         \
    end_clock(clocks, begin);                                                                 \
    float all = 0;                                                                            \
    for (int i = 0; i < sums; i++) all += d[i];                                               \
    if (rounds < 0) sink[threadIdx.x] = (unsigned)all;                                        \
  }
#define GROUPS(n, list, elements, sums, p0, p1, p2, p3, p4)                                       \
  GROUP(wgmma_n##n##_one, n, list, elements, sums, p0 ", " p1, ", 0, 0", TIMES1, "l"(da), "l"(db)) \
  GROUP(wgmma_n##n##_four, n, list, elements, sums, p0 ", " p1, ", 0, 0", TIMES4, "l"(da), "l"(db)) \
  GROUP(wgmma_n##n##_sixteen, n, list, elements, sums, p0 ", " p1, ", 0, 0", TIMES16, "l"(da), "l"(db)) \
  GROUP(wgmma_n##n##_registers_four, n, list, elements, sums, "{" p0 ", " p1 ", " p2 ", " p3 "}, " p4, ", 0", TIMES4, \
        "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "l"(db)) \
  GROUP(wgmma_n##n##_registers_sixteen, n, list, elements, sums, "{" p0 ", " p1 ", " p2 ", " p3 "}, " p4, ", 0", TIMES16, \
        "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "l"(db))
GROUPS(64, T32, E32, 32, "%32", "%33", "%34", "%35", "%36")
GROUPS(128, T64, E64, 64, "%64", "%65", "%66", "%67", "%68")
GROUPS(256, T128, E128, 128, "%128", "%129", "%130", "%131", "%132")
