// Clocks that cp.async of 16 bytes keeps the shared pipe busy.
//
//   nvcc -arch=sm_90a -std=c++17 -O3 -o copies lab/clock/copies.cu && ./copies
//
// A warp's round is some copies, then 32 LDSM.x4, which keep the pipe busy for 128 clocks; copies
// of four rounds are under way. Rows of 512, 128, 64 and 32 bytes of global memory are copied one
// behind the other, and those of 128 and 64 bytes to rows of 144 and 80. In front of the first copy
// behind a load of shared memory ptxas puts three LDS that no lane carries out. NVIDIA H200, driver
// 580, nvcc 13.0, 2026-11-30, clocks of a round for each of 16 warps of one block:
//
//   copies   512   128    64    32   128 to 144   64 to 80
//        0 129.8
//        1 133.5 133.4 133.7 133.4   133.8        133.7     the three LDS take a clock each
//        4 134.2 133.8 134.1 138.2   133.3        134.2
//        8 134.5 134.4 134.7 155.2   134.4        135.8     a copy next to nothing
//       16 136.3 136.8 143.5 228.4   137.4        147.9     but 14 clocks, if it has 16 rows
//
// With a block on each SM it is the same.
#include <cstdio>
#include <cstdlib>

extern __shared__ char tile[];

enum { LOADS = 32, WARP_BYTES = 8192, WARPS = 16, ROUNDS = 400 };

template <int COPIES>
__global__ void __launch_bounds__(512)
    round_of(char *from, unsigned *out, unsigned *sink, int row, int pitch, int to_pitch) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, in_row = row / 16;
  const unsigned base = (unsigned)__cvta_generic_to_shared(tile) + warp * WARP_BYTES;
  const unsigned to = base + lane / in_row * to_pitch + lane % in_row * 16;
  const unsigned load_at = base + WARP_BYTES / 2 + lane * 16;
  const char *source =
      from + (size_t)(warp + blockIdx.x * WARPS) * 65536 +
      lane / in_row * pitch + lane % in_row * 16;
  unsigned sum = 0;
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int r = 0; r < ROUNDS; r++) {
#pragma unroll
    for (int i = 0; i < COPIES; i++)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
                   "l"(source + r % 8 * 8192 + i * 512)
                   : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
      unsigned x[4];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                   : "r"(load_at + i * 16)
                   : "memory");
      sum += x[0] ^ x[1] ^ x[2] ^ x[3];
    }
    asm volatile("cp.async.wait_group 2;" ::: "memory");
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) out[blockIdx.x] = (unsigned)(end - begin);
  if (sum == 12345u) sink[0] = sum;
}

template <int COPIES>
static void line(char *from, unsigned *out, unsigned *sink) {
  static const int rows[][3] = {{512, 512, 512}, {128, 4096, 128}, {64, 2048, 64},
                                {32, 1024, 32},  {128, 4096, 144}, {64, 2048, 80}};
  cudaFuncSetAttribute(round_of<COPIES>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       WARPS * WARP_BYTES);
  std::printf("%2d", COPIES);
  for (const auto &r : rows) {
    unsigned clocks = 0;
    for (int warm = 0; warm < 2; warm++)
      round_of<COPIES><<<1, WARPS * 32, WARPS * WARP_BYTES>>>(from, out, sink, r[0], r[1], r[2]);
    if (cudaMemcpy(&clocks, out, sizeof clocks, cudaMemcpyDeviceToHost) != cudaSuccess)
      std::exit(1);
    std::printf(" %6.1f", (double)clocks / ROUNDS / WARPS);
  }
  std::printf("\n");
}

int main() {
  enum { FROM_BYTES = 1 << 27, BYTES = 4096 };
  char *from;
  unsigned *out, *sink;
  if (cudaMalloc(&from, FROM_BYTES) != cudaSuccess || cudaMalloc(&out, BYTES) != cudaSuccess ||
      cudaMalloc(&sink, BYTES) != cudaSuccess)
    return 1;
  cudaMemset(from, 0, FROM_BYTES);
  line<0>(from, out, sink);
  line<1>(from, out, sink);
  line<2>(from, out, sink);
  line<4>(from, out, sink);
  line<8>(from, out, sink);
  line<16>(from, out, sink);
}
