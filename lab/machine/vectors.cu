// What instructions do, by example: a kernel for each form, 1,024 vectors of operands each.
//
//   nvcc -O1 -std=c++17 -gencode arch=compute_90a,code=sm_90a -o vectors vectors.cu
//   ./vectors FOLDER      on a GPU: FOLDER/vectors.in, .out and .list, and the errors of approximations
//
// Operands are random bits, small numbers, floats near one, and the edges that all rounding and
// saturation turns on; four words a vector, the same for all forms. The results of an H200 are in
// tests/data/machine; suite machine_vectors runs the same kernels from PTX and from machine code.
//
// An approximation is also tried with all 2^32 operands beside the rounded value of a function in
// f64: the largest distance in units in the last place is the bound that the suite asks for.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

enum { VECTORS = 1024, WORDS = 4 };

// ---- forms --------------------------------------------------------------------------------------
//
// ONE: a result of 32 bits, TWO: of 64. %0 (and %1) are written; the operands are the next four.
// D1, D2: the same with operands A and B of 64 bits.

#define OPERANDS "r"(in[4 * t]), "r"(in[4 * t + 1]), "r"(in[4 * t + 2]), "r"(in[4 * t + 3])
#define REGISTERS "{ .reg .pred p, q; .reg .b16 h, k; .reg .b32 u, v; .reg .b64 A, B, D; "
#define FORM_1(name, before, text)                                        \
  extern "C" __global__ void name(const uint32_t *in, uint32_t *out) {    \
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;             \
    uint32_t x;                                                           \
    asm volatile(REGISTERS before text " }" : "=r"(x) : OPERANDS);        \
    out[t] = x;                                                           \
  }
#define FORM_2(name, before, text, behind)                                \
  extern "C" __global__ void name(const uint32_t *in, uint32_t *out) {    \
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;             \
    uint32_t x, y;                                                        \
    asm volatile(REGISTERS before text behind " }" : "=r"(x), "=r"(y) : OPERANDS); \
    out[2 * t] = x;                                                       \
    out[2 * t + 1] = y;                                                   \
  }
#define ONE(name, text) FORM_1(name, "", text)
#define TWO(name, text) FORM_2(name, "", text, "")
#define D1(name, text) FORM_1(name, "mov.b64 A, {%1, %2}; mov.b64 B, {%3, %4}; ", text)
#define D2(name, text) \
  FORM_2(name, "mov.b64 A, {%2, %3}; mov.b64 B, {%4, %5}; ", text, " mov.b64 {%0, %1}, D;")

#define BIT " selp.b32 %0, 1, 0, p;"
#include "../../tests/data/machine/vectors.def"

#undef ONE
#undef TWO
#undef D1
#undef D2

typedef void (*Kernel)(const uint32_t *, uint32_t *);
struct Form {
  const char *name;
  int words;
  Kernel kernel;
};
#define ONE(name, text) {#name, 1, name},
#define TWO(name, text) {#name, 2, name},
#define D1(name, text) {#name, 1, name},
#define D2(name, text) {#name, 2, name},
static const Form forms[] = {
#include "../../tests/data/machine/vectors.def"
};

// ---- products of the tensor cores ---------------------------------------------------------------
//
// A warp a product; operands of at most 2, c of at most 4. Of wide ones the exponents differ by up
// to the type's whole range.

#define MMA(name, text, keep, set)                                                          \
  extern "C" __global__ void name(const uint32_t *in, uint32_t *out) {                      \
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;                               \
    uint32_t a[4], b[2], c[4], x[4];                                                        \
    for (int i = 0; i < 4; ++i) a[i] = (in[4 * t + i] & keep) | set;                        \
    for (int i = 0; i < 2; ++i) b[i] = (in[4 * (t ^ 5) + i] & keep) | set;                  \
    for (int i = 0; i < 4; ++i) c[i] = (in[4 * (t ^ 9) + i] & 0x80ffffff) | 0x3f000000;     \
    asm volatile(text : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])                      \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),        \
                   "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));                             \
    for (int i = 0; i < 4; ++i) out[4 * t + i] = x[i];                                      \
  }
// Sums in f16: two registers.
#define MMA2(name, text, keep, set)                                                         \
  extern "C" __global__ void name(const uint32_t *in, uint32_t *out) {                      \
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;                               \
    uint32_t a[4], b[2], c[2], x[2];                                                        \
    for (int i = 0; i < 4; ++i) a[i] = (in[4 * t + i] & keep) | set;                        \
    for (int i = 0; i < 2; ++i) b[i] = (in[4 * (t ^ 5) + i] & keep) | set;                  \
    for (int i = 0; i < 2; ++i) c[i] = (in[4 * (t ^ 9) + i] & 0x87ff87ff) | 0x38003800;     \
    asm volatile(text : "=r"(x[0]), "=r"(x[1])                                              \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),        \
                   "r"(c[0]), "r"(c[1]));                                                   \
    for (int i = 0; i < 2; ++i) out[2 * t + i] = x[i];                                      \
  }
// A warpgroup a product: 64 rows of A and 8 of B, 32 bytes each, in core matrices of 8 rows of 16
// bytes behind each other: two for the first 8 rows, then two for the next. `times` such products
// are added.
#define WGMMA_KERNEL(name, text, keep, set, words, c_keep, c_set, times, ...)               \
  extern "C" __global__ void __launch_bounds__(128) name(const uint32_t *in, uint32_t *out) { \
    __shared__ __align__(128) uint32_t s[512 + 64];                                         \
    const unsigned t = threadIdx.x, g = blockIdx.x * 128 + t, base = blockIdx.x * 512;      \
    for (unsigned i = 0; i < 5; ++i) {                                                      \
      const unsigned at = t + 128 * i, row = at / 8, word = at % 8;                         \
      if (at < 512 + 64)                                                                    \
        s[row / 8 * 64 + word / 4 * 32 + row % 8 * 4 + word % 4] =                          \
            (in[(base + at * 7) & 4095] & keep) | set;                                      \
    }                                                                                       \
    uint32_t c[words];                                                                      \
    for (int i = 0; i < words; ++i) c[i] = (in[4 * (g ^ 9) + i] & c_keep) | c_set;          \
    const unsigned from = (unsigned)__cvta_generic_to_shared(s);                            \
    const uint64_t fixed = (uint64_t)(128 / 16) << 16 | (uint64_t)(256 / 16) << 32;         \
    const uint64_t A = fixed | from / 16, B = fixed | (from + 2048) / 16;                   \
    asm volatile("fence.proxy.async;" ::: "memory");                                        \
    __syncthreads();                                                                        \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                 \
    for (int n = 0; n < times; ++n) asm volatile(text : __VA_ARGS__ : "l"(A), "l"(B));      \
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory"); \
    for (int i = 0; i < words; ++i) out[words * g + i] = c[i];                              \
  }
#define WGMMA(name, shape, tail, keep, set, times)                                           \
  WGMMA_KERNEL(name, "wgmma.mma_async.sync.aligned." shape " {%0, %1, %2, %3}, %4, %5, 1, 1, 1" tail ";", keep, set, 4, \
               0x80ffffff, 0x3f000000, times, "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]))
#define WGMMA2(name, shape, tail, keep, set, times)                                          \
  WGMMA_KERNEL(name, "wgmma.mma_async.sync.aligned." shape " {%0, %1}, %2, %3, 1, 1, 1" tail ";", keep, set, 2, \
               0x87ff87ff, 0x38003800, times, "+r"(c[0]), "+r"(c[1]))
#define MMA_TEXT(shape, types) \
  "mma.sync.aligned." shape ".row.col." types " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
#define MMA_TEXT2(shape, types) \
  "mma.sync.aligned." shape ".row.col." types " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
#include "../../tests/data/machine/vectors_mma.def"
#undef MMA
#undef MMA2
#undef WGMMA
#undef WGMMA2
#define MMA(name, ...) {#name, 4, name},
#define MMA2(name, ...) {#name, 2, name},
#define WGMMA(name, ...) {#name, 4, name},
#define WGMMA2(name, ...) {#name, 2, name},
static const Form products[] = {
#include "../../tests/data/machine/vectors_mma.def"
};

// ---- approximations, by all operands ------------------------------------------------------------

enum Function { EX2, LG2, RCP, RSQRT, SQRT, SIN, COS, TANH, FUNCTIONS };
static const char *const function_names[] = {"ex2", "lg2", "rcp", "rsqrt", "sqrt", "sin", "cos", "tanh"};

__device__ float approximate(int which, float x) {
  float y = 0;
  if (which == EX2) asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if (which == LG2) asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if (which == RCP) asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if (which == RSQRT) asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if (which == SQRT) asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if (which == SIN) asm("sin.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if (which == COS) asm("cos.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if (which == TANH) asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ double exactly(int which, double x) {
  switch (which) {
    case EX2: return exp2(x);
    case LG2: return log2(x);
    case RCP: return 1 / x;
    case RSQRT: return 1 / sqrt(x);
    case SQRT: return sqrt(x);
    case SIN: return sin(x);
    case COS: return cos(x);
    default: return tanh(x);
  }
}

// Places of numbers in their order: neighbours differ by one, -0 and 0 are the same.
__device__ long long place_of(float x) {
  const int bits = __float_as_int(x);
  return bits < 0 ? -(long long)(bits & 0x7fffffff) : bits;
}

struct Worst {
  unsigned long long ulp, at_ulp, not_equal, classes;
  unsigned long long absolute;  // of results of at most 1, times 2^40
};

// Of sine and cosine operands up to pi count. Units in the last place of a logarithm count where it
// is 1 or more. Results that are subnormal count as zero, as ftz makes them.
__global__ void sweep(int which, Worst *worst) {
  const unsigned long long n = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i >> 32 == 0; i += n) {
    const float x = __uint_as_float((unsigned)i);
    const bool turns = which == SIN || which == COS;
    if (turns && !(fabsf(x) <= 3.1415927f)) continue;
    const bool flush = which != TANH && fabsf(x) < 1.17549435e-38f;
    const float y = approximate(which, x);
    float z = (float)exactly(which, flush ? copysignf(0, x) : x);
    if (which != TANH && fabsf(z) < 1.17549435e-38f) z = copysignf(0, z);
    if (isnan(y) || isnan(z) || isinf(y) || isinf(z)) {
      if (isnan(y) != isnan(z) || (!isnan(y) && y != z)) atomicAdd(&worst->classes, 1ull);
      continue;
    }
    if (fabsf(z) <= 1) atomicMax(&worst->absolute, (unsigned long long)(fabs((double)y - (double)z) * 0x1p40));
    if (which == LG2 && fabsf(z) < 1) continue;
    const long long apart = llabs(place_of(y) - place_of(z));
    if (apart) atomicAdd(&worst->not_equal, 1ull);
    atomicMax(&worst->ulp, (unsigned long long)apart);
  }
}

// ---- operands -----------------------------------------------------------------------------------

static const uint32_t edges[] = {
    0, 1, 2, 3, 7, 8, 15, 16, 23, 24, 30, 31, 32, 33, 63, 64, 127, 128, 255, 256, 0x7fff, 0x8000, 0xffff, 0x10000,
    0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe,
    0x00800000, 0x007fffff, 0x80800000, 0x807fffff,              // the least normal number, the largest subnormal
    0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff,              // about one
    0x3f000000, 0x3fc00000, 0x40200000, 0xbf000000, 0xc0200000,  // halves: ties
    0x4b000000, 0x4affffff, 0x4b800000, 0xcb000001,              // about 2^23
    0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001, 0x4f7fffff, 0x4f800000,  // about 2^31 and 2^32
    0x5effffff, 0x5f000000, 0xdf000000, 0x5f800000,              // about 2^63 and 2^64
    0x477fe000, 0x477ff000, 0x47800000, 0x33000000, 0x33000001, 0x387fc000,  // the edges of f16
    0x43e00000, 0x43e80000, 0x43f00000, 0x47600000, 0x3b800000, 0x3a800000,  // of e4m3 and e5m2
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0x7fffffff,
    0x7c007bff, 0xfc00fbff, 0x7e007c01, 0x04000001, 0x80010400, 0x3c003bff, 0x7f807f7f, 0xff803f80,  // halves
    0x41dfffff, 0x41e00000, 0xc1e00000, 0x41efffff, 0x41f00000, 0x43dfffff, 0x43e00000, 0x43efffff,  // upper halves of f64
    0x3ff00000, 0xbff00000, 0x3fe00000, 0x7ff00000, 0x7ff80000, 0x000fffff, 0x00100000, 0x36a00000, 0x380fffff};

static uint64_t state = 20261129;
static uint32_t draw() {  // splitmix64
  uint64_t z = state += 0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return (uint32_t)((z ^ z >> 31) >> 16);
}

static uint32_t operand() {
  const uint32_t bits = draw();
  switch (draw() % 8) {
    case 0: case 1: case 2: return edges[draw() % (sizeof edges / sizeof *edges)];
    case 3: return bits & 63;
    case 4: return (bits & 0x807fffff) | (127 - 12 + draw() % 24) << 23;  // a float near one
    case 5: return (bits & 0x83ff83ff) | (10 + draw() % 10) << 10 | (10 + draw() % 10) << 26;  // halves near one
    default: return bits;
  }
}

static void check(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

static void write(const std::string &path, const std::vector<uint32_t> &words) {
  FILE *file = std::fopen(path.c_str(), "wb");
  if (!file || std::fwrite(words.data(), 4, words.size(), file) != words.size()) std::exit(1);
  std::fclose(file);
}

int main(int argc, char **argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  std::vector<uint32_t> in(VECTORS * WORDS), out;
  for (uint32_t &word : in) word = operand();
  uint32_t *d_in, *d_out;
  check(cudaMalloc(&d_in, in.size() * 4), "memory");
  check(cudaMalloc(&d_out, VECTORS * 16), "memory");
  check(cudaMemcpy(d_in, in.data(), in.size() * 4, cudaMemcpyHostToDevice), "copy");
  FILE *list = std::fopen((folder + "/vectors.list").c_str(), "w");
  for (int product = 0; product < 2; ++product) {
    const Form *table = product ? products : forms;
    const size_t n = product ? sizeof products / sizeof *products : sizeof forms / sizeof *forms;
    for (size_t i = 0; i < n; ++i) {
      check(cudaMemset(d_out, 0xee, VECTORS * 16), "memory");
      const int threads = product ? 128 : VECTORS;
      table[i].kernel<<<VECTORS / threads, threads>>>(d_in, d_out);
      check(cudaDeviceSynchronize(), table[i].name);
      const size_t begin = out.size();
      out.resize(begin + (size_t)VECTORS * table[i].words);
      check(cudaMemcpy(&out[begin], d_out, (size_t)VECTORS * table[i].words * 4, cudaMemcpyDeviceToHost), "copy");
      std::fprintf(list, "%s %d\n", table[i].name, table[i].words);
    }
  }
  std::fclose(list);
  write(folder + "/vectors.in", in);
  write(folder + "/vectors.out", out);
  Worst *worst;
  check(cudaMalloc(&worst, sizeof *worst), "memory");
  for (int which = 0; which < FUNCTIONS; ++which) {
    check(cudaMemset(worst, 0, sizeof *worst), "memory");
    sweep<<<132 * 8, 256>>>(which, worst);
    Worst w;
    check(cudaMemcpy(&w, worst, sizeof w, cudaMemcpyDeviceToHost), function_names[which]);
    std::printf("%-6s at most %llu ulp, %.3g absolute where at most 1; %llu of 2^32 not as rounded, %llu differ in NaN or infinity\n",
                function_names[which], w.ulp, (double)w.absolute / 0x1p40, w.not_equal, w.classes);
  }
  return 0;
}
