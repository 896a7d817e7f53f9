// Products of tiles, sixteen rows at a time: the sums of a column stay in registers from the first
// k to the last. The compiler makes the plain way for every machine. Vectors of x86 differ, so the
// same loops are here in wider ones, and the machine at hand decides.
#include "ptx/module/multiply.h"

#include <math.h>
#include <string.h>

#include "ptx/module/float_format.h"

// ---- products -----------------------------------------------------------------------------------

enum { ROWS = PTX_ROWS_AT_ONCE };

// Rows from `row` on, which may be fewer than sixteen.
static void multiply_some(const PtxFactors *f, int row, int n, double *d) {
  for (int col = 0; col < f->cols; col++) {
    double *to = d + (size_t)col * (size_t)f->rows + row;
    for (int k = 0; k < f->k; k++) {
      const double *a = f->a + (size_t)k * (size_t)f->rows + row;
      const double b = f->b[col * f->b_col + k * f->b_k];
      for (int r = 0; r < n; r++) to[r] += a[r] * b;
    }
  }
}

static void multiply_plain(const PtxFactors *f, double *d) {
  for (int row = 0; row < f->rows; row += ROWS)
    multiply_some(f, row, f->rows - row < ROWS ? f->rows - row : ROWS, d);
}

// ---- elements -----------------------------------------------------------------------------------

// e5m2 is the upper half of an f16; e4m3 is an f16 with an exponent 8 less.
static float e4m3_value(unsigned char bits) {
  const uint16_t half = (uint16_t)((bits & 0x80) << 8 | (bits & 0x7f) << 7);
  return (bits & 0x7f) == 0x7f ? NAN : ptx_f16_value(half) * 256;
}

static float f32_value(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

#define EACH(T, expression)                                      \
  for (int i = 0; i < n; i++) {                                  \
    T bits;                                                      \
    memcpy(&bits, bytes + (size_t)i * sizeof bits, sizeof bits); \
    out[i] = (double)(expression);                               \
  }

static void elements_plain(PtxType type, const unsigned char *bytes, int n, double *out) {
  switch (type) {
    case PTX_F16:
      EACH(uint16_t, ptx_f16_value(bits))
      return;
    case PTX_BF16:
      EACH(uint16_t, f32_value((uint32_t)bits << 16))
      return;
    case PTX_TF32:
      EACH(uint32_t, f32_value(bits & 0xffffe000))
      return;
    case PTX_F32:
      EACH(uint32_t, f32_value(bits))
      return;
    case PTX_F64:
      EACH(double, isnan(bits) ? (double)NAN : bits)
      return;
    case PTX_E5M2:
      EACH(uint8_t, ptx_f16_value((uint16_t)(bits << 8)))
      return;
    case PTX_E4M3:
      EACH(uint8_t, e4m3_value(bits))
      return;
    case PTX_S8:
      EACH(int8_t, bits)
      return;
    case PTX_U8:
      EACH(uint8_t, bits)
      return;
    case PTX_E3M2:
    case PTX_E2M3:
      EACH(uint8_t, ptx_type_value(type, bits & 0x3f))
      return;
    case PTX_E2M1:
    case PTX_S4:
    case PTX_U4:
      for (int i = 0; i < n; i++) out[i] = ptx_type_value(type, bytes[i / 2] >> i % 2 * 4 & 0xf);
      return;
    default:
      EACH(int32_t, bits)
  }
}

static void sums_plain(const double *sums, int n, uint32_t *out) {
  for (int i = 0; i < n; i++) out[i] = ptx_sum_f32(sums[i]);
}

static void halves_plain(const double *sums, int n, uint16_t *out) {
  for (int i = 0; i < n; i++) out[i] = ptx_f16_of((float)sums[i]);
}

// ---- x86 ----------------------------------------------------------------------------------------

#if defined __x86_64__
#include <immintrin.h>

#define WITH_256 __attribute__((target("avx2,fma,f16c")))
#define WITH_512 __attribute__((target("avx2,fma,f16c,avx512f")))
enum { LANES_256 = 4, LANES_512 = 8, PARTS_256 = ROWS / LANES_256, PARTS_512 = ROWS / LANES_512 };
enum { COLS_256 = 2, COLS_512 = 4 };

// Sums of some columns, `cols` of them at once.
WITH_256 static inline __attribute__((always_inline)) void columns_256(const PtxFactors *f, int row,
                                                                       int col, int cols,
                                                                       double *d) {
  __m256d sum[COLS_256][PARTS_256];
  for (int c = 0; c < cols; c++)
    for (int p = 0; p < PARTS_256; p++)
      sum[c][p] = _mm256_loadu_pd(d + (size_t)(col + c) * (size_t)f->rows + row + p * LANES_256);
  for (int k = 0; k < f->k; k++) {
    const double *a = f->a + (size_t)k * (size_t)f->rows + row;
    for (int c = 0; c < cols; c++) {
      const __m256d b = _mm256_set1_pd(f->b[(col + c) * f->b_col + k * f->b_k]);
      for (int p = 0; p < PARTS_256; p++)
        sum[c][p] = _mm256_fmadd_pd(_mm256_loadu_pd(a + p * LANES_256), b, sum[c][p]);
    }
  }
  for (int c = 0; c < cols; c++)
    for (int p = 0; p < PARTS_256; p++)
      _mm256_storeu_pd(d + (size_t)(col + c) * (size_t)f->rows + row + p * LANES_256, sum[c][p]);
}

WITH_256 static void multiply_256(const PtxFactors *f, double *d) {
  for (int row = 0; row < f->rows; row += ROWS) {
    int col = 0;
    for (; col + COLS_256 <= f->cols; col += COLS_256) columns_256(f, row, col, COLS_256, d);
    for (; col < f->cols; col++) columns_256(f, row, col, 1, d);
  }
}

WITH_512 static inline __attribute__((always_inline)) void columns_512(const PtxFactors *f, int row,
                                                                       int col, int cols,
                                                                       double *d) {
  __m512d sum[COLS_512][PARTS_512];
  for (int c = 0; c < cols; c++)
    for (int p = 0; p < PARTS_512; p++)
      sum[c][p] = _mm512_loadu_pd(d + (size_t)(col + c) * (size_t)f->rows + row + p * LANES_512);
  for (int k = 0; k < f->k; k++) {
    const double *a = f->a + (size_t)k * (size_t)f->rows + row;
    for (int c = 0; c < cols; c++) {
      const __m512d b = _mm512_set1_pd(f->b[(col + c) * f->b_col + k * f->b_k]);
      for (int p = 0; p < PARTS_512; p++)
        sum[c][p] = _mm512_fmadd_pd(_mm512_loadu_pd(a + p * LANES_512), b, sum[c][p]);
    }
  }
  for (int c = 0; c < cols; c++)
    for (int p = 0; p < PARTS_512; p++)
      _mm512_storeu_pd(d + (size_t)(col + c) * (size_t)f->rows + row + p * LANES_512, sum[c][p]);
}

WITH_512 static void multiply_512(const PtxFactors *f, double *d) {
  for (int row = 0; row < f->rows; row += ROWS) {
    int col = 0;
    for (; col + COLS_512 <= f->cols; col += COLS_512) columns_512(f, row, col, COLS_512, d);
    for (; col < f->cols; col++) columns_512(f, row, col, 1, d);
  }
}

// Converts eight numbers of 16 bits at a time; returns the number converted.
WITH_256 static int halves_256(PtxType type, const unsigned char *bytes, int n, double *out) {
  enum { AT_ONCE = 8 };
  int i = 0;
  for (; i + AT_ONCE <= n; i += AT_ONCE) {
    const __m128i bits = _mm_loadu_si128((const __m128i *)(const void *)(bytes + 2 * (size_t)i));
    const __m256 values =
        type == PTX_F16 ? _mm256_cvtph_ps(bits)
                        : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
    _mm256_storeu_pd(out + i, _mm256_cvtps_pd(_mm256_castps256_ps128(values)));
    _mm256_storeu_pd(out + i + LANES_256, _mm256_cvtps_pd(_mm256_extractf128_ps(values, 1)));
  }
  return i;
}

WITH_256 static int sums_256(const double *sums, int n, uint32_t *out) {
  int i = 0;
  for (; i + LANES_256 <= n; i += LANES_256) {
    const __m256d sum = _mm256_loadu_pd(sums + i);
    const __m256i nan = _mm256_castpd_si256(_mm256_cmp_pd(sum, sum, _CMP_UNORD_Q));
    const __m128i low = _mm256_castsi256_si128(nan), high = _mm256_extracti128_si256(nan, 1);
    const __m128i mask = _mm_castps_si128(
        _mm_shuffle_ps(_mm_castsi128_ps(low), _mm_castsi128_ps(high), _MM_SHUFFLE(2, 0, 2, 0)));
    const __m128i bits = _mm_castps_si128(_mm256_cvtpd_ps(sum));
    _mm_storeu_si128((__m128i *)(void *)(out + i),
                     _mm_blendv_epi8(bits, _mm_set1_epi32(0x7fffffff), mask));
  }
  return i;
}

WITH_256 static int sums_as_halves_256(const double *sums, int n, uint16_t *out) {
  enum { AT_ONCE = 8 };
  int i = 0;
  for (; i + AT_ONCE <= n; i += AT_ONCE) {
    const __m128 low = _mm256_cvtpd_ps(_mm256_loadu_pd(sums + i)),
                 high = _mm256_cvtpd_ps(_mm256_loadu_pd(sums + i + LANES_256));
    const __m256 both = _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(both, both, _CMP_UNORD_Q));
    const __m128i mask =
        _mm_packs_epi32(_mm256_castsi256_si128(nan), _mm256_extracti128_si256(nan, 1));
    const __m128i bits = _mm256_cvtps_ph(both, _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128((__m128i *)(void *)(out + i),
                     _mm_blendv_epi8(bits, _mm_set1_epi16(0x7fff), mask));
  }
  return i;
}

PtxMultiplyWay ptx_multiply_way(void) {
  // Whatever has AVX2 has F16C, for which clang 14 has no name here.
  const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return !wide                               ? PTX_MULTIPLY_PLAIN
         : __builtin_cpu_supports("avx512f") ? PTX_MULTIPLY_512
                                             : PTX_MULTIPLY_256;
}

// Sums of f64 have one NaN: which of two an addition keeps would be the compiler's to choose.
static void settle_nans(const PtxFactors *f, double *d) {
  for (int i = 0; i < f->rows * f->cols; i++)
    if (isnan(d[i])) d[i] = NAN;
}

void ptx_multiply_by(PtxMultiplyWay way, const PtxFactors *f, double *d) {
  if (way == PTX_MULTIPLY_PLAIN || f->is_f64 || f->rows % ROWS)
    multiply_plain(f, d);
  else if (way == PTX_MULTIPLY_256)
    multiply_256(f, d);
  else
    multiply_512(f, d);
  if (f->is_f64) settle_nans(f, d);
}

void ptx_elements_by(PtxMultiplyWay way, PtxType type, const unsigned char *bytes, int n,
                     double *out) {
  const bool halves = way != PTX_MULTIPLY_PLAIN && (type == PTX_F16 || type == PTX_BF16);
  const int done = halves ? halves_256(type, bytes, n, out) : 0;
  elements_plain(type, bytes + 2 * (size_t)done, n - done, out + done);
}

void ptx_sums_f32_by(PtxMultiplyWay way, const double *sums, int n, uint32_t *out) {
  const int done = way == PTX_MULTIPLY_PLAIN ? 0 : sums_256(sums, n, out);
  sums_plain(sums + done, n - done, out + done);
}

void ptx_sums_f16_by(PtxMultiplyWay way, const double *sums, int n, uint16_t *out) {
  const int done = way == PTX_MULTIPLY_PLAIN ? 0 : sums_as_halves_256(sums, n, out);
  halves_plain(sums + done, n - done, out + done);
}
#else
PtxMultiplyWay ptx_multiply_way(void) { return PTX_MULTIPLY_PLAIN; }

void ptx_multiply_by(PtxMultiplyWay way, const PtxFactors *f, double *d) {
  (void)way;
  multiply_plain(f, d);
}

void ptx_elements_by(PtxMultiplyWay way, PtxType type, const unsigned char *bytes, int n,
                     double *out) {
  (void)way;
  elements_plain(type, bytes, n, out);
}

void ptx_sums_f32_by(PtxMultiplyWay way, const double *sums, int n, uint32_t *out) {
  (void)way;
  sums_plain(sums, n, out);
}

void ptx_sums_f16_by(PtxMultiplyWay way, const double *sums, int n, uint16_t *out) {
  (void)way;
  halves_plain(sums, n, out);
}
#endif

void ptx_multiply(const PtxFactors *f, double *d) {
  if (f->rule && f->k <= PTX_SUM_K && f->rows % ROWS == 0)
    ptx_multiply_as(ptx_multiply_way(), f, d);
  else
    ptx_multiply_by(ptx_multiply_way(), f, d);
}

void ptx_elements(PtxType type, const unsigned char *bytes, int n, double *out) {
  ptx_elements_by(ptx_multiply_way(), type, bytes, n, out);
}

void ptx_sums_f32(const double *sums, int n, uint32_t *out) {
  ptx_sums_f32_by(ptx_multiply_way(), sums, n, out);
}

void ptx_sums_f16(const double *sums, int n, uint16_t *out) {
  ptx_sums_f16_by(ptx_multiply_way(), sums, n, out);
}
