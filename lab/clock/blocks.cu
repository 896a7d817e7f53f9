// How many blocks of a grid each SM gets, while the SMs fill for the first time.
//
//   nvcc -arch=sm_90a -o blocks lab/clock/blocks.cu && ./blocks 32 && ./blocks 256
//
// Blocks stay until all of the grid have begun, so that none takes the place of another; shared
// memory sets how many fit an SM. A line has threads, blocks that fit, the grid, the most blocks
// that an SM got, the number of SMs that got so many, and the fewest: tests/data/h200_blocks.tsv.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void stay(unsigned *sm_of, unsigned *begun, unsigned all) {
  extern __shared__ unsigned char room[];
  const long long patience = 20000000;
  if (threadIdx.x) return;
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  sm_of[blockIdx.x] = sm;
  atomicAdd(begun, 1u);
  const long long since = clock64();
  while (atomicAdd(begun, 0u) < all && clock64() - since < patience) {
  }
  room[0] = 1;
}

static std::vector<int> count(unsigned *sm_of, unsigned *begun, int sms, int grid, int threads,
                              int bytes) {
  std::vector<unsigned> seen(grid);
  std::vector<int> blocks(sms);
  cudaMemset(begun, 0, sizeof *begun);
  stay<<<grid, threads, bytes>>>(sm_of, begun, grid);
  if (cudaDeviceSynchronize() != cudaSuccess) std::exit(1);
  cudaMemcpy(seen.data(), sm_of, grid * sizeof(unsigned), cudaMemcpyDeviceToHost);
  for (unsigned sm : seen) blocks[sm]++;
  return blocks;
}

int main(int argc, char **argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 32, most = 32, kib = 1024;
  const int grids[] = {8,   16,  32,  48,  64,  80,  88,  96,  112, 128, 132, 140,  160, 176,
                       192, 224, 256, 300, 344, 384, 448, 512, 640, 768, 896, 1024, 1536};
  cudaDeviceProp card;
  cudaGetDeviceProperties(&card, 0);
  const int sms = card.multiProcessorCount, own = 1024;
  cudaFuncSetAttribute(stay, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       (int)card.sharedMemPerBlockOptin);
  unsigned *sm_of, *begun;
  cudaMalloc(&sm_of, most * sms * sizeof *sm_of);
  cudaMalloc(&begun, sizeof *begun);
  for (int fit : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32}) {
    if (fit * threads > card.maxThreadsPerMultiProcessor) continue;
    const int bytes = std::min((int)card.sharedMemPerMultiprocessor / fit / kib * kib - own,
                               (int)card.sharedMemPerBlockOptin);
    std::vector<int> sizes(grids, grids + sizeof grids / sizeof *grids);
    sizes.push_back(fit * sms);
    for (int grid : sizes) {
      if (grid > fit * sms) continue;
      const std::vector<int> blocks = count(sm_of, begun, sms, grid, threads, bytes);
      const int top = *std::max_element(blocks.begin(), blocks.end());
      std::printf("%d\t%d\t%d\t%d\t%d\t%d\n", threads, fit, grid, top,
                  (int)std::count(blocks.begin(), blocks.end(), top),
                  *std::min_element(blocks.begin(), blocks.end()));
    }
  }
  return 0;
}
