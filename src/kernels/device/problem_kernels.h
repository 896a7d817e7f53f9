// Our own kernels: the data, the float64 product, the comparison, the pause.
#pragma once
#include "base/arena.h"

// CUDA text, no prelude needed; the functions are listed in GpuHelper's order in `helper_names`.
const char *helper_cuda(Arena *arena);
extern const char *const helper_names[];

// The counters that the comparison leaves behind, as the text declares them too.
typedef struct HelperCounters {
  unsigned long long n_wrong, n_unwritten, first_wrong, n_outside;
  unsigned worst_bits;  // of a float; unsigned order is the order of floats that are not negative
  unsigned n_nan;
  unsigned error_bits;  // the same of the largest error over (|A|·|B|)ij
  float unused;
  double squares;  // sum of the squares of such errors
} HelperCounters;
