// Lambdas, a local array with a running index, threads that leave early, functions that are not inlined, a switch, constant memory.
// launch: grid 5x1x1, block 100x1x1; arguments in, out, n = 463
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
__constant__ int weights[9] = {1, -2, 3, -4, 5, -6, 7, -8, 9};
__device__ __noinline__ int weigh(const int *window, int from, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += window[i] * weights[(from + i) % 9];
  return sum;
}
template <typename F> __device__ __forceinline__ int fold(int n, F f) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += f(i);
  return sum;
}
__global__ void odd(const int *in, int *out, int n) {
  __shared__ int line[100 + 8];
  __shared__ int3 points[100];
  const int t = threadIdx.x, i = blockIdx.x * 100 + t;
  line[t] = i < n ? in[i] : 0;
  if (t < 8) line[100 + t] = t;
  points[t] = make_int3(t, i & 7, line[t]);
  __syncthreads();
  if (i >= n) return;
  assert(line[t] >= 0);
  int local[16];
  for (int k = 0; k < 16; k++) local[k] = 0;
  for (int k = 0; k < 1 + (t & 7); k++) local[(t + k * 3) & 15] += line[t + k];
  const auto at = [&](int k) { return local[(k * 5 + t) & 15] + points[(t + k) % 100].z; };
  int sum = fold(12, at);
  switch (t % 5) {
    case 0: sum += weigh(line + t, t, 8); break;
    case 1: sum -= points[99 - t].y; break;
    case 2: sum += weigh(local, 2, 16); break;
    case 3: sum ^= line[t / 4 * 4]; break;
    default: sum += 1000;
  }
  if (sum == 0x7fffffff) printf("never %d\n", sum);
  out[i] = sum;
}
static const int W[9] = {1, -2, 3, -4, 5, -6, 7, -8, 9};
static int weigh_host(const int *w, int from, int n) { int s = 0; for (int i = 0; i < n; i++) s += w[i] * W[(from + i) % 9]; return s; }
int main() {
  const int n = 463, grid = 5;
  int h[n], o[grid * 100], *di, *dout;
  cudaMalloc((void **)&di, sizeof h); cudaMalloc((void **)&dout, sizeof o);
  for (int i = 0; i < n; i++) h[i] = i * 41 % 97;
  cudaMemcpy(di, h, sizeof h, cudaMemcpyHostToDevice);
  odd<<<grid, 100>>>(di, dout, n);
  if (cudaDeviceSynchronize()) return 2;
  cudaMemcpy(o, dout, sizeof o, cudaMemcpyDeviceToHost);
  for (int b = 0; b < grid; b++) {
    int line[108];
    for (int t = 0; t < 108; t++) line[t] = t >= 100 ? t - 100 : b * 100 + t < n ? h[b * 100 + t] : 0;
    for (int t = 0; t < 100 && b * 100 + t < n; t++) {
      int local[16] = {0}, sum = 0;
      for (int k = 0; k < 1 + (t & 7); k++) local[(t + k * 3) & 15] += line[t + k];
      for (int k = 0; k < 12; k++) sum += local[(k * 5 + t) & 15] + line[(t + k) % 100];
      switch (t % 5) {
        case 0: sum += weigh_host(line + t, t, 8); break;
        case 1: sum -= (b * 100 + 99 - t) & 7; break;
        case 2: sum += weigh_host(local, 2, 16); break;
        case 3: sum ^= line[t / 4 * 4]; break;
        default: sum += 1000;
      }
      if (o[b * 100 + t] != sum) { printf("FAIL c08 %d %d: %d %d\n", b, t, o[b * 100 + t], sum); return 1; }
    }
  }
  printf("OK c08\n");
}
