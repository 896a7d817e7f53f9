// mma.sync beside other work of the same warps, one to four warps of a scheduler.
//
//   nvcc -arch=sm_90a -std=c++17 -O3 -o products lab/clock/products.cu && ./products
//
// A round is 16 products m16n8k16 with f32 sums, eight sums in turn, and behind each what the line
// names; ptxas moves it about, so that the machine code (nvdisasm -c) belongs to the numbers. NVIDIA
// H200, driver 580, nvcc 13.0, 2026-11-30: clocks of a round for each warp of a scheduler, with one,
// two, three and four of them, and what the clock of gemmview says of the same cubin for two:
//
//   alone                      114.7  96.2  96.4  95.9    100
//   two IADD                   123.8 107.8 110.0 108.5    110
//   two FADD                   132.7 113.6 112.4 112.3    109
//   four LDSM.x4, 10 LOP3      159.7 115.2 114.1 113.6    116
//   the same and two IADD      180.8 130.3 130.1 128.6    134
//   two FMNMX                  128.7 113.2 118.3 113.3    119
//   one MUFU.EX2               149.7 140.3 144.6 145.3    141
//   four FADD of one chain     312.7 218.3 184.3 167.3    204
#include <cstdio>
#include <cstdlib>

extern __shared__ unsigned tile[];

enum Beside { ALONE, IADD, FADD, LDSM, LDSM_IADD, FMNMX, EX2, CHAIN, KINDS };
static const char *const names[] = {"alone",     "2 iadd", "2 fadd",  "ldsm",
                                    "ldsm+iadd", "2 max",  "1 ex2",   "fadd chain"};

template <Beside WITH>
__global__ void products(unsigned *out, unsigned *sink, int rounds) {
  const bool loads = WITH == LDSM || WITH == LDSM_IADD, adds = WITH == IADD || WITH == LDSM_IADD;
  float d[8][4] = {}, y[8];
  unsigned a[4], b[2], x[8], z[4][4];
  for (int i = 0; i < 4; i++) a[i] = sink[threadIdx.x + i], b[i % 2] = sink[threadIdx.x + 9 + i];
  for (int i = 0; i < 8; i++) x[i] = threadIdx.x + i, y[i] = threadIdx.x * 0.5f + i;
  const unsigned at = (unsigned)__cvta_generic_to_shared(tile) + threadIdx.x % 32 * 16;
  __syncthreads();
  const unsigned begin = clock();
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
#pragma unroll
    for (int i = 0; i < 16; i++) {
      float *c = d[i % 8];
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                   "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                   : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#pragma unroll
      for (int k = 0; k < 2; k++) {
        const int n = (i * 2 + k) % 8;
        if (adds) asm volatile("add.u32 %0, %0, %1;" : "+r"(x[n]) : "r"(rounds));
        if (WITH == FADD) asm volatile("add.f32 %0, %0, %1;" : "+f"(y[n]) : "f"(y[7]));
        if (WITH == FMNMX) asm volatile("max.f32 %0, %0, %1;" : "+f"(y[n]) : "f"(y[7]));
      }
      if (WITH == EX2) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(y[i % 8]));
#pragma unroll
      for (int k = 0; k < 4 && WITH == CHAIN; k++) asm volatile("add.f32 %0, %0, %0;" : "+f"(y[0]));
      if (loads && i % 2 == 0) {
        unsigned *to = z[i / 2 % 4];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(at + 512 * i)
                     : "memory");
      }
    }
    for (int i = 0; i < 4 && loads; i++) a[i] ^= z[i][0] ^ z[i][1] ^ z[i][2] ^ z[i][3];
  }
  const unsigned end = clock();
  float all = 0;
  for (int i = 0; i < 8; i++) all += d[i][0] + d[i][1] + d[i][2] + d[i][3] + y[i] + x[i];
  if (rounds < 0) sink[threadIdx.x] = (unsigned)all;
  if (threadIdx.x == 0) out[0] = end - begin;
}

template <Beside WITH>
static void line(unsigned *out, unsigned *sink) {
  enum { ROUNDS = 300, SMEM = 16384 };
  std::printf("%-10s", names[WITH]);
  for (int warps = 1; warps <= 4; warps++) {
    unsigned clocks = 0;
    for (int warm = 0; warm < 2; warm++) products<WITH><<<1, warps * 128, SMEM>>>(out, sink, ROUNDS);
    if (cudaMemcpy(&clocks, out, sizeof clocks, cudaMemcpyDeviceToHost) != cudaSuccess) std::exit(1);
    std::printf(" %6.1f", (double)clocks / ROUNDS / warps);
  }
  std::printf("\n");
}

int main() {
  enum { BYTES = 65536 };
  unsigned *out, *sink;
  if (cudaMalloc(&out, BYTES) != cudaSuccess || cudaMalloc(&sink, BYTES) != cudaSuccess) return 1;
  cudaMemset(sink, 0, BYTES);
  line<ALONE>(out, sink);
  line<IADD>(out, sink);
  line<FADD>(out, sink);
  line<LDSM>(out, sink);
  line<LDSM_IADD>(out, sink);
  line<FMNMX>(out, sink);
  line<EX2>(out, sink);
  line<CHAIN>(out, sink);
}
