// Which of its warps a scheduler asks first: warps that never wait, of one block and of several.
//
//   nvcc -arch=sm_90a -std=c++17 -O3 -o turns lab/clock/turns.cu && ./turns
//
// All warps of an SM begin together and go round 64 instructions a hundred times. A line has the
// blocks of an SM, the warps of a block, and for each warp of the first scheduler the clocks from
// the begin to its end, over its 6,400 instructions. NVIDIA H200, driver 580, nvcc 13.0, 2026-11-30:
//
//   LOP3                  1 x 16   7.89 8.05 8.22 8.28     4 x 4   2.54 4.55 6.60 8.52
//   FFMA, one chain       1 x 24   6.05 6.23 6.32 6.40 6.49 6.56
//                         3 x 8    4.42 4.46 4.65 4.72 8.34 8.38
//   FFMA, two chains      1 x 16   4.17 4.24 4.32 4.38     2 x 8   2.44 2.44 4.49 4.50
//   FFMA, eight chains    1 x 16   2.20 2.24 4.25 4.33     2 x 8   2.24 2.26 4.35 4.36
//   m16n8k16, half of 64  1 x 16   12.0 12.1 12.1 12.2     2 x 8   6.18 6.23 12.2 12.2
//
// Warps of one block take turns, those of the younger blocks wait. The eight chains have no
// instruction that yields (its control word): a warp goes on until the branch, and then two warps
// take turns while two of the same block wait.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

enum Work { LOP3, CHAIN, CHAINS2, CHAINS8, PRODUCT };
enum { INSTRUCTIONS = 64, ROUNDS = 100, SMS = 132, WATCHED = 5, WARPS_MAX = 64, SCHEDULERS = 4 };

struct End {
  long long begin, end;
  unsigned slot;
};

template <Work WORK>
__global__ void turns(End *ends, unsigned *sink, unsigned *begun, int rounds, unsigned blocks) {
  unsigned sm, slot;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot));
  float f[8], d[8][4] = {};
  unsigned x[8], a[2][4], b[4][2];
  for (int i = 0; i < 8; i++) {
    f[i] = __uint_as_float(sink[threadIdx.x + i]);
    x[i] = sink[threadIdx.x + 8 + i];
    a[i / 4][i % 4] = sink[threadIdx.x + i];
    b[i / 2][i % 2] = sink[threadIdx.x + 9 + i];
  }
  const float g = __uint_as_float(sink[threadIdx.x + 17]);
  if (threadIdx.x == 0) {
    atomicAdd(&begun[sm], 1);
    while (*(volatile unsigned *)&begun[sm] < blocks)
      ;
  }
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
#pragma unroll
    for (int i = 0; i < INSTRUCTIONS; i++) {
      const int chains = WORK == CHAIN ? 1 : WORK == CHAINS2 ? 2 : 8;
      if (WORK == LOP3)
        asm volatile("lop3.b32 %0, %0, %1, %1, 0x96;" : "+r"(x[i % 8]) : "r"(x[7 - i % 7]));
      else if (WORK != PRODUCT)
        asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(f[i % chains]) : "f"(g));
      else if (i % 2) {
        float *c = d[i / 2 % 8];
        const unsigned *A = a[i / 16 % 2], *B = b[i / 2 % 4];
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
      }
    }
  }
  const long long end = clock64();
  for (int i = 0; i < 8; i++) f[0] += f[i] + x[i] + d[i][0] + d[i][1] + d[i][2] + d[i][3];
  sink[threadIdx.x + 64] = __float_as_uint(f[0]);
  if (threadIdx.x % 32 == 0 && sm == WATCHED) {
    const unsigned block = blockIdx.x / SMS;
    ends[block * (blockDim.x / 32) + threadIdx.x / 32] = {begin, end, slot};
  }
}

template <Work WORK>
static void measure(const char *name, int blocks, int warps) {
  End *ends, host[WARPS_MAX];
  unsigned *sink, *begun;
  const int bytes = std::min(200000, 220000 / blocks - 2000);
  cudaMalloc(&ends, sizeof host);
  cudaMalloc(&sink, 1 << 20);
  cudaMalloc(&begun, SMS * sizeof *begun);
  cudaMemset(sink, 0x3f, 1 << 20);
  cudaFuncSetAttribute(turns<WORK>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  for (int k = 0; k < 2; k++) {
    cudaMemset(begun, 0, SMS * sizeof *begun);
    cudaMemset(ends, 0, sizeof host);
    turns<WORK><<<SMS * blocks, 32 * warps, bytes>>>(ends, sink, begun, ROUNDS, unsigned(blocks));
    if (cudaDeviceSynchronize() != cudaSuccess) {
      printf("%s: %s\n", name, cudaGetErrorString(cudaGetLastError()));
      exit(1);
    }
  }
  cudaMemcpy(host, ends, sizeof host, cudaMemcpyDeviceToHost);
  std::vector<double> clocks;
  long long first = host[0].begin;
  for (int i = 0; i < blocks * warps; i++) first = std::min(first, host[i].begin);
  for (int i = 0; i < blocks * warps; i++)
    if (host[i].slot % SCHEDULERS == 0)
      clocks.push_back(double(host[i].end - first) / (INSTRUCTIONS * ROUNDS));
  std::sort(clocks.begin(), clocks.end());
  printf("%-20s %d x %-2d", name, blocks, warps);
  for (double c : clocks) printf(" %6.2f", c);
  printf("\n");
  cudaFree(ends);
  cudaFree(sink);
  cudaFree(begun);
}

template <Work WORK>
static void measure_all(const char *name) {
  const int shapes[][2] = {{1, 8}, {1, 16}, {1, 24}, {2, 4}, {2, 8}, {3, 8}, {4, 4}};
  for (auto &shape : shapes) measure<WORK>(name, shape[0], shape[1]);
}

int main() {
  measure_all<LOP3>("LOP3");
  measure_all<CHAIN>("FFMA, one chain");
  measure_all<CHAINS2>("FFMA, two chains");
  measure_all<CHAINS8>("FFMA, eight chains");
  measure_all<PRODUCT>("m16n8k16, half of 64");
}
