// CuTe's layouts: nested shapes and strides, and the algebra over them.
//
// A layout is a leaf, shape:stride, or a tuple of layouts, its modes. It maps a coordinate to an
// offset: a leaf multiplies by its stride, a tuple adds what its modes make of their parts of the
// coordinate. A tuple takes a plain number too, and splits it lexicographically from the left: the
// first mode is the fastest (column-major), the last one takes all that is left.
//
//   (2,3):(3,1)      0 3 1 4 2 5        coordinate 3 is (1,1): 1*3 + 1*1
//   (4,(2,2)):(2,(1,8))                 coordinate 6 is (2,(1,0)): 2*2 + 1*1 + 0*8
//
// The operations have the names and the results of CuTe ("CuTe Layout Algebra" in CUTLASS's
// documentation). Those that CuTe refuses, and numbers that grow too large, set `fault` to a
// sentence; what is returned then is a layout, but not the right one.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

enum { CUTE_LEAVES_MAX = 64, CUTE_DEPTH_MAX = 16 };
// Shapes, strides and sizes stay below this.
static const int64_t CUTE_NUMBER_MAX = INT64_C(1) << 40;

typedef struct CuteLayout {
  int rank;                       // 0: a leaf
  int64_t shape, stride;          // of a leaf
  const struct CuteLayout *mode;  // [rank]
} CuteLayout;

// Divides by mode (n > 0: one layout for each of the first n modes), or the whole layout (n = 0).
typedef struct CuteTiler {
  int n;
  const CuteLayout *mode;  // [n], or one
} CuteTiler;

typedef struct CuteAlgebra {
  Arena *arena;
  const char *fault;  // the first thing that went wrong; NULL
} CuteAlgebra;

CuteLayout cute_leaf(int64_t shape, int64_t stride);
CuteLayout cute_tuple(CuteAlgebra *algebra, int rank, const CuteLayout *mode);
// The shape with strides one behind the other: the first mode fastest (LayoutLeft), or the last.
CuteLayout cute_compact(CuteAlgebra *algebra, CuteLayout shape, bool right);

int cute_rank(const CuteLayout *layout);                    // a leaf counts as one mode
CuteLayout cute_mode(const CuteLayout *layout, int index);  // of a leaf: itself
int64_t cute_size(const CuteLayout *layout);
int64_t cute_cosize(const CuteLayout *layout);  // the last coordinate's offset, and one
int64_t cute_offset(const CuteLayout *layout, int64_t coordinate);

// The leaves from left to right into out[CUTE_LEAVES_MAX]; how many.
int cute_leaves(const CuteLayout *layout, CuteLayout *out);

// The same function of a number with as few leaves as there can be.
CuteLayout cute_coalesce(CuteAlgebra *algebra, CuteLayout layout);
// c → a(b(c)), with a domain compatible with b's.
CuteLayout cute_composition(CuteAlgebra *algebra, CuteLayout a, CuteLayout b);
// Covers the part of 0 … `size` - 1 that the layout leaves out, in repeats of the layout.
CuteLayout cute_complement(CuteAlgebra *algebra, CuteLayout layout, int64_t size);
CuteLayout cute_right_inverse(CuteAlgebra *algebra, CuteLayout layout);

CuteLayout cute_compose_by_mode(CuteAlgebra *algebra, CuteLayout a, CuteTiler b);
CuteLayout cute_logical_divide(CuteAlgebra *algebra, CuteLayout a, CuteTiler b);
CuteLayout cute_zipped_divide(CuteAlgebra *algebra, CuteLayout a, CuteTiler b);
CuteLayout cute_tiled_divide(CuteAlgebra *algebra, CuteLayout a, CuteTiler b);
CuteLayout cute_flat_divide(CuteAlgebra *algebra, CuteLayout a, CuteTiler b);
CuteLayout cute_logical_product(CuteAlgebra *algebra, CuteLayout a, CuteTiler b);
CuteLayout cute_zipped_product(CuteAlgebra *algebra, CuteLayout a, CuteTiler b);
CuteLayout cute_tiled_product(CuteAlgebra *algebra, CuteLayout a, CuteTiler b);

// "(_8,(_2,_4)):(_64,(_1,_2))", as CuTe prints what is known when it compiles.
void cute_print(Str *out, const CuteLayout *layout);
