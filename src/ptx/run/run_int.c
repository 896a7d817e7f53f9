// Whole numbers: sums, products, shifts, bits. (PTX ISA, 9.7.1, 9.7.2 and 9.7.8.)
//
// A function here is one expression in `a`, `b`, `c` of a C type; the macros spread it over the
// lanes. Results are cut to the unsigned type of their width, so that a register's upper bits stay
// zero. Whole numbers wrap, as the hardware's do: everything is computed unsigned.
#include "ptx/run/run.h"

typedef __int128 i128;
typedef unsigned __int128 u128;

#define OPERANDS_1                                       \
  const uint64_t *A = ptx_lanes(m, w, &i->groups[1], 0); \
  uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
#define OPERANDS_2 \
  OPERANDS_1       \
  const uint64_t *B = ptx_lanes(m, w, &i->groups[2], 0);
#define OPERANDS_3 \
  OPERANDS_2       \
  const uint64_t *C = ptx_lanes(m, w, &i->groups[3], 0);

#define UNARY(name, T, R, expression)                                           \
  void run_##name(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) { \
    OPERANDS_1                                                                  \
    FOR_LANES(mask) {                                                           \
      const T a = (T)A[l];                                                      \
      D[l] = (R)(expression);                                                   \
    }                                                                           \
  }
#define BINARY(name, T, R, expression)                                          \
  void run_##name(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) { \
    OPERANDS_2                                                                  \
    FOR_LANES(mask) {                                                           \
      const T a = (T)A[l], b = (T)B[l];                                         \
      D[l] = (R)(expression);                                                   \
    }                                                                           \
  }
#define TERNARY(name, T, TC, R, expression)                                     \
  void run_##name(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) { \
    OPERANDS_3                                                                  \
    FOR_LANES(mask) {                                                           \
      const T a = (T)A[l], b = (T)B[l];                                         \
      const TC c = (TC)C[l];                                                    \
      D[l] = (R)(expression);                                                   \
    }                                                                           \
  }

// ---- sums ---------------------------------------------------------------------------------------

BINARY(add_16, uint16_t, uint16_t, a + b)
BINARY(add_32, uint32_t, uint32_t, a + b)
BINARY(add_64, uint64_t, uint64_t, a + b)
BINARY(sub_16, uint16_t, uint16_t, a - b)
BINARY(sub_32, uint32_t, uint32_t, a - b)
BINARY(sub_64, uint64_t, uint64_t, a - b)
BINARY(add_16x2, uint32_t, uint32_t, ((a + b) & 0xffff) | ((a & 0xffff0000u) + (b & 0xffff0000u)))

static uint32_t saturate(int64_t value) {
  return (uint32_t)(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value);
}
BINARY(add_sat_s32, int32_t, uint32_t, saturate((int64_t)a + b))
BINARY(sub_sat_s32, int32_t, uint32_t, saturate((int64_t)a - b))

// Sums with a carry: `sum` is exact in 128 bits, and bit `bits` of it is the carry, the borrow of a
// difference too.
static void put_carry(PtxWarp *w, bool sets, uint32_t lane, bool carry) {
  if (!sets) return;
  w->carry = (w->carry & ~(1u << lane)) | (uint32_t)carry << lane;
}
#define CARRYING(name, operands, T, bits, sets, expression)                     \
  void run_##name(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) { \
    operands const bool puts = (sets) || ptx_has(i, PTX_MOD_cc);                \
    FOR_LANES(mask) {                                                           \
      const u128 a = (T)A[l], b = (T)B[l], in = w->carry >> l & 1;              \
      (void)in;                                                                 \
      const u128 sum = (expression);                                            \
      D[l] = (T)sum;                                                            \
      put_carry(w, puts, l, sum >> (bits)&1);                                   \
    }                                                                           \
  }
#define C_ ((u128)C[l])
CARRYING(add_cc_32, OPERANDS_2, uint32_t, 32, true, a + b)
CARRYING(add_cc_64, OPERANDS_2, uint64_t, 64, true, a + b)
CARRYING(addc_32, OPERANDS_2, uint32_t, 32, false, a + b + in)
CARRYING(addc_64, OPERANDS_2, uint64_t, 64, false, a + b + in)
CARRYING(sub_cc_32, OPERANDS_2, uint32_t, 32, true, a - b)
CARRYING(sub_cc_64, OPERANDS_2, uint64_t, 64, true, a - b)
CARRYING(subc_32, OPERANDS_2, uint32_t, 32, false, a - b - in)
CARRYING(subc_64, OPERANDS_2, uint64_t, 64, false, a - b - in)
CARRYING(mad_cc_32, OPERANDS_3, uint32_t, 32, true, (uint32_t)(a *b) + C_)
CARRYING(mad_cc_64, OPERANDS_3, uint64_t, 64, true, (u128)(uint64_t)(a *b) + C_)
CARRYING(mad_hi_cc_u32, OPERANDS_3, uint32_t, 32, true, ((a * b) >> 32) + C_)
CARRYING(mad_hi_cc_u64, OPERANDS_3, uint64_t, 64, true, ((a * b) >> 64) + C_)
#define HI_S32 ((u128)(uint32_t)(((int64_t)(int32_t)a * (int32_t)b) >> 32))
#define HI_S64 ((u128)(uint64_t)(((i128)(int64_t)a * (int64_t)b) >> 64))
CARRYING(mad_hi_cc_s32, OPERANDS_3, uint32_t, 32, true, HI_S32 + C_)
CARRYING(mad_hi_cc_s64, OPERANDS_3, uint64_t, 64, true, HI_S64 + C_)
CARRYING(madc_hi_s32, OPERANDS_3, uint32_t, 32, false, HI_S32 + C_ + in)
CARRYING(madc_hi_s64, OPERANDS_3, uint64_t, 64, false, HI_S64 + C_ + in)
CARRYING(madc_32, OPERANDS_3, uint32_t, 32, false, (uint32_t)(a *b) + C_ + in)
CARRYING(madc_64, OPERANDS_3, uint64_t, 64, false, (u128)(uint64_t)(a *b) + C_ + in)
CARRYING(madc_hi_u32, OPERANDS_3, uint32_t, 32, false, ((a * b) >> 32) + C_ + in)
CARRYING(madc_hi_u64, OPERANDS_3, uint64_t, 64, false, ((a * b) >> 64) + C_ + in)

// ---- products -----------------------------------------------------------------------------------

BINARY(mul_16, uint16_t, uint16_t, (uint32_t)a *b)
BINARY(mul_32, uint32_t, uint32_t, a *b)
BINARY(mul_64, uint64_t, uint64_t, a *b)
BINARY(mul_wide_u16, uint16_t, uint32_t, (uint32_t)a *b)
BINARY(mul_wide_s16, int16_t, uint32_t, (int32_t)a *b)
BINARY(mul_wide_u32, uint32_t, uint64_t, (uint64_t)a *b)
BINARY(mul_wide_s32, int32_t, uint64_t, (int64_t)a *b)
BINARY(mul_hi_u16, uint16_t, uint16_t, ((uint32_t)a * b) >> 16)
BINARY(mul_hi_s16, int16_t, uint16_t, ((int32_t)a * b) >> 16)
BINARY(mul_hi_u32, uint32_t, uint32_t, ((uint64_t)a * b) >> 32)
BINARY(mul_hi_s32, int32_t, uint32_t, ((int64_t)a * b) >> 32)
BINARY(mul_hi_u64, uint64_t, uint64_t, ((u128)a * b) >> 64)
BINARY(mul_hi_s64, int64_t, uint64_t, ((i128)a * b) >> 64)
TERNARY(mad_16, uint16_t, uint16_t, uint16_t, (uint32_t)a *b + c)
TERNARY(mad_32, uint32_t, uint32_t, uint32_t, a *b + c)
TERNARY(mad_64, uint64_t, uint64_t, uint64_t, a *b + c)
TERNARY(mad_wide_u16, uint16_t, uint32_t, uint32_t, (uint32_t)a *b + c)
TERNARY(mad_wide_s16, int16_t, uint32_t, uint32_t, (uint32_t)((int32_t)a *b) + c)
TERNARY(mad_wide_u32, uint32_t, uint64_t, uint64_t, (uint64_t)a *b + c)
TERNARY(mad_wide_s32, int32_t, uint64_t, uint64_t, (uint64_t)((int64_t)a *b) + c)
TERNARY(mad_hi_u32, uint32_t, uint32_t, uint32_t, (uint32_t)(((uint64_t)a * b) >> 32) + c)
TERNARY(mad_hi_s32, int32_t, uint32_t, uint32_t, (uint32_t)(((int64_t)a * b) >> 32) + c)
TERNARY(mad_hi_u64, uint64_t, uint64_t, uint64_t, (uint64_t)(((u128)a * b) >> 64) + c)
TERNARY(mad_hi_s64, int64_t, uint64_t, uint64_t, (uint64_t)(((i128)a * b) >> 64) + c)
static uint32_t u24(uint32_t a) { return a & 0xffffff; }
static int32_t s24(uint32_t a) { return (int32_t)(a << 8) >> 8; }
BINARY(mul24_u32, uint32_t, uint32_t, u24(a) * u24(b))
BINARY(mul24_s32, uint32_t, uint32_t, (int64_t)s24(a) * s24(b))
// The upper 32 of 48 bits.
BINARY(mul24_hi_u32, uint32_t, uint32_t, ((uint64_t)u24(a) * u24(b)) >> 16)
BINARY(mul24_hi_s32, uint32_t, uint32_t, ((int64_t)s24(a) * s24(b)) >> 16)
TERNARY(mad24_hi_u32, uint32_t, uint32_t, uint32_t,
        (uint32_t)(((uint64_t)u24(a) * u24(b)) >> 16) + c)
TERNARY(mad24_hi_s32, uint32_t, uint32_t, uint32_t,
        (uint32_t)(((int64_t)s24(a) * s24(b)) >> 16) + c)
TERNARY(mad24_hi_sat_s32, uint32_t, int32_t, uint32_t,
        saturate((((int64_t)s24(a) * s24(b)) >> 16) + c))
TERNARY(mad_hi_sat_s32, int32_t, int32_t, uint32_t, saturate((((int64_t)a * b) >> 32) + c))
TERNARY(mad24_u32, uint32_t, uint32_t, uint32_t, u24(a) * u24(b) + c)
TERNARY(mad24_s32, uint32_t, uint32_t, uint32_t, (uint32_t)((int64_t)s24(a) * s24(b)) + c)
TERNARY(sad_u32, uint32_t, uint32_t, uint32_t, c + (a > b ? a - b : b - a))
TERNARY(sad_s32, int32_t, uint32_t, uint32_t,
        c + (a > b ? (uint32_t)a - (uint32_t)b : (uint32_t)b - (uint32_t)a))

// Division by zero gives all ones in the quotient and the dividend as remainder, as the code that
// the assembler makes of it does; the PTX ISA leaves it open.
#define DIVISION(suffix, T, R)                                               \
  BINARY(div_u##suffix, T, T, b ? a / b : (T) ~(T)0)                         \
  BINARY(rem_u##suffix, T, T, b ? a % b : a)                                 \
  BINARY(div_s##suffix, R, T, b == 0 ? -1 : b == -1 ? (R)(0 - (T)a) : a / b) \
  BINARY(rem_s##suffix, R, T, b == 0 ? a : b == -1 ? 0 : a % b)
DIVISION(16, uint16_t, int16_t)
DIVISION(32, uint32_t, int32_t)
DIVISION(64, uint64_t, int64_t)

#define EXTREMES(suffix, T, S)                             \
  BINARY(min_u##suffix, T, T, a < b ? a : b)               \
  BINARY(min_s##suffix, S, T, a < b ? a : b)               \
  BINARY(max_u##suffix, T, T, a > b ? a : b)               \
  BINARY(max_s##suffix, S, T, a > b ? a : b)               \
  UNARY(abs_s##suffix, S, T, a < 0 ? (T)(0 - (T)a) : (T)a) \
  UNARY(neg_##suffix, T, T, 0 - a)
EXTREMES(16, uint16_t, int16_t)
EXTREMES(32, uint32_t, int32_t)
EXTREMES(64, uint64_t, int64_t)
static int32_t at_least_0(int32_t a) { return a < 0 ? 0 : a; }
BINARY(min_relu_s32, int32_t, uint32_t, at_least_0(a < b ? a : b))
BINARY(max_relu_s32, int32_t, uint32_t, at_least_0(a > b ? a : b))

// Two numbers of 16 bits each; .relu keeps both at 0 or above.
typedef int32_t Pick(int32_t a, int32_t b);
static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }
static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
static uint32_t pick_halves(const PtxInst *i, Pick *pick, uint32_t a, uint32_t b) {
  const bool is_signed = i->form.types[0] == PTX_S16X2, relu = ptx_has(i, PTX_MOD_relu);
  uint32_t out = 0;
  for (int at = 0; at < 32; at += 16) {
    const uint32_t x = a >> at & 0xffff, y = b >> at & 0xffff;
    const int32_t picked = is_signed ? pick((int16_t)x, (int16_t)y) : pick((int32_t)x, (int32_t)y);
    out |= ((uint32_t)(relu && picked < 0 ? 0 : picked) & 0xffff) << at;
  }
  return out;
}
BINARY(min_16x2, uint32_t, uint32_t, pick_halves(i, smaller, a, b))
BINARY(max_16x2, uint32_t, uint32_t, pick_halves(i, larger, a, b))

// ---- bits ---------------------------------------------------------------------------------------

static uint64_t reverse(uint64_t a, int bits) {
  uint64_t result = 0;
  for (int bit = 0; bit < bits; bit++) result |= (a >> bit & 1) << (bits - 1 - bit);
  return result;
}
UNARY(popc_32, uint32_t, uint32_t, __builtin_popcount(a))
UNARY(popc_64, uint64_t, uint32_t, __builtin_popcountll(a))
UNARY(clz_32, uint32_t, uint32_t, a ? __builtin_clz(a) : 32)
UNARY(clz_64, uint64_t, uint32_t, a ? __builtin_clzll(a) : 64)
UNARY(brev_32, uint32_t, uint32_t, reverse(a, 32))
UNARY(brev_64, uint64_t, uint64_t, reverse(a, 64))

#define TYPE_BITS (ptx_types[i->form.types[0]].bits)
#define TYPE_SIGNED (ptx_types[i->form.types[0]].class == 'S')

static uint64_t highest_bit(uint64_t a, int bits, bool is_signed, bool as_shift) {
  a = ptx_cut(is_signed && ptx_sign(a, bits) < 0 ? ~a : a, bits);
  if (a == 0) return 0xffffffff;
  const int at = 63 - __builtin_clzll(a);
  return (uint64_t)(as_shift ? bits - 1 - at : at);
}
UNARY(bfind, uint64_t, uint32_t,
      highest_bit(a, TYPE_BITS, TYPE_SIGNED, ptx_has(i, PTX_MOD_shiftamt)))

// bfe: bits [b, b + c) of a, the sign of the field (or of a, past its end) in front of them.
static uint64_t field(uint64_t a, int bits, bool is_signed, uint64_t first, uint64_t n) {
  first &= 255;
  n &= 255;
  const uint64_t last = first + n - 1 < (uint64_t)bits - 1 ? first + n - 1 : (uint64_t)bits - 1;
  const bool fills = is_signed && n > 0 && (a >> last & 1);
  uint64_t result = fills ? ~UINT64_C(0) : 0;
  for (uint64_t bit = 0; bit < n && bit < (uint64_t)bits && first + bit < (uint64_t)bits; bit++)
    result = (result & ~(UINT64_C(1) << bit)) | (a >> (first + bit) & 1) << bit;
  return ptx_cut(result, bits);
}
TERNARY(bfe, uint64_t, uint64_t, uint64_t,
        field(ptx_cut(a, TYPE_BITS), TYPE_BITS, TYPE_SIGNED, (uint32_t)b, (uint32_t)c))

static uint64_t insert(uint64_t a, uint64_t b, uint64_t first, uint64_t n, int bits) {
  for (uint64_t bit = 0; bit < (n & 255) && bit + (first & 255) < (uint64_t)bits; bit++) {
    const uint64_t place = UINT64_C(1) << (bit + (first & 255));
    b = (a >> bit & 1) ? b | place : b & ~place;
  }
  return b;
}
#define INSERTING(name, T, bits)                                                              \
  void run_##name(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {               \
    OPERANDS_3 const uint64_t *N = ptx_lanes(m, w, &i->groups[4], 0);                         \
    FOR_LANES(mask) D[l] = (T)insert((T)A[l], (T)B[l], (uint32_t)C[l], (uint32_t)N[l], bits); \
  }
INSERTING(bfi_32, uint32_t, 32)
INSERTING(bfi_64, uint64_t, 64)

static uint32_t mask_of(uint32_t first, uint32_t n, bool clamp) {
  if (!clamp) first &= 31, n &= 31;
  const uint64_t ones = n >= 32 ? UINT64_C(0xffffffff) : (UINT64_C(1) << n) - 1;
  return first >= 32 ? 0 : (uint32_t)(ones << first);
}
BINARY(bmsk, uint32_t, uint32_t, mask_of(a, b, ptx_has(i, PTX_MOD_clamp)))

static uint32_t extend(uint32_t a, uint32_t n, bool is_signed, bool clamp) {
  if (!clamp) n &= 31;
  if (n >= 32) return a;
  if (n == 0) return 0;
  return (uint32_t)(is_signed ? (uint64_t)ptx_sign(a, (int)n) : ptx_cut(a, (int)n));
}
BINARY(szext, uint32_t, uint32_t, extend(a, b, TYPE_SIGNED, ptx_has(i, PTX_MOD_clamp)))

static uint32_t nth_bit(uint32_t bits, uint32_t base, int32_t n) {
  if (n == 0) return bits >> (base & 31) & 1 ? base : 0xffffffff;
  const int step = n > 0 ? 1 : -1;
  for (int at = (int)(base & 31); at >= 0 && at < 32; at += step)
    if ((bits >> at & 1) && (n -= step) == 0) return (uint32_t)at;
  return 0xffffffff;
}
TERNARY(fns, uint32_t, uint32_t, uint32_t, nth_bit(a, b, (int32_t)c))

static int64_t part(uint32_t word, int at, int bits, bool is_signed) {
  const uint64_t value = ptx_cut((uint64_t)word >> at, bits);
  return is_signed ? ptx_sign(value, bits) : (int64_t)value;
}
static bool second_signed(const PtxInst *i) {
  return ptx_types[i->form.types[i->form.n_types > 1 ? 1 : 0]].class == 'S';
}
static uint32_t dot4(const PtxInst *i, uint32_t a, uint32_t b, uint32_t c) {
  int64_t sum = (int32_t)c;
  for (int byte = 0; byte < 32; byte += 8)
    sum += part(a, byte, 8, TYPE_SIGNED) * part(b, byte, 8, second_signed(i));
  return (uint32_t)sum;
}
static uint32_t dot2(const PtxInst *i, uint32_t a, uint32_t b, uint32_t c) {
  int64_t sum = (int32_t)c;
  const int upper = ptx_has(i, PTX_MOD_hi) ? 16 : 0;
  for (int n = 0; n < 2; n++)
    sum += part(a, 16 * n, 16, TYPE_SIGNED) * part(b, upper + 8 * n, 8, second_signed(i));
  return (uint32_t)sum;
}
TERNARY(dp4a, uint32_t, uint32_t, uint32_t, dot4(i, a, b, c))
TERNARY(dp2a, uint32_t, uint32_t, uint32_t, dot2(i, a, b, c))

// The four selectors of each mode of prmt, by the low two bits of c. (PTX ISA, prmt.)
static uint32_t selectors(const PtxInst *i, uint32_t c) {
  static const struct {
    PtxModifier mode;
    uint16_t of[4];
  } modes[] = {{PTX_MOD_f4e, {0x3210, 0x4321, 0x5432, 0x6543}},
               {PTX_MOD_b4e, {0x5670, 0x6701, 0x7012, 0x0123}},
               {PTX_MOD_rc8, {0x0000, 0x1111, 0x2222, 0x3333}},
               {PTX_MOD_ecl, {0x3210, 0x3211, 0x3222, 0x3333}},
               {PTX_MOD_ecr, {0x0000, 0x1110, 0x2210, 0x3210}},
               {PTX_MOD_rc16, {0x1010, 0x3232, 0x1010, 0x3232}}};
  for (size_t n = 0; n < sizeof modes / sizeof modes[0]; n++)
    if (ptx_has(i, modes[n].mode)) return modes[n].of[c & 3];
  return c;
}
static uint32_t permute(uint32_t a, uint32_t b, uint32_t chosen) {
  const uint64_t both = (uint64_t)b << 32 | a;
  uint32_t result = 0;
  for (int n = 0; n < 4; n++) {
    const uint32_t selector = chosen >> 4 * n & 15;
    uint32_t byte = (uint32_t)(both >> 8 * (selector & 7)) & 255;
    if (selector & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << 8 * n;
  }
  return result;
}
TERNARY(prmt, uint32_t, uint32_t, uint32_t, permute(a, b, selectors(i, c)))

// ---- shifts: amounts beyond the width are clamped
// ------------------------------------------------

#define SHIFTED(name, T, R, expression)                                         \
  void run_##name(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) { \
    OPERANDS_2                                                                  \
    FOR_LANES(mask) {                                                           \
      const T a = (T)A[l];                                                      \
      const uint32_t b = (uint32_t)B[l];                                        \
      D[l] = (R)(expression);                                                   \
    }                                                                           \
  }
SHIFTED(shl_16, uint16_t, uint16_t, b > 15 ? 0 : (uint32_t)a << b)
SHIFTED(shl_32, uint32_t, uint32_t, b > 31 ? 0 : a << b)
SHIFTED(shl_64, uint64_t, uint64_t, b > 63 ? 0 : a << b)
SHIFTED(shr_16, uint16_t, uint16_t, b > 15 ? 0 : a >> b)
SHIFTED(shr_32, uint32_t, uint32_t, b > 31 ? 0 : a >> b)
SHIFTED(shr_64, uint64_t, uint64_t, b > 63 ? 0 : a >> b)
SHIFTED(shr_s16, int16_t, uint16_t, a >> (b > 15 ? 15 : b))
SHIFTED(shr_s32, int32_t, uint32_t, a >> (b > 31 ? 31 : b))
SHIFTED(shr_s64, int64_t, uint64_t, a >> (b > 63 ? 63 : b))

static uint64_t amount(const PtxInst *i, uint32_t c) {
  return ptx_has(i, PTX_MOD_clamp) ? (c > 32 ? 32 : c) : c & 31;
}
TERNARY(shf_l, uint32_t, uint32_t, uint32_t, (((uint64_t)b << 32 | a) << amount(i, c)) >> 32)
TERNARY(shf_r, uint32_t, uint32_t, uint32_t, ((uint64_t)b << 32 | a) >> amount(i, c))

BINARY(and_bits, uint64_t, uint64_t, ptx_cut(a &b, TYPE_BITS))
BINARY(or_bits, uint64_t, uint64_t, ptx_cut(a | b, TYPE_BITS))
BINARY(xor_bits, uint64_t, uint64_t, ptx_cut(a ^ b, TYPE_BITS))
UNARY(not_bits, uint64_t, uint64_t, ptx_cut(~a, TYPE_BITS))
UNARY(cnot_bits, uint64_t, uint64_t, ptx_cut(a, TYPE_BITS) == 0)

static uint32_t table_of_3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (int row = 0; row < 8; row++)
    if (table >> row & 1) result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  return result;
}
void run_lop3(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  OPERANDS_3 const uint64_t *T = ptx_lanes(m, w, &i->groups[4], 0);
  uint32_t set = 0;
  FOR_LANES(mask) {
    D[l] = table_of_3((uint32_t)A[l], (uint32_t)B[l], (uint32_t)C[l], (uint32_t)T[l]);
    set |= (uint32_t)(D[l] != 0) << l;
  }
  if (i->n_groups <= 5) return;
  const uint32_t other = ptx_pred(m, w, &i->groups[5]);
  ptx_put_pred(m, w, &i->pair, mask, ptx_has(i, PTX_MOD_and) ? set & other : set | other);
}

// ---- predicates ---------------------------------------------------------------------------------

#define PREDICATE(name, expression)                                             \
  void run_##name(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) { \
    const uint32_t a = ptx_pred(m, w, &i->groups[1]);                           \
    const uint32_t b = i->n_groups > 2 ? ptx_pred(m, w, &i->groups[2]) : 0;     \
    (void)b;                                                                    \
    ptx_put_pred(m, w, &i->groups[0], mask, (expression));                      \
  }
PREDICATE(and_pred, a &b)
PREDICATE(or_pred, a | b)
PREDICATE(xor_pred, a ^ b)
PREDICATE(not_pred, ~a)
PREDICATE(mov_pred, a)
