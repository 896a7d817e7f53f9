// The limits are those of cuTensorMapEncodeTiled's documentation.
#include "fake_tensor_map.h"

#include <stdbool.h>
#include <string.h>

#include "fake_cuda.h"

enum { KEPT_MAX = 16, INVALID_VALUE = 1 };
static FakeTensorMap kept[KEPT_MAX];
static int n_kept;

static uint64_t type_bytes(int type) {
  return type == CU_TENSOR_MAP_FLOAT64                                     ? 8
         : type == CU_TENSOR_MAP_FLOAT32 || type == CU_TENSOR_MAP_INT32    ? 4
         : type == CU_TENSOR_MAP_FLOAT16 || type == CU_TENSOR_MAP_BFLOAT16 ? 2
                                                                           : 1;
}

static bool is_side(uint32_t side) { return side >= 1 && side <= 256; }

static bool is_legal(const FakeTensorMap *map) {
  const uint64_t bytes = type_bytes(map->type), box_bytes = map->box[0] * bytes;
  const bool fits = map->swizzle == 0 || box_bytes <= 16ull << map->swizzle;
  return map->data % 16 == 0 && map->extents[0] > 0 && map->extents[1] > 0 &&
         map->row_bytes >= map->extents[0] * bytes && map->row_bytes % 16 == 0 &&
         map->matrix_bytes % 16 == 0 &&
         (map->matrix_bytes == 0 || map->matrix_bytes >= map->row_bytes * map->extents[1]) &&
         is_side(map->box[0]) && is_side(map->box[1]) && box_bytes % 16 == 0 && fits;
}

int fake_tensor_map_encode(CuTensorMap *map, int type, uint32_t rank, void *data,
                           const uint64_t *extents, const uint64_t *strides_bytes,
                           const uint32_t *box, const uint32_t *steps, int interleave, int swizzle,
                           int l2_promotion, int fill) {
  const bool several = rank > 2;
  const FakeTensorMap told = {.type = type,
                              .swizzle = swizzle,
                              .l2_promotion = l2_promotion,
                              .data = (CuDevicePtr)(uintptr_t)data,
                              .extents = {extents[0], extents[1], several ? extents[2] : 0},
                              .row_bytes = strides_bytes[0],
                              .matrix_bytes = several ? strides_bytes[1] : 0,
                              .box = {box[0], box[1]}};
  const int status = fake_cuda_answer();
  if (status) return status;
  if ((uintptr_t)map % 64 || rank < 2 || rank > 3 || steps[0] != 1 || steps[1] != 1 ||
      (several && (steps[2] != 1 || box[2] != 1)) || interleave || fill || swizzle < 0 ||
      swizzle > 3 || !is_legal(&told))
    return INVALID_VALUE;
  memset(map, 0, sizeof *map);
  map->word[0] = told.data;
  kept[n_kept++ % KEPT_MAX] = told;
  return CU_SUCCESS;
}

int fake_tensor_map_count(void) { return n_kept; }
const FakeTensorMap *fake_tensor_map(int i) { return &kept[i % KEPT_MAX]; }
void fake_tensor_map_forget(void) { n_kept = 0; }
