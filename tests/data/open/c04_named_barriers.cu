// Producer and consumer warps over a ring of two tiles, with named barriers: full[i] is 1 + i, empty[i] is 3 + i.
// launch: grid 4x1x1, block 128x1x1; arguments in, out, tiles = 9
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
constexpr int SIDE = 32, PITCH = 33;
__device__ __forceinline__ void bar_sync(int id, int n) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory"); }
__device__ __forceinline__ void bar_arrive(int id, int n) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory"); }
__global__ void __launch_bounds__(128) ring(const float *__restrict__ in, float *__restrict__ out, int tiles) {
  __shared__ float ring[2][SIDE * PITCH];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  in += blockIdx.x * tiles * SIDE * SIDE;
  if (warp < 2) {
    for (int t = 0; t < tiles; t++) {
      const int slot = t & 1;
      if (t >= 2) bar_sync(3 + slot, 128);
      for (int r = warp; r < SIDE; r += 2) ring[slot][r * PITCH + lane] = in[(t * SIDE + r) * SIDE + lane];
      bar_arrive(1 + slot, 128);
    }
  } else {
    float sum = 0, most = -1e9f;
    for (int t = 0; t < tiles; t++) {
      const int slot = t & 1;
      bar_sync(1 + slot, 128);
      for (int c = warp - 2; c < SIDE; c += 2) {
        const float v = ring[slot][lane * PITCH + c];
        sum += v * (t + 1);
        most = fmaxf(most, ring[slot][c * PITCH + lane]);
      }
      if (t + 2 < tiles) bar_arrive(3 + slot, 128);
    }
    out[(blockIdx.x * 2 + warp - 2) * 32 + lane] = sum + most;
  }
}
int main() {
  const int tiles = 9, grid = 4, n = grid * tiles * SIDE * SIDE;
  float *h = (float *)malloc(n * 4), o[grid * 64], *di, *dout;
  cudaMalloc((void **)&di, n * 4); cudaMalloc((void **)&dout, sizeof o);
  for (int i = 0; i < n; i++) h[i] = i * 7 % 23 - 11;
  cudaMemcpy(di, h, n * 4, cudaMemcpyHostToDevice);
  ring<<<grid, 128>>>(di, dout, tiles);
  if (cudaDeviceSynchronize()) return 2;
  cudaMemcpy(o, dout, sizeof o, cudaMemcpyDeviceToHost);
  for (int b = 0; b < grid; b++) for (int w = 0; w < 2; w++) for (int l = 0; l < 32; l++) {
    float sum = 0, most = -1e9f;
    for (int t = 0; t < tiles; t++) for (int c = w; c < 32; c += 2) {
      const float *tile = h + (b * tiles + t) * 1024;
      sum += tile[l * 32 + c] * (t + 1);
      most = fmaxf(most, tile[c * 32 + l]);
    }
    if (o[(b * 2 + w) * 32 + l] != sum + most) { printf("FAIL c04 %d %d %d\n", b, w, l); return 1; }
  }
  printf("OK c04\n");
}
