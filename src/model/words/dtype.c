// One row for each element type.
#include "model/words/dtype.h"

#include <string.h>

static const struct {
  const char *name;
  int bytes;
} rows[DTYPE_COUNT] = {
    [DTYPE_F32] = {"f32", 4},   [DTYPE_F16] = {"f16", 2},   [DTYPE_BF16] = {"bf16", 2},
    [DTYPE_TF32] = {"tf32", 4}, [DTYPE_F64] = {"f64", 8},   [DTYPE_S8] = {"s8", 1},
    [DTYPE_E4M3] = {"e4m3", 1}, [DTYPE_E5M2] = {"e5m2", 1}, [DTYPE_S32] = {"s32", 4},
};

int dtype_bytes(DType type) { return rows[type].bytes; }
const char *dtype_name(DType type) { return rows[type].name; }

bool dtype_find(const char *name, DType *type) {
  for (int i = 0; i < DTYPE_COUNT; i++) {
    if (strcmp(rows[i].name, name) != 0) continue;
    *type = (DType)i;
    return true;
  }
  return false;
}
