// Whether an SM that has many loads under way to L2 takes no more.
//
//   nvcc -arch=sm_90a -std=c++17 -O3 -o misses lab/clock/misses.cu && ./misses
//
// Eight warps issue 32 loads each as fast as they can, of 512 or 128 bytes that L2 has and that are
// asked for once. A line: the clock at which the SM has issued the 8th, 16th, 32nd … load, and the
// clock at which all have come. NVIDIA H200, driver 580, nvcc 13.0, 2026-11-30, 132 SMs at once:
//
//   loads          8  16  32  48  64  80  96 112 128 160 192 224 256   all
//   cp.async 16   20  24  42  56  86 128 192 249 281 355 455 496 572  1976
//   ld 16         16  24  46  78 110 142 169 209 266 398 526 652 823  4180
//   ld 4          15  23  49  81 113 145 175 207 239 305 369 431 498  1268
//
// A load of 16 bytes a lane takes four clocks, one of 4 bytes two, however many are under way: 128
// KB are.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

enum { WARPS = 8, LOADS = 32, N = WARPS * LOADS };
enum Kind { COPY16, LOAD16, LOAD4, KINDS };
static const char *const names[] = {"cp.async 16", "ld 16", "ld 4"};
extern __shared__ char tile[];

template <Kind KIND>
__global__ void loads(const char *from, unsigned *out, unsigned *sink) {
  const int bytes = KIND == LOAD4 ? 4 : 16, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const char *mine = from + ((size_t)blockIdx.x * WARPS + warp) * LOADS * 512 + lane * bytes;
  const unsigned to = (unsigned)__cvta_generic_to_shared(tile) + threadIdx.x * 16;
  unsigned t[LOADS], got[LOADS][4];
  __syncthreads();
  const unsigned begin = clock();
#pragma unroll
  for (int i = 0; i < LOADS; i++) {
    if (KIND == COPY16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + i % 8 * 4096), "l"(mine + i * 512) : "memory");
    if (KIND == LOAD16)
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(got[i][0]), "=r"(got[i][1]), "=r"(got[i][2]), "=r"(got[i][3]) : "l"(mine + i * 512));
    if (KIND == LOAD4) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(got[i][0]) : "l"(mine + i * 512));
    t[i] = clock();
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  unsigned all = 0;
  if (KIND != COPY16)
    for (int i = 0; i < LOADS; i++)
      for (int k = 0; k < (KIND == LOAD16 ? 4 : 1); k++) all ^= got[i][k];
  const unsigned end = clock() + (all == 0x12345678);
  if (lane == 0 && blockIdx.x == 0) {
    for (int i = 0; i < LOADS; i++) out[warp * LOADS + i] = t[i] - begin;
    out[N + warp] = end - begin;
  }
}

template <Kind KIND>
static void line(int grid, const char *from, unsigned *out, unsigned *sink) {
  std::vector<unsigned> t(N + WARPS);
  for (int k = 0; k < 3; k++) loads<KIND><<<grid, WARPS * 32, 65536>>>(from, out, sink);
  if (cudaMemcpy(t.data(), out, t.size() * 4, cudaMemcpyDeviceToHost) != cudaSuccess) std::exit(1);
  std::sort(t.begin(), t.begin() + N);
  std::printf("%-12s %3d SMs", names[KIND], grid);
  for (int at : {8, 16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256}) std::printf(" %5u", t[at - 1]);
  std::printf("  all %u\n", *std::max_element(t.begin() + N, t.end()));
}

int main() {
  const size_t bytes = (size_t)132 * N * 512;
  char *from;
  unsigned *out, *sink;
  if (cudaMalloc(&from, bytes) != cudaSuccess || cudaMalloc(&out, 1 << 16) != cudaSuccess || cudaMalloc(&sink, 1 << 16) != cudaSuccess) return 1;
  cudaMemset(from, 0, bytes);
  cudaFuncSetAttribute(loads<COPY16>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  cudaFuncSetAttribute(loads<LOAD16>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  cudaFuncSetAttribute(loads<LOAD4>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  for (int grid : {1, 132}) {
    line<COPY16>(grid, from, out, sink);
    line<LOAD16>(grid, from, out, sink);
    line<LOAD4>(grid, from, out, sink);
  }
}
