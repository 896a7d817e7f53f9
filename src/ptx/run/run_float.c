// Floating point: add, mul, fma, div and the rest. (PTX ISA, 9.7.3 to 9.7.5.)
//
// An f32 or f64 result is the C library's, in the rounding mode that the instruction names; a half
// result is computed in f64 and rounded once: exact for sums and products, and for fma by keeping
// the sum's lost part in its last bit ("round to odd"). A result that the hardware only
// approximates is computed more exactly and counted, since its last bits may differ.
#include <fenv.h>
#include <math.h>

#include "ptx/module/float_format.h"
#include "ptx/run/run.h"

typedef enum FloatOp {
  ADD,
  SUB,
  MUL,
  FMA,
  DIV,
  ABS,
  NEG,
  MIN,
  MAX,
  SQRT,
  RCP,
  RSQRT,
  SIN,
  COS,
  LG2,
  EX2,
  TANH,
  COPYSIGN,
} FloatOp;

// Approximate in every form; the others are where .approx says so.
static const bool always_approximate[COPYSIGN + 1] = {
    [RSQRT] = true, [SIN] = true, [COS] = true, [LG2] = true, [EX2] = true, [TANH] = true};

// The smaller or larger of two: −0 below +0, and a NaN only where .NaN asks for it.
#define EXTREME(T, name)                                      \
  static T name(bool larger, bool keeps_nan, T a, T b) {      \
    if (isnan(a) || isnan(b)) {                               \
      if (keeps_nan || (isnan(a) && isnan(b))) return (T)NAN; \
      return isnan(a) ? b : a;                                \
    }                                                         \
    if (a == b) return (signbit(a) != 0) == larger ? b : a;   \
    return (a < b) == larger ? b : a;                         \
  }
EXTREME(float, extreme_f32)
EXTREME(double, extreme_f64)

// .abs and .xorsign.abs of min and max.
#define SIGNED_EXTREME(T, name, extreme, absolute)                                 \
  static T name(const PtxInst *i, bool larger, T a, T b) {                         \
    const bool keeps_nan = ptx_has(i, PTX_MOD_NaN);                                \
    if (!ptx_has(i, PTX_MOD_abs)) return extreme(larger, keeps_nan, a, b);         \
    const bool negative = ptx_has(i, PTX_MOD_xorsign) && signbit(a) != signbit(b); \
    const T size = extreme(larger, keeps_nan, absolute(a), absolute(b));           \
    return negative ? -size : size;                                                \
  }
SIGNED_EXTREME(float, minmax_f32, extreme_f32, fabsf)
SIGNED_EXTREME(double, minmax_f64, extreme_f64, fabs)

// The operands are volatile so that the compiler computes where the rounding mode is set. Functions
// that the hardware approximates are computed in double for both.
#define VALUE(T, name, f, extreme)                                                        \
  static T name(const PtxInst *i, FloatOp op, volatile T a, volatile T b, volatile T c) { \
    switch (op) {                                                                         \
      case ADD:                                                                           \
        return a + b;                                                                     \
      case SUB:                                                                           \
        return a - b;                                                                     \
      case MUL:                                                                           \
        return a * b;                                                                     \
      case FMA:                                                                           \
        return fma##f(a, b, c);                                                           \
      case DIV:                                                                           \
        return a / b;                                                                     \
      case ABS:                                                                           \
        return fabs##f(a);                                                                \
      case NEG:                                                                           \
        return -a;                                                                        \
      case MIN:                                                                           \
        return extreme(i, false, a, b);                                                   \
      case MAX:                                                                           \
        return extreme(i, true, a, b);                                                    \
      case SQRT:                                                                          \
        return sqrt##f(a);                                                                \
      case RCP:                                                                           \
        return (T)1 / a;                                                                  \
      case RSQRT:                                                                         \
        return (T)(1.0 / sqrt((double)a));                                                \
      case SIN:                                                                           \
        return (T)sin((double)a);                                                         \
      case COS:                                                                           \
        return (T)cos((double)a);                                                         \
      case LG2:                                                                           \
        return (T)log2((double)a);                                                        \
      case EX2:                                                                           \
        return (T)exp2((double)a);                                                        \
      case TANH:                                                                          \
        return (T)tanh((double)a);                                                        \
      case COPYSIGN:                                                                      \
        return copysign##f(b, a);                                                         \
    }                                                                                     \
    return 0;                                                                             \
  }
VALUE(float, value_f32, f, minmax_f32)
VALUE(double, value_f64, , minmax_f64)

// sin and cos of f32: the hardware's takes turns, which the operand is multiplied to in f32 first.
static float turn(bool sine, float x) {
  const float per_radian = 0.15915494F;
  fesetround(FE_TOWARDZERO);
  const volatile float factor = x, turns = factor * per_radian;
  fesetround(FE_TONEAREST);
  const double angle = 6.283185307179586 * remainder((double)turns, 1);
  return (float)(sine ? sin(angle) : cos(angle));
}

// div.approx multiplies by a reciprocal, which for divisors from 2^126 on is flushed to zero. (PTX
// ISA, div.)
static float divide_roughly(float x, float y) {
  const float factor = fabsf(y) > 0x1p126F ? copysignf(0, y) : 1 / y;
  return factor == 0 ? x * factor : x / y;
}

static int mode_of(PtxModifier round) {
  switch (round) {
    case PTX_MOD_rz:
      return FE_TOWARDZERO;
    case PTX_MOD_rm:
      return FE_DOWNWARD;
    case PTX_MOD_rp:
      return FE_UPWARD;
    default:
      return FE_TONEAREST;
  }
}

static float flush(float value) {
  return fpclassify(value) == FP_SUBNORMAL ? copysignf(0, value) : value;
}

static uint64_t lane_f32(const PtxInst *i, FloatOp op, uint64_t a, uint64_t b, uint64_t c) {
  const bool ftz = ptx_has(i, PTX_MOD_ftz);
  float x = ptx_f32(a), y = ptx_f32(b), z = ptx_f32(c);
  if (ftz) x = flush(x), y = flush(y), z = flush(z);
  const int mode = mode_of(i->form.round);
  if (mode != FE_TONEAREST) fesetround(mode);
  volatile float result = op == SIN || op == COS                    ? turn(op == SIN, x)
                          : op == DIV && ptx_has(i, PTX_MOD_approx) ? divide_roughly(x, y)
                                                                    : value_f32(i, op, x, y, z);
  if (mode != FE_TONEAREST) fesetround(FE_TONEAREST);
  float kept = result;
  if ((op == MIN || op == MAX) && i->n_groups > 3) kept = value_f32(i, op, kept, z, 0);
  if (ftz) kept = flush(kept);
  if (ptx_has(i, PTX_MOD_sat)) kept = kept > 0 ? (kept < 1 ? kept : 1) : 0;
  if (ptx_has(i, PTX_MOD_relu) && !(kept > 0) && !isnan(kept)) kept = 0;
  // The hardware's NaN is one, of abs and neg too, which are sums; copysign moves bits.
  if (isnan(kept) && op != COPYSIGN) return 0x7fffffff;
  return ptx_f32_bits(kept);
}

static double flush_f64(double value) {
  return fpclassify(value) == FP_SUBNORMAL ? copysign(0, value) : value;
}

// The NaN of an operand goes on with its sign and bits, made quiet: the second one's first. (On an
// H200; the sign of what abs and neg are given stays, too.)
static bool nan_f64(FloatOp op, uint64_t a, uint64_t b, uint64_t c, uint64_t *out) {
  const uint64_t given[] = {b, a, c};
  const bool sums = op == ADD || op == SUB || op == MUL || op == FMA;
  const int first = op == ABS || op == NEG ? 1 : 0, behind = op == FMA ? 3 : 2;
  if (!sums && op != ABS && op != NEG && op != MIN && op != MAX) return false;
  if ((op == MIN || op == MAX) && !(isnan(ptx_f64(a)) && isnan(ptx_f64(b)))) return false;
  for (int n = first; n < behind; n++) {
    if (!isnan(ptx_f64(given[n]))) continue;
    *out = given[n] | UINT64_C(1) << 51;
    return true;
  }
  return false;
}

// .ftz stands behind .approx alone.
static uint64_t lane_f64(const PtxInst *i, FloatOp op, uint64_t a, uint64_t b, uint64_t c) {
  const int mode = mode_of(i->form.round);
  const bool ftz = ptx_has(i, PTX_MOD_ftz);
  uint64_t kept;
  if (nan_f64(op, a, b, c, &kept)) return kept;
  const double x = ftz ? flush_f64(ptx_f64(a)) : ptx_f64(a);
  if (mode != FE_TONEAREST) fesetround(mode);
  volatile double result = value_f64(i, op, x, ptx_f64(b), ptx_f64(c));
  if (mode != FE_TONEAREST) fesetround(FE_TONEAREST);
  return ptx_f64_bits(ftz ? flush_f64(result) : result);
}

// a · b + c with what rounding to 53 bits loses kept in the last bit, so that rounding once more,
// to a half, gives what rounding the exact sum would. a · b is exact in f64.
static double sum_to_odd(double product, double c) {
  const double sum = product + c;
  if (!isfinite(sum)) return sum;
  const double back = sum - product;
  const double lost = (product - (sum - back)) + (c - back);
  uint64_t bits = ptx_f64_bits(sum);
  if (lost == 0 || (bits & 1)) return sum;
  // Away from zero when the lost part has the sum's sign, else towards it; either way to odd.
  bits = (lost > 0) == (sum > 0) ? bits + 1 : bits - 1;
  return ptx_f64(bits);
}

static uint64_t flush_half(const PtxFormat *format, uint64_t a) {
  return fabs(ptx_float_value(format, a)) < ldexp(1, format->exponent_min) ? a & 0x8000 : a;
}

static uint64_t lane_half(const PtxInst *i, FloatOp op, const PtxFormat *format, uint64_t a,
                          uint64_t b, uint64_t c) {
  if (ptx_has(i, PTX_MOD_ftz)) a = flush_half(format, a);
  if (op == NEG || op == ABS) {
    if (isnan(ptx_float_value(format, a))) return format->nan;
    return op == NEG ? a ^ 0x8000 : a & 0x7fff;
  }
  double x = ptx_float_value(format, a), y = ptx_float_value(format, b),
         z = ptx_float_value(format, c);
  if (ptx_has(i, PTX_MOD_ftz)) {
    const double least = ldexp(1, format->exponent_min);
    if (fabs(y) < least) y = copysign(0, y);
    if (fabs(z) < least) z = copysign(0, z);
  }
  double result = op == FMA ? sum_to_odd(x * y, z) : value_f64(i, op, x, y, z);
  if ((op == MIN || op == MAX) && i->n_groups > 3) result = value_f64(i, op, result, z, 0);
  if (ptx_has(i, PTX_MOD_sat)) result = result > 0 ? (result < 1 ? result : 1) : 0;
  if (ptx_has(i, PTX_MOD_relu) && !(result > 0) && !isnan(result)) result = 0;
  if (ptx_has(i, PTX_MOD_ftz) && fabs(result) < ldexp(1, format->exponent_min))
    result = copysign(0, result);
  return ptx_float_round(format, result, ptx_rounding(i->form.round), false);
}

// add.f32.f16 d, a, c: a is a half, the sum an f32; so are both factors of fma.f32.f16.
static uint64_t lane_mixed(const PtxInst *i, FloatOp op, uint64_t a, uint64_t b, uint64_t c) {
  const PtxFormat *format = ptx_format_of(i->form.types[1]);
  const uint64_t x = ptx_f32_bits((float)ptx_float_value(format, a & 0xffff));
  if (op != FMA) return lane_f32(i, op, x, b, c);
  return lane_f32(i, op, x, ptx_f32_bits((float)ptx_float_value(format, b & 0xffff)), c);
}

static uint64_t lane_of_type(const PtxInst *i, FloatOp op, uint64_t a, uint64_t b, uint64_t c) {
  const PtxType type = i->form.types[0];
  if (i->form.n_types > 1) return lane_mixed(i, op, a, b, c);
  if (type == PTX_F32) return lane_f32(i, op, a, b, c);
  if (type == PTX_F64) return lane_f64(i, op, a, b, c);
  if (type == PTX_F32X2)
    return (lane_f32(i, op, a, b, c) & 0xffffffff) | lane_f32(i, op, a >> 32, b >> 32, c >> 32)
                                                         << 32;
  const PtxFormat *format = ptx_format_of(type);
  const uint64_t low = lane_half(i, op, format, a & 0xffff, b & 0xffff, c & 0xffff);
  if (ptx_types[type].class != 'X') return low;
  return low | lane_half(i, op, format, a >> 16 & 0xffff, b >> 16 & 0xffff, c >> 16 & 0xffff) << 16;
}

static void run_float(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask, FloatOp op) {
  static const uint64_t zero[PTX_LANES];
  const uint64_t *A = ptx_lanes(m, w, &i->groups[1], 0);
  const uint64_t *B = i->n_groups > 2 ? ptx_lanes(m, w, &i->groups[2], 0) : zero;
  const uint64_t *C = i->n_groups > 3 ? ptx_lanes(m, w, &i->groups[3], 0) : zero;
  uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
  FOR_LANES(mask) D[l] = lane_of_type(i, op, A[l], B[l], C[l]);
  if (always_approximate[op] || ptx_has(i, PTX_MOD_approx) || ptx_has(i, PTX_MOD_full))
    m->approximations += __builtin_popcount(mask);
}

#define FLOAT(name, op)                                                         \
  void run_##name(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) { \
    run_float(m, w, i, mask, op);                                               \
  }
// The three that kernels consist of go a short way where nothing but .rn stands behind them.
#define FAST(name, op, expression)                                               \
  void run_##name(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {  \
    if (!i->plain || i->form.types[0] != PTX_F32) {                              \
      run_float(m, w, i, mask, op);                                              \
      return;                                                                    \
    }                                                                            \
    const uint64_t *A = ptx_lanes(m, w, &i->groups[1], 0);                       \
    const uint64_t *B = ptx_lanes(m, w, &i->groups[2], 0);                       \
    const uint64_t *C = i->n_groups > 3 ? ptx_lanes(m, w, &i->groups[3], 0) : B; \
    uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);                             \
    FOR_LANES(mask) {                                                            \
      const float a = ptx_f32(A[l]), b = ptx_f32(B[l]), c = ptx_f32(C[l]);       \
      (void)c;                                                                   \
      const float result = (expression);                                         \
      D[l] = isnan(result) ? 0x7fffffff : ptx_f32_bits(result);                  \
    }                                                                            \
  }
FAST(add_float, ADD, a + b)
FAST(sub_float, SUB, a - b)
FAST(mul_float, MUL, a *b)
FAST(fma_float, FMA, fmaf(a, b, c))
FLOAT(div_float, DIV)
FLOAT(abs_float, ABS)
FLOAT(neg_float, NEG)
FLOAT(min_float, MIN)
FLOAT(max_float, MAX)
FLOAT(sqrt_float, SQRT)
FLOAT(rcp_float, RCP)
FLOAT(rsqrt_float, RSQRT)
FLOAT(sin_float, SIN)
FLOAT(cos_float, COS)
FLOAT(lg2_float, LG2)
FLOAT(ex2_float, EX2)
FLOAT(tanh_float, TANH)
FLOAT(copysign_float, COPYSIGN)

static bool is_kind(const PtxInst *i, double value, bool subnormal) {
  if (ptx_has(i, PTX_MOD_finite)) return isfinite(value);
  if (ptx_has(i, PTX_MOD_infinite)) return isinf(value);
  if (ptx_has(i, PTX_MOD_number)) return !isnan(value);
  if (ptx_has(i, PTX_MOD_notanumber)) return isnan(value);
  if (ptx_has(i, PTX_MOD_subnormal)) return subnormal;
  return isfinite(value) && !subnormal;  // zero counts as normal
}

void run_testp(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint64_t *A = ptx_lanes(m, w, &i->groups[1], 0);
  uint32_t holds = 0;
  FOR_LANES(mask) {
    const bool is_f32 = i->form.types[0] == PTX_F32;
    const bool subnormal = is_f32 ? fpclassify(ptx_f32(A[l])) == FP_SUBNORMAL
                                  : fpclassify(ptx_f64(A[l])) == FP_SUBNORMAL;
    const double value = is_f32 ? (double)ptx_f32(A[l]) : ptx_f64(A[l]);
    holds |= (uint32_t)is_kind(i, value, subnormal) << l;
  }
  ptx_put_pred(m, w, &i->groups[0], mask, holds);
}
