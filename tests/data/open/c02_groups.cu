// Cooperative groups: tiles of a block, group reductions, a tree in shared memory, sync of tiles.
// launch: grid 8x1x1, block 256x1x1; arguments in, out, n = 4096
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
__global__ void groups(const int *in, int *out, int n) {
  __shared__ int tree[256];
  __shared__ int strip[16][17];
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  const int t = block.thread_rank();
  int v = 0;
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) v += in[i];
  strip[tile.meta_group_rank()][tile.thread_rank()] = v;
  tile.sync();
  const int turned = strip[tile.meta_group_rank()][tile.size() - 1 - tile.thread_rank()];
  const int scanned = cg::inclusive_scan(tile, turned);
  const int sum = cg::reduce(tile, v, cg::plus<int>());
  tree[t] = scanned;
  block.sync();
  for (int step = 128; step > 0; step /= 2) {
    if (t < step) tree[t] = max(tree[t], tree[t + step]);
    cg::sync(block);
  }
  const int across = strip[t % 16][t / 16];
  out[blockIdx.x * 256 + t] = scanned + 3 * sum + 5 * tree[0] + 7 * across;
}
int main() {
  const int n = 4096, grid = 8;
  int *h = (int *)malloc(n * 4), *o = (int *)malloc(grid * 1024), *di, *dout;
  cudaMalloc((void **)&di, n * 4); cudaMalloc((void **)&dout, grid * 1024);
  for (int i = 0; i < n; i++) h[i] = i * 37 % 101;
  cudaMemcpy(di, h, n * 4, cudaMemcpyHostToDevice);
  groups<<<grid, 256>>>(di, dout, n);
  if (cudaDeviceSynchronize()) return 2;
  cudaMemcpy(o, dout, grid * 1024, cudaMemcpyDeviceToHost);
  for (int b = 0; b < grid; b++) {
    int v[256] = {0}, scan[256], sum[16] = {0}, most = 0;
    for (int t = 0; t < 256; t++) for (int i = b * 256 + t; i < n; i += grid * 256) v[t] += h[i];
    for (int g = 0; g < 16; g++) for (int i = 0, run = 0; i < 16; i++) {
      scan[g * 16 + i] = run += v[g * 16 + 15 - i]; sum[g] += v[g * 16 + i];
      if (run > most) most = run;
    }
    for (int t = 0; t < 256; t++)
      if (o[b * 256 + t] != scan[t] + 3 * sum[t / 16] + 5 * most + 7 * v[t % 16 * 16 + t / 16]) { printf("FAIL c02 %d %d\n", b, t); return 1; }
  }
  printf("OK c02\n");
}
