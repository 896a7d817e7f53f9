// Fragments of wmma from rows of 32 bytes and of 48, and a product back into shared memory.
// launch: grid 1x1x1, block 32x1x1; arguments a, c
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void fragments(const half *a, float *c) {
  __shared__ half tight[16 * 16], padded[16 * 24];
  __shared__ float out[16 * 16];
  const int t = threadIdx.x;
  for (int i = t; i < 256; i += 32) {
    tight[i] = a[i];
    padded[i / 16 * 24 + i % 16] = a[i];
  }
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.f);
  wmma::load_matrix_sync(fa, tight, 16);
  wmma::load_matrix_sync(fb, padded, 24);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(out, fc, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = t; i < 256; i += 32) c[i] = out[i];
}
