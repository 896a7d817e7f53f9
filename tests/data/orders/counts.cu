// Numbers that a barrier awaits: a ring whose full mbarriers await one arrival, and a named barrier
// of the four warps that come; -D puts others there. counts_NAME.ptx is nvcc -ptx -O3 -arch=sm_90a
// of it: sound; more with -DFULLN=32 -DNAMED=256; whole with -DWHOLE: each lane releases a slot.
#include <cstdint>
#define SMEM(p) ((unsigned)__cvta_generic_to_shared(p))
#ifndef FULLN
#define FULLN 1
#endif
#ifndef NAMED
#define NAMED 128
#endif
__device__ void init(uint64_t *b, unsigned n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SMEM(b)), "r"(n) : "memory"); }
__device__ void wait(uint64_t *b, unsigned bit) {
  unsigned ok = 0;  // the hint lets the warp sleep: no event before the phase is over
  while (!ok) asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, %3; selp.u32 %0, 1, 0, p;}" : "=r"(ok) : "r"(SMEM(b)), "r"(bit), "r"(10000000) : "memory");
}
__device__ void arrive(uint64_t *b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(SMEM(b)) : "memory"); }
__device__ void fetch(void *to, const void *from, unsigned n, uint64_t *b) {
  asm volatile("fence.proxy.async.shared::cta;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(SMEM(b)), "r"(n) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(SMEM(to)), "l"(from), "r"(n), "r"(SMEM(b)) : "memory");
}
extern "C" __global__ void ring(const float *in, float *out, int turns) {
  __shared__ alignas(128) float slot[2][128];
  __shared__ uint64_t full[2], empty[2];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; i++) { init(&full[i], FULLN); init(&empty[i], 4); }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  float sum = 0;
  for (int t = 0; t < turns; t++) {
    uint64_t *f = &full[t % 2], *e = &empty[t % 2];
    if (warp == 4) {
      wait(e, (t / 2 + 1) & 1);
      if (lane == 0) fetch(slot[t % 2], in + t * 128, 512, f);
    } else {
      wait(f, (t / 2) & 1);
      sum += slot[t % 2][threadIdx.x];
    }
    __syncwarp();
#ifdef WHOLE
    if (warp < 4) arrive(e);
#else
    if (warp < 4 && lane == 0) arrive(e);
#endif
  }
  if (warp < 4) out[threadIdx.x] = sum;
}
extern "C" __global__ void named(float *out, int turns) {
  __shared__ float cell[128];
  float sum = 0;
  if (threadIdx.x >= 128) return;
  for (int t = 0; t < turns; t++) {
    cell[threadIdx.x] = t;
    asm volatile("bar.sync 1, %0;" ::"n"(NAMED) : "memory");
    sum += cell[threadIdx.x ^ 32];
    asm volatile("bar.sync 1, %0;" ::"n"(NAMED) : "memory");
  }
  out[threadIdx.x] = sum;
}
