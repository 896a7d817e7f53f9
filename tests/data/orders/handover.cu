// Threads of one block write a row, tell the other block of their cluster, and those read it there.
// handover_NAME.ptx is nvcc -ptx -O3 -arch=sm_90a of it: sound; told with -DTELL=release.cta: for the
// own block alone; waited with -DLEARN=acquire.cta: by the own block alone; relaxed with
// -DTELL=relaxed.cluster -DLEARN=relaxed.cluster: nothing is told or learned; fenced with those and
// -DFENCE: what fences on both sides do.
#include <cstdint>
#define SMEM(p) ((unsigned)__cvta_generic_to_shared(p))
#define TEXT(x) #x
#define STR(x) TEXT(x)
#ifndef TELL
#define TELL release.cluster
#endif
#ifndef LEARN
#define LEARN acquire.cluster
#endif
__device__ void fence() {
#ifdef FENCE
  asm volatile("fence.acq_rel.cluster;" ::: "memory");
#endif
}
extern "C" __global__ void __cluster_dims__(2) handover(float *out) {
  __shared__ float row[32];
  __shared__ uint64_t told;
  unsigned rank, there, ok = 0;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(SMEM(&told)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncwarp();
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (rank == 1) {
    row[threadIdx.x] = threadIdx.x;
    __syncwarp();
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(SMEM(&told)));
    fence();
    if (threadIdx.x == 0) asm volatile("mbarrier.arrive." STR(TELL) ".shared::cluster.b64 _,[%0];" ::"r"(there) : "memory");
  } else {
    while (!ok)
      asm volatile("{.reg .pred p; mbarrier.try_wait.parity." STR(LEARN) ".shared::cta.b64 p,[%1],0; selp.u32 %0,1,0,p;}" : "=r"(ok) : "r"(SMEM(&told)) : "memory");
    fence();
    float x;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(there) : "r"(SMEM(&row[threadIdx.x])));
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(there) : "memory");
    out[threadIdx.x] = x;
  }
  __syncwarp();
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
