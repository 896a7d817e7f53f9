// Floats of any format by one rule: |x| = fraction · 2^(exponent − fraction bits), where subnormal
// numbers have the smallest exponent. Worked example, e4m3 (3 fraction bits, bias 7): 0.3 has the
// exponent −2, 0.3 · 2^(3 + 2) = 9.6, rounded 10 = hidden 8 + 2: bits (−2 + 7) << 3 | 2 = 0x2a,
// which reads back as 10 / 32 = 0.3125.
#include "numbers.h"

#include <math.h>
#include <string.h>

typedef struct Format {
  int bits, fraction;  // 0: no float
} Format;

static const Format formats[PLAN_N_TYPES] = {
    [PLAN_F16] = {16, 10}, [PLAN_BF16] = {16, 7}, [PLAN_E4M3] = {8, 3}, [PLAN_E5M2] = {8, 2}};

static int bias_of(Format format) { return (1 << (format.bits - 2 - format.fraction)) - 1; }

static double decode(Format format, unsigned bits) {
  int bias = bias_of(format),
      exponent = (int)(bits & ((1u << (format.bits - 1)) - 1)) >> format.fraction;
  int whole = (int)(bits & ((1u << format.fraction) - 1));
  bool special = exponent == 2 * bias + 1 && format.fraction != 3;
  double size = special ? (whole ? NAN : INFINITY)
                : exponent
                    ? ldexp(whole + (1 << format.fraction), exponent - bias - format.fraction)
                    : ldexp(whole, 1 - bias - format.fraction);
  if (format.fraction == 3 && (bits & 127) == 127) size = NAN;
  return bits >> (format.bits - 1) & 1 ? -size : size;
}

static unsigned encode(Format format, double value) {
  int bias = bias_of(format), exponent = value == 0 ? 1 - bias : ilogb(value);
  unsigned sign = signbit(value) ? 1u << (format.bits - 1) : 0, hidden = 1u << format.fraction;
  if (exponent < 1 - bias) exponent = 1 - bias;
  unsigned whole = (unsigned)nearbyint(ldexp(fabs(value), format.fraction - exponent));
  if (whole < hidden) return sign | whole;
  return sign | (((unsigned)(exponent + bias) << format.fraction) + whole - hidden);
}

double number_load(PlanType type, const void *from, uint64_t i) {
  const unsigned char *bytes = (const unsigned char *)from + i * (uint64_t)plan_type_bytes(type);
  double d;
  float f;
  int32_t s;
  uint16_t h;
  switch (type) {
    case PLAN_F64:
      return memcpy(&d, bytes, sizeof d), d;
    case PLAN_F32:
    case PLAN_TF32:
      return memcpy(&f, bytes, sizeof f), (double)f;
    case PLAN_S32:
      return memcpy(&s, bytes, sizeof s), s;
    case PLAN_S8:
      return (signed char)*bytes;
    case PLAN_F16:
    case PLAN_BF16:
      return memcpy(&h, bytes, sizeof h), decode(formats[type], h);
    default:
      return decode(formats[type], *bytes);
  }
}

static int32_t clamped(double value, double limit) {
  return (int32_t)fmin(fmax(nearbyint(value), -limit - 1), limit);
}

void number_store(PlanType type, void *to, uint64_t i, double value) {
  int n = plan_type_bytes(type);
  unsigned char *bytes = (unsigned char *)to + i * (uint64_t)n;
  float f = (float)value;
  int32_t s = clamped(value, INT32_MAX);
  if (type == PLAN_F64) {
    memcpy(bytes, &value, sizeof value);
  } else if (type == PLAN_F32 || type == PLAN_TF32) {
    memcpy(bytes, &f, sizeof f);
  } else if (type == PLAN_S32) {
    memcpy(bytes, &s, sizeof s);
  } else {
    unsigned bits = type == PLAN_S8 ? (unsigned)clamped(value, 127) : encode(formats[type], value);
    for (int b = 0; b < n; b++) bytes[b] = (unsigned char)(bits >> 8 * b);
  }
}

double number_rounded(PlanType type, double value) {
  unsigned char bytes[8];
  number_store(type, bytes, 0, value);
  return number_load(type, bytes, 0);
}

double number_cut_to_tf32(double value) {
  float f = (float)value;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  bits &= 0xffffe000u;
  memcpy(&f, &bits, sizeof f);
  return (double)f;
}
