// How many loads of shared memory a scheduler issues before one has to wait for the queue.
//
//   nvcc -arch=sm_90a -o queue lab/clock/queue.cu && ./queue
//
// 4 to 16 warps of one block, one to four of each scheduler, issue n loads that follow one another
// and read the clock behind the last. A line has the load, the lanes of a row that ask for one bank,
// the warps, and for each n the clocks until the first and the last warp has issued its loads. NVIDIA
// H200, driver 580, 2026-11-30, lds32 with all lanes in one bank, 32 wavefronts a load, 128 clocks
// for the four schedulers:
//
//   4 warps   n 15: 58 58   16: 62 151   18: 280 407   one warp a scheduler: 14 wait, and one that
//   8 warps   n  7: 26 26    8: 30 149    9: 152 405   left for the pipe after 21 clocks; the next
//   16 warps  n  3: 11 13    4: 15 143    5: 19 655    waits until the second has left
#include <algorithm>
#include <cstdio>
#include <cstdlib>

extern __shared__ unsigned tile[];

enum Load { LDSM4, LDSM1, LDS32, LDS128 };
static const char *const names[] = {"ldsm4", "ldsm1", "lds32", "lds128"};

// Not to be moved to the other side of a load.
__device__ static long long clock_here() {
  long long now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
  return now;
}

template <int N, Load LOAD>
__global__ void burst(unsigned *out, int row_bytes) {
  unsigned x[N][4];
  const unsigned base = (unsigned)__cvta_generic_to_shared(tile), lane = threadIdx.x % 32;
  const bool by_rows = LOAD == LDSM4 || LOAD == LDSM1;
  const unsigned at = base + (by_rows ? lane % 8 * row_bytes + lane / 8 * 16 : lane * row_bytes);
  long long begin, end;
#pragma unroll 1
  for (int warm = 0; warm < 3; warm++) {
    __syncthreads();
    begin = clock_here();
#pragma unroll
    for (int i = 0; i < N; i++) {
      const unsigned from = at + 512 * i;
      unsigned *to = x[i];
      if (LOAD == LDSM4)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(from)
                     : "memory");
      if (LOAD == LDSM1)
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                     : "=r"(to[0])
                     : "r"(from)
                     : "memory");
      if (LOAD == LDS32)
        asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(to[0]) : "r"(from) : "memory");
      if (LOAD == LDS128)
        asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(from)
                     : "memory");
    }
    end = clock_here();
    unsigned sum = 0;
#pragma unroll
    for (int i = 0; i < N; i++) sum += x[i][0] + (LOAD == LDSM4 || LOAD == LDS128 ? x[i][1] + x[i][2] + x[i][3] : 0);
    if (sum == 0x12345679u) out[threadIdx.x] = sum;
  }
  if (lane == 0) out[threadIdx.x / 32] = (unsigned)(end - begin);
}

template <int N, Load LOAD>
static void run(unsigned *out, int row_bytes, int warps) {
  enum { SMEM = 49152, WARPS_MAX = 16 };
  unsigned clocks[WARPS_MAX];
  burst<N, LOAD><<<1, warps * 32, SMEM>>>(out, row_bytes);
  if (cudaMemcpy(clocks, out, warps * sizeof *clocks, cudaMemcpyDeviceToHost) != cudaSuccess)
    std::exit(1);
  std::printf("  %d: %u %u", N, *std::min_element(clocks, clocks + warps),
              *std::max_element(clocks, clocks + warps));
}

template <Load LOAD, int... N>
static void line(unsigned *out, int row_bytes, int warps) {
  std::printf("%-6s row %3d warps %2d:", names[LOAD], row_bytes, warps);
  (run<N, LOAD>(out, row_bytes, warps), ...);
  std::printf("\n");
}

int main() {
  unsigned *out;
  if (cudaMalloc(&out, 4096) != cudaSuccess) return 1;
  for (int row_bytes : {16, 64, 128})
    for (int warps : {1, 4, 8, 16}) {
      line<LDSM4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 20, 24>(out, row_bytes, warps);
      line<LDSM1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 18, 20, 24>(out, row_bytes, warps);
      line<LDS32, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 18, 20, 24>(out, row_bytes, warps);
      line<LDS128, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 18, 20, 24>(out, row_bytes, warps);
    }
}
