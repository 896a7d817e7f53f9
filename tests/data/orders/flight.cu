// Four warps ask for twelve groups of products in a turn before they wait for any: more than any
// other group is ahead. Then one tile is stored by a bulk copy from where the second half of a slot
// was, while threads fill the first half again.
// flight.ptx is nvcc -ptx -O3 -arch=sm_90a of it; flight_late.ptx with -DLATE: the copy's bytes are
// filled, too.
#include <cstdint>
#define SMEM(p) ((unsigned)__cvta_generic_to_shared(p))
#ifdef LATE
constexpr int FIRST = 512;
#else
constexpr int FIRST = 0;
#endif
extern "C" __global__ void flight(const uint16_t *in, uint16_t *out, int turns) {
  __shared__ alignas(128) uint16_t a[64 * 16];
  __shared__ alignas(8) uint64_t full;
  const uint64_t da = (SMEM(a) >> 4) | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32;
  float d[4] = {0, 0, 0, 0};
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(SMEM(&full)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _,[%0],2048;" ::"r"(SMEM(&full)) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1],2048,[%2];" ::"r"(SMEM(a)), "l"(in), "r"(SMEM(&full)) : "memory");
  }
  __syncthreads();
  unsigned ok = 0;
  while (!ok)
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p,[%1],0; selp.u32 %0,1,0,p;}" : "=r"(ok) : "r"(SMEM(&full)) : "memory");
  for (int turn = 0; turn < turns; turn++) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < 12; k++)
      asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(da), "l"(da) : "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    asm volatile("" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]));
  }
  __syncthreads();
  a[512 + threadIdx.x * 4] = (uint16_t)d[0];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;\ncp.async.bulk.commit_group;" ::"l"(out), "r"(SMEM(a + 512)) : "memory");
  a[FIRST + threadIdx.x * 4] = (uint16_t)d[1];
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group .read 0;" ::: "memory");
}
