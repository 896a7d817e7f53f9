// Blocks that wait for those behind them, as stream-K kernels do to add up in order: each adds to
// what the next one left. Its own check: PASS or FAIL.
#include <cstdio>

enum { BLOCKS = 40, BLOCK = 64 };

__global__ void chain(int *turn, int *sums) {
  __shared__ int part[BLOCK];
  part[threadIdx.x] = blockIdx.x + threadIdx.x;
  if (threadIdx.x == 0) {
    int seen;
    do asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(seen) : "l"(turn) : "memory");
    while (seen != gridDim.x - 1 - blockIdx.x);
  }
  __syncthreads();
  sums[threadIdx.x] = sums[threadIdx.x] * 3 + part[BLOCK - 1 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("fence.acq_rel.gpu;\nred.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(turn) : "memory");
}

int main() {
  int *turn, *sums, got[BLOCK], wrong = 0;
  cudaMalloc(&turn, sizeof *turn);
  cudaMalloc(&sums, sizeof got);
  cudaMemset(turn, 0, sizeof *turn);
  cudaMemset(sums, 0, sizeof got);
  chain<<<BLOCKS, BLOCK>>>(turn, sums);
  cudaMemcpy(got, sums, sizeof got, cudaMemcpyDeviceToHost);
  for (int i = 0; i < BLOCK; i++) {
    unsigned sum = 0;
    for (int b = BLOCKS - 1; b >= 0; b--) sum = sum * 3 + (unsigned)(b + BLOCK - 1 - i);
    wrong += got[i] != (int)sum;
  }
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
