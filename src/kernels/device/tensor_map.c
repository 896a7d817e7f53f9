// Buffers as the tensor memory accelerator knows them: address, extents and box in 128 opaque
// bytes that the driver encodes on the host.
//
// A map holds an address, so it is encoded at the first launch on the problem's data, not when the
// program is loaded, and again only if the data has moved: launches in a timed loop compare two
// addresses. Worked example, f16, a column-major A[4096 × 512] copied in boxes of 64 × 32 elements
// with 3 swizzle bits:
//   extents {4096, 512}, 8192 B from row to row, box {64, 32}, CU_TENSOR_MAP_SWIZZLE_128B
//
// Operands that the driver would refuse without a word (plan_check: sides, multiples of 16 bytes)
// never get here. The driver wants the map at a multiple of 64 bytes, which arenas do not promise;
// so it is encoded on the stack and kept as words.
#include <string.h>

#include "kernels/device/gpu.h"

// Every type of an operand, a result or a factor has a map type: tf32 is stored as f32, and of
// bytes only zeros are ever made.
static const int map_types[PLAN_N_TYPES] = {
    [PLAN_F32] = CU_TENSOR_MAP_FLOAT32,    [PLAN_F16] = CU_TENSOR_MAP_FLOAT16,
    [PLAN_BF16] = CU_TENSOR_MAP_BFLOAT16,  [PLAN_TF32] = CU_TENSOR_MAP_FLOAT32,
    [PLAN_F64] = CU_TENSOR_MAP_FLOAT64,    [PLAN_S8] = CU_TENSOR_MAP_UINT8,
    [PLAN_E4M3] = CU_TENSOR_MAP_UINT8,     [PLAN_E5M2] = CU_TENSOR_MAP_UINT8,
    [PLAN_S32] = CU_TENSOR_MAP_INT32,      [PLAN_MXF8] = CU_TENSOR_MAP_UINT8,
    [PLAN_MXF8E5M2] = CU_TENSOR_MAP_UINT8, [PLAN_MXF4] = CU_TENSOR_MAP_UINT8,
    [PLAN_NVFP4] = CU_TENSOR_MAP_UINT8,    [PLAN_UE8M0] = CU_TENSOR_MAP_UINT8,
    [PLAN_UE4M3] = CU_TENSOR_MAP_UINT8};

bool gpu_can_map(Gpu *gpu, const Plan *plan) {
  return plan->n_maps == 0 || gpu->cuda->cuTensorMapEncodeTiled ||
         gpu_refuse(gpu, "this driver makes no tensor maps: CUDA 12.0 or later is needed");
}

static bool encode(Gpu *gpu, const PlanMap *from, GpuMap *map) {
  const CuDevicePtr data = problem_buffer(&gpu->problem, from->buffer)->data;
  if (map->data == data) return true;
  const uint64_t extents[] = {(uint64_t)from->columns, (uint64_t)from->rows,
                              (uint64_t)from->matrices};
  const uint64_t row_bytes = extents[0] * (uint64_t)plan_type_bytes(from->type);
  const uint64_t pitches[] = {row_bytes, row_bytes * extents[1]};
  const uint32_t box[] = {(uint32_t)from->box_columns, (uint32_t)from->box_rows, 1};
  const uint32_t steps[] = {1, 1, 1};
  CuTensorMap encoded;
  const int status = gpu->cuda->cuTensorMapEncodeTiled(
      &encoded, map_types[from->type], from->matrices ? 3 : 2, (void *)(uintptr_t)data, extents,
      pitches, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_NONE + from->swizzle_bits, CU_TENSOR_MAP_L2_256B,
      CU_TENSOR_MAP_FILL_NONE);
  if (!gpu_check(gpu, status, "cuTensorMapEncodeTiled")) return false;
  memcpy(map->word, encoded.word, sizeof map->word);
  map->data = data;
  return true;
}

bool gpu_encode_maps(Gpu *gpu, GpuProgram *program) {
  const Plan *plan = program->plan;
  for (int i = 0; i < plan->n_maps; i++)
    if (!encode(gpu, &plan->maps[i], &program->maps[i])) return false;
  return true;
}
