// Clocks of products of mma.sync that do not hang on each other, by type and shape.
//
//   nvcc -arch=sm_90a -std=c++17 -O3 -o rates lab/clock/rates.cu && ./rates
//
// A round is 16 products with eight sums in turn. NVIDIA H200, driver 580, nvcc 13.0, 2026-11-30:
// clocks of a product for each warp of a scheduler, with one to four of them:
//
//   m16n8k16 f16, f32 sums   7.18 6.02 6.03 6.01     the same with bf16, with f16 sums, m16n8k8 of
//   m16n8k8 f16, f32 sums    4.87 4.02 4.01 4.02     tf32 and m16n8k32 of s8; and with f16 sums,
//   m8n8k4 f64              17.55 16.02 16.02 16.02  m16n8k4 of tf32 and m16n8k16 of s8
#include <cstdio>
#include <cstdlib>

#define FOUR "{%0, %1, %2, %3}"
#define SHAPES(ROW)                                                             \
  ROW(F16, "m16n8k16 f16", "m16n8k16.row.col.f32.f16.f16.f32", full, "+f", d)    \
  ROW(BF16, "m16n8k16 bf16", "m16n8k16.row.col.f32.bf16.bf16.f32", full, "+f", d) \
  ROW(TF32, "m16n8k8 tf32", "m16n8k8.row.col.f32.tf32.tf32.f32", full, "+f", d)  \
  ROW(S8, "m16n8k32 s8", "m16n8k32.row.col.s32.s8.s8.s32", full, "+r", u)        \
  ROW(F16_HALF, "m16n8k8 f16", "m16n8k8.row.col.f32.f16.f16.f32", half, "+f", d) \
  ROW(TF32_HALF, "m16n8k4 tf32", "m16n8k4.row.col.f32.tf32.tf32.f32", half, "+f", d) \
  ROW(S8_HALF, "m16n8k16 s8", "m16n8k16.row.col.s32.s8.s8.s32", half, "+r", u)

enum Shape {
#define ROW(id, name, form, depth, letter, sums) id,
  SHAPES(ROW)
#undef ROW
  F16_SUMS, F16_SUMS_HALF, F64, SHAPE_COUNT
};
static const char *const names[] = {
#define ROW(id, name, form, depth, letter, sums) name,
    SHAPES(ROW)
#undef ROW
    "m16n8k16 f16, f16 sums", "m16n8k8 f16, f16 sums", "m8n8k4 f64"};

#define full(form, letter, c)                                                              \
  asm volatile("mma.sync.aligned." form " " FOUR ", {%4, %5, %6, %7}, {%8, %9}, " FOUR ";" \
               : letter(c[0]), letter(c[1]), letter(c[2]), letter(c[3])                    \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define half(form, letter, c)                                                 \
  asm volatile("mma.sync.aligned." form " " FOUR ", {%4, %5}, {%6}, " FOUR ";" \
               : letter(c[0]), letter(c[1]), letter(c[2]), letter(c[3])       \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]))

template <Shape SHAPE>
__global__ void products(unsigned *out, unsigned *sink, int rounds) {
  float sums[8][4] = {};
  unsigned whole[8][4] = {};
  double wide[8][2] = {};
  unsigned a[4], b[2];
  for (int i = 0; i < 4; i++) a[i] = sink[threadIdx.x + i], b[i % 2] = sink[threadIdx.x + 9 + i];
  const double x = a[0], y = b[0];
  __syncthreads();
  const unsigned begin = clock();
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
#pragma unroll
    for (int i = 0; i < 16; i++) {
      float *d = sums[i % 8];
      unsigned *u = whole[i % 8];
#define ROW(id, name, form, depth, letter, c) \
  if (SHAPE == id) depth(form, letter, c);
      SHAPES(ROW)
#undef ROW
      if (SHAPE == F16_SUMS)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, "
                     "{%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                     : "+r"(u[0]), "+r"(u[1])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
      if (SHAPE == F16_SUMS_HALF)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, "
                     "{%2, %3}, {%4}, {%0, %1};"
                     : "+r"(u[0]), "+r"(u[1])
                     : "r"(a[0]), "r"(a[1]), "r"(b[0]));
      if (SHAPE == F64)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, "
                     "{%0, %1};"
                     : "+d"(wide[i % 8][0]), "+d"(wide[i % 8][1])
                     : "d"(x), "d"(y));
    }
  }
  const unsigned end = clock();
  float all = 0;
  for (int i = 0; i < 8; i++) {
    for (int k = 0; k < 4; k++) all += sums[i][k] + whole[i][k];
    all += wide[i][0] + wide[i][1];
  }
  if (rounds < 0) sink[threadIdx.x] = (unsigned)all;
  if (threadIdx.x == 0) out[0] = end - begin;
}

template <int SHAPE = 0>
static void lines(unsigned *out, unsigned *sink) {
  if constexpr (SHAPE < SHAPE_COUNT) {
    enum { ROUNDS = 300 };
    std::printf("%-24s", names[SHAPE]);
    for (int warps = 1; warps <= 4; warps++) {
      unsigned clocks = 0;
      for (int warm = 0; warm < 2; warm++)
        products<(Shape)SHAPE><<<1, warps * 128>>>(out, sink, ROUNDS);
      if (cudaMemcpy(&clocks, out, sizeof clocks, cudaMemcpyDeviceToHost) != cudaSuccess)
        std::exit(1);
      std::printf(" %5.2f", (double)clocks / ROUNDS / 16 / warps);
    }
    std::printf("\n");
    lines<SHAPE + 1>(out, sink);
  }
}

int main() {
  enum { BYTES = 65536 };
  unsigned *out, *sink;
  if (cudaMalloc(&out, BYTES) != cudaSuccess || cudaMalloc(&sink, BYTES) != cudaSuccess) return 1;
  cudaMemset(sink, 0, BYTES);
  lines(out, sink);
}
