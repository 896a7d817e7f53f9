// A warp of FFMA that wait for each other, beside another warp of its scheduler.
//
//   nvcc -arch=sm_90a -std=c++17 -O3 -o frozen lab/clock/frozen.cu && ./frozen
//
// A block has eight warps, two of each scheduler. The first goes round 64 FFMA of one chain, which
// its control words let go every fourth clock; the second goes round 32 of what the line names. One
// of them runs on while the other is timed. NVIDIA H200, driver 580, nvcc 13.0, 2026-11-30: clocks
// of one FFMA and of one of the others, and what the clock of gemmview says:
//
//                 FFMA of the chain     the other
//   nothing          4.23   4.11
//   m16n8k16         5.98   5.94        9.76   9.81
//   m16n8k8          5.27   5.03        5.82   5.71
//   STS.128          4.25   4.43       16.21  16.03
//   LDS              4.26   4.12       16.14  16.04
//   IADD             4.51   4.25        1.66   1.42
//
// The products, of f16, take 6.0 and 4.0 clocks alone. Each loses 2.9 and 1.2 to the 1.6 and 1.1
// FFMA beside it: while an FFMA waits for the ports that a product keeps, the stalls of both warps
// stand still.
#include <cstdio>
#include <cstdlib>

extern __shared__ unsigned tile[];

enum Beside { NOTHING, PRODUCT, HALF_PRODUCT, STS128, LDS, IADD, KINDS };
static const char *const names[] = {"nothing", "m16n8k16", "m16n8k8", "STS.128", "LDS", "IADD"};

enum { CHAIN = 64, OTHERS = 32, ROUNDS = 40, LONG = 8000 };

template <Beside WITH>
__global__ void frozen(unsigned *out, unsigned *sink, int chains, int rounds) {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float d[8][4] = {}, f = __uint_as_float(sink[threadIdx.x]);
  unsigned a[2][4], b[4][2], x[8] = {threadIdx.x, 1, 2, 3, 4, 5, 6, 7};
  const float g = __uint_as_float(sink[threadIdx.x + 1]);
  for (int i = 0; i < 8; i++)
    a[i / 4][i % 4] = sink[threadIdx.x + i], b[i / 2][i % 2] = sink[threadIdx.x + 9 + i];
  const unsigned at = (unsigned)__cvta_generic_to_shared(tile) + lane * 16 + warp % 4 * 512;
  __syncthreads();
  const unsigned begin = clock();
  if (warp < 4) {
#pragma unroll 1
    for (int r = 0; r < chains; r++) {
#pragma unroll
      for (int i = 0; i < CHAIN; i++) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(f) : "f"(g));
    }
  } else if (WITH != NOTHING) {
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
      for (int i = 0; i < OTHERS; i++) {
        float *c = d[i % 8];
        const unsigned *A = a[i / 8 % 2], *B = b[i % 4];
        if (WITH == PRODUCT)
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                       "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                       : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                       : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
        if (WITH == HALF_PRODUCT)
          asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                       "{%4, %5}, {%6}, {%0, %1, %2, %3};"
                       : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                       : "r"(A[0]), "r"(A[1]), "r"(B[0]));
        if (WITH == STS128)
          asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(b[0][0]),
                       "r"(b[0][1]), "r"(b[1][0]), "r"(b[1][1])
                       : "memory");
        if (WITH == LDS)
          asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x[i % 8]) : "r"(at) : "memory");
        if (WITH == IADD) asm volatile("add.u32 %0, %0, %1;" : "+r"(x[i % 8]) : "r"(b[0][i % 2]));
      }
    }
  }
  const unsigned end = clock();
  if (lane == 0) out[warp] = end - begin;
  for (int i = 0; i < 8; i++) f += d[i][0] + d[i][1] + d[i][2] + d[i][3] + (float)x[i];
  sink[2048 + threadIdx.x] = __float_as_uint(f);
}

template <Beside WITH>
static void time_beside(unsigned *out, unsigned *sink) {
  enum { TRIES = 7, WARPS = 8, SHARED = 4096 };
  double best[2] = {1e30, 1e30};
  for (int i = 0; i < 2 * TRIES; i++) {
    const bool other = i % 2;
    unsigned clocks[WARPS];
    frozen<WITH><<<1, WARPS * 32, SHARED>>>(out, sink, other ? LONG / 2 : ROUNDS,
                                             other ? ROUNDS : LONG);
    cudaMemcpy(clocks, out, sizeof clocks, cudaMemcpyDeviceToHost);
    const double one =
        other ? clocks[4] / (double)(ROUNDS * OTHERS) : clocks[0] / (double)(ROUNDS * CHAIN);
    if (one < best[other]) best[other] = one;
  }
  printf("%-10s %6.2f %6.2f\n", names[WITH], best[0], WITH == NOTHING ? 0 : best[1]);
}

int main() {
  enum { OUT_BYTES = 64, SINK_BYTES = 1 << 16 };
  unsigned *out = NULL, *sink = NULL;
  if (cudaMalloc(&out, OUT_BYTES) || cudaMalloc(&sink, SINK_BYTES)) return EXIT_FAILURE;
  cudaMemset(sink, 0, SINK_BYTES);
  time_beside<NOTHING>(out, sink);
  time_beside<PRODUCT>(out, sink);
  time_beside<HALF_PRODUCT>(out, sink);
  time_beside<STS128>(out, sink);
  time_beside<LDS>(out, sink);
  time_beside<IADD>(out, sink);
  return cudaGetLastError() ? EXIT_FAILURE : EXIT_SUCCESS;
}
