// bf16 product on tensor cores: tiles swizzled by XOR, ldmatrix and ldmatrix.trans, stmatrix at the end; then bytes (m16n8k32).
// launch: grid 2x2x1, block 128x1x1; arguments A, B, C, Q, R, k = 64
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
typedef __nv_bfloat16 bf16;
__device__ __forceinline__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ int sw(int row, int chunk) { return row * 64 + ((chunk ^ (row & 7)) * 8); }
__global__ void __launch_bounds__(128) product(const bf16 *A, const bf16 *B, float *C, const int8_t *Q, int *R, int k) {
  __shared__ __align__(128) bf16 as[64 * 64], bs[64 * 64];
  __shared__ __align__(16) bf16 cs[64 * 72];
  __shared__ __align__(16) int8_t qs[64][48];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32, n = 128;
  float acc[8][4] = {};
  for (int k0 = 0; k0 < k; k0 += 64) {
    for (int i = t; i < 64 * 8; i += 128) {
      *(uint4 *)&as[sw(i / 8, i % 8)] = *(const uint4 *)&A[(blockIdx.y * 64 + i / 8) * k + k0 + i % 8 * 8];
      *(uint4 *)&bs[sw(i / 8, i % 8)] = *(const uint4 *)&B[(k0 + i / 8) * n + blockIdx.x * 64 + i % 8 * 8];
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 4; kk++) {
      unsigned a[4];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                   : "r"(at(&as[sw(warp * 16 + lane % 16, kk * 2 + lane / 16)])));
#pragma unroll
      for (int j = 0; j < 8; j++) {
        unsigned b[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                     : "=r"(b[0]), "=r"(b[1]) : "r"(at(&bs[sw(kk * 16 + lane % 16, j)])));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(acc[j][0]), "+f"(acc[j][1]), "+f"(acc[j][2]), "+f"(acc[j][3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < 8; j++) {
    __nv_bfloat162 lo = __floats2bfloat162_rn(acc[j][0], acc[j][1]), hi = __floats2bfloat162_rn(acc[j][2], acc[j][3]);
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::"r"(at(&cs[(warp * 16 + lane % 16) * 72 + j * 8])),
                 "r"(*(unsigned *)&lo), "r"(*(unsigned *)&hi) : "memory");
  }
  for (int i = t; i < 64 * 8; i += 128) *(int *)&qs[i / 8][i % 8 * 4] = *(const int *)&Q[(blockIdx.y * 64 + i / 8) * 32 + i % 8 * 4];
  __syncthreads();
  for (int i = t; i < 64 * 64; i += 128) C[(blockIdx.y * 64 + i / 64) * n + blockIdx.x * 64 + i % 64] = __bfloat162float(cs[i / 64 * 72 + i % 64]);
  int d[4] = {};
  const int g = lane / 4, c = lane % 4;
  int a[4] = {*(int *)&qs[warp * 16 + g][c * 4], *(int *)&qs[warp * 16 + g + 8][c * 4], *(int *)&qs[warp * 16 + g][c * 4 + 16], *(int *)&qs[warp * 16 + g + 8][c * 4 + 16]};
  int b[2] = {*(int *)&qs[warp * 8 + g][c * 4], *(int *)&qs[warp * 8 + g][c * 4 + 16]};
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  if (blockIdx.x == 0)
    for (int e = 0; e < 4; e++) R[(blockIdx.y * 64 + warp * 16 + g + e / 2 * 8) * 8 + c * 2 + e % 2] = d[e];
}
int main() {
  const int n = 128, k = 64;
  static bf16 a[n * k], b[k * n]; static float c[n * n]; static int8_t q[n * 32]; static int r[n * 8];
  bf16 *da, *db; float *dc; int8_t *dq; int *dr;
  cudaMalloc((void **)&da, sizeof a); cudaMalloc((void **)&db, sizeof b); cudaMalloc((void **)&dc, sizeof c); cudaMalloc((void **)&dq, sizeof q); cudaMalloc((void **)&dr, sizeof r);
  for (int i = 0; i < n * k; i++) { a[i] = __float2bfloat16(i * 7 % 5 - 2); b[i] = __float2bfloat16(i * 5 % 3 - 1); }
  for (int i = 0; i < n * 32; i++) q[i] = i * 13 % 31 - 15;
  cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice); cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice); cudaMemcpy(dq, q, sizeof q, cudaMemcpyHostToDevice);
  product<<<dim3(2, 2), 128>>>(da, db, dc, dq, dr, k);
  if (cudaDeviceSynchronize()) return 2;
  cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost); cudaMemcpy(r, dr, sizeof r, cudaMemcpyDeviceToHost);
  for (int y = 0; y < n; y++) for (int x = 0; x < n; x++) {
    float sum = 0;
    for (int i = 0; i < k; i++) sum += __bfloat162float(a[y * k + i]) * __bfloat162float(b[i * n + x]);
    if (c[y * n + x] != sum) { printf("FAIL c06 %d %d: %g %g\n", y, x, c[y * n + x], sum); return 1; }
  }
  for (int y = 0; y < n; y++) for (int x = 0; x < 8; x++) {
    int sum = 0; const int brow = y / 64 * 64 + y % 64 / 16 * 8 + x;
    for (int i = 0; i < 32; i++) sum += q[y * 32 + i] * q[brow * 32 + i];
    if (r[y * 8 + x] != sum) { printf("FAIL c06 bytes %d %d: %d %d\n", y, x, r[y * 8 + x], sum); return 1; }
  }
  printf("OK c06\n");
}
