// Three kernels, one of them launched in two ways: what is chosen from a list.
#include <cstdio>

__global__ void fill(int *to, int value) { to[blockIdx.x * blockDim.x + threadIdx.x] = value; }

__global__ void turn(int *to) {
  __shared__ int tile[32][32];
  tile[threadIdx.y][threadIdx.x] = to[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  to[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

template <int N>
__global__ void add(int *to) {
  extern __shared__ int part[];
  part[threadIdx.x] = to[threadIdx.x];
  __syncthreads();
  to[threadIdx.x] += part[N - 1 - threadIdx.x];
}

int main() {
  int *to, got[1024], wrong = 0;
  cudaMalloc(&to, sizeof got);
  fill<<<2, 64>>>(to, 1);
  fill<<<8, 128>>>(to, 3);
  fill<<<8, 128>>>(to, 5);
  for (int i = 0; i < 3; i++) turn<<<1, dim3(32, 32)>>>(to);
  add<256><<<1, 256, 1024>>>(to);
  cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 1024; i++) wrong += got[i] != (i < 256 ? 10 : 5);
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
