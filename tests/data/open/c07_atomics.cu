// Atomics in shared memory at addresses that do not depend on data: counters that many lanes share, strides, min, cas, floats, 64 bits.
// launch: grid 4x1x1, block 192x1x1; arguments out
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
struct Counters { int add[64]; unsigned most[96]; float real[48]; unsigned long long wide[24]; int once[32]; };
__global__ void atomics(int *out) {
  __shared__ Counters c;
  const int t = threadIdx.x;
  for (int i = t; i < (int)(sizeof c / 4); i += blockDim.x) ((int *)&c)[i] = 0;
  __syncthreads();
  atomicAdd(&c.add[t % 64], t);
  atomicAdd(&c.add[t % 8 * 8], 1);
  atomicMax(&c.most[t * 2 % 96], (unsigned)t * 7 % 31);
  atomicAdd(&c.real[t % 48], (float)(t % 5));
  atomicAdd(&c.wide[t % 24], (unsigned long long)t << 33);
  const int old = atomicCAS(&c.once[t % 32], 0, t + 1);
  const int first = __syncthreads_count(old == 0);
  int sum = first;
  for (int i = 0; i < 4; i++) sum += c.add[(t + i * 16) % 64] + (int)c.most[(t + i) % 96] + (int)c.real[(t * 3 + i) % 48];
  out[blockIdx.x * 192 + t] = sum + (int)(c.wide[t % 24] >> 33);
}
int main() {
  const int grid = 4;
  int o[grid * 192], *d;
  cudaMalloc((void **)&d, sizeof o);
  atomics<<<grid, 192>>>(d);
  if (cudaDeviceSynchronize()) return 2;
  cudaMemcpy(o, d, sizeof o, cudaMemcpyDeviceToHost);
  int add[64] = {0}, real[48] = {0}, wide[24] = {0}; unsigned most[96] = {0};
  for (int t = 0; t < 192; t++) {
    add[t % 64] += t; add[t % 8 * 8]++; real[t % 48] += t % 5; wide[t % 24] += t;
    const unsigned v = t * 7 % 31; if (v > most[t * 2 % 96]) most[t * 2 % 96] = v;
  }
  for (int b = 0; b < grid; b++) for (int t = 0; t < 192; t++) {
    int sum = 32 + wide[t % 24];
    for (int i = 0; i < 4; i++) sum += add[(t + i * 16) % 64] + (int)most[(t + i) % 96] + real[(t * 3 + i) % 48];
    if (o[b * 192 + t] != sum) { printf("FAIL c07 %d %d: %d %d\n", b, t, o[b * 192 + t], sum); return 1; }
  }
  printf("OK c07\n");
}
