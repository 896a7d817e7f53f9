// A pair of blocks: one of them has each slab sent to both, and each says to it that it has read.
// pair_NAME.ptx is nvcc -ptx -O3 -arch=sm_90a of it: sound; one with -DAWAITS=1, empty awaits one of
// the two; no_end with -DNOEND, no barrier of the cluster at the end.
#include <cstdint>
#define SMEM(p) ((unsigned)__cvta_generic_to_shared(p))
#ifndef AWAITS
#define AWAITS 2
#endif
__device__ void wait(uint64_t *b, unsigned p) {
  unsigned ok = 0;
  while (!ok) asm volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p,[%1],%2; selp.u32 %0,1,0,p;}" : "=r"(ok) : "r"(SMEM(b)), "r"(p) : "memory");
}
constexpr int N = 64;
extern "C" __global__ void __cluster_dims__(2) pair(const float *in, float *out, int turns) {
  __shared__ alignas(128) float slot[N];
  __shared__ uint64_t full, empty;
  unsigned rank, there;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(SMEM(&full)) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SMEM(&empty)), "r"(AWAITS) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(SMEM(&empty)));
  if (threadIdx.x / 32 == 1) {
    if (threadIdx.x == 32) for (int t = 0; t < turns; t++) {
      // A block expects its slab when both have read the last one: rank 1 hears of that by its bytes.
      if (rank == 0) wait(&empty, (t + 1) & 1);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _,[%0],%1;" ::"r"(SMEM(&full)), "r"(N * 4) : "memory");
      if (rank == 0) {
        asm volatile("fence.proxy.async.shared::cluster;" ::: "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0],[%1],%2,[%3],%4;" ::"r"(SMEM(slot)), "l"(in + t * N), "r"(N * 4), "r"(SMEM(&full)), "h"((unsigned short)3) : "memory");
      } else {
        wait(&full, t & 1);
      }
    }
  } else {
    float sum = 0;
    for (int t = 0; t < turns; t++) {
      wait(&full, t & 1);
      sum += slot[threadIdx.x];
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncwarp();
      if (threadIdx.x == 0) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _,[%0];" ::"r"(there) : "memory");
    }
    out[blockIdx.x * 32 + threadIdx.x] = sum;
  }
  __syncwarp();
#ifndef NOEND
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
#endif
}
