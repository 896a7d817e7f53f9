// A linear congruential generator: it finds its n-th number without the numbers before it.
#include "ptx/module/random_fill.h"

#include <string.h>

#include "ptx/module/float_format.h"

#define RANDOM_MULTIPLIER UINT64_C(6364136223846793005)
#define RANDOM_ADDEND UINT64_C(1442695040888963407)

// The seed n numbers later: the step is applied to itself for each bit of n.
uint64_t ptx_seed_after(uint64_t seed, int64_t n) {
  uint64_t multiplier = RANDOM_MULTIPLIER, addend = RANDOM_ADDEND;
  for (; n > 0; n >>= 1) {
    if (n & 1) seed = seed * multiplier + addend;
    addend *= multiplier + 1;
    multiplier *= multiplier;
  }
  return seed;
}

bool ptx_fill_random(void *self, unsigned char *bytes, unsigned char *state, int64_t from,
                     int64_t n) {
  (void)state;
  const PtxRandomFill *fill = self;
  const int size = fill->size;
  uint64_t seed = ptx_seed_after(fill->seed, from / size);
  for (int64_t at = 0; at + size <= n; at += size) {
    seed = seed * RANDOM_MULTIPLIER + RANDOM_ADDEND;
    const uint64_t whole = seed >> 61;
    const float single = (float)whole - 4;
    const double twice = (double)single;
    const uint16_t half = ptx_f16_of(single);
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    const uint16_t brain = (uint16_t)(bits >> 16);
    const PtxElement element = fill->element;
    const void *number = element == PTX_ELEMENT_F64    ? (const void *)&twice
                         : element == PTX_ELEMENT_F16  ? (const void *)&half
                         : element == PTX_ELEMENT_BF16 ? (const void *)&brain
                         : element == PTX_ELEMENT_INT  ? (const void *)&whole
                                                       : (const void *)&single;
    memcpy(bytes + at, number, (size_t)size);
  }
  return true;
}
