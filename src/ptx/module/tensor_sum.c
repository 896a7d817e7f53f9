// Sums as a tensor core forms them: elements taken apart into whole numbers and exponents, sixteen
// rows at a time.
#include "ptx/module/tensor_sum.h"

#include <math.h>

#include "model/words/formats.h"
#include "ptx/module/float_format.h"
#include "ptx/module/multiply.h"

enum { SM_90 = 90, F32_FRACTION = 23, F16_FRACTION = 10 };

const PtxSumRule *ptx_sum_rule(int cc, bool is_wgmma, PtxType a, PtxType b, PtxType d) {
  enum { KEPT = F32_FRACTION + TENSOR_CORE_KEEPS_BELOW, KEPT_OF_8_BITS = 13 };
  static const PtxSumRule halves = {16, KEPT, F32_FRACTION, false},
                          tf32 = {8, KEPT, F32_FRACTION, false}, to_f16 = {16, KEPT, 0, false},
                          by_halves = {16, KEPT, F32_FRACTION, true},
                          bytes = {32, KEPT_OF_8_BITS, KEPT_OF_8_BITS, false},
                          bytes_to_f16 = {32, KEPT_OF_8_BITS, 0, false};
  if (cc != SM_90) return NULL;
  const bool is_half = a == b && (a == PTX_F16 || a == PTX_BF16);
  const bool is_8_bits = (a == PTX_E4M3 || a == PTX_E5M2) && (b == PTX_E4M3 || b == PTX_E5M2);
  if (d == PTX_F16 && is_8_bits) return is_wgmma ? &bytes_to_f16 : NULL;
  if (d == PTX_F16) return is_half && a == PTX_F16 ? &to_f16 : NULL;
  if (d != PTX_F32) return NULL;
  if (is_half) return &halves;
  if (a == PTX_TF32 && b == PTX_TF32) return &tf32;
  return !is_8_bits ? NULL : is_wgmma ? &bytes : &by_halves;
}

// ---- taken apart --------------------------------------------------------------------------------

enum { ROWS = PTX_ROWS_AT_ONCE, NOTHING = -(1 << 14), BIAS = 1023, SHIFT = 52, MOST = 2047 };

static double power(int exponent) {
  const uint64_t bits = (uint64_t)(exponent + BIAS) << SHIFT;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// x = size · 2^(exponent - fraction); false: it is infinite or a NaN.
static bool take_apart(double x, int fraction, int least, int32_t *size, int32_t *exponent) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const int raw = (int)(bits >> SHIFT & MOST);
  const int e = raw - BIAS < least ? least : raw - BIAS;
  *size = 0;
  *exponent = NOTHING;
  if (raw == MOST) return false;
  if (!raw) return true;
  *size = (int32_t)(x * power(fraction - e));
  *exponent = e;
  return true;
}

// ---- a step -------------------------------------------------------------------------------------

typedef struct Parts {
  int32_t a[PTX_SUM_K][ROWS], a_exponent[PTX_SUM_K][ROWS], b[PTX_SUM_K], b_exponent[PTX_SUM_K];
  int fraction;  // bits of a product's
} Parts;

// Numbers of 2^(top - bits) for each row; the loops are as long as vectors are.
static inline __attribute__((always_inline)) void step(const Parts *p, int from, int to,
                                                       const PtxSumRule *rule, int32_t top[ROWS],
                                                       int32_t sum[ROWS]) {
  for (int k = from; k < to; k++)
    for (int r = 0; r < ROWS; r++) {
      const int32_t e = p->a_exponent[k][r] + p->b_exponent[k];
      top[r] = e > top[r] ? e : top[r];
    }
  const int up = rule->bits - p->fraction;
  for (int k = from; k < to; k++)
    for (int r = 0; r < ROWS; r++) {
      const int32_t product = p->a[k][r] * p->b[k], sign = product >> 31;
      const int32_t below = top[r] - p->a_exponent[k][r] - p->b_exponent[k];
      const uint32_t size = (uint32_t)((product ^ sign) - sign) << up;
      const int32_t kept = (int32_t)(size >> (below > 31 ? 31 : below));
      sum[r] += (kept ^ sign) - sign;
    }
}

static void step_plain(const Parts *p, int from, int to, const PtxSumRule *rule, int32_t top[ROWS],
                       int32_t sum[ROWS]) {
  step(p, from, to, rule, top, sum);
}
#if defined __x86_64__
__attribute__((target("avx2,fma"))) static void step_256(const Parts *p, int from, int to,
                                                         const PtxSumRule *rule, int32_t top[ROWS],
                                                         int32_t sum[ROWS]) {
  step(p, from, to, rule, top, sum);
}
__attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq"))) static void step_512(
    const Parts *p, int from, int to, const PtxSumRule *rule, int32_t top[ROWS],
    int32_t sum[ROWS]) {
  step(p, from, to, rule, top, sum);
}
#else
#define step_256 step_plain
#define step_512 step_plain
#endif
typedef void Step(const Parts *p, int from, int to, const PtxSumRule *rule, int32_t top[ROWS],
                  int32_t sum[ROWS]);
static Step *const steps[] = {[PTX_MULTIPLY_PLAIN] = step_plain,
                              [PTX_MULTIPLY_256] = step_256,
                              [PTX_MULTIPLY_512] = step_512};

// ---- a sum --------------------------------------------------------------------------------------

// Cut off below so many fraction bits, of an f32 that is subnormal below its last one. 0: for f16,
// which the caller rounds to by way of f32: the last bit of an f32 tells whether anything was lost.
static double keep(double x, int fraction) {
  enum { LEAST = -126, LAST = 149 };
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const int exponent = (int)(bits >> SHIFT & MOST) - BIAS;
  if (exponent < LEAST) return trunc(x * power(LAST)) * power(-LAST);
  const int cut = SHIFT - (fraction ? fraction : F32_FRACTION);
  const uint64_t unit = UINT64_C(1) << cut, lost = bits & (unit - 1);
  bits -= lost;
  if (!fraction && lost) bits |= unit;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// The number that was there before, in numbers of 2^(top - bits).
static int64_t aligned(int32_t size, int below, int bits) {
  const int64_t magnitude = size < 0 ? -(int64_t)size : size;
  const int down = below + F32_FRACTION - bits;
  const int64_t kept = down < 0 ? magnitude << -down : magnitude >> (down > 62 ? 62 : down);
  return size < 0 ? -kept : kept;
}

static void sum_rows(const Parts *p, int k, const PtxSumRule *rule, Step *add, double *d) {
  const int least = rule->result ? -126 : -14;
  for (int from = 0; from < k; from += rule->terms) {
    int32_t size[ROWS], exponent[ROWS], top[ROWS], sum[ROWS] = {0};
    for (int r = 0; r < ROWS; r++) {
      take_apart(d[r], F32_FRACTION, least, &size[r], &exponent[r]);
      top[r] = exponent[r];
    }
    add(p, from, from + rule->terms < k ? from + rule->terms : k, rule, top, sum);
    for (int r = 0; r < ROWS; r++) {
      if (top[r] < NOTHING / 2) {
        d[r] = 0;
        continue;
      }
      const int64_t all =
          sum[r] + (size[r] ? aligned(size[r], top[r] - exponent[r], rule->bits) : 0);
      d[r] = all ? keep((double)all * power(top[r] - rule->bits), rule->result) : 0;
    }
  }
}

// ---- a product ----------------------------------------------------------------------------------

// Lower two of each four along K first, where the rule unpacks.
static int place_of(const PtxSumRule *rule, int i, int k) {
  if (!rule->unpacks) return i;
  const int half = k / 2, at = i % half;
  return at / 2 * 4 + at % 2 + (i < half ? 0 : 2);
}

static double plainly(const PtxFactors *f, int row, int col, double sum) {
  for (int k = 0; k < f->k; k++)
    sum += f->a[(size_t)k * (size_t)f->rows + (size_t)row] * f->b[col * f->b_col + k * f->b_k];
  return sum;
}

void ptx_multiply_as(PtxMultiplyWay way, const PtxFactors *f, double *d) {
  const PtxSumRule *rule = f->rule;
  const PtxFormat *of[] = {&ptx_formats[PTX_FORMAT_F16], &ptx_formats[PTX_FORMAT_F16]};
  if (!rule->unpacks)
    for (int o = 0; o < 2; o++) of[o] = ptx_format_of(f->types[o]);
  Parts p = {.fraction = of[0]->fraction_bits + of[1]->fraction_bits};
  for (int row = 0; row < f->rows; row += ROWS) {
    bool special_row[ROWS] = {false};
    for (int i = 0; i < f->k; i++) {
      const double *a = f->a + (size_t)place_of(rule, i, f->k) * (size_t)f->rows + row;
      for (int r = 0; r < ROWS; r++)
        special_row[r] |= !take_apart(a[r], of[0]->fraction_bits, of[0]->exponent_min, &p.a[i][r],
                                      &p.a_exponent[i][r]);
    }
    for (int col = 0; col < f->cols; col++) {
      bool special = false;
      for (int i = 0; i < f->k; i++)
        special |=
            !take_apart(f->b[col * f->b_col + place_of(rule, i, f->k) * f->b_k],
                        of[1]->fraction_bits, of[1]->exponent_min, &p.b[i], &p.b_exponent[i]);
      double *to = d + (size_t)col * (size_t)f->rows + row, before[ROWS];
      memcpy(before, to, sizeof before);
      if (rule->unpacks) memset(to, 0, sizeof before);
      sum_rows(&p, f->k, rule, steps[way], to);
      for (int r = 0; r < ROWS; r++) {
        if (special || special_row[r] || !isfinite(before[r]))
          to[r] = plainly(f, row + r, col, before[r]);
        else if (rule->unpacks)
          to[r] = (double)((float)to[r] + (float)before[r]);
      }
    }
  }
}
