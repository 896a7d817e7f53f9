// Dynamic shared memory cut into arrays of several types: half2, doubles, bytes, shorts, an offset table.
// launch: grid 6x1x1, block 96x1x1, dynamic shared memory 96*8 + 96*4*2 + 96*2 + 96 + 64; arguments in, out
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
extern __shared__ __align__(16) unsigned char pool[];
__global__ void carve(const int *in, double *out) {
  const int n = blockDim.x, t = threadIdx.x;
  double *wide = (double *)pool;
  half2 *pairs = (half2 *)(wide + n);
  int *words = (int *)(pairs + n);
  short *shorts = (short *)(words + n);
  unsigned char *bytes = (unsigned char *)(shorts + n);
  const int v = in[blockIdx.x * n + t];
  wide[n - 1 - t] = v * 0.5;
  pairs[t] = __floats2half2_rn(v, -v);
  words[t * 5 % n] = v;
  shorts[t] = (short)(v * 3);
  bytes[t ^ 1] = (unsigned char)v;
  __syncthreads();
  half2 h = __float2half2_rn(0.f);
  for (int i = 0; i < 4; i++) h = __hfma2(pairs[(t * 2 + i) % n], __float2half2_rn(2.f), h);
  const int *row = words + t / 32 * 32;
  int sum = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) sum += row[(t * 4 + i) & 31];
  out[blockIdx.x * n + t] = wide[t] + __low2float(h) + __high2float(h) * 3 + sum + shorts[(t + 7) % n] + bytes[(t * 4) % n];
}
int main() {
  const int n = 96, grid = 6;
  int h[n * grid], *di; double o[n * grid], *dout;
  cudaMalloc((void **)&di, sizeof h); cudaMalloc((void **)&dout, sizeof o);
  for (int i = 0; i < n * grid; i++) h[i] = i * 29 % 61;
  cudaMemcpy(di, h, sizeof h, cudaMemcpyHostToDevice);
  carve<<<grid, n, n * 8 + n * 8 + n * 2 + n + 64>>>(di, dout);
  if (cudaDeviceSynchronize()) return 2;
  cudaMemcpy(o, dout, sizeof o, cudaMemcpyDeviceToHost);
  for (int b = 0; b < grid; b++) {
    const int *v = h + b * n;
    int words[n];
    for (int t = 0; t < n; t++) words[t * 5 % n] = v[t];
    for (int t = 0; t < n; t++) {
      double hs = 0; int sum = 0;
      for (int i = 0; i < 4; i++) hs += 2 * v[(t * 2 + i) % n];
      for (int i = 0; i < 8; i++) sum += words[t / 32 * 32 + ((t * 4 + i) & 31)];
      const double want = v[n - 1 - t] * 0.5 + hs - hs * 3 + sum + v[(t + 7) % n] * 3 + v[(t * 4 % n) ^ 1];
      if (want != o[b * n + t]) { printf("FAIL c03 %d %d: %g %g\n", b, t, want, o[b * n + t]); return 1; }
    }
  }
  printf("OK c03\n");
}
