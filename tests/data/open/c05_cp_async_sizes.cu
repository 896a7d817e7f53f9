// cp.async of 4, 8 and 16 bytes into rows of several pitches, three stages deep.
// launch: grid 3x1x1, block 128x1x1; arguments in, out, steps = 7
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
template <int BYTES> __device__ __forceinline__ void copy(void *to, const void *from) {
  const unsigned s = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(s), "l"(from), "n"(BYTES) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
struct Stage {
  alignas(16) float a[128 * 5];   // 4 bytes each, pitch 5
  alignas(16) float b[128 * 2];   // 8 bytes each
  alignas(16) float c[128 * 8];   // 16 bytes each, pitch 8
};
__device__ void fetch(Stage &s, const float *in, int t) {
  for (int i = 0; i < 4; i++)
    copy<4>(&s.a[t * 5 + i], in + t * 4 + i);
  copy<8>(&s.b[t * 2], in + t * 2);
  copy<16>(&s.c[t * 8], in + t * 4);
  copy<16>(&s.c[t * 8 + 4], in + 512 - 4 - t * 4);
}
__global__ void __launch_bounds__(128) stages(const float *in, float *out, int steps) {
  __shared__ Stage s[3];
  const int t = threadIdx.x;
  in += blockIdx.x * steps * 512;
  float sum = 0;
  for (int i = 0; i < 2; i++) { fetch(s[i], in + i * 512, t); commit(); }
  for (int k = 0; k < steps; k++) {
    wait<1>();
    __syncthreads();
    if (k + 2 < steps) fetch(s[(k + 2) % 3], in + (k + 2) * 512, t);
    commit();
    const Stage &now = s[k % 3];
    const int u = 127 - t;
    sum += now.a[u * 5 + 3] + 2 * now.b[u * 2 + 1] + 3 * now.c[u * 8 + (t & 7)];
  }
  out[blockIdx.x * 128 + t] = sum;
}
int main() {
  const int steps = 7, grid = 3, n = grid * steps * 512;
  float *h = (float *)malloc(n * 4), o[grid * 128], *di, *dout;
  cudaMalloc((void **)&di, n * 4); cudaMalloc((void **)&dout, sizeof o);
  for (int i = 0; i < n; i++) h[i] = i * 11 % 29 - 14;
  cudaMemcpy(di, h, n * 4, cudaMemcpyHostToDevice);
  stages<<<grid, 128>>>(di, dout, steps);
  if (cudaDeviceSynchronize()) return 2;
  cudaMemcpy(o, dout, sizeof o, cudaMemcpyDeviceToHost);
  for (int b = 0; b < grid; b++) for (int t = 0; t < 128; t++) {
    float sum = 0;
    for (int k = 0; k < steps; k++) {
      const float *v = h + (b * steps + k) * 512;
      const int u = 127 - t, e = t & 7;
      sum += v[u * 4 + 3] + 2 * v[u * 2 + 1] + 3 * (e < 4 ? v[u * 4 + e] : v[508 - u * 4 + e - 4]);
    }
    if (o[b * 128 + t] != sum) { printf("FAIL c05 %d %d\n", b, t); return 1; }
  }
  printf("OK c05\n");
}
