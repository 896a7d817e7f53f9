// A library of kernels that a program opens while it runs, as Python does: c = a + b on the GPU.
__global__ void add(const int *a, const int *b, int *c) {
  c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

extern "C" int add_64(const int *a, const int *b, int *c) {
  enum { N = 64 };
  int *on_gpu[3];
  for (int i = 0; i < 3; i++) cudaMalloc(&on_gpu[i], N * sizeof(int));
  cudaMemcpy(on_gpu[0], a, N * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(on_gpu[1], b, N * sizeof(int), cudaMemcpyHostToDevice);
  add<<<1, N>>>(on_gpu[0], on_gpu[1], on_gpu[2]);
  return (int)cudaMemcpy(c, on_gpu[2], N * sizeof(int), cudaMemcpyDeviceToHost);
}
