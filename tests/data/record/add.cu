// c = a + b, three times, and its own check: PASS or FAIL.
#include <cstdio>
#include <cstdlib>
#include <cstring>

template <typename T>
__global__ void add(const T *a, const T *b, T *c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char **argv) {
  enum { N = 1000, BLOCK = 128 };
  static float host[N], result[N];
  float *a, *b, *c;
  for (int i = 0; i < N; i++) host[i] = (float)i;
  cudaMalloc(&a, sizeof host);
  cudaMalloc(&b, sizeof host);
  cudaMalloc(&c, sizeof host);
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(b, 0, sizeof host);
  cudaMemset(c, 0, sizeof host);
  const int launches = argc > 1 ? atoi(argv[1]) : 3;
  for (int round = 0; round < launches; round++) {
    add<float><<<(N + BLOCK - 1) / BLOCK, BLOCK>>>(a, b, c, N);
    cudaMemcpy(b, c, sizeof host, cudaMemcpyDeviceToDevice);
  }
  if (argc > 2 && !strcmp(argv[2], "array")) {
    cudaArray_t array;
    const cudaChannelFormatDesc words = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    printf("%s\n", cudaGetErrorName(cudaMallocArray(&array, &words, 100)));
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    printf("%d.%d, %d SMs, %zu bytes, maps %d\n", device.major, device.minor,
           device.multiProcessorCount, device.sharedMemPerBlockOptin, device.canMapHostMemory);
    cudaFuncAttributes kernel;
    cudaFuncGetAttributes(&kernel, add<float>);
    printf("%d registers\n", kernel.numRegs);
  }
  cudaMemcpy(result, c, sizeof result, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += result[i] != (float)(launches * i);
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong ? 7 : 0;
}
