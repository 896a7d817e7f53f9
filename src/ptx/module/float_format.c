// Rounding to a format: the value in units of the last place, cut to a whole number, then rounded
// up where needed.
//
// With q the exponent of the last place, value = n · 2^q; n is whole for a representable value. A
// long double holds every f64, f32 sum in f64 and 64-bit integer exactly, so that nothing is
// rounded twice. The bits are n and the exponent above the smallest one, added: a carry out of the
// fraction goes to the exponent by itself. 2049 in f16: q = 1, n = 1024.5, the tie goes to the even
// 1024, so exponent 11 and fraction 0: 0x6800, which is 2048.
#include "ptx/module/float_format.h"

#include <math.h>
#include <string.h>

#include "model/words/formats.h"

const PtxFormat ptx_formats[PTX_FORMATS] = {
    [PTX_FORMAT_F16] = {16, 10, -14, 0x7c00, 0x7bff, 0x7fff},
    [PTX_FORMAT_BF16] = {16, 7, -126, 0x7f80, 0x7f7f, 0x7fff},
    [PTX_FORMAT_TF32] = {19, 10, -126, 0x3fc00, 0x3fbff, 0x3ffff},
    [PTX_FORMAT_F32] = {32, 23, -126, 0x7f800000, 0x7f7fffff, 0x7fffffff},
    [PTX_FORMAT_F64] = {64, 52, -1022, UINT64_C(0x7ff0000000000000), UINT64_C(0x7fefffffffffffff),
                        UINT64_C(0x7fffffffffffffff)},
    [PTX_FORMAT_E4M3] = {8, 3, -6, 0x7f, 0x7e, 0x7f},
    [PTX_FORMAT_E5M2] = {8, 2, -14, 0x7c, 0x7b, 0x7f},
    [PTX_FORMAT_E3M2] = {6, 2, -2, 0x20, 0x1f, 0x20},
    [PTX_FORMAT_E2M3] = {6, 3, 0, 0x20, 0x1f, 0x20},
    [PTX_FORMAT_E2M1] = {4, 1, 0, 0x8, 0x7, 0x8},
};

static const int8_t formats_of[PTX_TYPES] = {
    [PTX_F16] = 1 + PTX_FORMAT_F16,   [PTX_F16X2] = 1 + PTX_FORMAT_F16,
    [PTX_BF16] = 1 + PTX_FORMAT_BF16, [PTX_BF16X2] = 1 + PTX_FORMAT_BF16,
    [PTX_TF32] = 1 + PTX_FORMAT_TF32, [PTX_F32] = 1 + PTX_FORMAT_F32,
    [PTX_F32X2] = 1 + PTX_FORMAT_F32, [PTX_F64] = 1 + PTX_FORMAT_F64,
    [PTX_E4M3] = 1 + PTX_FORMAT_E4M3, [PTX_E4M3X2] = 1 + PTX_FORMAT_E4M3,
    [PTX_E5M2] = 1 + PTX_FORMAT_E5M2, [PTX_E5M2X2] = 1 + PTX_FORMAT_E5M2,
    [PTX_E3M2] = 1 + PTX_FORMAT_E3M2, [PTX_E2M3] = 1 + PTX_FORMAT_E2M3,
    [PTX_E2M1] = 1 + PTX_FORMAT_E2M1,
};

const PtxFormat *ptx_format_of(PtxType type) {
  return formats_of[type] ? &ptx_formats[formats_of[type] - 1] : NULL;
}

PtxRounding ptx_rounding(PtxModifier modifier) {
  switch (modifier) {
    case PTX_MOD_rz:
    case PTX_MOD_rzi:
      return PTX_ROUND_ZERO;
    case PTX_MOD_rm:
    case PTX_MOD_rmi:
      return PTX_ROUND_DOWN;
    case PTX_MOD_rp:
    case PTX_MOD_rpi:
      return PTX_ROUND_UP;
    case PTX_MOD_rna:
      return PTX_ROUND_AWAY;
    default:
      return PTX_ROUND_NEAREST;
  }
}

static bool goes_up(uint64_t whole, long double rest, PtxRounding rounding, bool negative) {
  switch (rounding) {
    case PTX_ROUND_NEAREST:
      return rest > 0.5L || (rest == 0.5L && (whole & 1));
    case PTX_ROUND_AWAY:
      return rest >= 0.5L;
    case PTX_ROUND_ZERO:
      return false;
    case PTX_ROUND_DOWN:
      return rest > 0 && negative;
    case PTX_ROUND_UP:
      return rest > 0 && !negative;
  }
  return false;
}

// The result of rounding a value beyond the largest number.
static uint64_t overflow(const PtxFormat *format, PtxRounding rounding, bool negative,
                         bool finite) {
  const bool stays = finite || rounding == PTX_ROUND_ZERO ||
                     (rounding == PTX_ROUND_DOWN && !negative) ||
                     (rounding == PTX_ROUND_UP && negative);
  return stays ? format->largest : format->infinity;
}

// A normal f64, whose last bits below the format's last place are cut off: 0x1.004p11 in f16 has
// 53 - 11 = 42 bits too many. False: it is none.
static bool round_double(const PtxFormat *format, double value, PtxRounding rounding, bool finite,
                         uint64_t *out) {
  enum { FRACTION = 52, BIAS = 1023, MOST = 2047 };
  uint64_t from;
  memcpy(&from, &value, sizeof from);
  const int raw = (int)(from >> FRACTION & MOST);
  if (!raw || raw == MOST || format->fraction_bits == FRACTION) return false;
  const bool negative = from >> 63;
  const int below = format->exponent_min - (raw - BIAS);
  const int exponent = below > 0 ? 0 : -below;  // above the smallest one
  const int cut = FRACTION - format->fraction_bits + (below > 0 ? below : 0);
  const uint64_t size = (from & ((UINT64_C(1) << FRACTION) - 1)) | UINT64_C(1) << FRACTION;
  uint64_t whole = 0, quarters = 1;  // what is cut off: none, below a half, a half, above it
  if (cut <= FRACTION + 1) {
    const uint64_t rest = size & ((UINT64_C(1) << cut) - 1), half = UINT64_C(1) << (cut - 1);
    whole = size >> cut;
    quarters = rest == 0 ? 0 : rest < half ? 1 : rest == half ? 2 : 3;
  }
  whole += goes_up(whole, (long double)quarters / 4, rounding, negative);
  const uint64_t bits = ((uint64_t)exponent << format->fraction_bits) + whole;
  *out = (uint64_t)negative << (format->bits - 1) |
         (bits > format->largest ? overflow(format, rounding, negative, finite) : bits);
  return true;
}

uint64_t ptx_float_round(const PtxFormat *format, long double value, PtxRounding rounding,
                         bool finite) {
  uint64_t short_way;
  if ((long double)(double)value == value &&
      round_double(format, (double)value, rounding, finite, &short_way))
    return short_way;
  if (isnan(value)) return format->nan;
  const bool negative = signbit(value) != 0;
  const uint64_t sign = (uint64_t)negative << (format->bits - 1);
  if (isinf(value)) return sign | (finite ? format->largest : format->infinity);
  const long double size = negative ? -value : value;
  if (size == 0) return sign;
  int exponent = ilogbl(size);
  if (exponent > 2000) return sign | overflow(format, rounding, negative, finite);
  if (exponent < format->exponent_min) exponent = format->exponent_min;
  const long double scaled = ldexpl(size, format->fraction_bits - exponent);
  uint64_t whole = (uint64_t)scaled;
  whole += goes_up(whole, scaled - (long double)whole, rounding, negative);
  const uint64_t bits =
      ((uint64_t)(exponent - format->exponent_min) << format->fraction_bits) + whole;
  return sign | (bits > format->largest ? overflow(format, rounding, negative, finite) : bits);
}

double ptx_float_value(const PtxFormat *format, uint64_t bits) {
  const bool negative = bits >> (format->bits - 1) & 1;
  const uint64_t size = bits & ((UINT64_C(1) << (format->bits - 1)) - 1);
  const uint64_t fraction = size & ((UINT64_C(1) << format->fraction_bits) - 1);
  const int exponent = (int)(size >> format->fraction_bits);
  const bool has_infinity = format->infinity != format->nan;
  double value;
  if (size == format->infinity && has_infinity)
    value = INFINITY;
  else if (size > format->largest)
    value = NAN;
  else if (exponent == 0)
    value = ldexp((double)fraction, format->exponent_min - format->fraction_bits);
  else
    value = ldexp((double)(fraction + (UINT64_C(1) << format->fraction_bits)),
                  format->exponent_min + exponent - 1 - format->fraction_bits);
  return negative ? -value : value;
}

uint16_t ptx_f16_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  const uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
  if (size > 0x7f800000) return 0x7fff;
  if (size >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
  if (size >= 0x38800000) {
    const uint32_t kept = size - 0x38000000;
    return (uint16_t)(sign | ((kept + 0xfff + (kept >> 13 & 1)) >> 13));
  }
  // Below the normal numbers: one half added, the last place is 2^-24 and rounds by itself.
  float small;
  memcpy(&small, &size, sizeof small);
  small += 0.5f;
  memcpy(&bits, &small, sizeof bits);
  return (uint16_t)(sign | (bits - 0x3f000000));
}

uint16_t ptx_bf16_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float ptx_f16_value(uint16_t half) {
  const uint32_t exponent = half >> 10 & 31;
  if (exponent == 31) return (float)ptx_float_value(&ptx_formats[PTX_FORMAT_F16], half);
  if (exponent == 0) {
    const float size = (float)(half & 0x3ff) * 0x1p-24f;
    return half & 0x8000 ? -size : size;
  }
  const uint32_t bits =
      (uint32_t)(half & 0x8000) << 16 | ((exponent + 112) << 23) | (uint32_t)(half & 0x3ff) << 13;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

double ptx_type_value(PtxType type, uint64_t bits) {
  switch (type) {
    case PTX_TF32:
      return ptx_float_value(&ptx_formats[PTX_FORMAT_F32], bits & 0xffffe000);
    case PTX_S8:
      return (int8_t)bits;
    case PTX_U8:
      return (uint8_t)bits;
    case PTX_S32:
      return (int32_t)bits;
    case PTX_S4:
      return (double)((int)(bits & 7) - (int)(bits & 8));
    case PTX_U4:
      return (double)(bits & 0xf);
    case PTX_UE8M0:
      return number_read(DTYPE_UE8M0, &(uint8_t){(uint8_t)bits});
    case PTX_UE4M3:  // its highest bit is not looked at
      return number_read(DTYPE_UE4M3, &(uint8_t){(uint8_t)(bits & 0x7f)});
    default:
      return ptx_float_value(ptx_format_of(type), bits);
  }
}
