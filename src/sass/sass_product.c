// The upper words of HMMA and IMMA, read off nvdisasm (CUDA 13.0). Products of 16-bit values and of
// bytes are full where DEEP is set, those of TF32 where SHALLOW is not: HMMA.1688.F32,
// HMMA.1684.F32.TF32 and IMMA.16816.S8.S8 are the half ones. Products of 4-bit values (NIBBLES) are
// not told apart.
#include "sass/sass_product.h"

enum {
  IMMA = 0x037,
  HMMA = 0x03c,
  DEEP = 1 << 11,
  F32_SUMS = 1 << 12,
  SHALLOW = 1 << 14,
  TF32 = 1 << 19,
  NIBBLES = 3 << 19,
};

bool sass_is_half_deep(const SassInst *inst) {
  switch (inst->opcode->bits) {
    case HMMA:
      return inst->high & TF32 ? (inst->high & SHALLOW) != 0 : !(inst->high & DEEP);
    case IMMA:
      return !(inst->high & (DEEP | NIBBLES));
    default:
      return false;
  }
}

bool sass_has_f16_sums(const SassInst *inst) {
  return inst->opcode->bits == HMMA && !(inst->high & (F32_SUMS | TF32));
}
