// Boxes of elements of 4 and 6 bits: 16 of them are 8 bytes in global memory, or 12, and stand in 8
// or in 16 in shared memory. Each box comes by TMA, is written out as it lies there, and goes back
// by TMA where its map allows. The bytes that its mbarrier awaits are those without gaps.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

enum { ELEMENTS = 256, ROWS = 4, BOX = 128, BOX_ROWS = 2, SHARED = BOX_ROWS * 128 };

__global__ void copy(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
                     unsigned char *seen, int bytes, int stores) {
  __shared__ __align__(1024) unsigned char box[SHARED];
  __shared__ uint64_t full;
  const uint32_t bar = (uint32_t)__cvta_generic_to_shared(&full),
                 at = (uint32_t)__cvta_generic_to_shared(box);
  for (int i = threadIdx.x; i < SHARED; i += blockDim.x) box[i] = 0;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4}], [%2];" ::"r"(at),
        "l"(&from), "r"(bar), "r"(BOX), "r"(1)
        : "memory");
  }
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(bar)
        : "memory");
  for (int i = threadIdx.x; i < SHARED; i += blockDim.x) seen[i] = box[i];
  if (threadIdx.x || !stores) return;
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&to),
               "r"(at), "r"(0), "r"(2)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

typedef CUresult Encode(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                        const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                        CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                        CUtensorMapFloatOOBfill);

// `unit`, `place`: the bytes of 16 elements in global and in shared memory.
static int run(Encode *encode, int type, int unit, int place, int stores) {
  const int row = ELEMENTS / 16 * unit;
  unsigned char host[ROWS * 192], back[sizeof host], seen[SHARED];
  for (int i = 0; i < (int)sizeof host; i++) host[i] = (unsigned char)(i * 37 + 11);
  void *data, *copied;
  unsigned char *out;
  cudaMalloc(&data, sizeof host);
  cudaMalloc(&copied, sizeof host);
  cudaMalloc((void **)&out, SHARED);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(copied, 0, sizeof host);
  const cuuint64_t extents[2] = {ELEMENTS, ROWS}, strides[1] = {(cuuint64_t)row};
  const cuuint32_t box[2] = {BOX, BOX_ROWS}, steps[2] = {1, 1};
  CUtensorMap maps[2];
  for (int i = 0; i < 2; i++)
    if (encode(&maps[i], (CUtensorMapDataType)type, 2, i ? copied : data, extents, strides, box, steps,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
      return printf("type %d: no tensor map\n", type), 1;
  copy<<<1, 32>>>(maps[0], maps[1], out, BOX_ROWS * BOX / 16 * unit, stores);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error) return printf("type %d: %s\n", type, cudaGetErrorName(error)), 1;
  cudaMemcpy(seen, out, SHARED, cudaMemcpyDeviceToHost);
  cudaMemcpy(back, copied, sizeof host, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int r = 0; r < BOX_ROWS; r++)
    for (int u = 0; u < BOX / 16; u++) {
      const unsigned char *from = host + (r + 1) * row + (BOX / 16 + u) * unit;
      for (int b = 0; b < unit; b++)
        wrong += seen[(r * BOX / 16 + u) * place + b] != from[b];
      if (stores) wrong += memcmp(back + (r + 2) * row + u * unit, from, unit) != 0;
    }
  for (int i = 0; stores && i < 2 * row; i++) wrong += back[i] != 0;
  if (wrong) printf("type %d: %d wrong\n", type, wrong);
  return wrong;
}

int main() {
  void *encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                   &found);
  if (!encode) return printf("no cuTensorMapEncodeTiled\n"), 2;
  const int wrong = run((Encode *)encode, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, 8, 8, 1) +
                    run((Encode *)encode, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, 8, 16, 0) +
                    run((Encode *)encode, CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, 12, 16, 1);
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
