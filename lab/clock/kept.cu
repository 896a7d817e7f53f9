// How much L2 keeps of what a launch reads for the next one, beside what it writes.
//
//   nvcc -arch=sm_90a -O2 -o kept lab/clock/kept.cu
//   ncu --clock-control none --cache-control none --metrics dram__bytes_read.sum ./kept
//
// Each line of text is three launches alike; what the third reads from DRAM is what L2 has not
// kept. NVIDIA H200, 60 MiB of L2, driver 580, CUDA 13.0, 2026-11-30: MiB that come from DRAM.
//
//   MiB read                         8  12   16   20   24   28   32   36   40   44   48   56
//   each line by one SM              0   0    0    0    0    0    0    0    1    2    9   52
//   and 8 MiB written                0   0    0    0    0    0    1    6   19   33   44   56
//   and 16 MiB written               0   0    0    1    3    9   20   33   40   44   48   56
//   each line by all SMs             0   0    0    0    0    1   24   36   40   44   48   56
//   and 16 MiB written               0   1    3   11   21   28   32   36   40   44   48   56
//
// So what all SMs read is there twice, once in each half, and what is written is there once.
#include <cstdio>

enum { MIB = 1 << 16 };  // in words of 16 bytes

// `all`: every block reads all words; else the blocks share them.
__global__ void walk(const uint4 *from, size_t words, uint4 *to, size_t written, bool all,
                     uint4 *sink) {
  const size_t own = blockIdx.x * (size_t)blockDim.x + threadIdx.x,
               together = (size_t)gridDim.x * blockDim.x;
  uint4 sum = {0, 0, 0, 0};
  for (size_t i = all ? threadIdx.x : own; i < words; i += all ? blockDim.x : together) {
    const uint4 word = __ldcg(from + i);
    sum.x ^= word.x;
    sum.y ^= word.y;
  }
  for (size_t i = own; i < written; i += together) to[i] = sum;
  if (sum.x == 12345) sink[threadIdx.x] = sum;
}

int main() {
  enum { SMS = 132, THREADS = 512, LAUNCHES = 3 };
  static const int read[] = {8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 56};
  static const struct {
    bool all;
    int written;
  } lines[] = {{false, 0}, {false, 8}, {false, 16}, {true, 0}, {true, 16}};
  uint4 *from, *to, *sink;
  cudaMalloc(&from, (size_t)64 * MIB * sizeof *from);
  cudaMalloc(&to, (size_t)64 * MIB * sizeof *to);
  cudaMalloc(&sink, THREADS * sizeof *sink);
  cudaMemset(from, 0, (size_t)64 * MIB * sizeof *from);
  for (const auto &line : lines)
    for (int mib : read)
      for (int i = 0; i < LAUNCHES; i++)
        walk<<<SMS, THREADS>>>(from, (size_t)mib * MIB, to, (size_t)line.written * MIB, line.all,
                               sink);
  cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
