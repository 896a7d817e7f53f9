// A Stockham FFT of 256 points per warp in complex floats, in an array of structures and in two arrays; doubles beside it.
// launch: grid 2x1x1, block 128x1x1; arguments in, out
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
struct Complex { float re, im; };
__global__ void __launch_bounds__(128) fft(const int2 *in, double *out) {
  __shared__ Complex aos[4][256];
  __shared__ float re[4][264], im[4][264];
  __shared__ double sums[128];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int2 *src = in + (blockIdx.x * 4 + warp) * 256;
  for (int i = lane; i < 256; i += 32) { aos[warp][i].re = src[i].x; aos[warp][i].im = src[i].y; }
  __syncwarp();
  // whole-number butterflies (a Walsh transform), so that results are exact
  for (int half = 1; half < 256; half *= 2) {
    Complex a[4], b[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int i = lane + 32 * j, at = i / half * half * 2 + i % half;
      a[j] = aos[warp][at];
      b[j] = aos[warp][at + half];
    }
    __syncwarp();
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int i = lane + 32 * j, at = i / half * half * 2 + i % half;
      aos[warp][at] = {a[j].re + b[j].re, a[j].im + b[j].im};
      aos[warp][at + half] = {a[j].re - b[j].re, a[j].im - b[j].im};
    }
    __syncwarp();
  }
  for (int i = lane; i < 256; i += 32) {
    const int at = i + i / 32;
    re[warp][at] = aos[warp][i].re;
    im[warp][at] = aos[warp][i].im;
  }
  __syncwarp();
  double sum = 0;
#pragma unroll
  for (int j = 0; j < 8; j++) sum += (double)re[warp][lane * 8 + j + lane / 4] * (j + 1) + im[warp][lane * 8 + j + lane / 4];
  sums[threadIdx.x] = sum;
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = sums[threadIdx.x] + sums[threadIdx.x ^ 64] * 2 + sums[threadIdx.x / 2 * 2];
}
int main() {
  const int grid = 2;
  static int2 h[grid * 1024]; static double o[grid * 128]; int2 *di; double *dout;
  cudaMalloc((void **)&di, sizeof h); cudaMalloc((void **)&dout, sizeof o);
  for (int i = 0; i < grid * 1024; i++) h[i] = make_int2(i * 7 % 19 - 9, i * 3 % 17 - 8);
  cudaMemcpy(di, h, sizeof h, cudaMemcpyHostToDevice);
  fft<<<grid, 128>>>(di, dout);
  if (cudaDeviceSynchronize()) return 2;
  cudaMemcpy(o, dout, sizeof o, cudaMemcpyDeviceToHost);
  for (int b = 0; b < grid; b++) {
    double s[128];
    for (int w = 0; w < 4; w++) {
      double x[256], y[256];
      for (int i = 0; i < 256; i++) { x[i] = h[(b * 4 + w) * 256 + i].x; y[i] = h[(b * 4 + w) * 256 + i].y; }
      for (int half = 1; half < 256; half *= 2) for (int i = 0; i < 128; i++) {
        const int at = i / half * half * 2 + i % half;
        const double p = x[at], q = x[at + half], r = y[at], u = y[at + half];
        x[at] = p + q; x[at + half] = p - q; y[at] = r + u; y[at + half] = r - u;
      }
      for (int l = 0; l < 32; l++) { s[w * 32 + l] = 0; for (int j = 0; j < 8; j++) s[w * 32 + l] += x[l * 8 + j] * (j + 1) + y[l * 8 + j]; }
    }
    for (int t = 0; t < 128; t++) if (o[b * 128 + t] != s[t] + s[t ^ 64] * 2 + s[t / 2 * 2]) { printf("FAIL c11 %d %d\n", b, t); return 1; }
  }
  printf("OK c11\n");
}
