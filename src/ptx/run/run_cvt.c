// Comparison, choice, copies and conversion. (PTX ISA, 9.7.6, 9.7.7 and 9.7.9.)
#include <math.h>

#include "ptx/module/float_format.h"
#include "ptx/run/run.h"

// ---- comparison ---------------------------------------------------------------------------------

typedef enum Comparison { LESS, EQUAL, GREATER, UNORDERED } Comparison;

static Comparison order_of_floats(double a, double b) {
  return isnan(a) || isnan(b) ? UNORDERED : a < b ? LESS : a > b ? GREATER : EQUAL;
}

static double number_of(PtxType type, uint64_t bits) {
  if (type == PTX_F32) return (double)ptx_f32(bits);
  if (type == PTX_F64) return ptx_f64(bits);
  const PtxFormat *format = ptx_format_of(type);
  return ptx_float_value(format, ptx_cut(bits, format->bits));
}

static Comparison order_of(const PtxInst *i, PtxType type, uint64_t a, uint64_t b) {
  const PtxTypeRow *row = &ptx_types[type];
  if (ptx_format_of(type)) {
    double x = number_of(type, a), y = number_of(type, b);
    if (ptx_has(i, PTX_MOD_ftz)) {
      const double least = ldexp(1, ptx_format_of(type)->exponent_min);
      if (fabs(x) < least) x = 0;
      if (fabs(y) < least) y = 0;
    }
    return order_of_floats(x, y);
  }
  const bool wants_unsigned = i->form.compare >= PTX_MOD_lo && i->form.compare <= PTX_MOD_hs;
  if (row->class == 'S' && !wants_unsigned) {
    const int64_t x = ptx_sign(a, row->bits), y = ptx_sign(b, row->bits);
    return x < y ? LESS : x > y ? GREATER : EQUAL;
  }
  const uint64_t x = ptx_cut(a, row->bits), y = ptx_cut(b, row->bits);
  return x < y ? LESS : x > y ? GREATER : EQUAL;
}

// The orders that a comparison accepts: bits 1 << LESS …
static unsigned accepted(PtxModifier compare) {
  enum { L = 1 << LESS, E = 1 << EQUAL, G = 1 << GREATER, U = 1 << UNORDERED };
  switch (compare) {
    case PTX_MOD_eq:
      return E;
    case PTX_MOD_ne:
      return L | G;
    case PTX_MOD_lt:
    case PTX_MOD_lo:
      return L;
    case PTX_MOD_le:
    case PTX_MOD_ls:
      return L | E;
    case PTX_MOD_gt:
    case PTX_MOD_hi:
      return G;
    case PTX_MOD_ge:
    case PTX_MOD_hs:
      return G | E;
    case PTX_MOD_equ:
      return E | U;
    case PTX_MOD_neu:
      return L | G | U;
    case PTX_MOD_ltu:
      return L | U;
    case PTX_MOD_leu:
      return L | E | U;
    case PTX_MOD_gtu:
      return G | U;
    case PTX_MOD_geu:
      return G | E | U;
    case PTX_MOD_num:
      return L | E | G;
    case PTX_MOD_nan:
      return U;
    default:
      return 0;
  }
}

static uint32_t logic(const PtxInst *i, uint32_t a, uint32_t b) {
  switch (i->form.logic) {
    case PTX_MOD_and:
      return a & b;
    case PTX_MOD_or:
      return a | b;
    case PTX_MOD_xor:
      return a ^ b;
    default:
      return a;
  }
}

// Lanes for which it holds, without what .and and the like ask besides. Of a pair of halves: one of
// them, from bit `half` on.
static uint32_t compare(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask, PtxType type,
                        int half) {
  const uint64_t *A = ptx_lanes(m, w, &i->groups[1], 0), *B = ptx_lanes(m, w, &i->groups[2], 0);
  const unsigned orders = accepted(i->form.compare);
  uint32_t holds = 0;
  FOR_LANES(mask) holds |= (orders >> order_of(i, type, A[l] >> half, B[l] >> half) & 1) << l;
  return holds;
}

static bool is_pair(PtxType type) { return ptx_types[type].class == 'X'; }

static uint32_t with_other(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t holds) {
  return logic(i, holds, i->n_groups > 3 ? ptx_pred(m, w, &i->groups[3]) : 0);
}

// The second predicate is the opposite of the first; of a pair of halves it is the upper one's.
void run_setp(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const PtxType type = i->form.types[0];
  const uint32_t holds = compare(m, w, i, mask, type, 0),
                 second = is_pair(type) ? compare(m, w, i, mask, type, 16) : ~holds;
  const uint32_t first = with_other(m, w, i, holds), other = with_other(m, w, i, second);
  ptx_put_pred(m, w, &i->groups[0], mask, first);
  ptx_put_pred(m, w, &i->pair, mask, other);
}

// A float of one, or all bits, where it holds; of a pair of halves in each half.
void run_set(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const PtxType source = i->form.types[i->form.n_types > 1 ? 1 : 0];
  const PtxFormat *format = ptx_format_of(i->form.types[0]);
  const int bits = is_pair(source) ? 16 : ptx_types[i->form.types[0]].bits;
  const uint64_t one =
      format ? ptx_float_round(format, 1, PTX_ROUND_NEAREST, false) : ptx_cut(~UINT64_C(0), bits);
  const uint32_t low = with_other(m, w, i, compare(m, w, i, mask, source, 0));
  const uint32_t high =
      is_pair(source) ? with_other(m, w, i, compare(m, w, i, mask, source, 16)) : 0;
  uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
  FOR_LANES(mask) D[l] = (low >> l & 1 ? one : 0) | (high >> l & 1 ? one << 16 : 0);
}

void run_selp(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint64_t *A = ptx_lanes(m, w, &i->groups[1], 0), *B = ptx_lanes(m, w, &i->groups[2], 0);
  const uint32_t chosen = ptx_pred(m, w, &i->groups[3]);
  const int bits = ptx_types[i->form.types[0]].bits;
  uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
  FOR_LANES(mask) D[l] = ptx_cut(chosen >> l & 1 ? A[l] : B[l], bits);
}

void run_slct(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint64_t *A = ptx_lanes(m, w, &i->groups[1], 0), *B = ptx_lanes(m, w, &i->groups[2], 0),
                 *C = ptx_lanes(m, w, &i->groups[3], 0);
  const bool is_float = i->form.n_types > 1 && i->form.types[1] == PTX_F32;
  const int bits = ptx_types[i->form.types[0]].bits;
  uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
  FOR_LANES(mask) {
    const float c = ptx_f32(C[l]);
    const bool small = ptx_has(i, PTX_MOD_ftz) && fpclassify(c) == FP_SUBNORMAL;
    const bool first = is_float ? small || c >= 0 : (int32_t)C[l] >= 0;
    D[l] = ptx_cut(first ? A[l] : B[l], bits);
  }
}

// ---- copies -------------------------------------------------------------------------------------

// mov.b64 {lo, hi}, d and back: parts of equal width behind each other.
static void mov_parts(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const PtxGroup *to = &i->groups[0], *from = &i->groups[1];
  const int bits = ptx_types[i->form.types[0]].bits;
  const int to_bits = bits / to->n, from_bits = bits / from->n;
  FOR_LANES(mask) {
    uint64_t whole = 0;
    for (int n = 0; n < from->n; n++)
      whole |= ptx_cut(ptx_lanes(m, w, from, n)[l], from_bits) << n * from_bits;
    for (int n = 0; n < to->n; n++)
      ptx_lanes(m, w, to, n)[l] = ptx_cut(whole >> n * to_bits, to_bits);
  }
}

// The clock moves by one with every instruction, so that waiting for it ends.
static uint64_t clock_of(const PtxMachine *m, int special) {
  const uint64_t now = (uint64_t)m->executed;
  return special == PTX_SPECIAL_clock_hi || special == PTX_SPECIAL_globaltimer_hi ? now >> 32 : now;
}

void run_mov(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (i->groups[0].n > 1 || i->groups[1].n > 1) {
    mov_parts(m, w, i, mask);
    return;
  }
  const int special = ~m->module->args[i->groups[1].at];
  const uint64_t *A = ptx_lanes(m, w, &i->groups[1], 0);
  const int bits = ptx_types[i->form.types[0]].bits;
  uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
  if (special >= PTX_SPECIAL_clock && special <= PTX_SPECIAL_globaltimer_hi) {
    FOR_LANES(mask) D[l] = ptx_cut(clock_of(m, special), bits);
    return;
  }
  FOR_LANES(mask) D[l] = ptx_cut(A[l], bits);
}

void run_zero_result(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
  FOR_LANES(mask) D[l] = 0;
}

// ---- conversion ---------------------------------------------------------------------------------

static long double round_whole(long double value, PtxRounding rounding) {
  switch (rounding) {
    case PTX_ROUND_ZERO:
      return truncl(value);
    case PTX_ROUND_DOWN:
      return floorl(value);
    case PTX_ROUND_UP:
      return ceill(value);
    case PTX_ROUND_AWAY:
      return roundl(value);
    case PTX_ROUND_NEAREST:
      break;
  }
  const long double low = floorl(value), rest = value - low;
  if (rest != 0.5L) return rest < 0.5L ? low : low + 1;
  return fmodl(low, 2) == 0 ? low : low + 1;
}

// A float to a whole number of `to`: rounded and kept in range. A NaN becomes 0, but the highest
// bit alone where one of both types has 64. (PTX ISA, cvt, "Integer Notes".)
static uint64_t whole_of(long double value, const PtxTypeRow *from, const PtxTypeRow *to,
                         PtxRounding rounding) {
  if (isnan(value)) return from->bits == 64 || to->bits == 64 ? UINT64_C(1) << (to->bits - 1) : 0;
  value = round_whole(value, rounding);
  const bool is_signed = to->class == 'S';
  const int magnitude = is_signed ? to->bits - 1 : to->bits;
  const long double limit = ldexpl(1, magnitude);
  if (value >= limit) return ptx_cut(~UINT64_C(0), magnitude);
  if (is_signed && value < -limit) return ptx_cut(UINT64_C(1) << magnitude, to->bits);
  if (!is_signed && value < 0) return 0;
  return ptx_cut(value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value, to->bits);
}

// Whole to whole: .sat keeps it in the range of what it becomes.
static uint64_t clamp_whole(uint64_t bits, const PtxTypeRow *from, const PtxTypeRow *to, bool sat) {
  const bool negative = from->class == 'S' && ptx_sign(bits, from->bits) < 0;
  const uint64_t value =
      from->class == 'S' ? (uint64_t)ptx_sign(bits, from->bits) : ptx_cut(bits, from->bits);
  if (!sat) return value;
  const int magnitude = to->class == 'S' ? to->bits - 1 : to->bits;
  if (!negative) {
    const uint64_t most = ptx_cut(~UINT64_C(0), magnitude);
    return value > most ? most : value;
  }
  if (to->class != 'S') return 0;
  const int64_t least =
      -(INT64_C(1) << (magnitude < 63 ? magnitude : 62)) * (magnitude < 63 ? 1 : 2);
  return (int64_t)value < least ? (uint64_t)least : value;
}

static long double exact_of(PtxType type, uint64_t bits) {
  const PtxTypeRow *row = &ptx_types[type];
  if (ptx_format_of(type)) return number_of(type, type == PTX_TF32 ? bits >> 13 : bits);
  return row->class == 'S' ? (long double)ptx_sign(bits, row->bits)
                           : (long double)ptx_cut(bits, row->bits);
}

static uint64_t to_float(const PtxInst *i, PtxType type, long double value) {
  const PtxFormat *format = ptx_format_of(type);
  const bool finite = ptx_has(i, PTX_MOD_satfinite);
  if (ptx_has(i, PTX_MOD_sat)) value = value > 0 ? (value < 1 ? value : 1) : 0;
  if (ptx_has(i, PTX_MOD_relu) && !(value > 0) && !isnan(value)) value = 0;
  const uint64_t bits = ptx_float_round(format, value, ptx_rounding(i->form.round), finite);
  return type == PTX_TF32 ? bits << 13 : bits;
}

// cvt.rni.f32.f32: to a whole number that stays a float.
static bool stays_float(const PtxInst *i) {
  return i->form.round >= PTX_MOD_rni && i->form.round <= PTX_MOD_rpi;
}

// The bits of a NaN, where they go on: most conversions make one NaN of all. Measured on an H200.
static bool keep_nan(PtxType from, PtxType to, PtxModifier round, uint64_t bits, uint64_t *out) {
  const uint64_t quiet = UINT64_C(1) << 51;
  if (from == PTX_F64 && to == PTX_F64)
    *out = bits | quiet;
  else if (from == PTX_F32 && to == PTX_F64)
    *out = (bits & 0x80000000) << 32 | UINT64_C(0x7ff) << 52 | (bits & 0x7fffff) << 29 | quiet;
  else if (from == PTX_F64 && to == PTX_F32)
    *out = (bits >> 32 & 0x80000000) | 0x7fc00000 | (bits >> 29 & 0x3fffff);
  else if (from == PTX_BF16 && to == PTX_F32)
    *out = bits << 16;
  else if (from == PTX_F32 && to == PTX_TF32 && round == PTX_MOD_rna)
    *out = bits & 0xffffe000;  // a NaN whose upper bits are 0 becomes infinity
  else
    return false;
  return true;
}

static uint64_t convert(const PtxInst *i, uint64_t bits) {
  const PtxType to = i->form.types[0], from = i->form.types[1];
  const PtxTypeRow *to_row = &ptx_types[to], *from_row = &ptx_types[from];
  uint64_t kept;
  if (!ptx_format_of(from) && !ptx_format_of(to))
    return clamp_whole(bits, from_row, to_row, ptx_has(i, PTX_MOD_sat));
  long double value = exact_of(from, bits);
  if (isnan(value) && !ptx_has(i, PTX_MOD_sat) && keep_nan(from, to, i->form.round, bits, &kept))
    return kept;
  if (ptx_has(i, PTX_MOD_ftz) && from == PTX_F32 && fabsl(value) < 0x1p-126L)
    value = copysignl(0, value);
  if (!ptx_format_of(to)) return whole_of(value, from_row, to_row, ptx_rounding(i->form.round));
  if (stays_float(i)) value = copysignl(round_whole(value, ptx_rounding(i->form.round)), value);
  uint64_t result = to_float(i, to, value);
  if (ptx_has(i, PTX_MOD_ftz) && to == PTX_F32 && (result & 0x7f800000) == 0) result &= 0x80000000;
  return result;
}

// cvt.rn.f16x2.f32 d, a, b: a in the upper half.
static uint64_t convert_pair(const PtxInst *i, uint64_t upper, uint64_t lower) {
  const PtxType to = i->form.types[0], from = i->form.types[1];
  const int bits = ptx_types[to].bits / 2;
  return to_float(i, to, exact_of(from, upper)) << bits | to_float(i, to, exact_of(from, lower));
}

// cvt.rn.f16x2.e4m3x2 and back: both halves of one register.
static uint64_t convert_halves(const PtxInst *i, uint64_t both) {
  const PtxType to = i->form.types[0], from = i->form.types[1];
  const int to_bits = ptx_types[to].bits / 2, from_bits = ptx_types[from].bits / 2;
  const uint64_t low = to_float(i, to, number_of(from, ptx_cut(both, from_bits)));
  return low | to_float(i, to, number_of(from, ptx_cut(both >> from_bits, from_bits))) << to_bits;
}

// The destination may be wider than the type: its sign goes on.
static uint64_t widen(const PtxMachine *m, const PtxWarp *w, const PtxInst *i, uint64_t value) {
  const PtxTypeRow *to = &ptx_types[i->form.types[0]];
  const int bits = ptx_reg_bits(m, w, &i->groups[0], 0);
  if (to->class != 'S') return ptx_cut(value, to->bits);
  return ptx_cut((uint64_t)ptx_sign(value, to->bits), bits);
}

typedef uint16_t HalfOf(float value);

// The short way of an f32 that is rounded to the nearest half; NULL: something else is asked for.
static HalfOf *half_of(const PtxInst *i) {
  static const PtxModifier others[] = {PTX_MOD_ftz, PTX_MOD_sat, PTX_MOD_satfinite, PTX_MOD_relu};
  if (i->form.types[1] != PTX_F32 || i->form.round != PTX_MOD_rn) return NULL;
  for (size_t n = 0; n < sizeof others / sizeof *others; n++)
    if (ptx_has(i, others[n])) return NULL;
  const PtxType to = i->form.types[0];
  return to == PTX_F16 || to == PTX_F16X2     ? ptx_f16_of
         : to == PTX_BF16 || to == PTX_BF16X2 ? ptx_bf16_of
                                              : NULL;
}

void run_cvt(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint64_t *A = ptx_lanes(m, w, &i->groups[1], 0);
  uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
  const bool packs = ptx_types[i->form.types[0]].class == 'X';
  HalfOf *half = half_of(i);
  if (half && (!packs || i->n_groups > 2)) {
    const uint64_t *low = packs ? ptx_lanes(m, w, &i->groups[2], 0) : A;
    FOR_LANES(mask) {
      const uint64_t upper = packs ? (uint64_t)half(ptx_f32(A[l])) << 16 : 0;
      D[l] = upper | half(ptx_f32(low[l]));
    }
  } else if (packs && i->n_groups > 2) {
    const uint64_t *B = ptx_lanes(m, w, &i->groups[2], 0);
    FOR_LANES(mask) D[l] = convert_pair(i, A[l], B[l]);
  } else if (packs) {
    FOR_LANES(mask) D[l] = convert_halves(i, A[l]);
  } else if (i->form.types[0] == PTX_F32 && i->form.types[1] == PTX_F16 &&
             !ptx_has(i, PTX_MOD_ftz) && !ptx_has(i, PTX_MOD_sat)) {
    FOR_LANES(mask) {
      const float value = ptx_f16_value((uint16_t)A[l]);
      D[l] = isnan(value) ? ptx_formats[PTX_FORMAT_F32].nan : ptx_f32_bits(value);
    }
  } else {
    FOR_LANES(mask) D[l] = widen(m, w, i, convert(i, A[l]));
  }
}

// ---- addresses ----------------------------------------------------------------------------------

static uint64_t window_of(PtxSpace space) {
  switch (space) {
    case PTX_SPACE_SHARED:
      return PTX_SHARED_WINDOW;
    case PTX_SPACE_LOCAL:
      return PTX_LOCAL_WINDOW;
    case PTX_SPACE_PARAM:
      return PTX_PARAM_WINDOW;
    default:
      return 0;
  }
}

static void move_window(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask, uint64_t by) {
  const uint64_t *A = ptx_lanes(m, w, &i->groups[1], 0);
  const int bits = ptx_types[i->form.types[0]].bits;
  uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
  FOR_LANES(mask) {
    const bool is_slot = (A[l] & PTX_TAGS) == PTX_SLOT_TAG;
    D[l] = is_slot ? (A[l] & ~PTX_TAGS) + PTX_LOCAL_WINDOW : ptx_cut(A[l] + by, bits);
  }
}

void run_cvta(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  move_window(m, w, i, mask, window_of(i->space));
}
void run_cvta_to(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  move_window(m, w, i, mask, 0 - window_of(i->space));
}

void run_isspacep(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint64_t *A = ptx_lanes(m, w, &i->groups[1], 0);
  const uint64_t window = window_of(i->space);
  // For shared::cta, addresses that name no block: this one's.
  const uint64_t bytes = i->space == PTX_SPACE_SHARED && !ptx_has(i, PTX_MOD_shared_cluster)
                             ? UINT64_C(1) << PTX_RANK_SHIFT
                             : PTX_WINDOW_BYTES;
  uint32_t holds = 0;
  const bool own_only = i->space == PTX_SPACE_SHARED && !ptx_has(i, PTX_MOD_shared_cluster);
  const uint64_t own = ptx_ranked(0, (uint64_t)w->block->rank);
  FOR_LANES(mask) {
    const bool in_const = A[l] - PTX_CONST_VARIABLES < PTX_WINDOW_BYTES;
    const bool names_own = own_only && A[l] - window - own < bytes;
    const bool inside = window                        ? A[l] - window < bytes || names_own
                        : i->space == PTX_SPACE_CONST ? in_const
                                                      : ptx_is_global(A[l]);
    holds |= (uint32_t)inside << l;
  }
  ptx_put_pred(m, w, &i->groups[0], mask, holds);
}
