// Whole numbers: sums with carries, products, shifts, tables of logic, comparisons.
//
// A negated operand of a sum is its complement and 1: -0 carries. (Compared with PTX and with an
// H200: tests/data/machine.)
#include "machine/mc_run.h"

#define VALUES(name, n)                          \
  const McOperand *name##_is = mc_operand(i, n); \
  const uint64_t *name = mc_row(w, i, n, 0)
#define AT(name) mc_value(name##_is, name[l])

static inline bool lane_of(uint32_t bits, uint32_t l) { return bits >> l & 1; }

// ---- sums ---------------------------------------------------------------------------------------

// A term of a sum of 64 bits: of -x the complement and 1.
static inline uint64_t term(const McOperand *o, uint64_t value) {
  return (uint64_t)(((uint32_t)value & o->keep) ^ o->flip) + o->add;
}

// IADD3 d, p, p, a, b, c, q, q
void mc_run_iadd3(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  VALUES(A, 3);
  VALUES(B, 4);
  VALUES(C, 5);
  const uint32_t q = mc_pred(w, i, 6, false), r = mc_pred(w, i, 7, false);
  uint64_t *D = mc_row(w, i, 0, 0);
  uint32_t first = 0, second = 0;
  FOR_LANES(mask) {
    const uint64_t sum =
        term(A_is, A[l]) + term(B_is, B[l]) + term(C_is, C[l]) + lane_of(q, l) + lane_of(r, l);
    D[l] = (uint32_t)sum;
    first |= (uint32_t)(sum >> 32 > 0) << l;
    second |= (uint32_t)(sum >> 32 > 1) << l;
  }
  mc_put_pred(w, i, 1, mask, first);
  mc_put_pred(w, i, 2, mask, second);
}

// A term of 64 bits, of which none carries.
static uint64_t pair_at(PtxWarp *w, const PtxInst *i, int n, uint32_t l) {
  const McOperand *o = mc_operand(i, n);
  const uint64_t value = mc_row(w, i, n, 1)[l] << 32 | (uint32_t)mc_row(w, i, n, 0)[l];
  return o->flip ? ~value + o->add : value;
}

static void sum_of_pairs(PtxWarp *w, const PtxInst *i, uint32_t mask, int first, int n) {
  uint64_t *D = mc_row(w, i, 0, 0), *D_high = mc_row(w, i, 0, 1);
  FOR_LANES(mask) {
    uint64_t sum = 0;
    for (int k = first; k < first + n; k++) sum += pair_at(w, i, k, l);
    D[l] = (uint32_t)sum;
    D_high[l] = sum >> 32;
  }
}

void mc_run_iadd_64(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  sum_of_pairs(w, i, mask, 1, 2);
}

void mc_run_iadd3_64(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  sum_of_pairs(w, i, mask, 3, 3);
}

// LEA d, p, a, b, [c,] shift, q: a moved left, and b. With HI the upper half of c:a moved.
void mc_run_lea(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  const McStep *step = i->machine;
  VALUES(A, 2);
  VALUES(B, 3);
  const McOperand *C_is = mc_operand(i, 4);
  const uint64_t *C = C_is->present ? mc_row(w, i, 4, 0) : NULL;
  const unsigned shift = (unsigned)mc_operand(i, 5)->read->value & 31;
  const uint32_t q = mc_pred(w, i, 6, false);
  const bool high = mc_has(step, MC_W_HI), is_signed = mc_has(step, MC_W_SX32);
  uint64_t *D = mc_row(w, i, 0, 0);
  uint32_t carries = 0;
  FOR_LANES(mask) {
    const uint32_t a = AT(A);
    const uint32_t above = is_signed ? (a >> 31 ? ~0u : 0) : C ? AT(C) : 0;
    const uint64_t moved = ((uint64_t)above << 32 | a) << shift;
    const uint64_t sum =
        (uint64_t)(uint32_t)(high ? moved >> 32 : moved) + term(B_is, B[l]) + lane_of(q, l);
    D[l] = (uint32_t)sum;
    carries |= (uint32_t)(sum >> 32 != 0) << l;
  }
  mc_put_pred(w, i, 1, mask, carries);
}

// ---- products -----------------------------------------------------------------------------------

static inline uint64_t product(bool is_unsigned, uint32_t a, uint32_t b) {
  return is_unsigned ? (uint64_t)a * b : (uint64_t)((int64_t)(int32_t)a * (int32_t)b);
}

// a · b + c + q of 64 bits, c a pair; gives the lanes that carry.
static uint32_t wide_sums(PtxWarp *w, const PtxInst *i, uint32_t mask, uint64_t out[PTX_LANES]) {
  VALUES(A, 2);
  VALUES(B, 3);
  VALUES(C, 4);
  const uint64_t *C_high = mc_row(w, i, 4, 1);
  const bool is_unsigned = mc_has(i->machine, MC_W_U32);
  const uint32_t q = mc_pred(w, i, 5, false);
  uint32_t carries = 0;
  FOR_LANES(mask) {
    uint64_t c = C_high[l] << 32 | (uint32_t)C[l];
    if (C_is->flip) c = ~c + C_is->add;
    const unsigned __int128 sum =
        (unsigned __int128)product(is_unsigned, AT(A), AT(B)) + c + lane_of(q, l);
    out[l] = (uint64_t)sum;
    carries |= (uint32_t)(sum >> 64 != 0) << l;
  }
  return carries;
}

// IMAD.WIDE d, p, a, b, c, q
void mc_run_imad_wide(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  uint64_t sum[PTX_LANES];
  const uint32_t carries = wide_sums(w, i, mask, sum);
  uint64_t *D = mc_row(w, i, 0, 0), *D_high = mc_row(w, i, 0, 1);
  FOR_LANES(mask) {
    D[l] = (uint32_t)sum[l];
    D_high[l] = sum[l] >> 32;
  }
  mc_put_pred(w, i, 1, mask, carries);
}

// IMAD.HI: the upper half alone. In R5 · R9 + R5:R4 the low half of the pair, too, may carry.
void mc_run_imad_hi(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  uint64_t sum[PTX_LANES];
  const uint32_t carries = wide_sums(w, i, mask, sum);
  uint64_t *D = mc_row(w, i, 0, 0);
  FOR_LANES(mask) D[l] = sum[l] >> 32;
  mc_put_pred(w, i, 1, mask, carries);
}

void mc_run_imad_x(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  VALUES(A, 2);
  VALUES(B, 3);
  VALUES(C, 4);
  const uint32_t q = mc_pred(w, i, 5, false);
  uint64_t *D = mc_row(w, i, 0, 0);
  uint32_t carries = 0;
  FOR_LANES(mask) {
    const uint64_t sum = (uint64_t)(AT(A) * AT(B)) + term(C_is, C[l]) + lane_of(q, l);
    D[l] = (uint32_t)sum;
    carries |= (uint32_t)(sum >> 32 != 0) << l;
  }
  mc_put_pred(w, i, 1, mask, carries);
}

static inline int32_t part(uint32_t word, int n, int bits, bool is_signed) {
  const uint32_t value = word >> (n * bits) & ((1u << bits) - 1);
  return is_signed ? (int32_t)(value << (32 - bits)) >> (32 - bits) : (int32_t)value;
}

// .U8.S8 of the two operands, in the order of the text.
static void signs_of(const PtxInst *i, bool out[2]) {
  const bool both_unsigned = !mc_has(i->machine, MC_W_S8) && !mc_has(i->machine, MC_W_S16);
  const bool both_signed = !mc_has(i->machine, MC_W_U8) && !mc_has(i->machine, MC_W_U16);
  out[0] = out[1] = !both_unsigned;
  if (both_unsigned || both_signed) return;
  // IDP's fields: bit 73 of A, bit 74 of B.
  out[0] = i->machine->high >> 9 & 1;
  out[1] = i->machine->high >> 10 & 1;
}

static void dot(PtxWarp *w, const PtxInst *i, uint32_t mask, int n, int bits, int from) {
  VALUES(A, 1);
  VALUES(B, 2);
  VALUES(C, 3);
  bool is_signed[2];
  signs_of(i, is_signed);
  uint64_t *D = mc_row(w, i, 0, 0);
  FOR_LANES(mask) {
    uint32_t sum = AT(C);
    for (int k = 0; k < n; k++)
      sum +=
          (uint32_t)(part(AT(A), k, bits, is_signed[0]) * part(AT(B), from + k, 8, is_signed[1]));
    D[l] = sum;
  }
}

void mc_run_idp4(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  dot(w, i, mask, 4, 8, 0);
}
void mc_run_idp2(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  dot(w, i, mask, 2, 16, mc_has(i->machine, MC_W_HI) ? 2 : 0);
}

// ---- bits ---------------------------------------------------------------------------------------

static uint32_t by_table(uint32_t table, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t out = 0;
  for (int n = 0; n < 8; n++)
    if (table >> n & 1) out |= (n & 4 ? a : ~a) & (n & 2 ? b : ~b) & (n & 1 ? c : ~c);
  return out;
}

// LOP3.LUT p, d, a, b, c, table, q
void mc_run_lop3(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  VALUES(A, 2);
  VALUES(B, 3);
  VALUES(C, 4);
  const uint32_t table = (uint32_t)mc_operand(i, 5)->read->value & 0xff;
  const uint32_t q = mc_pred(w, i, 6, false);
  uint64_t *D = mc_row(w, i, 1, 0);
  uint32_t any = 0;
  FOR_LANES(mask) {
    const uint32_t d = by_table(table, AT(A), AT(B), AT(C));
    D[l] = d;
    any |= (uint32_t)(d != 0) << l;
  }
  mc_put_pred(w, i, 0, mask, mc_has(i->machine, MC_W_PAND) ? any & q : any | q);
}

void mc_run_plop3(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  const uint32_t a = mc_pred(w, i, 2, true), b = mc_pred(w, i, 3, true), c = mc_pred(w, i, 4, true);
  const uint32_t first = by_table((uint32_t)mc_operand(i, 5)->read->value & 0xff, a, b, c),
                 second = by_table((uint32_t)mc_operand(i, 6)->read->value & 0xff, a, b, c);
  mc_put_pred(w, i, 0, mask, first);
  mc_put_pred(w, i, 1, mask, second);
}

// A saturated sum: the signs of both numbers and of their sum say whether it went too far.
void mc_run_plop3_signs(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  uint32_t sign[3] = {0};
  for (int k = 0; k < 3; k++)
    FOR_LANES(mask) sign[k] |= mc_value(mc_operand(i, 2 + k), mc_row(w, i, 2 + k, 0)[l]) >> 31 << l;
  for (int k = 0; k < 2; k++)
    mc_put_pred(
        w, i, k, mask,
        by_table((uint32_t)mc_operand(i, 5 + k)->read->value & 0xff, sign[0], sign[1], sign[2]));
}

// SHF d, low, shift, high
void mc_run_shf(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  const McStep *step = i->machine;
  VALUES(A, 1);
  VALUES(B, 2);
  VALUES(C, 3);
  const bool is_wide = mc_has(step, MC_W_U64) || mc_has(step, MC_W_S64),
             is_signed = mc_has(step, MC_W_S32) || mc_has(step, MC_W_S64),
             wraps = mc_has(step, MC_W_W), high = mc_has(step, MC_W_HI),
             left = mc_has(step, MC_W_L);
  const uint32_t most = is_wide ? 64 : 32;
  uint64_t *D = mc_row(w, i, 0, 0);
  FOR_LANES(mask) {
    const uint64_t value = (uint64_t)AT(C) << 32 | AT(A);
    uint32_t n = AT(B);
    n = wraps ? n & (most - 1) : n > most ? most : n;
    uint64_t moved;
    if (left)
      moved = n > 63 ? 0 : value << n;
    else if (is_signed)
      moved = (uint64_t)((int64_t)value >> (n > 63 ? 63 : n));
    else
      moved = n > 63 ? 0 : value >> n;
    D[l] = (uint32_t)(high ? moved >> 32 : moved);
  }
}

// ---- comparisons --------------------------------------------------------------------------------

static inline uint32_t logic(const McStep *step, uint32_t a, uint32_t b) {
  return mc_has(step, MC_W_OR) ? a | b : mc_has(step, MC_W_XOR) ? a ^ b : a & b;
}

typedef struct Compare {
  bool less, equal, more;
} Compare;

static Compare compare_of(const McStep *s) {
  return (Compare){
      mc_has(s, MC_W_LT) || mc_has(s, MC_W_LE) || mc_has(s, MC_W_NE) || mc_has(s, MC_W_T),
      mc_has(s, MC_W_EQ) || mc_has(s, MC_W_LE) || mc_has(s, MC_W_GE) || mc_has(s, MC_W_T),
      mc_has(s, MC_W_GT) || mc_has(s, MC_W_GE) || mc_has(s, MC_W_NE) || mc_has(s, MC_W_T)};
}

// ISETP p, p, a, b, q, below: with EX, of the upper halves, `below` says what the lower ones are.
void mc_run_isetp(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  const McStep *step = i->machine;
  VALUES(A, 2);
  VALUES(B, 3);
  const Compare holds = compare_of(step);
  const bool is_unsigned = mc_has(step, MC_W_U32), extends = mc_has(step, MC_W_EX);
  const uint32_t q = mc_pred(w, i, 4, true), below = mc_pred(w, i, 5, true);
  uint32_t bits = 0;
  FOR_LANES(mask) {
    const uint32_t a = AT(A), b = AT(B);
    const bool less = is_unsigned ? a < b : (int32_t)a < (int32_t)b;
    const bool it =
        a == b ? (extends ? lane_of(below, l) : holds.equal) : (less ? holds.less : holds.more);
    bits |= (uint32_t)it << l;
  }
  mc_put_pred(w, i, 0, mask, logic(step, bits, q));
  mc_put_pred(w, i, 1, mask, logic(step, ~bits, q));
}

static inline uint32_t smaller(bool is_unsigned, bool smallest, uint32_t a, uint32_t b) {
  const bool less = is_unsigned ? a < b : (int32_t)a < (int32_t)b;
  return less == smallest ? a : b;
}

// IMNMX d, PT, PT, a, b, q: sm_100 and sm_120 have two predicates behind the result.
void mc_run_imnmx(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  VALUES(A, 3);
  VALUES(B, 4);
  const uint32_t q = mc_pred(w, i, 5, true);
  const bool is_unsigned = mc_has(i->machine, MC_W_U32);
  uint64_t *D = mc_row(w, i, 0, 0);
  FOR_LANES(mask) D[l] = smaller(is_unsigned, lane_of(q, l), AT(A), AT(B));
}

// The same of both halves; .RELU keeps them at 0 or above.
void mc_run_imnmx_halves(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  VALUES(A, 3);
  VALUES(B, 4);
  const uint32_t q = mc_pred(w, i, 5, true);
  const bool is_unsigned = mc_has(i->machine, MC_W_U16X2), relu = mc_has(i->machine, MC_W_RELU);
  uint64_t *D = mc_row(w, i, 0, 0);
  FOR_LANES(mask) {
    uint32_t out = 0;
    for (int at = 0; at < 32; at += 16) {
      uint32_t a = AT(A) >> at & 0xffff, b = AT(B) >> at & 0xffff;
      if (!is_unsigned) a = (uint32_t)(int16_t)a, b = (uint32_t)(int16_t)b;
      const uint32_t one = smaller(is_unsigned, lane_of(q, l), a, b);
      out |= (relu && one >> 31 ? 0 : one & 0xffff) << at;
    }
    D[l] = out;
  }
}

// The smaller, or larger, one of two values: c, and a and b combined (their sum, or the like).
static void smaller_of_three(PtxWarp *w, const PtxInst *i, uint32_t mask, bool adds) {
  VALUES(A, 1);
  VALUES(B, 2);
  VALUES(C, 3);
  const uint32_t q = mc_pred(w, i, 4, true);
  const bool is_unsigned = mc_has(i->machine, MC_W_U32), relu = mc_has(i->machine, MC_W_RELU);
  uint64_t *D = mc_row(w, i, 0, 0);
  FOR_LANES(mask) {
    const bool least = lane_of(q, l);
    const uint32_t first = adds ? AT(A) + AT(B) : smaller(is_unsigned, least, AT(A), AT(B));
    const uint32_t one = smaller(is_unsigned, least, first, AT(C));
    D[l] = relu && one >> 31 ? 0 : one;
  }
}

void mc_run_imnmx3(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  smaller_of_three(w, i, mask, false);
}

void mc_run_iaddmnmx(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  smaller_of_three(w, i, mask, true);
}
