// A box comes by a tensor map with a swizzle of 128 bytes, is read through it, and leaves by a map
// without one. tensors.ptx is nvcc -ptx -O3 -lineinfo -arch=sm_90a of this.
#include <cstdint>
struct alignas(64) Map { char bytes[128]; };
__device__ __forceinline__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__global__ void tensors(const __grid_constant__ Map from, const __grid_constant__ Map to, int x, int y) {
  __shared__ alignas(1024) float in[8][32];
  __shared__ alignas(1024) float out[8][32];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full)) : "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(at(&full)) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(at(in)),
        "l"(&from), "r"(x), "r"(y), "r"(at(&full)) : "memory");
  }
  asm volatile(
      "{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra AGAIN;\n}" ::"r"(at(&full)) : "memory");
  const int row = t / 32, col = t % 32;
  out[row][col] = 2 * in[row][(col / 4 ^ row) * 4 + col % 4] + 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to), "r"(x), "r"(y), "r"(at(out)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
