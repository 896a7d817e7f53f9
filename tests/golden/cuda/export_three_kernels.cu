// nvcc -O3 -gencode arch=compute_90a,code=sm_90a -o apply apply.cu && ./apply
//
// O[4, 300, 48] = softmax(alpha * Q * K) * V, 512 keys, f32
// of rows of 48 in Q, K, V and O; alpha holds the log2(e) of exp2
// AUTO=0,PROGRAM=attention,HEADS=4,M=300,N=512,K=48,BM=16,BN=16
// for sm_90a (H200 SXM)
//
//   scores<<<2432, 256>>>(Q, K, S)
//   softmax<<<8, 256>>>(S, P, L, alpha)
//   apply<<<228, 256>>>(V, O, P, L)
//   workspace: 4920000 bytes

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int QUERIES = 300, KEYS = 512, HEAD_DIM = 48;

// 2 to the power of x, within 2 units in the last place; exact for whole numbers.
__device__ __forceinline__ float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

extern "C" __global__ void __launch_bounds__(256)
scores(const float *__restrict__ Q, const float *__restrict__ K, float *__restrict__ S) {
  const int h = blockIdx.x / 608;        // BLOCK 0..4, HEADS=4
  const int q_b = blockIdx.x / 32 % 19;  // BLOCK 0..19, BM=16
  const int t_b = blockIdx.x % 32;       // BLOCK 0..32, BN=16
  const int q_t = threadIdx.x / 16;      // THREAD 0..16, BM=16
  const int t_t = threadIdx.x % 16;      // THREAD 0..16, BN=16

  float Q_f;  // its values of Q for one k
  float K_f;  // its values of K for one k
  float S_f;  // this thread's scores, then weights

  S_f = 0.0f;
  for (int e = 0; e < HEAD_DIM; ++e) {
    Q_f = q_b * 16 + q_t < QUERIES ? Q[h * 14400 + (q_b * 16 + q_t) * HEAD_DIM + e] : 0.0f;
    K_f = K[h * 24576 + (t_b * 16 + t_t) * HEAD_DIM + e];
    S_f += Q_f * K_f;
  }
  if (q_b * 16 + q_t < QUERIES) S[h * 153600 + (q_b * 16 + q_t) * KEYS + t_b * 16 + t_t] = S_f;
}

extern "C" __global__ void __launch_bounds__(256)
softmax(const float *__restrict__ S, float *__restrict__ P, float *__restrict__ L, float alpha) {
  const int h = blockIdx.x / 2;    // BLOCK 0..4, HEADS=4
  const int q_b = blockIdx.x % 2;  // BLOCK 0..2, PROGRAM=attention
  const int q_t = threadIdx.x;     // THREAD 0..256, PROGRAM=attention

  float row_max;   // of its rows: the largest score so far
  float row_base;  // alpha times the largest score
  float row_sum;   // the sum of its weights
  float x;

  row_max = __int_as_float(0xff800000);
  for (int t = 0; t < 512; ++t) {
    x = q_b * 256 + q_t < QUERIES ? S[h * 153600 + (q_b * 256 + q_t) * KEYS + t] : 0.0f;
    row_max = fmaxf(row_max, x);
  }
  row_base = row_max;
  row_base *= alpha;
  row_sum = 0.0f;
  for (int t = 0; t < 512; ++t) {
    x = q_b * 256 + q_t < QUERIES ? S[h * 153600 + (q_b * 256 + q_t) * KEYS + t] : 0.0f;
    x = exp2_of(alpha * x - row_base);
    row_sum += x;
    if (q_b * 256 + q_t < QUERIES) P[h * 153600 + (q_b * 256 + q_t) * KEYS + t] = x;
  }
  if (q_b * 256 + q_t < QUERIES) L[h * QUERIES + q_b * 256 + q_t] = row_sum;
}

extern "C" __global__ void __launch_bounds__(256)
apply(const float *__restrict__ V, float *__restrict__ O, const float *__restrict__ P,
    const float *__restrict__ L) {

  const int h = blockIdx.x / 57;        // BLOCK 0..4, HEADS=4
  const int q_b = blockIdx.x / 3 % 19;  // BLOCK 0..19, BM=16
  const int d_b = blockIdx.x % 3;       // BLOCK 0..3, BN=16
  const int q_t = threadIdx.x / 16;     // THREAD 0..16, BM=16
  const int d_t = threadIdx.x % 16;     // THREAD 0..16, BN=16

  float P_f;  // its weights for one k
  float V_f;  // its values of V for one k
  float O_f;  // this thread's cells of O
  float of_row;

  O_f = 0.0f;
  for (int u = 0; u < 512; ++u) {
    P_f = q_b * 16 + q_t < QUERIES ? P[h * 153600 + (q_b * 16 + q_t) * KEYS + u] : 0.0f;
    V_f = V[h * 24576 + u * HEAD_DIM + d_b * 16 + d_t];
    O_f += P_f * V_f;
  }
  of_row = q_b * 16 + q_t < QUERIES ? L[h * QUERIES + q_b * 16 + q_t] : 0.0f;
  O_f /= of_row;
  if (q_b * 16 + q_t < QUERIES) O[h * 14400 + (q_b * 16 + q_t) * HEAD_DIM + d_b * 16 + d_t] = O_f;
}

// ---- fill, check, time --------------------------------------------------------------------

constexpr long long n_heads = 4, n_queries = 300, n_keys = 512, head_dim = 48;
constexpr long long n_rows = n_heads * n_queries, n_columns = head_dim;
constexpr bool causal = false;
// Scores are divided by the square root of head_dim; weights are powers of 2, not of e.
constexpr float alpha = 0.2082351f;
constexpr double operations = 117964800;  // multiplications and additions of both products
constexpr long long check_step = 1;  // every row is compared
// An f32 sum of K products strays from the exact one by a few units in the last place
// times the square root of K, relative to the sum of the products' magnitudes.
constexpr double tolerance = 4.628709e-06, rounding = 0.000000e+00, least = 5.605194e-45;

typedef float In;
typedef float Out;

__device__ double number(float x) {
  return x;
}

__device__ void set(In *to, float x) {
  *to = x;
}

static void must(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

__device__ unsigned long long mix(unsigned long long x) {  // splitmix64
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Standard normal numbers by Box and Muller. With zeros the GPU would draw less power and
// clock higher, and the time would be too good.
__global__ void fill_normal(In *x, long long n, unsigned long long seed) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    const unsigned long long bits = mix(seed ^ mix(i));
    const float u = ((unsigned)(bits >> 40) + 1) * 0x1p-24f;
    const float v = (unsigned)(bits & 0xffffff) * 0x1p-24f;
    set(&x[i], sqrtf(-2.0f * logf(u)) * cospif(2.0f * v));
  }
}

struct Verdict {
  unsigned long long n_checked, n_wrong;
  unsigned worst;  // the largest error in units of its bound: the bits of a float
};

// A cell that is no number is wrong too. The magnitude: what its terms add up to unsigned.
__device__ void judge(double cell, double expected, double magnitude, Verdict *verdict) {
  const double error = fabs(cell - expected);
  const double bound = tolerance * magnitude + rounding * fabs(expected) + least;
  atomicAdd(&verdict->n_checked, 1ull);
  if (!(error <= bound)) atomicAdd(&verdict->n_wrong, 1ull);
  if (error > 0) atomicMax(&verdict->worst, __float_as_uint((float)(error / bound)));
}

__global__ void __launch_bounds__(256)
check_rows(const In *Q, const In *K, const In *V, const Out *O, Verdict *verdict) {
  __shared__ double weight[256], most[256];
  const int i = threadIdx.x;
  for (long long row = blockIdx.x; row < n_rows; row += gridDim.x) {
    const double o = i < head_dim ? number(O[row * head_dim + i]) : 0;
    if (!__syncthreads_or(o != o) && row % check_step != 0) continue;
    const long long head = row / n_queries;
    const long long seen = causal ? row % n_queries + n_keys - n_queries + 1 : n_keys;
    double best = -1e300, sum = 0, out = 0, size = 0;
    for (long long first = 0; first < seen; first += 256) {
      const long long t = first + i;
      double score = -1e300;
      if (t < seen) {
        score = 0;
        for (int e = 0; e < head_dim; ++e)
          score += number(Q[row * head_dim + e]) *
                   number(K[(head * n_keys + t) * head_dim + e]);
      }
      most[i] = score;
      __syncthreads();
      for (int half = 128; half > 0; half /= 2) {
        if (i < half) most[i] = fmax(most[i], most[i + half]);
        __syncthreads();
      }
      const double now = fmax(best, most[0]), factor = exp2(alpha * (best - now));
      weight[i] = t < seen ? exp2(alpha * (score - now)) : 0;
      __syncthreads();
      best = now, sum *= factor, out *= factor, size *= factor;
      for (int j = 0; j < 256 && first + j < seen; ++j) {
        sum += weight[j];
        if (i >= head_dim) continue;
        const double v = number(V[(head * n_keys + first + j) * head_dim + i]);
        out += weight[j] * v;
        size += weight[j] * fabs(v);
      }
      __syncthreads();
    }
    if (i >= head_dim) continue;
    judge(o, out / sum, size / sum, verdict);
  }
}

struct Operands {
  In *Q, *K, *V;
  Out *O;
  float *S;
  float *P;
  float *L;
};

// Launches the kernels of one run in their order.
static void attend(const Operands &on) {
  scores<<<2432, 256, 0>>>(on.Q, on.K, on.S);
  softmax<<<8, 256, 0>>>(on.S, on.P, on.L, alpha);
  apply<<<228, 256, 0>>>(on.V, on.O, on.P, on.L);
  must(cudaGetLastError(), "launch");
}

static bool is_right(const In *Q, const In *K, const In *V, const Out *O) {
  Verdict *on_device, verdict = {};
  must(cudaMalloc(&on_device, sizeof verdict), "cudaMalloc");
  must(cudaMemset(on_device, 0, sizeof verdict), "cudaMemset");
  check_rows<<<4096, 256>>>(Q, K, V, O, on_device);
  must(cudaMemcpy(&verdict, on_device, sizeof verdict, cudaMemcpyDeviceToHost), "check");
  must(cudaFree(on_device), "cudaFree");
  float worst;
  std::memcpy(&worst, &verdict.worst, sizeof worst);
  std::printf("%llu of %llu cells checked are wrong, worst error %.3g of its bound\n",
              verdict.n_wrong, verdict.n_checked, worst);
  return verdict.n_checked > 0 && verdict.n_wrong == 0;
}

static In *operand(long long n, unsigned long long seed) {
  In *x;
  must(cudaMalloc(&x, n * sizeof *x), "cudaMalloc");
  fill_normal<<<4096, 256>>>(x, n, seed);
  must(cudaGetLastError(), "fill");
  return x;
}

// Memory filled with bytes of 0xff: NaN, or -1 in a type without NaN.
template <class T>
static T *unwritten(long long n) {
  T *x;
  must(cudaMalloc(&x, n * sizeof *x), "cudaMalloc");
  must(cudaMemset(x, 0xff, n * sizeof *x), "cudaMemset");
  return x;
}

static Operands allocate() {
  Operands on = {};
  on.Q = operand(n_rows * head_dim, 1);
  on.K = operand(n_heads * n_keys * head_dim, 2);
  on.V = operand(n_heads * n_keys * head_dim, 3);
  on.O = unwritten<Out>(n_rows * n_columns);
  on.S = unwritten<float>(614400);
  on.P = unwritten<float>(614400);
  on.L = unwritten<float>(1200);
  return on;
}

// Milliseconds of `n` runs in a row.
static float time_products(const Operands &on, int n) {
  cudaEvent_t start, stop;
  must(cudaEventCreate(&start), "cudaEventCreate");
  must(cudaEventCreate(&stop), "cudaEventCreate");
  must(cudaEventRecord(start), "cudaEventRecord");
  for (int i = 0; i < n; ++i) attend(on);
  must(cudaEventRecord(stop), "cudaEventRecord");
  must(cudaEventSynchronize(stop), "launch");
  float ms;
  must(cudaEventElapsedTime(&ms, start, stop), "cudaEventElapsedTime");
  must(cudaEventDestroy(start), "cudaEventDestroy");
  must(cudaEventDestroy(stop), "cudaEventDestroy");
  return ms;
}

int main() {
  Operands on = allocate();
  attend(on);
  must(cudaDeviceSynchronize(), "launch");
  if (!is_right(on.Q, on.K, on.V, on.O)) return 1;  // a wrong kernel has no speed
  const float once_ms = time_products(on, 3) / 3;  // warms up, too
  const int n = std::max(1, std::min(1000, (int)(2.0f / once_ms)));
  std::vector<float> ms;
  for (int i = 0; i < 21; ++i) ms.push_back(time_products(on, n) / n);
  std::sort(ms.begin(), ms.end());
  const double median_ms = ms[ms.size() / 2];
  std::printf("%.4f ms (median of %d samples of %d, fastest %.4f ms, L2 warm), "
              "%.2f TFLOP/s\n",
              median_ms, (int)ms.size(), n, ms[0],
              1e-9 * operations / median_ms);
  return 0;
}
