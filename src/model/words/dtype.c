// One row for each element type.
#include "model/words/dtype.h"

#include <string.h>

static const struct {
  const char *name;
  int bytes;
  DTypeScale scale;
  int elements;         // in a unit; 0: one
  const char *element;  // of a scaled type
} rows[DTYPE_COUNT] = {
    [DTYPE_F32] = {.name = "f32", .bytes = 4},
    [DTYPE_F16] = {.name = "f16", .bytes = 2},
    [DTYPE_BF16] = {.name = "bf16", .bytes = 2},
    [DTYPE_TF32] = {.name = "tf32", .bytes = 4},
    [DTYPE_F64] = {.name = "f64", .bytes = 8},
    [DTYPE_S8] = {.name = "s8", .bytes = 1},
    [DTYPE_E4M3] = {.name = "e4m3", .bytes = 1},
    [DTYPE_E5M2] = {.name = "e5m2", .bytes = 1},
    [DTYPE_MXF8] = {.name = "mxf8", .bytes = 1, .scale = {32, DTYPE_UE8M0}, .element = "e4m3"},
    [DTYPE_MXF8E5M2] = {.name = "mxf8e5m2",
                        .bytes = 1,
                        .scale = {32, DTYPE_UE8M0},
                        .element = "e5m2"},
    [DTYPE_MXF4] =
        {.name = "mxf4", .bytes = 1, .scale = {32, DTYPE_UE8M0}, .elements = 2, .element = "e2m1"},
    [DTYPE_NVFP4] =
        {.name = "nvfp4", .bytes = 1, .scale = {16, DTYPE_UE4M3}, .elements = 2, .element = "e2m1"},
    [DTYPE_S32] = {.name = "s32", .bytes = 4},
    [DTYPE_UE8M0] = {.name = "ue8m0", .bytes = 1},
    [DTYPE_UE4M3] = {.name = "ue4m3", .bytes = 1},
};

int dtype_bytes(DType type) { return rows[type].bytes; }
int dtype_elements(DType type) { return rows[type].elements ? rows[type].elements : 1; }
DTypeScale dtype_scale(DType type) { return rows[type].scale; }
bool dtype_is_scaled(DType type) { return rows[type].scale.elements != 0; }
const char *dtype_element(DType type) {
  return rows[type].element ? rows[type].element : rows[type].name;
}
const char *dtype_name(DType type) { return rows[type].name; }

bool dtype_find(const char *name, DType *type) {
  for (int i = 0; i < DTYPE_COUNT; i++) {
    if (strcmp(rows[i].name, name) != 0) continue;
    *type = (DType)i;
    return true;
  }
  return false;
}
