// Loads of shared memory behind products of mma.sync: what one costs the other.
//
//   nvcc -arch=sm_90a -std=c++17 -O3 -o taken lab/clock/taken.cu && ./taken
//
// Each warp goes round 32 products of m16n8k16, with loads of shared memory behind each or behind
// every second one. A line has the clocks of a scheduler for a product and its loads, for one warp
// each on two schedulers, and for one, two and four on all four. NVIDIA H200, driver 580, nvcc 13.0,
// 2026-11-30:
//
//                              two     1      2      4
//   f32 sums, nothing          6.67   6.67   6.05   6.03
//   … LDS                      7.87   7.89   7.19   7.26
//   … LDS behind every second  7.15   7.16   6.56   6.54
//   … two LDS                 10.22  11.06  10.05  10.02
//   … three LDS               14.25  15.19  13.52  13.38
//   … LDS.128                  9.72  16.39  16.15
//   … LDS.128, every second    7.15   8.91   8.53   8.53
//   f16 sums, nothing          6.66   6.66   6.03   6.03
//   … LDS                      6.97   6.95   6.30   6.35
//   … two LDS                  9.15   9.19   8.62   8.57
//
// An LDS holds up a product of f32 sums by 1.2 clocks, one of f16 sums by 0.3, and no more where
// neither A nor B is kept. The shared pipe takes a wavefront a clock; beside products of all
// schedulers it takes 8 in 10.0 clocks, and 12 in 13.4.
#include <cstdio>
#include <cstdlib>

enum { PRODUCTS = 32, ROUNDS = 100, SMS = 132 };
extern __shared__ unsigned tile[];

template <bool HALF_SUMS, int LOADS, int WIDTH, int EVERY>
__global__ void __launch_bounds__(512) taken(unsigned *out, unsigned *sink, int rounds) {
  float d[8][4] = {};
  unsigned h[8][2] = {}, y[16] = {}, a[2][4], b[4][2];
  for (int i = 0; i < 8; i++) {
    a[i / 4][i % 4] = sink[threadIdx.x + i];
    b[i / 2][i % 2] = sink[threadIdx.x + 9 + i];
  }
  const unsigned at =
      (unsigned)__cvta_generic_to_shared(tile) + threadIdx.x % 32 * (WIDTH == 4 ? 16 : 4);
  __syncthreads();
  const unsigned begin = clock();
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
#pragma unroll
    for (int i = 0; i < PRODUCTS; i++) {
      const unsigned *A = a[i / 8 % 2], *B = b[i % 4];
      float *c = d[i % 8];
      if (HALF_SUMS)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, "
                     "{%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                     : "+r"(h[i % 8][0]), "+r"(h[i % 8][1])
                     : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
      else
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
      if (i % EVERY != EVERY - 1) continue;
      for (int k = 0; k < LOADS; k++) {
        unsigned *to = &y[(LOADS * i + k) * WIDTH % 16];
        const unsigned from = at + i * 64 + k * 4096;
        if (WIDTH == 4)
          asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                       : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                       : "r"(from));
        else
          asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(to[0]) : "r"(from));
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == 0) out[0] = clock() - begin;
  for (int i = 0; i < 16; i++) d[0][0] += __uint_as_float(y[i] + h[i % 8][i / 8]);
  for (int i = 0; i < 8; i++) d[0][0] += d[i][0] + d[i][1] + d[i][2] + d[i][3];
  sink[threadIdx.x + 64] = __float_as_uint(d[0][0]);
}

template <bool HALF_SUMS, int LOADS, int WIDTH, int EVERY>
static void measure(const char *name) {
  unsigned *out, *sink, clocks;
  const int bytes = 40000;
  cudaMalloc(&out, sizeof clocks);
  cudaMalloc(&sink, 1 << 20);
  cudaMemset(sink, 0x3f, 1 << 20);
  printf("%-28s", name);
  for (int warps : {2, 4, 8, 16}) {
    for (int k = 0; k < 3; k++)
      taken<HALF_SUMS, LOADS, WIDTH, EVERY><<<SMS, 32 * warps, bytes>>>(out, sink, ROUNDS);
    if (cudaMemcpy(&clocks, out, sizeof clocks, cudaMemcpyDeviceToHost) != cudaSuccess) {
      printf(" %s\n", cudaGetErrorString(cudaGetLastError()));
      exit(1);
    }
    printf(" %6.2f", double(clocks) / (PRODUCTS * ROUNDS) / (warps > 4 ? warps / 4 : 1));
  }
  printf("\n");
  cudaFree(out);
  cudaFree(sink);
}

int main() {
  measure<false, 0, 1, 1>("f32 sums, nothing");
  measure<false, 1, 1, 1>("f32 sums, LDS");
  measure<false, 1, 1, 2>("f32 sums, LDS, every second");
  measure<false, 2, 1, 1>("f32 sums, two LDS");
  measure<false, 3, 1, 1>("f32 sums, three LDS");
  measure<false, 1, 4, 1>("f32 sums, LDS.128");
  measure<false, 1, 4, 2>("f32 sums, LDS.128, every second");
  measure<true, 0, 1, 1>("f16 sums, nothing");
  measure<true, 1, 1, 1>("f16 sums, LDS");
  measure<true, 2, 1, 1>("f16 sums, two LDS");
}
