// One row per floating-point format says everything: its bits, its limits, and the values beyond.
//
// A value is carried as a double, which holds every number of every format. Rounding a normal
// number to p mantissa bits is adding half a unit to the bits of the double and cutting them off;
// Worked example, 2049 to f16, p = 10: 2049 = 1.00000000001b · 2^11, one bit more than fits; the
// tie goes to the even neighbour 2048. Only what the format holds as a subnormal, and what is
// beyond its largest number, takes the slow way.
#include "model/words/formats.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct Format {
  int mantissa, bias;
  double smallest;  // normal
  double quantum;   // the distance of neighbouring subnormal numbers
  double largest;
  uint32_t infinity;  // its bits without a sign; 0: too large a number becomes the largest
  uint32_t nan;
  uint32_t special;  // the least bits that are no number
  double scale;      // 2^(bias of a double - bias)
} Format;

enum { DOUBLE_MANTISSA = 52, DOUBLE_BIAS = 1023, UE8M0_BIAS = 127, UE8M0_NAN = 0xff };

static const Format formats[DTYPE_COUNT] = {
    [DTYPE_F16] = {10, 15, 0x1p-14, 0x1p-24, 65504, 0x7c00, 0x7fff, 0x7c00, 0x1p1008},
    [DTYPE_BF16] = {7, 127, 0x1p-126, 0x1p-133, 0x1.fep127, 0x7f80, 0x7fff, 0x7f80, 0x1p896},
    [DTYPE_E4M3] = {3, 7, 0x1p-6, 0x1p-9, 448, 0, 0x7f, 0x7f, 0x1p1016},
    [DTYPE_E5M2] = {2, 15, 0x1p-14, 0x1p-16, 57344, 0, 0x7f, 0x7c, 0x1p1008},
    [DTYPE_MXF8] = {3, 7, 0x1p-6, 0x1p-9, 448, 0, 0x7f, 0x7f, 0x1p1016},
    [DTYPE_MXF8E5M2] = {2, 15, 0x1p-14, 0x1p-16, 57344, 0, 0x7f, 0x7c, 0x1p1008},
    [DTYPE_UE4M3] = {3, 7, 0x1p-6, 0x1p-9, 448, 0, 0x7f, 0x7f, 0x1p1016},
};

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double double_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// ---- rounding -----------------------------------------------------------------------------------

static double round_slowly(const Format *format, double value, double rounded) {
  if (isnan(value)) return value;
  if (fabs(value) < format->smallest)
    return copysign(nearbyint(value / format->quantum) * format->quantum, value);
  if (fabs(rounded) <= format->largest) return rounded;
  return copysign(format->infinity ? (double)INFINITY : format->largest, value);
}

static double round_to(const Format *format, double value) {
  const int dropped = DOUBLE_MANTISSA - format->mantissa;
  uint64_t bits = bits_of(value);
  uint64_t half = ((uint64_t)1 << (dropped - 1)) - 1 + (bits >> dropped & 1);
  double rounded = double_of((bits + half) >> dropped << dropped);
  double size = fabs(rounded);
  if ((size > format->smallest && size <= format->largest) || bits << 1 == 0) return rounded;
  return round_slowly(format, value, rounded);
}

static double round_whole(double value, double lowest, double highest) {
  if (isnan(value)) return 0;
  double rounded = nearbyint(value);
  return rounded < lowest ? lowest : rounded > highest ? highest : rounded;
}

// 2^-127 … 2^127: an exponent and nothing else, so that there is no sign and no 0.
static double round_to_power(double value) {
  if (isnan(value)) return value;
  if (!(value > 0x1p-127)) return 0x1p-127;
  int exponent;
  const double fraction = frexp(value, &exponent);  // in [1/2, 1)
  const double power = ldexp(1, fraction > 0.75 ? exponent : exponent - 1);
  return power > 0x1p127 ? 0x1p127 : power;
}

// A byte of two e2m1 is no number: it is carried as its code.
static double round_to_code(double value) { return value >= 0 && value <= 255 ? floor(value) : 0; }

double number_round(DType type, double value) {
  switch (type) {
    case DTYPE_MXF4:
    case DTYPE_NVFP4:
      return round_to_code(value);
    case DTYPE_UE8M0:
      return round_to_power(value);
    case DTYPE_UE4M3:
      return value > 0 || isnan(value) ? round_to(&formats[type], value) : 0;
    case DTYPE_F32:
    case DTYPE_TF32:
      return (double)(float)value;
    case DTYPE_F64:
      return value;
    case DTYPE_S8:
      return round_whole(value, -128, 127);
    case DTYPE_S32:
      return round_whole(value, INT32_MIN, INT32_MAX);
    default:
      return round_to(&formats[type], value);
  }
}

// ---- bits ---------------------------------------------------------------------------------------

// The bits of a number, moved to where a double has its exponent and its mantissa, are the number
// but for the difference of the biases, subnormal or not.
static double decode(const Format *format, uint32_t bits, int sign_bit) {
  uint32_t size = bits & ((1u << sign_bit) - 1), mantissa = size & ((1u << format->mantissa) - 1);
  double value = double_of((uint64_t)size << (DOUBLE_MANTISSA - format->mantissa)) * format->scale;
  if (size >= format->special) value = mantissa ? (double)NAN : (double)INFINITY;
  return bits >> sign_bit & 1 ? -value : value;
}

static uint32_t encode(const Format *format, double value, int sign_bit) {
  double rounded = round_to(format, value), size = fabs(rounded);
  uint32_t sign = signbit(rounded) ? 1u << sign_bit : 0;
  if (isnan(rounded)) return format->nan;
  if (isinf(rounded)) return sign | format->infinity;
  if (size < format->smallest) return sign | (uint32_t)(size / format->quantum);
  uint64_t bits = bits_of(size);
  uint32_t field = (uint32_t)((int)(bits >> DOUBLE_MANTISSA) - DOUBLE_BIAS + format->bias);
  uint32_t mantissa =
      (uint32_t)(bits >> (DOUBLE_MANTISSA - format->mantissa)) & ((1u << format->mantissa) - 1);
  return sign | field << format->mantissa | mantissa;
}

// The exponent of a float, which has the same bias; 0xff is the NaN.
static double read_power(uint8_t code) {
  return code == UE8M0_NAN ? (double)NAN : ldexp(1, code - UE8M0_BIAS);
}

static uint8_t write_power(double value) {
  return isnan(value) ? UE8M0_NAN : (uint8_t)(ilogb(round_to_power(value)) + UE8M0_BIAS);
}

double number_read(DType type, const void *bytes) {
  float single;
  double wide;
  int32_t whole;
  uint16_t half;
  switch (type) {
    case DTYPE_F32:
    case DTYPE_TF32:
      return memcpy(&single, bytes, sizeof single), (double)single;
    case DTYPE_F64:
      return memcpy(&wide, bytes, sizeof wide), wide;
    case DTYPE_S32:
      return memcpy(&whole, bytes, sizeof whole), (double)whole;
    case DTYPE_S8:
      return *(const int8_t *)bytes;
    case DTYPE_MXF4:
    case DTYPE_NVFP4:
      return *(const uint8_t *)bytes;
    case DTYPE_UE8M0:
      return read_power(*(const uint8_t *)bytes);
    case DTYPE_F16:
    case DTYPE_BF16:
      return memcpy(&half, bytes, sizeof half), decode(&formats[type], half, 15);
    default:
      return decode(&formats[type], *(const uint8_t *)bytes, 7);
  }
}

void number_write(DType type, void *bytes, double value) {
  if (type == DTYPE_UE8M0) {
    *(uint8_t *)bytes = write_power(value);
    return;
  }
  if (dtype_elements(type) > 1) {
    *(uint8_t *)bytes = (uint8_t)round_to_code(value);
    return;
  }
  if (type == DTYPE_UE4M3) value = number_round(type, value);
  if (dtype_bytes(type) <= 2 && type != DTYPE_S8) {
    int sign_bit = dtype_bytes(type) * 8 - 1;
    uint32_t bits = encode(&formats[type], value, sign_bit);
    memcpy(bytes, &bits, (size_t)dtype_bytes(type));
    return;
  }
  double rounded = number_round(type, value);
  float single = (float)rounded;
  if (type == DTYPE_F64)
    memcpy(bytes, &rounded, sizeof rounded);
  else if (type == DTYPE_S32)
    memcpy(bytes, &(int32_t){(int32_t)rounded}, sizeof(int32_t));
  else if (type == DTYPE_S8)
    *(int8_t *)bytes = (int8_t)rounded;
  else
    memcpy(bytes, &single, sizeof single);
}

// ---- facts --------------------------------------------------------------------------------------

double number_tensor(DType type, double value) {
  if (type != DTYPE_TF32) return value;
  float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  bits &= ~(uint32_t)0x1fff;
  memcpy(&single, &bits, sizeof single);
  return (double)single;
}

double number_convert(DType type, double value) {
  if (type != DTYPE_TF32) return number_round(type, value);
  float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  if (isfinite(single)) bits += 0x1000;
  memcpy(&single, &bits, sizeof bits);
  return number_tensor(type, (double)single);
}

static const double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0., -0.5, -1, -1.5, -2, -3, -4, -6};

double number_element(DType type, double value, int i) {
  if (dtype_elements(type) == 1 || isnan(value)) return value;
  return e2m1[(int)value >> (4 * i) & 15];
}

double number_product(DType type, double a, double b) {
  if (dtype_elements(type) == 1 || isnan(a) || isnan(b)) return a * b;
  const int x = (int)a, y = (int)b;
  return e2m1[x & 15] * e2m1[y & 15] + e2m1[x >> 4 & 15] * e2m1[y >> 4 & 15];
}

double number_exact_limit(DType type) {
  switch (type) {
    case DTYPE_F32:
      return 0x1p24;
    case DTYPE_TF32:
      return 0x1p11;
    case DTYPE_F64:
      return 0x1p53;
    case DTYPE_S8:
      return 127;
    case DTYPE_S32:
      return INT32_MAX;
    default:
      return ldexp(2, formats[type].mantissa);
  }
}
