// Block-level CUB: a radix sort, a scan, a reduction and an exchange of one block's items.
// launch: grid 2x1x1, block 128x1x1; arguments in, out, sums (addresses depend on the data)
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
#include <cuda_runtime.h>
typedef cub::BlockRadixSort<int, 128, 4> Sort;
typedef cub::BlockScan<int, 128, cub::BLOCK_SCAN_RAKING> Scan;
typedef cub::BlockReduce<int, 128> Reduce;
typedef cub::BlockExchange<int, 128, 4> Exchange;
typedef cub::BlockHistogram<unsigned char, 128, 4, 64, cub::BLOCK_HISTO_ATOMIC> Histogram;
__global__ void __launch_bounds__(128) cubs(const int *in, int *out, int *sums) {
  __shared__ union { Sort::TempStorage sort; Scan::TempStorage scan; Reduce::TempStorage reduce; Exchange::TempStorage exchange; } s;
  __shared__ Histogram::TempStorage hs;
  __shared__ int histogram[64];
  const int t = threadIdx.x;
  int items[4];
  for (int i = 0; i < 4; i++) items[i] = in[blockIdx.x * 512 + t * 4 + i];
  unsigned char bytes[4];
  for (int i = 0; i < 4; i++) bytes[i] = items[i] & 63;
  Histogram(hs).Histogram(bytes, histogram);
  Sort(s.sort).Sort(items);
  __syncthreads();
  Scan(s.scan).InclusiveSum(items, items);
  __syncthreads();
  const int sum = Reduce(s.reduce).Sum(items[0]);
  __syncthreads();
  Exchange(s.exchange).BlockedToStriped(items);
  for (int i = 0; i < 4; i++) out[blockIdx.x * 512 + i * 128 + t] = items[i];
  if (t == 0) sums[blockIdx.x * 65] = sum;
  if (t < 64) sums[blockIdx.x * 65 + 1 + t] = histogram[t];
}
static int less(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main() {
  const int grid = 2;
  int h[grid * 512], o[grid * 512], s[grid * 65], *di, *dout, *ds;
  cudaMalloc((void **)&di, sizeof h); cudaMalloc((void **)&dout, sizeof o); cudaMalloc((void **)&ds, sizeof s);
  unsigned r = 12;
  for (int i = 0; i < grid * 512; i++) { r = r * 1664525u + 1013904223u; h[i] = r >> 16; }
  cudaMemcpy(di, h, sizeof h, cudaMemcpyHostToDevice);
  cubs<<<grid, 128>>>(di, dout, ds);
  if (cudaDeviceSynchronize()) return 2;
  cudaMemcpy(o, dout, sizeof o, cudaMemcpyDeviceToHost); cudaMemcpy(s, ds, sizeof s, cudaMemcpyDeviceToHost);
  for (int b = 0; b < grid; b++) {
    int bins[64] = {0}, sum = 0;
    for (int i = 0; i < 512; i++) bins[h[b * 512 + i] & 63]++;
    qsort(h + b * 512, 512, 4, less);
    for (int i = 0, run = 0; i < 512; i++) {
      run += h[b * 512 + i];
      if (i % 4 == 0) sum += run;
      if (o[b * 512 + i] != run) { printf("FAIL c12 %d %d\n", b, i); return 1; }
    }
    if (s[b * 65] != sum) { printf("FAIL c12 sum\n"); return 1; }
    for (int i = 0; i < 64; i++) if (s[b * 65 + 1 + i] != bins[i]) { printf("FAIL c12 bin %d\n", i); return 1; }
  }
  printf("OK c12\n");
}
