// The fake driver's tensor maps: what the real one's documentation refuses is refused, the rest is
// noted. The first word of a map is the operand's address, so that kernels of the fake driver,
// which look for a pointer, find the operand behind a map as well.
#pragma once
#include <stdint.h>

#include "kernels/toolchain/cuda_api.h"

typedef struct FakeTensorMap {
  int type, swizzle, l2_promotion;
  CuDevicePtr data;
  uint64_t extents[3], row_bytes, matrix_bytes;  // the last of either: 0 of a single matrix
  uint32_t box[2];
} FakeTensorMap;

// As cuTensorMapEncodeTiled.
int fake_tensor_map_encode(CuTensorMap *map, int type, uint32_t rank, void *data,
                           const uint64_t *extents, const uint64_t *strides_bytes,
                           const uint32_t *box, const uint32_t *steps, int interleave, int swizzle,
                           int l2_promotion, int fill);

// The maps encoded since the driver's installation.
int fake_tensor_map_count(void);
const FakeTensorMap *fake_tensor_map(int i);
void fake_tensor_map_forget(void);
