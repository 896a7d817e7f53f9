// A templated tile product: shared memory is a union of the main loop's tiles and the epilogue's.
// launch: grid 4x4x1, block 16x16x1, no dynamic shared memory; arguments A, B, C, n = 256
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
template <typename T, int M, int N, int K, int PAD> struct Storage {
  union {
    struct { T a[K][M + PAD]; T b[K][N]; } main;
    T c[M][N + 1];
  };
};
template <typename T, int BM, int BN, int BK, int TM, int TN, int PAD>
__global__ void __launch_bounds__((BM / TM) * (BN / TN))
gemm(const T *__restrict__ A, const T *__restrict__ B, T *__restrict__ C, int n) {
  __shared__ Storage<T, BM, BN, BK, PAD> s;
  constexpr int TX = BN / TN, TY = BM / TM, THREADS = TX * TY;
  const int tx = threadIdx.x, ty = threadIdx.y, tid = ty * TX + tx;
  T acc[TM][TN] = {};
  for (int k0 = 0; k0 < n; k0 += BK) {
#pragma unroll
    for (int i = tid; i < BM * BK; i += THREADS)
      s.main.a[i % BK][i / BK] = A[(blockIdx.y * BM + i / BK) * n + k0 + i % BK];
#pragma unroll
    for (int i = tid; i < BN * BK; i += THREADS)
      s.main.b[i / BN][i % BN] = B[(k0 + i / BN) * n + blockIdx.x * BN + i % BN];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k++) {
      T a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; i++) a[i] = s.main.a[k][ty + i * TY];
#pragma unroll
      for (int j = 0; j < TN; j++) b[j] = s.main.b[k][tx * TN + j];
#pragma unroll
      for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) acc[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j++) s.c[ty + i * TY][tx * TN + j] = acc[i][j];
  __syncthreads();
  for (int i = tid; i < BM * BN; i += THREADS)
    C[(blockIdx.y * BM + i / BN) * n + blockIdx.x * BN + i % BN] = s.c[i / BN][i % BN];
}
int main() {
  const int n = 256;
  float *h[3], *d[3];
  for (int i = 0; i < 3; i++) { h[i] = (float *)malloc(n * n * 4); cudaMalloc((void **)&d[i], n * n * 4); }
  for (int i = 0; i < n * n; i++) { h[0][i] = i * 7 % 13 - 6; h[1][i] = i * 5 % 11 - 5; }
  for (int i = 0; i < 2; i++) cudaMemcpy(d[i], h[i], n * n * 4, cudaMemcpyHostToDevice);
  gemm<float, 64, 64, 16, 4, 4, 1><<<dim3(4, 4), dim3(16, 16)>>>(d[0], d[1], d[2], n);
  if (cudaDeviceSynchronize()) return 2;
  cudaMemcpy(h[2], d[2], n * n * 4, cudaMemcpyDeviceToHost);
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      float sum = 0;
      for (int k = 0; k < n; k++) sum += h[0][y * n + k] * h[1][k * n + x];
      if (sum != h[2][y * n + x]) { printf("FAIL c01 %d %d\n", y, x); return 1; }
    }
  printf("OK c01\n");
}
