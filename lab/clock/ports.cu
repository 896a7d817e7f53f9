// Accesses to shared memory beside products and beside FFMA that keep the register ports busy.
//
//   nvcc -arch=sm_90a -std=c++17 -O3 -o ports lab/clock/ports.cu && ./ports
//
// A round is 16 products m16n8k8 of tf32, or 16 times four FFMA, and behind each first, each second
// or each fourth what the line names. NVIDIA H200, driver 580, nvcc 13.0, 2026-11-30: clocks of a
// sixteenth of a round for each warp of a scheduler, two of each scheduler, and what the clock of
// gemmview says of the same cubin:
//
//                          products                FFMA
//   alone                  6.0        6.2          6.3         6.3
//   LDS each 4, 2, 1       6.3 6.5 7.0  6.4 6.6 6.4   6.6 6.6 7.1   6.4 6.6 7.1
//   LDS.128 each 4         6.3        6.5          6.4         6.5
//   STS each 2, 1          7.0 9.2    7.2 8.5      6.8 7.4     6.8 7.6
//   STS.128 each 4, 2      7.8 12.1   7.7 9.8      7.5 8.3     7.4 8.4
//   IADD each 2, 1         6.3 6.4    6.4 6.7      6.4 6.8     6.4 6.8
//
// So an access reads its registers from the ports, whatever it brings back, and holds up a product
// that reads its own.
//
// Bursts of 28 and 36 of one access by a warp of one scheduler: clocks from one to the next.
//
//   LDS of any width, LDSM, LDG   4   their control words say so; two warps issue one every 2
//   STS, STS.64, STS.128          4, 6, 10   two clocks for each register
//   LDGSTS of 16 bytes            6
#include <cstdio>
#include <cstdlib>

extern __shared__ unsigned tile[];

enum Work { PRODUCTS, FFMA };
enum Beside { ALONE, LDS, LDS128, STS, STS128, IADD };
static const char *const names[] = {"alone", "lds", "lds128", "sts", "sts128", "iadd"};

template <Work WORK, Beside WITH, int EVERY>
__global__ void rounds_of(unsigned *out, unsigned *sink, int rounds) {
  float d[8][4] = {};
  unsigned a[2][4], b[4][2], x[4] = {threadIdx.x, 1, 2, 3};
  for (int i = 0; i < 8; i++)
    a[i / 4][i % 4] = sink[threadIdx.x + i], b[i / 2][i % 2] = sink[threadIdx.x + 9 + i];
  const unsigned lane = threadIdx.x % 32, at = (unsigned)__cvta_generic_to_shared(tile) +
                                               lane * (WITH == LDS || WITH == STS ? 4 : 16);
  __syncthreads();
  const unsigned begin = clock();
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
#pragma unroll
    for (int i = 0; i < 16; i++) {
      float *c = d[i % 8];
      const unsigned *A = a[i / 8], *B = b[i % 4];
      if (WORK == PRODUCTS)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
                     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
#pragma unroll
      for (int k = 0; k < 4 && WORK == FFMA; k++)
        asm volatile("fma.rn.f32 %0, %1, %2, %0;"
                     : "+f"(c[k])
                     : "f"(__uint_as_float(A[k])), "f"(__uint_as_float(B[k % 2])));
      if (i % EVERY) continue;
      if (WITH == LDS)
        asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x[0]) : "r"(at + i * 16) : "memory");
      if (WITH == LDS128)
        asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "r"(at + i * 16)
                     : "memory");
      if (WITH == STS)
        asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(at + i * 16), "r"(lane) : "memory");
      if (WITH == STS128)
        asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at + i * 16),
                     "r"(b[0][0]), "r"(b[0][1]), "r"(b[1][0]), "r"(b[1][1])
                     : "memory");
      if (WITH == IADD) asm volatile("add.u32 %0, %0, %1;" : "+r"(x[i / 4]) : "r"(lane));
    }
  }
  const unsigned end = clock();
  float all = 0;
  for (int i = 0; i < 8; i++) all += d[i][0] + d[i][1] + d[i][2] + d[i][3] + x[i % 4];
  if (rounds < 0) sink[threadIdx.x] = (unsigned)all;
  if (threadIdx.x == 0) out[0] = end - begin;
}

template <Work WORK, Beside WITH, int EVERY>
static void line(unsigned *out, unsigned *sink) {
  enum { ROUNDS = 200, SMEM = 16384 };
  std::printf("%-8s %-7s each %d", WORK == FFMA ? "ffma" : "products", names[WITH], EVERY);
  for (int warps = 1; warps <= 4; warps *= 2) {
    unsigned clocks = 0;
    for (int warm = 0; warm < 2; warm++)
      rounds_of<WORK, WITH, EVERY><<<1, warps * 128, SMEM>>>(out, sink, ROUNDS);
    if (cudaMemcpy(&clocks, out, sizeof clocks, cudaMemcpyDeviceToHost) != cudaSuccess)
      std::exit(1);
    std::printf(" %5.1f", (double)clocks / ROUNDS / 16 / warps);
  }
  std::printf("\n");
}

template <Work WORK>
static void lines(unsigned *out, unsigned *sink) {
  line<WORK, ALONE, 1>(out, sink);
  line<WORK, LDS, 4>(out, sink);
  line<WORK, LDS, 2>(out, sink);
  line<WORK, LDS, 1>(out, sink);
  line<WORK, LDS128, 4>(out, sink);
  line<WORK, STS, 2>(out, sink);
  line<WORK, STS, 1>(out, sink);
  line<WORK, STS128, 4>(out, sink);
  line<WORK, STS128, 2>(out, sink);
  line<WORK, IADD, 2>(out, sink);
  line<WORK, IADD, 1>(out, sink);
}

// ---- bursts -------------------------------------------------------------------------------------

enum Burst { B_LDS, B_STS, B_STS64, B_STS128, B_COPY };
static const char *const bursts[] = {"lds", "sts", "sts64", "sts128", "ldgsts"};

template <Burst OF, int N>
__global__ void burst(char *from, unsigned *out) {
  const unsigned lane = threadIdx.x, base = (unsigned)__cvta_generic_to_shared(tile),
                 at = base + lane * (OF == B_LDS || OF == B_STS ? 4 : OF == B_STS64 ? 8 : 16);
  unsigned x[N];
  long long begin = 0, end = 0;
#pragma unroll 1
  for (int warm = 0; warm < 4; warm++) {
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(begin)::"memory");
#pragma unroll
    for (int i = 0; i < N; i++) {
      if (OF == B_LDS)
        asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x[i]) : "r"(at + i * 16) : "memory");
      if (OF == B_STS)
        asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(at + i * 16), "r"(lane) : "memory");
      if (OF == B_STS64)
        asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %1};" ::"r"(at + i * 16), "r"(lane)
                     : "memory");
      if (OF == B_STS128)
        asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at + i * 16),
                     "r"(lane)
                     : "memory");
      if (OF == B_COPY)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at),
                     "l"(from + lane * 16 + i * 512)
                     : "memory");
    }
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(end)::"memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
  }
  if (lane == 0) out[0] = (unsigned)(end - begin);
}

template <Burst OF>
static void from_one_to_next(char *from, unsigned *out) {
  unsigned clocks[2];
  burst<OF, 28><<<1, 32, 16384>>>(from, out);
  if (cudaMemcpy(&clocks[0], out, 4, cudaMemcpyDeviceToHost) != cudaSuccess) std::exit(1);
  burst<OF, 36><<<1, 32, 16384>>>(from, out);
  if (cudaMemcpy(&clocks[1], out, 4, cudaMemcpyDeviceToHost) != cudaSuccess) std::exit(1);
  std::printf("%-7s %u %u: %.2f\n", bursts[OF], clocks[0], clocks[1], (clocks[1] - clocks[0]) / 8.);
}

int main() {
  enum { BYTES = 65536 };
  unsigned *out, *sink;
  if (cudaMalloc(&out, BYTES) != cudaSuccess || cudaMalloc(&sink, BYTES) != cudaSuccess) return 1;
  cudaMemset(sink, 0, BYTES);
  lines<PRODUCTS>(out, sink);
  lines<FFMA>(out, sink);
  from_one_to_next<B_LDS>((char *)sink, out);
  from_one_to_next<B_STS>((char *)sink, out);
  from_one_to_next<B_STS64>((char *)sink, out);
  from_one_to_next<B_STS128>((char *)sink, out);
  from_one_to_next<B_COPY>((char *)sink, out);
}
