// Facts of a product of mma.sync that stand in its machine code: HMMA and IMMA.
#pragma once
#include "sass/sass_code.h"

// Half as deep as such a product can be: m16n8k8 of 16-bit values, m16n8k4 of TF32, m16n8k16 of
// bytes. A and B are half as many registers then.
bool sass_is_half_deep(const SassInst *inst);
// Its sums are f16.
bool sass_has_f16_sums(const SassInst *inst);
