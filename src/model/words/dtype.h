// The element types of matrices, sums and fragments.
#pragma once
#include <stdbool.h>

// The order is that of the DTYPE knob's values; those from S32 on are none: sums, and scale
// factors. TF32 is stored as f32.
//
// The block-scaled formats are element types with matrices that come with scale factors, one for
// each group of elements along K (OCP Microscaling Formats 1.0; PTX ISA, Block Scaling for
// mma.sync):
//   mxf8      e4m3, each 32 share a ue8m0         mxf8e5m2  e5m2, the same
//   mxf4      e2m1, each 32 share a ue8m0         nvfp4     e2m1, each 16 share a ue4m3
// Nothing addresses less than a byte, so where elements have 4 bits the unit of a buffer, of an
// index and of the axis k is a byte: two neighbours along K, the first in its low half. Worked
// example, A of 128 x 256 mxf4: 128 rows of 128 bytes, and of 8 ue8m0.
typedef enum DType {
  DTYPE_F32,
  DTYPE_F16,
  DTYPE_BF16,
  DTYPE_TF32,
  DTYPE_F64,
  DTYPE_S8,
  DTYPE_E4M3,
  DTYPE_E5M2,
  DTYPE_MXF8,
  DTYPE_MXF8E5M2,
  DTYPE_MXF4,
  DTYPE_NVFP4,
  DTYPE_S32,
  DTYPE_UE8M0,
  DTYPE_UE4M3,
  DTYPE_COUNT
} DType;

// How a matrix of the type is scaled along K.
typedef struct DTypeScale {
  int elements;  // that share a factor; 0: the type has none
  DType type;    // of the factors
} DTypeScale;

int dtype_bytes(DType type);     // of a unit: an element, or a byte of two
int dtype_elements(DType type);  // in a unit: 1 or 2
DTypeScale dtype_scale(DType type);
bool dtype_is_scaled(DType type);
const char *dtype_element(DType type);           // without its factors: "e4m3" of mxf8
const char *dtype_name(DType type);              // "f32"
bool dtype_find(const char *name, DType *type);  // false: no type has that name
