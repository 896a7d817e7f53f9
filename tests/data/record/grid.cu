// A cooperative launch on managed memory: every block writes, all wait for the grid, and every block
// reads what others wrote. Groups of 64 threads add up over two warps, which takes the part of
// shared memory that the system keeps. Its own check: PASS or FAIL.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>

namespace cg = cooperative_groups;
enum { BLOCKS = 24, BLOCK = 128, GROUP = 64, ROUNDS = 3 };

__global__ void pass_on(int *slot, int *sums) {
  __shared__ cg::block_tile_memory<BLOCK> scratch;
  const cg::thread_block block = cg::this_thread_block(scratch);
  const auto group = cg::tiled_partition<GROUP>(block);
  const int next = (blockIdx.x + 1) % gridDim.x;
  for (int round = 0; round < ROUNDS; round++) {
    const int seen = slot[next * BLOCK + threadIdx.x];
    cg::this_grid().sync();
    slot[blockIdx.x * BLOCK + threadIdx.x] = seen + 1;
    cg::this_grid().sync();
  }
  const int sum = cg::reduce(group, slot[blockIdx.x * BLOCK + threadIdx.x], cg::plus<int>());
  if (group.thread_rank() == 0) sums[blockIdx.x * (BLOCK / GROUP) + threadIdx.x / GROUP] = sum;
}

int main() {
  int *slot, *sums, cooperative = 0, wrong = 0;
  cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0);
  cudaMallocManaged(&slot, sizeof *slot * BLOCKS * BLOCK);
  cudaMallocManaged(&sums, sizeof *sums * BLOCKS * BLOCK / GROUP);
  for (int i = 0; i < BLOCKS * BLOCK; i++) slot[i] = i / BLOCK;
  void *arguments[] = {&slot, &sums};
  cudaLaunchCooperativeKernel((const void *)pass_on, dim3(BLOCKS), dim3(BLOCK), arguments, 0, 0);
  cudaDeviceSynchronize();
  for (int i = 0; i < BLOCKS * BLOCK / GROUP; i++) {
    const int block = i / (BLOCK / GROUP);
    wrong += sums[i] != GROUP * ((block + ROUNDS) % BLOCKS + ROUNDS);
  }
  printf("%s\n", wrong || !cooperative ? "FAIL" : "PASS");
  return wrong || !cooperative;
}
