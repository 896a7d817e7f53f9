// Loops that are longer than what a scheduler keeps of the code: clocks by instruction.
//
//   nvcc -arch=sm_90a -std=c++17 -O3 -o code lab/clock/code.cu && ./code
//
// A turn is so many FADD of sixteen chains, 16 bytes each, and nothing else; one, two and four
// warps of a scheduler go round. NVIDIA H200, driver 580, nvcc 13.0, 2026-11-30, clocks of an
// instruction:
//
//   KiB    16    28    31.2  32.2  33.2  35.2  37.5  40    48    64    96    128   192
//   one    1.04  1.02  1.09  1.22  1.35  1.72  2.06  2.29  2.28  2.28  2.27  2.35  5.88
//   two    1.01  0.91  1.00  0.99  1.04  1.01  1.02  1.03  1.06  1.08  1.09  1.16  3.03
//   four   0.99  0.98  0.98  0.99  1.01  1.06  1.10  1.27  1.40  1.75  1.42  1.65  1.52
//
// The profiler's samples say no_instruction at the first instruction of each line of 128 bytes:
// 10.5 clocks of one warp, 7 of each of two (40 KiB).
#include <cstdio>
#include <cstdlib>

enum { CHAINS = 16 };

// UNITS times an addition to each chain.
template <int UNITS>
struct Adds {
  static __device__ __forceinline__ void run(float *y, float x) {
    Adds<UNITS / 2>::run(y, x);
    Adds<UNITS - UNITS / 2>::run(y, x);
  }
};
template <>
struct Adds<1> {
  static __device__ __forceinline__ void run(float *y, float x) {
#pragma unroll
    for (int i = 0; i < CHAINS; i++) asm volatile("add.f32 %0, %0, %1;" : "+f"(y[i]) : "f"(x));
  }
};

template <int N>
__global__ void turns(long long *out, float *sink, int n) {
  float y[CHAINS], x = sink[1];
  for (int i = 0; i < CHAINS; i++) y[i] = sink[i];
  long long begin = 0;
#pragma unroll 1
  for (int r = 0; r < n; r++) {
    if (r == 2) {
      __syncthreads();
      begin = clock64();
    }
    Adds<N / CHAINS>::run(y, x);
  }
  __syncthreads();
  const long long end = clock64();
  float all = 0;
  for (int i = 0; i < CHAINS; i++) all += y[i];
  if (n < 0) sink[threadIdx.x] = all;
  if (threadIdx.x == 0) out[blockIdx.x] = end - begin;
}

template <int N>
static void line(long long *out, float *sink) {
  enum { TURNS = 30 };
  std::printf("%6.1f KiB", N / 64.0);
  for (int warps = 1; warps <= 4; warps *= 2) {
    long long clocks = 0;
    for (int k = 0; k < 2; k++) turns<N><<<132, warps * 128>>>(out, sink, TURNS);
    if (cudaMemcpy(&clocks, out, sizeof clocks, cudaMemcpyDeviceToHost) != cudaSuccess) std::exit(1);
    std::printf(" %7.3f", (double)clocks / (TURNS - 2) / N / warps);
  }
  std::printf("\n");
}

int main() {
  long long *out;
  float *sink;
  if (cudaMalloc(&out, 4096) != cudaSuccess || cudaMalloc(&sink, 4096) != cudaSuccess) return 1;
  cudaMemset(sink, 0, 4096);
  line<256>(out, sink);
  line<512>(out, sink);
  line<1024>(out, sink);
  line<1536>(out, sink);
  line<1792>(out, sink);
  line<2000>(out, sink);
  line<2064>(out, sink);
  line<2128>(out, sink);
  line<2256>(out, sink);
  line<2400>(out, sink);
  line<2560>(out, sink);
  line<2816>(out, sink);
  line<3072>(out, sink);
  line<3584>(out, sink);
  line<4096>(out, sink);
  line<6144>(out, sink);
  line<8192>(out, sink);
  line<12288>(out, sink);
}
