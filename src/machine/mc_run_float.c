// Floating point that PTX has no instruction for: choices by a predicate, halves, and what a
// division or a root begins with.
#include <math.h>

#include "machine/mc_run.h"
#include "ptx/module/float_format.h"

static inline bool lane_of(uint32_t bits, uint32_t l) { return bits >> l & 1; }

static inline float value_at(const PtxInst *i, int n, const uint64_t *row, uint32_t l) {
  return ptx_f32(mc_value(mc_operand(i, n), row[l]));
}

// The smaller or the larger one: a NaN only if both are.
static float extreme(bool smallest, float a, float b) {
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? ptx_f32(0x7fffffff) : isnan(a) ? b : a;
  if (a == b) return (signbit(a) != 0) == smallest ? a : b;
  return (a < b) == smallest ? a : b;
}

// The first operands from 1 on, `n` of them, and the predicate behind them.
static void extreme_of(PtxWarp *w, const PtxInst *i, uint32_t mask, int n) {
  const uint32_t q = mc_pred(w, i, n + 1, true);
  const bool keeps_nan = mc_has(i->machine, MC_W_IS_NAN), flushes = mc_has(i->machine, MC_W_FTZ);
  uint64_t *D = mc_row(w, i, 0, 0);
  FOR_LANES(mask) {
    float out = 0;
    bool nan = false;
    for (int k = 1; k <= n; k++) {
      float a = value_at(i, k, mc_row(w, i, k, 0), l);
      if (flushes && fpclassify(a) == FP_SUBNORMAL) a = copysignf(0, a);
      nan |= keeps_nan && isnan(a);
      out = k == 1 ? a : extreme(lane_of(q, l), out, a);
    }
    D[l] = nan ? 0x7fffffff : ptx_f32_bits(out);
  }
}

void mc_run_fmnmx(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  extreme_of(w, i, mask, 2);
}

// The sign is the product of both, the size that of the smaller or the larger.
void mc_run_fmnmx_xorsign(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  const uint64_t *A = mc_row(w, i, 1, 0), *B = mc_row(w, i, 2, 0);
  const uint32_t q = mc_pred(w, i, 3, true);
  uint64_t *D = mc_row(w, i, 0, 0);
  FOR_LANES(mask) {
    const float size = extreme(lane_of(q, l), value_at(i, 1, A, l), value_at(i, 2, B, l));
    const uint32_t sign = ((uint32_t)A[l] ^ (uint32_t)B[l]) & 0x80000000;
    D[l] = isnan(size) ? 0x7fffffff : ptx_f32_bits(size) ^ sign;
  }
}

void mc_run_fmnmx3(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  extreme_of(w, i, mask, 3);
}

// Where exponents are far from the middle, a division takes the long way; its result is the same.
// 0 through anything plain is plain where the quotient is not -0, which the short way cannot make.
void mc_run_fchk(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  enum { NEAR = 126 };
  const uint64_t *A = mc_row(w, i, 1, 0), *B = mc_row(w, i, 2, 0);
  uint32_t bits = 0;
  FOR_LANES(mask) {
    const uint32_t x = mc_value(mc_operand(i, 1), A[l]), y = mc_value(mc_operand(i, 2), B[l]);
    const bool zero = !(x << 1) && !((x ^ y) >> 31);
    const int a = (int)(x >> 23 & 255), b = (int)(y >> 23 & 255);
    const bool near = a < 255 && a > 24 && a - b < NEAR && b - a < NEAR - 1;
    const bool plain = b > 1 && b < 253 && (zero || near);
    bits |= (uint32_t)!plain << l;
  }
  mc_put_pred(w, i, 0, mask, bits);
}

static double wide_at(PtxWarp *w, const PtxInst *i, int n, uint32_t l) {
  const McOperand *o = mc_operand(i, n);
  const uint64_t high = mc_value(o, mc_row(w, i, n, 1)[l]);
  return ptx_f64(high << 32 | (uint32_t)mc_row(w, i, n, 0)[l]);
}

// DSETP.MAX.AND P0, P1, a, b, PT: the larger one is a where P0 holds, else b; with P1 it is b made
// a quiet NaN.
void mc_run_dsetp_extreme(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  const bool smallest = mc_has(i->machine, MC_W_MIN);
  uint32_t first = 0, neither = 0;
  FOR_LANES(mask) {
    const double a = wide_at(w, i, 2, l), b = wide_at(w, i, 3, l);
    const bool equal = (signbit(a) != 0) == smallest;
    const bool is_first = isnan(a) ? false : isnan(b) ? true : a == b ? equal : (a < b) == smallest;
    first |= (uint32_t)is_first << l;
    neither |= (uint32_t)(isnan(a) && isnan(b)) << l;
  }
  mc_put_pred(w, i, 0, mask, first);
  mc_put_pred(w, i, 1, mask, neither);
}

static double upper(uint64_t bits) { return ptx_f64(bits << 32); }

void mc_run_rcp64h(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint64_t *A = mc_row(w, i, 1, 0);
  uint64_t *D = mc_row(w, i, 0, 0);
  FOR_LANES(mask) D[l] = ptx_f64_bits(1.0 / upper(mc_value(mc_operand(i, 1), A[l]))) >> 32;
  m->approximations += __builtin_popcount(mask);
}

void mc_run_rsq64h(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint64_t *A = mc_row(w, i, 1, 0);
  uint64_t *D = mc_row(w, i, 0, 0);
  FOR_LANES(mask) D[l] = ptx_f64_bits(1.0 / sqrt(upper(mc_value(mc_operand(i, 1), A[l])))) >> 32;
  m->approximations += __builtin_popcount(mask);
}

// MUFU.SIN and COS take turns, not radians.
void mc_run_turn(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const double turn = 6.283185307179586;
  const uint64_t *A = mc_row(w, i, 1, 0);
  uint64_t *D = mc_row(w, i, 0, 0);
  const bool sine = mc_has(i->machine, MC_W_SIN);
  FOR_LANES(mask) {
    const double turns = (double)value_at(i, 1, A, l), x = turn * remainder(turns, 1);
    D[l] = isnan(x) ? 0x7fffffff : ptx_f32_bits((float)(sine ? sin(x) : cos(x)));
  }
  m->approximations += __builtin_popcount(mask);
}

// ---- halves -------------------------------------------------------------------------------------

static const PtxFormat *format_of(const PtxInst *i) {
  return &ptx_formats[mc_has(i->machine, MC_W_BF16_V2) ? PTX_FORMAT_BF16 : PTX_FORMAT_F16];
}

static uint32_t half_bits(const PtxInst *i, int n, const uint64_t *row, uint32_t l, int which) {
  const McOperand *o = mc_operand(i, n);
  const int half = o->read->half ? o->read->half - 1 : which;
  const uint32_t bits = (((uint32_t)row[l] >> (16 * half) & 0xffff) & o->keep) ^ o->flip;
  return bits & 0xffff;
}

static double half_at(const PtxInst *i, int n, const uint64_t *row, uint32_t l, int which) {
  return ptx_float_value(format_of(i), half_bits(i, n, row, l, which));
}

void mc_run_hadd2_f32(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  const uint64_t *A = mc_row(w, i, 1, 0), *B = mc_row(w, i, 2, 0);
  uint64_t *D = mc_row(w, i, 0, 0);
  FOR_LANES(mask) {
    const double sum = half_at(i, 1, A, l, 0) + half_at(i, 2, B, l, 0);
    D[l] = isnan(sum) ? 0x7fffffff : ptx_f32_bits((float)sum);
  }
}

void mc_run_hmnmx2(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  const uint64_t *A = mc_row(w, i, 1, 0), *B = mc_row(w, i, 2, 0);
  const uint32_t q = mc_pred(w, i, 3, true);
  const PtxFormat *format = format_of(i);
  uint64_t *D = mc_row(w, i, 0, 0);
  FOR_LANES(mask) {
    uint32_t out = 0;
    for (int k = 0; k < 2; k++) {
      const float a = (float)half_at(i, 1, A, l, k), b = (float)half_at(i, 2, B, l, k);
      const bool nan =
          (isnan(a) && isnan(b)) || (mc_has(i->machine, MC_W_IS_NAN) && (isnan(a) || isnan(b)));
      const uint32_t bits =
          nan ? (uint32_t)format->nan
              : (uint32_t)ptx_float_round(format, (long double)extreme(lane_of(q, l), a, b),
                                          PTX_ROUND_NEAREST, false);
      out |= bits << (16 * k);
    }
    D[l] = out;
  }
}

static bool holds(const McStep *s, double a, double b) {
  if (isnan(a) || isnan(b))
    return mc_has(s, MC_W_LTU) || mc_has(s, MC_W_LEU) || mc_has(s, MC_W_GTU) ||
           mc_has(s, MC_W_GEU) || mc_has(s, MC_W_EQU) || mc_has(s, MC_W_NEU) ||
           mc_has(s, MC_W_IS_NAN);
  if (mc_has(s, MC_W_NUM)) return true;
  if (a == b)
    return mc_has(s, MC_W_EQ) || mc_has(s, MC_W_EQU) || mc_has(s, MC_W_LE) || mc_has(s, MC_W_LEU) ||
           mc_has(s, MC_W_GE) || mc_has(s, MC_W_GEU);
  if (mc_has(s, MC_W_NE) || mc_has(s, MC_W_NEU)) return true;
  return a < b ? mc_has(s, MC_W_LT) || mc_has(s, MC_W_LTU) || mc_has(s, MC_W_LE) ||
                     mc_has(s, MC_W_LEU)
               : mc_has(s, MC_W_GT) || mc_has(s, MC_W_GTU) || mc_has(s, MC_W_GE) ||
                     mc_has(s, MC_W_GEU);
}

// The same of one half of the operands n and n + 1; .FTZ takes subnormal numbers for 0.
static bool holds_of_halves(const PtxInst *i, int n, const uint64_t *A, const uint64_t *B,
                            uint32_t l, int k) {
  double a = half_at(i, n, A, l, k), b = half_at(i, n + 1, B, l, k);
  if (mc_has(i->machine, MC_W_FTZ)) {
    const double least = ldexp(1, format_of(i)->exponent_min);
    if (fabs(a) < least) a = 0;
    if (fabs(b) < least) b = 0;
  }
  return holds(i->machine, a, b);
}

// HSETP2 p, p, a, b, q: of the lower halves, and of the upper ones.
void mc_run_hsetp2(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  const McStep *step = i->machine;
  const uint64_t *A = mc_row(w, i, 2, 0), *B = mc_row(w, i, 3, 0);
  const uint32_t q = mc_pred(w, i, 4, true);
  for (int k = 0; k < 2; k++) {
    uint32_t bits = 0;
    FOR_LANES(mask)
    bits |= (uint32_t)holds_of_halves(i, 2, A, B, l, k) << l;
    bits = mc_has(step, MC_W_OR) ? bits | q : mc_has(step, MC_W_XOR) ? bits ^ q : bits & q;
    mc_put_pred(w, i, k, mask, bits);
  }
}

// HSET2: in each half all bits, or with .BF the number one, where it holds.
void mc_run_hset2(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  const McStep *step = i->machine;
  const uint64_t *A = mc_row(w, i, 1, 0), *B = mc_row(w, i, 2, 0);
  const uint32_t q = mc_pred(w, i, 3, true);
  const uint64_t one =
      mc_has(step, MC_W_BF) ? ptx_float_round(format_of(i), 1, PTX_ROUND_NEAREST, false) : 0xffff;
  uint64_t *D = mc_row(w, i, 0, 0);
  FOR_LANES(mask) {
    uint64_t out = 0;
    for (int k = 0; k < 2; k++) {
      const bool is = holds_of_halves(i, 1, A, B, l, k), also = lane_of(q, l);
      const bool all = mc_has(step, MC_W_OR)    ? is || also
                       : mc_has(step, MC_W_XOR) ? is != also
                                                : is && also;
      out |= all ? one << (16 * k) : 0;
    }
    D[l] = out;
  }
}

// ---- bytes --------------------------------------------------------------------------------------

// A number as a byte; beyond the largest one it stays there.
static uint32_t byte_of(const PtxInst *i, PtxFormatId format, double value) {
  if (mc_has(i->machine, MC_W_RELU) && !(value > 0) && !isnan(value)) value = 0;
  return (uint32_t)ptx_float_round(&ptx_formats[format], (long double)value, PTX_ROUND_NEAREST,
                                   true);
}

// F2FP.PACK_AB_MERGE_C d, a, b, c: a, b as two bytes, and the lower half of c above them.
static void pack_bytes(PtxWarp *w, const PtxInst *i, uint32_t mask, PtxFormatId format) {
  const uint64_t *A = mc_row(w, i, 1, 0), *B = mc_row(w, i, 2, 0), *C = mc_row(w, i, 3, 0);
  uint64_t *D = mc_row(w, i, 0, 0);
  FOR_LANES(mask) {
    const uint32_t above = (uint32_t)C[l] << 16;
    D[l] = above | byte_of(i, format, (double)value_at(i, 1, A, l)) << 8 |
           byte_of(i, format, (double)value_at(i, 2, B, l));
  }
}

void mc_run_pack_e4m3(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  pack_bytes(w, i, mask, PTX_FORMAT_E4M3);
}

void mc_run_pack_e5m2(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  pack_bytes(w, i, mask, PTX_FORMAT_E5M2);
}

// F2FP.UNPACK_B_MERGE_C d, a, c: the same of the two halves of a.
static void halves_as_bytes(PtxWarp *w, const PtxInst *i, uint32_t mask, PtxFormatId format) {
  const uint64_t *A = mc_row(w, i, 1, 0), *C = mc_row(w, i, 2, 0);
  uint64_t *D = mc_row(w, i, 0, 0);
  FOR_LANES(mask) {
    uint32_t out = (uint32_t)C[l] << 16;
    for (int k = 0; k < 2; k++) {
      const uint16_t half = (uint16_t)(half_bits(i, 1, A, l, k));
      out |= byte_of(i, format, (double)ptx_f16_value(half)) << (8 * k);
    }
    D[l] = out;
  }
}

void mc_run_halves_e4m3(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  halves_as_bytes(w, i, mask, PTX_FORMAT_E4M3);
}

void mc_run_halves_e5m2(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  halves_as_bytes(w, i, mask, PTX_FORMAT_E5M2);
}
