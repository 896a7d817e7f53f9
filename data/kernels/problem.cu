typedef unsigned long long u64;
enum Type { F32, F16, BF16, TF32, F64, S8, E4M3, E5M2, S32, MXF8, MXF8E5M2, MXF4, NVFP4, UE8M0, UE4M3 };
struct Counters {
  u64 n_wrong, n_unwritten, first_wrong, n_outside;
  unsigned worst_bits, n_nan, error_bits;
  float unused;
  double squares;
};

// An 8-bit float: e4m3 has 3 fraction bits and a bias of 7, e5m2 2 and 15.
__device__ __forceinline__ float small_float(unsigned bits, int fraction) {
  int bias = fraction == 3 ? 7 : 15, exponent = (bits & 127) >> fraction;
  unsigned rest = bits & ((1u << fraction) - 1);
  float hidden = exponent ? 1u << fraction : 0;
  float size = ldexpf(hidden + rest, (exponent ? exponent : 1) - bias - fraction);
  return bits & 128 ? -size : size;
}

__device__ __forceinline__ unsigned small_bits(float x, int fraction) {
  int bias = fraction == 3 ? 7 : 15;
  int exponent = x == 0 ? 1 - bias : max(ilogbf(x), 1 - bias);
  unsigned whole = (unsigned)rintf(ldexpf(fabsf(x), fraction - exponent));
  unsigned hidden = 1u << fraction, sign = x < 0 ? 128 : 0;
  if (whole < hidden) return sign | whole;
  return sign | (((unsigned)(exponent + bias) << fraction) + whole - hidden);
}

// What fraction bits an 8-bit float has; 0: the type is none.
__device__ __forceinline__ int small_fraction(int type) {
  if (type == E5M2 || type == MXF8E5M2) return 2;
  return type == E4M3 || type == MXF8 || type == UE4M3 ? 3 : 0;
}

// e2m1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and a sign.
__device__ __forceinline__ double e2m1(unsigned bits) {
  int exponent = bits >> 1 & 3, fraction = bits & 1;
  double size = exponent ? ldexp(2.0 + fraction, exponent - 2) : 0.5 * fraction;
  return bits & 8 ? -size : size;
}

__device__ __forceinline__ unsigned e2m1_bits(float x) {
  unsigned bits = 0;
  while (bits < 7 && fabsf(x) > (e2m1(bits) + e2m1(bits + 1)) / 2) bits++;
  return x < 0 ? 8 | bits : bits;
}

__device__ __forceinline__ double load(const void *p, int type, u64 i) {
  float x;
  if (type == F64) return ((const double *)p)[i];
  if (type == F32 || type == TF32) return ((const float *)p)[i];
  if (type == S32) return ((const int *)p)[i];
  if (type == S8) return ((const signed char *)p)[i];
  if (small_fraction(type))
    return small_float(((const unsigned char *)p)[i], small_fraction(type));
  if (type == UE8M0) return ldexp(1.0, ((const unsigned char *)p)[i] - 127);
  if (type == MXF4 || type == NVFP4)
    return e2m1(((const unsigned char *)p)[i / 2] >> (i % 2 * 4));
  unsigned short h = ((const unsigned short *)p)[i];
  if (type == BF16) return __uint_as_float((unsigned)h << 16);
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
  return x;
}

__device__ __forceinline__ void store(void *p, int type, u64 i, float x) {
  unsigned short h;
  if (type == F64) { ((double *)p)[i] = x; return; }
  if (type == F32 || type == TF32) { ((float *)p)[i] = x; return; }
  if (type == S8) {  // a standard deviation of 32
    ((signed char *)p)[i] = (signed char)fminf(fmaxf(rintf(32 * x), -127), 127);
    return;
  }
  if (type == UE8M0) {  // 1/4 to 4
    ((unsigned char *)p)[i] = (unsigned char)(127 + rintf(fminf(fmaxf(x, -2), 2)));
    return;
  }
  if (type == UE4M3) x = fminf(fmaxf(fabsf(x), 0.125f), 4);
  if (small_fraction(type)) {
    ((unsigned char *)p)[i] = (unsigned char)small_bits(x, small_fraction(type));
    return;
  }
  if (type == BF16) {
    unsigned u = __float_as_uint(x);
    h = (unsigned short)((u + 0x7fffu + ((u >> 16) & 1)) >> 16);
  } else {
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
  }
  ((unsigned short *)p)[i] = h;
}

__device__ __forceinline__ u64 mix(u64 x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

__device__ __forceinline__ float normal(u64 seed, u64 i) {
  u64 bits = mix(mix(seed) ^ i);
  float u = ((unsigned)(bits >> 40) + 0.5f) * 0x1p-24f;
  float v = (unsigned)(bits & 0xffffff) * 0x1p-24f;
  return sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * v);
}

// A whole number from -range to range - 1, the same for the same place.
__device__ __forceinline__ int power(u64 seed, u64 place, int range) {
  return (int)(mix(mix(seed) ^ place) % (2 * range)) - range;
}

enum Data { NORMAL, POSITIVE, SCALED, CANCELLING };

// SCALED: rows of A and columns of B by 2^-10 to 2^9, places along K by 2^-8 to 2^7 in A and the
// inverse in B, and by as much in A alone. CANCELLING: the second half of K is that of the
// first, in A with the other sign and 2^-10 of noise.
__device__ float shaped(int data, int is_b, u64 seed, u64 i, u64 row, u64 at, u64 along, u64 k) {
  u64 half = k / 2;
  if (data == POSITIVE) return fabsf(normal(seed, i));
  if (data == SCALED) {
    int shared = power(17, at, 8), own = is_b ? 0 : power(19, at, 8);
    return ldexpf(normal(seed, i), power(23 + is_b, row, 10) + (is_b ? -shared : shared) + own);
  }
  if (at < half || at >= 2 * half) return normal(seed, i);
  float first = normal(seed, i - half * along);
  return is_b ? first : -first + 0x1p-10f * normal(~seed, i);
}

extern "C" __global__ void fill_normal(void *out, int type, u64 n, u64 seed, int data,
                                       int is_b, u64 along, u64 k, u64 across, u64 rows) {
  u64 stride = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    u64 bits = mix(mix(seed) ^ i);
    float u = ((unsigned)(bits >> 40) + 0.5f) * 0x1p-24f;
    float v = (unsigned)(bits & 0xffffff) * 0x1p-24f;
    float r = sqrtf(-2.0f * logf(u)), angle = 6.2831853f * v;
    if (type == MXF4 || type == NVFP4)
      ((unsigned char *)out)[i] =
          (unsigned char)(e2m1_bits(r * cosf(angle)) | e2m1_bits(r * sinf(angle)) << 4);
    else if (data == NORMAL)
      store(out, type, i, r * cosf(angle));
    else
      store(out, type, i,
            shaped(data, is_b, seed, i, i / across % rows, i / along % k, along, k));
  }
}

// In rows of k / block, or in tiles of 128 rows by four: `tiles` of them along k.
__device__ double factor(const void *SF, int type, u64 row, u64 at, u64 in_row, u64 tiles) {
  u64 in_tile = row % 32 * 16 + row % 128 / 32 * 4 + at % 4;
  u64 place = tiles ? (row / 128 * tiles + at / 4) * 512 + in_tile : row * in_row + at;
  return load(SF, type, place);
}

extern "C" __global__ void __launch_bounds__(256)
product_f64(const void *A, const void *B, double *expected, float *magnitude, int type,
            u64 m, u64 n, u64 k, int a_col_major, int b_col_major, const void *SFA,
            const void *SFB, int scale_type, u64 block, u64 tiles) {
  __shared__ double a_s[16][64 + 1], b_s[16][64 + 1];
  u64 tiles_n = (n + 63) / 64;
  u64 row0 = blockIdx.x / tiles_n * 64, col0 = blockIdx.x % tiles_n * 64;
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  double sum[4][4] = {}, size[4][4] = {};
  for (u64 k0 = 0; k0 < k; k0 += 16) {
    for (int i = threadIdx.x; i < 16 * 64; i += 256) {
      int kk = a_col_major ? i / 64 : i % 16, r = a_col_major ? i % 64 : i / 16;
      bool inside = row0 + r < m && k0 + kk < k;
      u64 at = a_col_major ? (k0 + kk) * m + row0 + r : (row0 + r) * k + k0 + kk;
      double a = inside ? load(A, type, at) : 0;
      if (inside && block)
        a *= factor(SFA, scale_type, row0 + r, (k0 + kk) / block, k / block, tiles);
      a_s[kk][r] = a;
      kk = b_col_major ? i % 16 : i / 64, r = b_col_major ? i / 16 : i % 64;
      inside = col0 + r < n && k0 + kk < k;
      at = b_col_major ? (col0 + r) * k + k0 + kk : (k0 + kk) * n + col0 + r;
      double b = inside ? load(B, type, at) : 0;
      if (inside && block)
        b *= factor(SFB, scale_type, col0 + r, (k0 + kk) / block, k / block, tiles);
      b_s[kk][r] = b;
    }
    __syncthreads();
#pragma unroll 4
    for (int kk = 0; kk < 16; kk++) {
      double a[4], b[4];
      for (int i = 0; i < 4; i++) a[i] = a_s[kk][ty + 16 * i];
      for (int j = 0; j < 4; j++) b[j] = b_s[kk][tx + 16 * j];
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
          sum[i][j] = fma(a[i], b[j], sum[i][j]);
          size[i][j] = fma(fabs(a[i]), fabs(b[j]), size[i][j]);
        }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      u64 row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
      if (row >= m || col >= n) continue;
      expected[row * n + col] = sum[i][j];
      magnitude[row * n + col] = (float)size[i][j];
    }
}

extern "C" __global__ void __launch_bounds__(256)
attention_f64(const void *Q, const void *K, const void *V, double *expected,
              float *magnitude, int type, u64 queries, u64 keys, u64 dim, int causal,
              double alpha) {
  __shared__ double weight[256], most[256];
  u64 row = blockIdx.x, head = row / queries;
  u64 seen = causal ? row % queries + keys - queries + 1 : keys;
  int i = threadIdx.x;
  double best = -1e300, sum = 0, out = 0, size = 0;
  for (u64 first = 0; first < seen; first += 256) {
    u64 t = first + i;
    double score = -1e300;
    if (t < seen) {
      score = 0;
      for (u64 e = 0; e < dim; e++)
        score += load(Q, type, row * dim + e) * load(K, type, (head * keys + t) * dim + e);
    }
    most[i] = score;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
      if (i < half) most[i] = fmax(most[i], most[i + half]);
      __syncthreads();
    }
    double now = fmax(best, most[0]), factor = exp2(alpha * (best - now));
    weight[i] = t < seen ? exp2(alpha * (score - now)) : 0;
    __syncthreads();
    best = now, sum *= factor, out *= factor, size *= factor;
    for (int j = 0; j < 256 && first + j < seen; j++) {
      sum += weight[j];
      if (i >= dim) continue;
      double v = load(V, type, (head * keys + first + j) * dim + i);
      out += weight[j] * v;
      size += weight[j] * fabs(v);
    }
    __syncthreads();
  }
  if (i >= dim) return;
  expected[row * dim + i] = out / sum;
  magnitude[row * dim + i] = (float)(size / sum);
}

__device__ __forceinline__ bool untouched(const void *C, int type, u64 i) {
  if (type == F64) return ((const u64 *)C)[i] == ~0ull;
  if (type == F16 || type == BF16) return ((const unsigned short *)C)[i] == 0xffff;
  return ((const unsigned *)C)[i] == ~0u;
}

extern "C" __global__ void compare(const void *C, int type, const double *expected,
                                   const float *magnitude, u64 m, u64 n, double tolerance,
                                   double rounding, double least, u64 map_m, u64 map_n,
                                   unsigned *map, Counters *counters) {
  u64 stride = (u64)gridDim.x * blockDim.x, map_cols = (n + map_n - 1) / map_n;
  float worst = 0;
  u64 n_wrong = 0, n_unwritten = 0, first = ~0ull;
  unsigned n_nan = 0;
  float largest = 0;
  double squares = 0;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < m * n; i += stride) {
    double c = load(C, type, i);
    double error = fabs(c - expected[i]);
    double bound = tolerance * magnitude[i] + rounding * fabs(expected[i]) + least;
    if (error > 0 && error / bound > worst) worst = (float)fmin(error / bound, 3e38);
    double relative = magnitude[i] > 0 ? error / magnitude[i] : 0;
    if (relative > largest) largest = (float)fmin(relative, 3e38);
    squares += relative * relative;
    if (error <= bound) continue;
    n_nan += error != error;
    n_wrong++;
    n_unwritten += untouched(C, type, i);
    if (i < first) first = i;
    atomicAdd(&map[i / n / map_m * map_cols + i % n / map_n], 1u);
  }
  if (n_wrong) {
    atomicAdd(&counters->n_wrong, n_wrong);
    atomicAdd(&counters->n_unwritten, n_unwritten);
    atomicMin(&counters->first_wrong, first);
    if (n_nan) atomicAdd(&counters->n_nan, n_nan);
  }
  atomicMax(&counters->worst_bits, __float_as_uint(worst));
  atomicMax(&counters->error_bits, __float_as_uint(largest));
  atomicAdd(&counters->squares, squares);
}

extern "C" __global__ void count_changed(const unsigned *words, u64 n, Counters *counters) {
  u64 stride = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
    if (words[i] != ~0u) atomicAdd(&counters->n_outside, 1ull);
}

extern "C" __global__ void spin(long long clocks) {
  long long start = clock64();
  while (clock64() - start < clocks) {}
}
