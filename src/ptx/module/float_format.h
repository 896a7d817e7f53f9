// Floating-point formats and their rounding, exactly as the hardware's cvt, add, mul and fma do it.
//
//   ptx_float_round(&ptx_formats[PTX_FORMAT_F16], 2049.0L, PTX_ROUND_NEAREST, false)   0x6800
//   ptx_float_value(&ptx_formats[PTX_FORMAT_BF16], 0x3f80)                            1.0
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "ptx/module/ptx_isa.h"

typedef enum PtxRounding {
  PTX_ROUND_NEAREST,  // ties to even
  PTX_ROUND_ZERO,
  PTX_ROUND_DOWN,
  PTX_ROUND_UP,
  PTX_ROUND_AWAY,  // to nearest, ties away from zero
} PtxRounding;

typedef struct PtxFormat {
  int bits, fraction_bits, exponent_min;  // of the smallest normal number
  uint64_t infinity;                      // its bits; for e4m3 the NaN's
  uint64_t largest, nan;
} PtxFormat;

typedef enum PtxFormatId {
  PTX_FORMAT_F16,
  PTX_FORMAT_BF16,
  PTX_FORMAT_TF32,  // in the upper 19 bits of an f32
  PTX_FORMAT_F32,
  PTX_FORMAT_F64,
  PTX_FORMAT_E4M3,
  PTX_FORMAT_E5M2,
  PTX_FORMAT_E3M2,  // these three have neither infinity nor NaN
  PTX_FORMAT_E2M3,
  PTX_FORMAT_E2M1,
  PTX_FORMATS
} PtxFormatId;

extern const PtxFormat ptx_formats[PTX_FORMATS];

// The format of one number of this type: f16 for .f16x2 too. NULL for a type of whole numbers.
const PtxFormat *ptx_format_of(PtxType type);
PtxRounding ptx_rounding(PtxModifier modifier);
// `finite`: a value that is too large becomes the largest number, not infinity.
uint64_t ptx_float_round(const PtxFormat *format, long double value, PtxRounding rounding,
                         bool finite);
double ptx_float_value(const PtxFormat *format, uint64_t bits);
// An element of a matrix as the tensor core takes it: of .tf32 the upper 19 bits, whole numbers
// too.
double ptx_type_value(PtxType type, uint64_t bits);
// Round an f32 to the nearest f16 and bf16: the short way.
uint16_t ptx_f16_of(float value);
uint16_t ptx_bf16_of(float value);
float ptx_f16_value(uint16_t bits);
