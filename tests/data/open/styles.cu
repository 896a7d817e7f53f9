// Kernels in other styles than those that were counted: CUB's block algorithms, cooperative groups,
// a union, structs through a function that is not inlined, a lock.
//   nvcc -ptx -arch=sm_90a -std=c++17 styles.cu
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/cub.cuh>
#include <cuda_fp16.h>
#include <mma.h>
namespace cg = cooperative_groups;

extern "C" __global__ void block_sort(const int *in, int *out) {
  typedef cub::BlockRadixSort<int, 128, 4> Sort;
  __shared__ typename Sort::TempStorage storage;
  int keys[4];
  for (int i = 0; i < 4; i++) keys[i] = in[threadIdx.x * 4 + i];
  Sort(storage).Sort(keys);
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = keys[i];
}

extern "C" __global__ void block_scan(const int *in, int *out) {
  typedef cub::BlockScan<int, 128> Scan;
  __shared__ typename Scan::TempStorage storage;
  int value = in[threadIdx.x];
  Scan(storage).ExclusiveSum(value, value);
  out[threadIdx.x] = value;
}

extern "C" __global__ void block_reduce(const int *in, int *out) {
  typedef cub::BlockReduce<int, 256> Reduce;
  __shared__ typename Reduce::TempStorage storage;
  int sum = Reduce(storage).Sum(in[threadIdx.x]);
  if (threadIdx.x == 0) out[0] = sum;
}

extern "C" __global__ void groups(const int *in, int *out) {
  __shared__ union {
    float f[256];
    int i[256];
  } both;
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  both.f[threadIdx.x] = (float)in[threadIdx.x];
  block.sync();
  const float sum = cg::reduce(tile, both.f[threadIdx.x], cg::plus<float>());
  block.sync();
  both.i[threadIdx.x] = (int)sum;
  block.sync();
  out[threadIdx.x] = both.i[threadIdx.x ^ 16];
}

struct Sums {
  int x, y, z;
};
template <int N>
__device__ __noinline__ Sums add_up(const Sums *of) {
  Sums sum = of[0];
  for (int i = 1; i < N; i++) {
    sum.x += of[i].x;
    sum.y += of[i].y;
    sum.z += of[i].z;
  }
  return sum;
}
extern "C" __global__ void structs(const int *in, int *out) {
  __shared__ Sums all[128];
  all[threadIdx.x] = {in[threadIdx.x], 2 * in[threadIdx.x], (int)threadIdx.x};
  __syncthreads();
  Sums mine[4];
  for (int i = 0; i < 4; i++) mine[i] = all[(threadIdx.x + i * in[0] * 0 + i) % 128];
  const Sums sum = add_up<4>(mine);
  out[threadIdx.x] = sum.x + sum.y + sum.z;
}

extern "C" __global__ void lock(const int *in, int *out) {
  __shared__ int held;
  if (threadIdx.x == 0) held = 0;
  __syncthreads();
  for (bool done = false; !done;) {
    if (atomicCAS(&held, 0, 1) != 0) continue;
    *(volatile int *)out += in[threadIdx.x];
    __threadfence();
    atomicExch(&held, 0);
    done = true;
  }
}

extern "C" __global__ void fragments(const int *in, int *out) {
  using namespace nvcuda::wmma;
  __shared__ half a[256], b[256];
  __shared__ float c[256];
  for (int i = threadIdx.x; i < 256; i += 32) {
    a[i] = __int2half_rn(in[i] & 7);
    b[i] = __int2half_rn(in[i] >> 3 & 7);
  }
  __syncthreads();
  fragment<matrix_a, 16, 16, 16, half, row_major> of_a;
  fragment<matrix_b, 16, 16, 16, half, col_major> of_b;
  fragment<accumulator, 16, 16, 16, float> of_c;
  fill_fragment(of_c, 1.0f);
  load_matrix_sync(of_a, a, 16);
  load_matrix_sync(of_b, b, 16);
  mma_sync(of_c, of_a, of_b, of_c);
  store_matrix_sync(c, of_c, 16, mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 32) out[i] = (int)c[i];
}
