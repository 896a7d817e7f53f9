// One warp writes tensor memory, waits until that is over, and arrives at an mbarrier; the warp that
// waits there reads what was written. tensor_plain.ptx is nvcc -ptx -O3 -arch=sm_100a of it;
// tensor_fenced with -DFENCED: both fences of tcgen05; tensor_relaxed with -DRELAXED: the mbarrier
// orders no memory; tensor_pattern with both: the ISA's pattern; tensor_early with -DEARLY: nobody
// waits for the write.
#include <cstdint>
#define SMEM(p) ((unsigned)__cvta_generic_to_shared(p))
#ifdef RELAXED
#define ARRIVE "mbarrier.arrive.relaxed.cta.shared::cta.b64 _,[%0];"
#define WAIT "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64"
#else
#define ARRIVE "mbarrier.arrive.shared::cta.b64 _,[%0];"
#define WAIT "mbarrier.try_wait.parity.shared::cta.b64"
#endif
extern "C" __global__ void tensor(float *out) {
  __shared__ unsigned base;
  __shared__ alignas(8) uint64_t ready;
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(SMEM(&ready)) : "memory");
  if (warp == 0) asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(SMEM(&base)) : "memory");
  asm volatile("tcgen05.fence::before_thread_sync;");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;");
  const unsigned at = *(volatile unsigned *)&base;
  if (warp == 0) {
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(at), "r"(threadIdx.x) : "memory");
#ifndef EARLY
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
#endif
#ifdef FENCED
    asm volatile("tcgen05.fence::before_thread_sync;");
#endif
    if (threadIdx.x == 0) asm volatile(ARRIVE ::"r"(SMEM(&ready)) : "memory");
  }
  if (warp == 4) {
    unsigned ok = 0, value;
    while (!ok)
      asm volatile("{.reg .pred p; " WAIT " p,[%1],0; selp.u32 %0,1,0,p;}" : "=r"(ok) : "r"(SMEM(&ready)) : "memory");
#ifdef FENCED
    asm volatile("tcgen05.fence::after_thread_sync;");
#endif
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(value) : "r"(at) : "memory");
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    out[threadIdx.x % 32] = (float)value;
  }
  asm volatile("tcgen05.fence::before_thread_sync;");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;");
  if (warp == 0) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(at) : "memory");
}
