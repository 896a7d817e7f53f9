// Whether a block's shared memory outlives the block until its bulk copies have read it.
//
//   nvcc -O2 -std=c++17 -gencode arch=compute_90a,code=sm_90a -o exit exit.cu && ./exit
//
// 5,280 blocks, 40 one behind the other on each SM, fill 200 KiB of shared memory with their own
// numbers, from the end on, send them to global memory by cp.async.bulk, and leave: with a wait
// for the reads, and without. PTX asks for the wait. On an NVIDIA H200 (driver 580.159.04,
// 2026-11-29) no word of 1.35 billion was another block's either way, and both took 0.24 ms.
#include <cstdint>
#include <cstdio>

enum { WORDS = 50 * 1024, BLOCKS = 132 * 40, THREADS = 256, PARTS = 4, ROUNDS = 5 };

__global__ void __launch_bounds__(THREADS) send_and_leave(uint32_t *out, bool waits) {
  extern __shared__ __align__(128) uint32_t s[];
  for (int i = WORDS - 1 - (int)threadIdx.x; i >= 0; i -= THREADS) s[i] = blockIdx.x * 65537u + i;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x) return;
  const uint32_t from = (uint32_t)__cvta_generic_to_shared(s), bytes = WORDS * 4 / PARTS;
  uint32_t *to = out + (size_t)blockIdx.x * WORDS;
  for (uint32_t part = 0; part < PARTS; ++part)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                     to + part * (WORDS / PARTS)),
                 "r"(from + part * bytes), "r"(bytes)
                 : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  if (waits) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

__global__ void count_wrong(const uint32_t *out, unsigned long long *wrong) {
  const size_t all = (size_t)BLOCKS * WORDS, threads = (size_t)gridDim.x * blockDim.x;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < all; i += threads)
    if (out[i] != (uint32_t)(i / WORDS) * 65537u + (uint32_t)(i % WORDS)) atomicAdd(wrong, 1ull);
}

int main() {
  uint32_t *out;
  unsigned long long *wrong, n;
  if (cudaMalloc(&out, (size_t)BLOCKS * WORDS * 4) || cudaMalloc(&wrong, 8)) return 1;
  cudaFuncSetAttribute(send_and_leave, cudaFuncAttributeMaxDynamicSharedMemorySize, WORDS * 4);
  for (int round = 0; round < 2 * ROUNDS; ++round) {
    const bool waits = round < ROUNDS;
    cudaMemset(out, 0xee, (size_t)BLOCKS * WORDS * 4);
    cudaMemset(wrong, 0, 8);
    send_and_leave<<<BLOCKS, THREADS, WORDS * 4>>>(out, waits);
    count_wrong<<<1320, 256>>>(out, wrong);
    if (cudaMemcpy(&n, wrong, 8, cudaMemcpyDeviceToHost)) return 1;
    std::printf("%s: %llu of %zu words wrong\n", waits ? "waits" : "leaves", n,
                (size_t)BLOCKS * WORDS);
  }
}
