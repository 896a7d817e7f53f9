// The clocks that the shared pipe needs to take in cp.async of 16 bytes beside loads.
//
//   nvcc -arch=sm_90a -std=c++17 -O3 -o entries lab/clock/entries.cu && ./entries
//
// A warp's round is some LDS, copies of 512 bytes at equal distances and one LDGDEPBAR, and 32
// products of m16n8k8 tf32 or none; copies of two rounds are under way. In front of each copy
// behind a load of shared memory ptxas puts three LDS that no lane carries out; the last column has
// NOP in their place (an edit as lab/clock/edited.py makes them). NVIDIA H200, driver 580, nvcc
// 13.0, 2026-12-01, one block, clocks of a scheduler for a round of each of its warps:
//
//                          4 warps of the block      8      16   16 with NOP
//   64 LDS, no copies           275.2           256.5   256.1   256.1
//   ... one                     283.1           287.6   288.2   272.2
//   ... two                     306.3           309.7   311.4   279.9
//   ... four                    381.0           353.2   354.9   295.6
//   products, no LDS            212.7           194.2   198.7   198.6
//   ... four copies             296.0           216.3   214.8   217.6
//   ... 16 LDS                  226.7           209.1   209.3   209.2
//   ... 16 LDS, two copies      270.1           227.1   225.3   221.2
//   ... 16 LDS, four            295.9           252.7   260.9   244.5
//   ... 32 LDS                  252.7           229.7   232.6   232.6
//   ... 32 LDS, one copy        267.8           251.0   250.9   245.3
//   ... 32 LDS, two             292.2           276.8   275.7   263.1
//   ... 32 LDS, four            344.5           316.7   317.4   292.0
//
// So a copy takes the pipe for two clocks, LDGDEPBAR for two more, a load that no lane carries out
// for 1.3. Beside LDSM, which has four wavefronts, they take next to nothing (lab/clock/copies.cu).
// Products hold a copy up, and the pipe with it: with 32 LDS a copy costs each scheduler 15 clocks,
// and 21 with the loads in front of it.
#include <cstdio>
#include <cstdlib>

enum { STEPS = 32, ROUNDS = 400, WARPS = 16, WARP_BYTES = 8192, SLOTS = 4 * STEPS };
extern __shared__ char tile[];

// Whether one of `n` that lie at equal distances in SLOTS places lies in this one.
__device__ constexpr bool is_due(int slot, int n) { return slot * n / SLOTS != (slot + 1) * n / SLOTS; }

template <bool PRODUCTS, int LOADS, int COPIES>
__global__ void __launch_bounds__(32 * WARPS) round_of(char *from, unsigned *out, unsigned *sink) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned base = (unsigned)__cvta_generic_to_shared(tile) + warp * WARP_BYTES;
  const unsigned to = base + lane * 16, load_at = base + WARP_BYTES / 2 + lane * 4;
  const char *source = from + (size_t)warp * 65536 + lane * 16;
  unsigned a[2][4], b[4][2], y[16] = {}, sum = 0;
  float d[8][4] = {};
  for (int i = 0; i < 8; i++) {
    a[i / 4][i % 4] = sink[threadIdx.x + i];
    b[i / 2][i % 2] = sink[threadIdx.x + 9 + i];
  }
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int r = 0; r < ROUNDS; r++) {
#pragma unroll
    for (int i = 0; i < STEPS; i++) {
      float *c = d[i % 8];
      const unsigned *A = a[i / 8 % 2], *B = b[i % 4];
      if (PRODUCTS)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
                     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
#pragma unroll
      for (int slot = 4 * i; slot < 4 * i + 4; slot++) {
        if (is_due(slot, LOADS))
          asm volatile("ld.volatile.shared.u32 %0, [%1];"
                       : "=r"(y[slot * LOADS / SLOTS % 16])
                       : "r"(load_at + i * 128));
        if (is_due(slot, COPIES))
          asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
                       "l"(source + r % 8 * 8192 + i * 512));
      }
    }
    if (COPIES) {
      asm volatile("cp.async.commit_group;");
      asm volatile("cp.async.wait_group 2;" ::: "memory");
    }
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  const long long end = clock64();
  for (int i = 0; i < 16; i++) sum += y[i];
  for (int i = 0; i < 8; i++) sum += __float_as_uint(d[i][0] + d[i][1] + d[i][2] + d[i][3]);
  if (threadIdx.x == 0) out[0] = (unsigned)(end - begin);
  if (sum == 12345u) sink[0] = sum;
}

static char *from;
static unsigned *out, *sink;

template <bool PRODUCTS, int LOADS, int COPIES> static void line() {
  cudaFuncSetAttribute(round_of<PRODUCTS, LOADS, COPIES>,
                       cudaFuncAttributeMaxDynamicSharedMemorySize, WARPS * WARP_BYTES);
  std::printf("%s, %3d LDS, %d copies:", PRODUCTS ? "products" : "no products", LOADS, COPIES);
  for (int warps = 4; warps <= WARPS; warps *= 2) {
    unsigned clocks = 0;
    for (int warm = 0; warm < 3; warm++)
      round_of<PRODUCTS, LOADS, COPIES>
          <<<1, 32 * warps, WARPS * WARP_BYTES>>>(from, out, sink);
    if (cudaMemcpy(&clocks, out, sizeof clocks, cudaMemcpyDeviceToHost) != cudaSuccess)
      std::exit(1);
    std::printf(" %7.1f", (double)clocks / ROUNDS / (warps / 4));
  }
  std::printf("\n");
}

template <bool PRODUCTS, int LOADS> static void lines() {
  line<PRODUCTS, LOADS, 0>();
  line<PRODUCTS, LOADS, 1>();
  line<PRODUCTS, LOADS, 2>();
  line<PRODUCTS, LOADS, 4>();
}

int main() {
  enum { FROM_BYTES = 1 << 24, BYTES = 8192 };
  if (cudaMalloc(&from, FROM_BYTES) != cudaSuccess || cudaMalloc(&out, BYTES) != cudaSuccess ||
      cudaMalloc(&sink, BYTES) != cudaSuccess)
    return 1;
  cudaMemset(from, 0, FROM_BYTES);
  cudaMemset(sink, 0, BYTES);
  lines<false, 64>();
  lines<true, 0>();
  lines<true, 16>();
  lines<true, 32>();
}
