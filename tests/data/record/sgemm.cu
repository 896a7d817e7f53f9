// A batch of small products, C = alpha * A * B + bias: a struct by value with pointers in it, an array
// of pointers in memory, weights in __constant__ memory and a counter in __device__ memory.
#include <cstdio>

enum { N = 48, TILE = 16, BATCH = 2 };

struct Params {
  const float *const *a;  // an array of pointers, in memory
  const float *b;
  float *c;
  float alpha;
  int n;
};

__constant__ float bias[N];
__device__ int blocks_done;

__global__ void sgemm(const Params p) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  const float *a = p.a[blockIdx.z];
  float sum = 0;
  for (int k = 0; k < p.n; k += TILE) {
    as[threadIdx.y][threadIdx.x] = a[row * p.n + k + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = p.b[(k + threadIdx.y) * p.n + column];
    __syncthreads();
    for (int i = 0; i < TILE; i++) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  p.c[(blockIdx.z * p.n + row) * p.n + column] = p.alpha * sum + bias[column];
  if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(&blocks_done, 1);
}

static float a[BATCH][N * N], b[N * N], c[BATCH][N * N], weights[N];

static int wrong_cells() {
  int wrong = 0;
  for (int batch = 0; batch < BATCH; batch++)
    for (int row = 0; row < N; row++)
      for (int column = 0; column < N; column++) {
        float sum = 0;
        for (int k = 0; k < N; k++) sum += a[batch][row * N + k] * b[k * N + column];
        wrong += c[batch][row * N + column] != 2 * sum + weights[column];
      }
  return wrong;
}

int main() {
  for (int i = 0; i < N * N; i++) {
    for (int batch = 0; batch < BATCH; batch++) a[batch][i] = (float)((i + batch) % 7 - 3);
    b[i] = (float)(i % 5 - 2);
  }
  for (int i = 0; i < N; i++) weights[i] = (float)i;
  float *on_device[BATCH];
  Params p = {nullptr, nullptr, nullptr, 2, N};
  void *pointers;
  for (int batch = 0; batch < BATCH; batch++) {
    cudaMalloc(&on_device[batch], sizeof a[batch]);
    cudaMemcpy(on_device[batch], a[batch], sizeof a[batch], cudaMemcpyHostToDevice);
  }
  cudaMalloc(&pointers, sizeof on_device);
  cudaMemcpy(pointers, on_device, sizeof on_device, cudaMemcpyHostToDevice);
  cudaMalloc((void **)&p.b, sizeof b);
  cudaMemcpy((void *)p.b, b, sizeof b, cudaMemcpyHostToDevice);
  cudaMalloc(&p.c, sizeof c);
  cudaMemcpyToSymbol(bias, weights, sizeof weights);
  p.a = (const float *const *)pointers;
  sgemm<<<dim3(N / TILE, N / TILE, BATCH), dim3(TILE, TILE)>>>(p);
  int done = 0;
  cudaMemcpyFromSymbol(&done, blocks_done, sizeof done);
  cudaMemcpy(c, p.c, sizeof c, cudaMemcpyDeviceToHost);
  const int wrong = wrong_cells();
  printf("%s, %d blocks\n", wrong ? "FAIL" : "PASS", done);
  return wrong || done != N / TILE * (N / TILE) * BATCH;
}
