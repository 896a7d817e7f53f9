// Kernels in many styles, each of which checks what it computed and traps where it is wrong.
// checked.ptx is nvcc -ptx -std=c++17 -arch=sm_90a of this.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cuda/barrier>
namespace cg = cooperative_groups;
#define CHECK(c)                     \
  do {                               \
    if (!(c)) asm volatile("trap;"); \
  } while (0)
#define K extern "C" __global__ void
// 1 nested divergence, early exit
K nested(int *o, int n) {
  int t = threadIdx.x, v = 0;
  if (t >= n) return;
  for (int i = 0; i < t; i++) {
    if (i & 1) {
      if (i % 3 == 0) continue;
      v += i;
    } else {
      if (i == 20) break;
      v -= 1;
    }
  }
  int w = 0;
  for (int i = 0; i < t && i < 20; i++) w += (i & 1) ? (i % 3 == 0 ? 0 : i) : -1;
  for (int i = 20; i < t; i++) {
    break;
  }
  CHECK(v == w);
  o[t] = v;
}
// 2 shfl_down reductions + block
K shfl(float *o) {
  __shared__ float part[8];
  int t = threadIdx.x;
  float v = (float)t;
  for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
  if (t % 32 == 0) part[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    v = t < blockDim.x / 32 ? part[t] : 0;
    for (int d = 4; d; d >>= 1) v += __shfl_down_sync(~0u, v, d, 8);
    if (t == 0) {
      CHECK(v == blockDim.x * (blockDim.x - 1) / 2);
      o[0] = v;
    }
  }
}
// 3 dynamic smem carved into structs
struct A {
  double d[16];
  short s[33];
  char c;
};
struct B {
  int i[64];
  A a;
};
K carve(int *o) {
  extern __shared__ __align__(16) char raw[];
  B *b = (B *)raw;
  A *a = (A *)(raw + sizeof(B));
  int t = threadIdx.x;
  if (t < 16) {
    b->a.d[t] = t * 0.5;
    a->d[t] = -t;
  }
  if (t < 33) a->s[t] = (short)(t * 1000);
  b->i[t % 64] = 0;
  __syncthreads();
  atomicAdd(&b->i[t % 64], t);
  __syncthreads();
  CHECK(b->a.d[t % 16] + a->d[t % 16] == -(t % 16) * 0.5);
  CHECK(a->s[t % 33] == (short)(t % 33 * 1000));
  CHECK(b->i[t % 64] == 2 * (t % 64) + 64);
  o[t] = b->i[t % 64];
}
// 4 union punning
K uni(int *o) {
  __shared__ union {
    float f[64];
    unsigned u[64];
    unsigned char c[256];
    double d[32];
  } s;
  int t = threadIdx.x;
  s.f[t] = t + 0.25f;
  __syncthreads();
  unsigned u =
      s.c[t * 4] | s.c[t * 4 + 1] << 8 | s.c[t * 4 + 2] << 16 | (unsigned)s.c[t * 4 + 3] << 24;
  CHECK(u == s.u[t] && __uint_as_float(u) == t + 0.25f);
  __syncthreads();
  if (t < 32) s.d[t] = 1.0 / (t + 1);
  __syncthreads();
  CHECK(s.d[t % 32] == 1.0 / (t % 32 + 1));
  o[t] = u;
}
// 5 cooperative groups, coalesced groups, labeled partitions
K coop(int *o) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  int t = block.thread_rank();
  int v = tile.shfl_xor(t, 3);
  CHECK(v == (t ^ 3));
  if (t % 3 == 0) {
    auto g = cg::coalesced_threads();
    int r = g.thread_rank();
    int base = t / 32 * 32, c = 0;
    for (int i = base; i < t; i++) c += i % 3 == 0;
    CHECK(r == c);
    int s = 0;
    for (int d = 0; d < g.size(); d++) s += g.shfl(t, d);
    int w = 0;
    for (int i = base; i < base + 32; i++) w += i % 3 == 0 ? i : 0;
    CHECK(s == w);
  }
  block.sync();
  CHECK(tile.any(t % 8 == 3));
  CHECK(__popc(tile.ballot(t & 1)) == 4);
  o[t] = v;
}
// 6 templates, recursion in templates
template <int N>
__device__ int fib() {
  if constexpr (N < 2)
    return N;
  else
    return fib<N - 1>() + fib<N - 2>();
}
template <typename T, int P>
struct Pad {
  T v[16][16 + P];
  __device__ T &at(int r, int c) { return v[r][c]; }
};
K tmpl(int *o) {
  __shared__ Pad<short, 1> p;
  int t = threadIdx.x, r = t / 16, c = t % 16;
  p.at(r, c) = (short)(r * 100 + c);
  __syncthreads();
  CHECK(p.at(c, r) == c * 100 + r);
  o[t] = fib<15>();
  CHECK(o[t] == 610);
}
// 7 volatile warp-synchronous
K vol(int *o) {
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncwarp();
  for (int d = 16; d; d >>= 1) {
    int v = t % 32 < d ? s[t + d] : 0;
    __syncwarp();
    if (t % 32 < d) s[t] += v;
    __syncwarp();
  }
  if (t % 32 == 0) CHECK(s[t] == (t / 32 ? 1520 : 496));
  o[t] = s[t];
}
// 8 launch bounds, local arrays with dynamic index
K __launch_bounds__(64, 2) local(int *o, int n) {
  int a[37];
  int t = threadIdx.x;
  for (int i = 0; i < 37; i++) a[i] = i * t;
  for (int i = 0; i < n; i++) {
    int j = (i * 7 + t) % 37, k = (i * 11) % 37, x = a[j];
    a[j] = a[k];
    a[k] = x;
  }
  int s = 0;
  for (int i = 0; i < 37; i++) s += a[i];
  CHECK(s == t * 666);
  o[t] = s;
}
// 9 function pointers
typedef int (*Fn)(int, int);
__device__ __noinline__ int add2(int a, int b) { return a + b; }
__device__ __noinline__ int mul2(int a, int b) { return a * b; }
__device__ __noinline__ int sub2(int a, int b) { return a - b; }
__device__ Fn table[3] = {add2, mul2, sub2};
K fptr(int *o) {
  int t = threadIdx.x;
  int v = table[t % 3](t, 5);
  int w = t % 3 == 0 ? t + 5 : t % 3 == 1 ? t * 5 : t - 5;
  CHECK(v == w);
  o[t] = v;
}
// 11 mbarrier by cuda::barrier
K mbar(int *o) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 0) init(&b, 64);
  __syncthreads();
  for (int i = 0; i < 5; i++) {
    s[t] = t + i;
    b.arrive_and_wait();
    CHECK(s[63 - t] == 63 - t + i);
    b.arrive_and_wait();
  }
  o[t] = s[t];
}
// 12 inline asm
K iasm(unsigned *o) {
  unsigned t = threadIdx.x, a, b, c;
  asm("{ .reg .pred p; .reg .u32 x; setp.gt.u32 p, %1, 31; selp.u32 x, 7, 9, p; @p add.u32 x, x, "
      "%1; mov.u32 %0, x; }"
      : "=r"(a)
      : "r"(t));
  CHECK(a == (t > 31 ? 7 + t : 9));
  asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(b) : "r"(t), "r"(t << 4));
  CHECK(b == (t & 0xffff | t << 20));
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(c) : "r"(t), "r"(t * 3), "r"(t * 5));
  CHECK(c == (t ^ t * 3 ^ t * 5));
  asm("bfe.u32 %0, %1, 3, 5;" : "=r"(c) : "r"(t * 77));
  CHECK(c == (t * 77 >> 3 & 31));
  asm("bfi.b32 %0, %1, %2, 8, 4;" : "=r"(c) : "r"(t), "r"(0xffffffffu));
  CHECK(c == ((0xffffffffu & ~0xf00u) | (t & 15) << 8));
  asm("shf.l.wrap.b32 %0, %1, %2, 5;" : "=r"(c) : "r"(t << 28), "r"(t));
  CHECK(c == (t << 5 | (t << 28) >> 27));
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(c) : "r"(0x01ff0203u), "r"(0x02020202u), "r"(t));
  CHECK(c == t + 2 - 2 + 4 + 6);
  o[t] = a;
}
// 13 bf16x2, half2
K bf(unsigned *o) {
  int t = threadIdx.x;
  __nv_bfloat162 x = __floats2bfloat162_rn(t * 0.5f, -t), y = __float2bfloat162_rn(2.f);
  auto z = __hfma2(x, y, x);
  CHECK(__low2float(z) == __bfloat162float(__float2bfloat16(t * 1.5f)) &&
        __high2float(z) == -__bfloat162float(__float2bfloat16(t * 3.f)));
  __half2 h = __floats2half2_rn(t, t * 0.125f);
  h = __hmul2(h, h);
  CHECK(__low2float(h) == __half2float(__float2half((float)(t * t))));
  h = __hmax2(h, __float2half2_rn(16.f));
  CHECK(__high2float(h) >= 16.f);
  CHECK(__hlt(__float2half(1.f), __float2half(2.f)));
  o[t] = *(unsigned *)&z;
}
// 14 switch by jump table, loops with different trip counts and syncwarp by ballot
K sw(int *o) {
  int t = threadIdx.x, v = t;
  for (int i = 0; i < 6; i++) switch ((v + i) % 9) {
      case 0:
        v += 3;
        break;
      case 1:
        v *= 3;
        break;
      case 2:
        v ^= 5;
      case 3:
        v -= 1;
        break;
      case 4:
        v = v / 3;
        break;
      case 5:
        v = -v;
        break;
      case 6:
        v <<= 1;
        break;
      case 7:
        v |= 1;
        break;
      default:
        v += t;
    }
  int done = 0, n = 0;
  while (!done) {
    unsigned m = __activemask();
    if (__ffs(m) - 1 == (t & 31)) done = 1;
    n++;
    if (n > 64) CHECK(0);
  }
  o[t] = v + n;
}
// 15 64-bit math, double, division, clz, popc, brev, mulhi
K math(long long *o) {
  int t = threadIdx.x;
  long long a = (long long)(t - 20) * 1234567890123LL;
  long long q = a / 97, r = a % 97;
  CHECK(q * 97 + r == a);
  CHECK(__clz(t + 1) == 31 - (int)floor(log2((double)(t + 1)) + 1e-9));
  CHECK(__brev(1u << (t & 31)) == 1u << (31 - (t & 31)));
  CHECK(__umulhi(0x80000000u, t * 2) == t);
  unsigned long long u = 0xffffffffffffffffull / (t + 1);
  CHECK(u * (t + 1) + 0xffffffffffffffffull % (t + 1) == ~0ull);
  double d = sqrt((double)t);
  CHECK(fabs(d * d - t) < 1e-12 * (t + 1));
  CHECK(rint(t + 0.5) == (t & 1 ? t + 1 : t));
  CHECK((int)-2.7f == -2 && __float2int_rd(-2.5f) == -3);
  CHECK(fmaf(t, t, 1.f) == t * t + 1);
  o[t] = q;
}
// 17 warp vote/match/reduce
K wv(int *o) {
  int t = threadIdx.x, l = t & 31;
  CHECK(__match_any_sync(~0u, l / 4) == 0xfu << (l / 4 * 4));
  int p;
  CHECK(__match_all_sync(~0u, 7, &p) == ~0u && p);
  CHECK(__reduce_max_sync(~0u, l) == 31 && __reduce_xor_sync(~0u, l) == 0);
  CHECK(__all_sync(~0u, l < 32) && !__any_sync(~0u, l > 31));
  unsigned half = l < 16 ? 0xffffu : 0xffff0000u;
  int s = __shfl_sync(half, l, 3, 16);
  CHECK(s == l / 16 * 16 + 3);
  o[t] = s;
}
// 18 transposed async copy via cg::memcpy_async / __pipeline
#include <cuda_pipeline.h>
K pipe(int *o, const int *in) {
  __shared__ int4 s[2][64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[0][t], (const int4 *)in + t, 16);
  __pipeline_commit();
  for (int i = 1; i < 4; i++) {
    __pipeline_memcpy_async(&s[i & 1][t], (const int4 *)in + i * 64 + t, 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    int4 v = s[i - 1 & 1][63 - t];
    int4 w = ((const int4 *)in)[(i - 1) * 64 + 63 - t];
    CHECK(v.x == w.x && v.w == w.w);
    __syncthreads();
  }
  __pipeline_wait_prior(0);
  __syncthreads();
  o[t] = s[1][t].y;
}
// 20 recursion
__device__ __noinline__ int ack(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1));
}
K rec(int *o) {
  int t = threadIdx.x;
  int v = ack(1, t & 3);
  CHECK(v == (t & 3) + 2);
  o[t] = v;
}
