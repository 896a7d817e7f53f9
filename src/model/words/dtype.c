// One row for each element type.
#include "model/words/dtype.h"

#include <string.h>

static const struct {
  const char *name;
  int bytes;
  DTypeScale scale;
  int elements;  // in a unit; 0: one
} rows[DTYPE_COUNT] = {
    [DTYPE_F32] = {"f32", 4},
    [DTYPE_F16] = {"f16", 2},
    [DTYPE_BF16] = {"bf16", 2},
    [DTYPE_TF32] = {"tf32", 4},
    [DTYPE_F64] = {"f64", 8},
    [DTYPE_S8] = {"s8", 1},
    [DTYPE_E4M3] = {"e4m3", 1},
    [DTYPE_E5M2] = {"e5m2", 1},
    [DTYPE_MXF8] = {"mxf8", 1, {32, DTYPE_UE8M0}},
    [DTYPE_MXF8E5M2] = {"mxf8e5m2", 1, {32, DTYPE_UE8M0}},
    [DTYPE_MXF4] = {"mxf4", 1, {32, DTYPE_UE8M0}, 2},
    [DTYPE_NVFP4] = {"nvfp4", 1, {16, DTYPE_UE4M3}, 2},
    [DTYPE_S32] = {"s32", 4},
    [DTYPE_UE8M0] = {"ue8m0", 1},
    [DTYPE_UE4M3] = {"ue4m3", 1},
};

int dtype_bytes(DType type) { return rows[type].bytes; }
int dtype_elements(DType type) { return rows[type].elements ? rows[type].elements : 1; }
DTypeScale dtype_scale(DType type) { return rows[type].scale; }
bool dtype_is_scaled(DType type) { return rows[type].scale.elements != 0; }
const char *dtype_name(DType type) { return rows[type].name; }

bool dtype_find(const char *name, DType *type) {
  for (int i = 0; i < DTYPE_COUNT; i++) {
    if (strcmp(rows[i].name, name) != 0) continue;
    *type = (DType)i;
    return true;
  }
  return false;
}
