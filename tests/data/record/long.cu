// Launches of many blocks that take their time: minutes on a CPU.
__global__ void spin(float *out, int rounds) {
  float x = threadIdx.x;
  for (int i = 0; i < rounds; i++) x = x * 1.5f + 1.0f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

int main() {
  enum { BLOCKS = 4096, THREADS = 256, ROUNDS = 2000, LAUNCHES = 5 };
  float *out;
  cudaMalloc(&out, sizeof *out * BLOCKS * THREADS);
  for (int i = 0; i < LAUNCHES; i++) spin<<<BLOCKS, THREADS>>>(out, ROUNDS);
  return cudaDeviceSynchronize() != cudaSuccess;
}
