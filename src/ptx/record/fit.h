// An address as a function of the thread and of the turn: a sum over bits of tid.x, tid.y, tid.z
// and digits of n, how often the warp came by before; or the XOR of such bits.
#pragma once
#include "ptx/record/record.h"

enum { FIT_BITS = 10, FIT_DIGITS = 6 };

// Turn n adds step * ((n / every + shift) % count); count 0: it is the last digit.
typedef struct FitDigit {
  int64_t step, every, count, shift;
} FitDigit;

typedef struct Fit {
  bool ok, is_xor;
  bool lanes;  // the threads' part was found, whatever became of the turns
  int64_t base;
  int64_t bit[3][FIT_BITS];  // what each bit of the coordinate adds
  int n_bits[3];
  FitDigit digit[FIT_DIGITS];
  int n_digits;
  const char *why;  // not ok
} Fit;

Fit ptx_fit(Arena *arena, const PtxRecord *record, const PtxSite *site);
