// The element types of matrices, sums and fragments.
#pragma once
#include <stdbool.h>

// The order is that of the DTYPE knob's values; S32 is an accumulator only. TF32 is stored as f32.
typedef enum DType {
  DTYPE_F32,
  DTYPE_F16,
  DTYPE_BF16,
  DTYPE_TF32,
  DTYPE_F64,
  DTYPE_S8,
  DTYPE_E4M3,
  DTYPE_E5M2,
  DTYPE_S32,
  DTYPE_COUNT
} DType;

int dtype_bytes(DType type);
const char *dtype_name(DType type);              // "f32"
bool dtype_find(const char *name, DType *type);  // false: no type has that name
