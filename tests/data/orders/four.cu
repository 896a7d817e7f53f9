// Four warps fill a tile, meet, multiply by it together and fill it again: nothing else keeps the
// second filling behind the products, which are over for none before all four have asked for them.
// four.ptx is nvcc -ptx -O3 -arch=sm_90a of it.
#include <cstdint>
#define SMEM(p) ((unsigned)__cvta_generic_to_shared(p))
extern "C" __global__ void four(float *out, int turns) {
  __shared__ alignas(128) uint16_t a[64 * 16], b[8 * 16];
  const uint64_t da = (SMEM(a) >> 4) | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32,
                 db = (SMEM(b) >> 4) | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32;
  float d[4] = {0, 0, 0, 0};
  for (int turn = 0; turn < turns; turn++) {
    for (int i = 0; i < 8; i++) a[threadIdx.x * 8 + i] = 0x3c00;
    if (threadIdx.x < 16) for (int i = 0; i < 8; i++) b[threadIdx.x * 8 + i] = 0x3c00;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(da), "l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    asm volatile("" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]));
  }
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = d[i];
}
