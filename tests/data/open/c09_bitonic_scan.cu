// A bitonic sort in shared memory, then a scan by warps with shuffles, and a compaction by ballots.
// launch: grid 3x1x1, block 256x1x1; arguments in, out, kept
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
__global__ void __launch_bounds__(256) sort(const int *in, int *out, int *kept) {
  __shared__ int keys[512];
  __shared__ int sums[8];
  const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  keys[t] = in[blockIdx.x * 512 + t];
  keys[t + 256] = in[blockIdx.x * 512 + t + 256];
  __syncthreads();
  for (int size = 2; size <= 512; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      const int low = 2 * step * (t / step) + t % step;
      const bool up = (low & size) == 0;
      const int a = keys[low], b = keys[low + step];
      if ((a > b) == up) {
        keys[low] = b;
        keys[low + step] = a;
      }
      __syncthreads();
    }
  int v = keys[2 * t] + keys[2 * t + 1];
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const int from = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v += from;
  }
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int s = lane < 8 ? sums[lane] : 0;
    for (int d = 1; d < 8; d *= 2) {
      const int from = __shfl_up_sync(~0u, s, d);
      if (lane >= d) s += from;
    }
    if (lane < 8) sums[lane] = s;
  }
  __syncthreads();
  if (warp > 0) v += sums[warp - 1];
  out[blockIdx.x * 256 + t] = v;
  const unsigned odd = __ballot_sync(~0u, v & 1);
  if (v & 1) kept[blockIdx.x * 256 + warp * 32 + __popc(odd & ((1u << lane) - 1))] = t;
}
static int less(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main() {
  const int grid = 3;
  int h[grid * 512], o[grid * 256], k[grid * 256], *di, *dout, *dk;
  cudaMalloc((void **)&di, sizeof h); cudaMalloc((void **)&dout, sizeof o); cudaMalloc((void **)&dk, sizeof k);
  unsigned s = 9;
  for (int i = 0; i < grid * 512; i++) { s = s * 1664525u + 1013904223u; h[i] = s >> 20; }
  cudaMemcpy(di, h, sizeof h, cudaMemcpyHostToDevice); cudaMemset(dk, 255, sizeof k);
  sort<<<grid, 256>>>(di, dout, dk);
  if (cudaDeviceSynchronize()) return 2;
  cudaMemcpy(o, dout, sizeof o, cudaMemcpyDeviceToHost); cudaMemcpy(k, dk, sizeof k, cudaMemcpyDeviceToHost);
  for (int b = 0; b < grid; b++) {
    qsort(h + b * 512, 512, 4, less);
    for (int t = 0, run = 0; t < 256; t++) {
      run += h[b * 512 + 2 * t] + h[b * 512 + 2 * t + 1];
      if (o[b * 256 + t] != run) { printf("FAIL c09 %d %d\n", b, t); return 1; }
    }
    for (int w = 0; w < 8; w++) for (int l = 0, n = 0; l < 32; l++)
      if (o[b * 256 + w * 32 + l] & 1) if (k[b * 256 + w * 32 + n++] != w * 32 + l) { printf("FAIL c09 kept\n"); return 1; }
  }
  printf("OK c09\n");
}
