// One small function for each operation.
#include "sass/sass_eval.h"

#include <math.h>
#include <string.h>

uint32_t sass_field(const SassInst *inst, int from, int n) {
  const uint64_t value = from >= 64  ? inst->high >> (from - 64)
                         : from == 0 ? inst->low
                                     : inst->low >> from | inst->high << (64 - from);
  return (uint32_t)(value & ((UINT64_C(1) << n) - 1));
}

// By the form in bits 9 to 11: a letter for each of the eight.
SassFrom sass_operand_from(const SassInst *inst, int slot) {
  static const char b[] = "rrrrikur", c[] = "rrikrrru";
  const char from = (slot == 1 ? b : c)[inst->form & 7];
  return from == 'r'   ? SASS_FROM_REGISTER
         : from == 'u' ? SASS_FROM_UNIFORM
         : from == 'i' ? SASS_FROM_IMMEDIATE
                       : SASS_FROM_CONSTANT;
}

// B stands where C does as soon as C is no register.
int sass_operand_place(const SassInst *inst, int slot) {
  const bool swaps = sass_operand_from(inst, 2) != SASS_FROM_REGISTER;
  if (slot == 0) return 24;
  return (slot == 1) == !swaps ? 32 : 64;
}

static bool bit(const SassInst *inst, int at) { return sass_field(inst, at, 1); }

// The bit at which operand B is negated belongs to the number where B is one.
static bool is_negated(const SassInst *inst, int at) {
  enum { IMMEDIATE_B = 4, OF_B = 63 };
  return bit(inst, at) && !(at == OF_B && inst->form == IMMEDIATE_B);
}

static uint32_t negated(const SassInst *inst, int at, uint32_t value) {
  return is_negated(inst, at) ? 0u - value : value;
}

// With .X a negative operand is its complement: the carry has the one that is missing.
static uint32_t negated_x(const SassInst *inst, int at, uint32_t value, bool extends) {
  if (!is_negated(inst, at)) return value;
  return extends ? ~value : 0u - value;
}

// ---- moves --------------------------------------------------------------------------------------

static SassOut run_mov(const SassInst *inst, SassIn in) {
  (void)inst;
  return (SassOut){.d = in.b};
}

static SassOut run_copy_c(const SassInst *inst, SassIn in) {
  (void)inst;
  return (SassOut){.d = in.c};
}

static SassOut run_copy_a(const SassInst *inst, SassIn in) {
  (void)inst;
  return (SassOut){.d = in.a};
}

static SassOut run_sel(const SassInst *inst, SassIn in) {
  (void)inst;
  return (SassOut){.d = in.p ? in.a : in.b};
}

// Bytes of C:A by the digits of B; the top bit of a digit repeats the sign.
static SassOut run_prmt(const SassInst *inst, SassIn in) {
  (void)inst;
  const uint64_t from = (uint64_t)in.c << 32 | in.a;
  uint32_t out = 0;
  for (int i = 0; i < 4; i++) {
    const uint32_t digit = in.b >> (4 * i) & 15;
    uint32_t byte = (uint32_t)(from >> (8 * (digit & 7))) & 0xFF;
    if (digit & 8) byte = byte & 0x80 ? 0xFF : 0;
    out |= byte << (8 * i);
  }
  return (SassOut){.d = out};
}

// ---- sums ---------------------------------------------------------------------------------------

static SassOut run_iadd3(const SassInst *inst, SassIn in) {
  enum { EXTENDS = 74 };
  const bool extends = bit(inst, EXTENDS);
  const uint64_t a = negated_x(inst, 72, in.a, extends), b = negated_x(inst, 63, in.b, extends),
                 c = negated_x(inst, 75, in.c, extends);
  // A negated operand carries where nothing is borrowed: -0 is 2^32.
  const uint64_t zero = (uint64_t)(!extends && is_negated(inst, 72) && !in.a) +
                        (uint64_t)(!extends && is_negated(inst, 63) && !in.b) +
                        (uint64_t)(!extends && is_negated(inst, 75) && !in.c);
  const uint64_t sum = a + b + c + (extends && in.p) + (zero << 32);
  return (SassOut){.d = (uint32_t)sum, .p = sum >> 32};
}

static SassOut run_viadd(const SassInst *inst, SassIn in) {
  return (SassOut){.d = negated(inst, 72, in.a) + negated(inst, 63, in.b)};
}

static SassOut run_iabs(const SassInst *inst, SassIn in) {
  (void)inst;
  return (SassOut){.d = in.b >> 31 ? 0u - in.b : in.b};
}

static SassOut run_lea(const SassInst *inst, SassIn in) {
  enum { SIGNED = 73, EXTENDS = 74, SHIFT = 75, TAKES_HIGH = 80 };
  const unsigned shift = sass_field(inst, SHIFT, 5);
  const uint32_t a = bit(inst, 72) ? 0u - in.a : in.a;
  const uint32_t above = bit(inst, SIGNED) ? (in.a >> 31 ? ~0u : 0) : in.c;
  const uint64_t shifted = ((uint64_t)above << 32 | a) << shift;
  const uint32_t moved = bit(inst, TAKES_HIGH) ? (uint32_t)(shifted >> 32) : a << shift;
  const uint64_t sum = (uint64_t)moved + in.b + (bit(inst, EXTENDS) && in.p);
  return (SassOut){.d = (uint32_t)sum, .p = sum >> 32};
}

static SassOut run_min(const SassInst *inst, SassIn in) {
  enum { SIGNED = 73 };
  const bool less = bit(inst, SIGNED) ? (int32_t)in.a < (int32_t)in.b : in.a < in.b;
  return (SassOut){.d = less == in.p ? in.a : in.b};
}

// ---- products -----------------------------------------------------------------------------------

static uint64_t product(const SassInst *inst, SassIn in) {
  enum { SIGNED = 73 };
  return bit(inst, SIGNED) ? (uint64_t)((int64_t)(int32_t)in.a * (int32_t)in.b)
                           : (uint64_t)in.a * in.b;
}

static SassOut run_imad(const SassInst *inst, SassIn in) {
  enum { EXTENDS = 74 };
  const bool extends = bit(inst, EXTENDS);
  const uint64_t sum =
      (uint64_t)(in.a * in.b) + negated_x(inst, 75, in.c, extends) + (uint64_t)(extends && in.p);
  return (SassOut){.d = (uint32_t)sum, .p = sum >> 32};
}

static SassOut run_wide(const SassInst *inst, SassIn in) {
  const uint64_t addend = (uint64_t)in.c_high << 32 | in.c, sum = product(inst, in) + addend;
  return (SassOut){.d = (uint32_t)sum, .d_high = (uint32_t)(sum >> 32), .p = sum < addend};
}

// The sum is of 64 bits, C a pair: R5 · R9 + R5:R4 in a division by whole numbers.
static SassOut run_high(const SassInst *inst, SassIn in) {
  const uint64_t addend = (uint64_t)in.c_high << 32 | in.c;
  return (SassOut){.d = (uint32_t)((product(inst, in) + addend) >> 32)};
}

// ---- bits ---------------------------------------------------------------------------------------

static uint32_t by_table(uint32_t table, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t out = 0;
  for (int i = 0; i < 8; i++)
    if (table >> i & 1) out |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return out;
}

static SassOut run_lop3(const SassInst *inst, SassIn in) {
  const uint32_t d = by_table(sass_field(inst, 72, 8), in.a, in.b, in.c);
  return (SassOut){.d = d, .p = d != 0};
}

static SassOut run_plop3(const SassInst *inst, SassIn in) {
  const uint32_t table = sass_field(inst, 64, 3) | sass_field(inst, 72, 5) << 3;
  return (SassOut){.p = by_table(table, in.p ? ~0u : 0, in.q ? ~0u : 0, in.r ? ~0u : 0) & 1};
}

// The low or the high word of C:A, shifted.
static SassOut run_shf(const SassInst *inst, SassIn in) {
  enum { TYPE = 73, S64 = 0, U64 = 1, S32 = 2, TO_RIGHT = 76, TAKES_HIGH = 80 };
  const uint32_t type = sass_field(inst, TYPE, 2), most = type == S64 || type == U64 ? 63 : 32;
  const uint32_t n = in.b > most ? most : in.b;
  const uint64_t value = (uint64_t)in.c << 32 | in.a;
  const bool is_signed = type == S32 || type == S64;
  if (!bit(inst, TO_RIGHT)) {
    const uint64_t left = value << n;
    return (SassOut){.d = (uint32_t)(bit(inst, TAKES_HIGH) ? left >> 32 : left)};
  }
  const uint64_t right = is_signed ? (uint64_t)((int64_t)value >> n) : value >> n;
  return (SassOut){.d = (uint32_t)(bit(inst, TAKES_HIGH) ? right >> 32 : right)};
}

static SassOut run_setp(const SassInst *inst, SassIn in) {
  enum { LT = 1, EQ = 2, GT = 4, SIGNED = 73, COMBINE = 74, OR = 1, XOR = 2, COMPARE = 76 };
  const bool is_signed = bit(inst, SIGNED);
  const bool less = is_signed ? (int32_t)in.a < (int32_t)in.b : in.a < in.b;
  const uint32_t is = less ? LT : in.a == in.b ? EQ : GT;
  const bool holds = sass_field(inst, COMPARE, 3) & is;
  const uint32_t combine = sass_field(inst, COMBINE, 2);
  return (SassOut){.p = combine == OR    ? holds || in.p
                        : combine == XOR ? holds != in.p
                                         : holds && in.p};
}

// ---- whole numbers by way of floats, as a division has them -------------------------------------

static float as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t as_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static SassOut run_i2f(const SassInst *inst, SassIn in) {
  enum { SIGNED = 74 };
  const double exact = bit(inst, SIGNED) ? (double)(int32_t)in.b : (double)in.b;
  float value = (float)exact;
  if ((double)value < exact) value = nextafterf(value, INFINITY);  // .RP, the one that occurs
  return (SassOut){.d = as_bits(value)};
}

static SassOut run_f2i(const SassInst *inst, SassIn in) {
  (void)inst;
  const float value = as_float(in.b);
  return (SassOut){.d = !(value > 0) ? 0 : value >= 4294967296.0f ? ~0u : (uint32_t)value};
}

static SassOut run_mufu(const SassInst *inst, SassIn in) {
  enum { FUNCTION = 74, RCP = 4 };
  const float value = as_float(in.b);
  return (SassOut){.d = sass_field(inst, FUNCTION, 4) == RCP ? as_bits(1 / value) : 0};
}

// ---- the table ----------------------------------------------------------------------------------

enum {
  A = SASS_HAS_A,
  B = SASS_HAS_B,
  C = SASS_HAS_C,
  D = SASS_HAS_D,
  PAIR = SASS_HAS_D_HIGH | SASS_HAS_C_HIGH,
  P = SASS_HAS_P,
  Q = SASS_HAS_Q,
  R = SASS_HAS_R,
  SETS = SASS_SETS_P
};

static const SassEval evals[] = {
    {0x002, B | D, run_mov},
    {0x007, A | B | D | P, run_sel},
    {0x00c, A | B | P | SETS, run_setp},
    {0x010, A | B | C | D | P | SETS, run_iadd3},
    {0x011, A | B | C | D | P | SETS, run_lea},
    {0x012, A | B | C | D | SETS, run_lop3},
    {0x013, B | D, run_iabs},
    {0x016, A | B | C | D, run_prmt},
    {0x019, A | B | C | D, run_shf},
    {0x01c, P | Q | R | SETS, run_plop3},
    {0x024, A | B | C | D | P | SETS, run_imad},
    {0x025, A | B | C | D | PAIR | SETS, run_wide},
    {0x027, A | B | C | D | SASS_HAS_C_HIGH, run_high},
    {0x036, A | B | D, run_viadd},
    {0x048, A | B | D | P, run_min},
    {0x105, B | D, run_f2i},
    {0x106, B | D, run_i2f},
    {0x108, B | D, run_mufu},
    {SASS_R2UR, A | D | SETS, run_copy_a},
};

// HFMA2.MMA R2, -RZ, RZ, 0, 9.5e-07 is how a constant is moved by the pipe that is free.
static const SassEval moves_constant = {0x035, C | D, run_copy_c};

static bool is_constant_move(const SassInst *inst) {
  enum { HFMA2_MMA = 0x035, HFMA2 = 0x031, RZ = 255, IMMEDIATE_C = 2 };
  const uint32_t bits = sass_field(inst, 0, 9);
  return (bits == HFMA2_MMA || bits == HFMA2) && inst->form == IMMEDIATE_C &&
         sass_field(inst, 24, 8) == RZ && sass_field(inst, 64, 8) == RZ;
}

bool sass_is_uniform(const SassInst *inst) {
  enum { FROM = 0x080, TO = 0x0c0 };
  const int bits = (int)sass_field(inst, 0, 9);
  return bits >= FROM && bits < TO;
}

const SassEval *sass_eval_find(const SassInst *inst) {
  enum { UNIFORM = 0x080 };
  if (is_constant_move(inst)) return &moves_constant;
  const int bits = (int)sass_field(inst, 0, 9) - (sass_is_uniform(inst) ? UNIFORM : 0);
  for (size_t i = 0; i < sizeof evals / sizeof *evals; i++)
    if (evals[i].bits == bits) return &evals[i];
  return NULL;
}
