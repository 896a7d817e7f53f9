// One tile of a product on Hopper: two boxes by TMA, one wgmma m64n64k16, C in registers and out. The
// tensor maps are parameters. Its check computes the product again.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

enum { M = 64, N = 64, K = 16, ROW_BYTES = K * 2 };

__device__ uint64_t descriptor(const void *tile) {
  // K-major, 32-byte swizzle: rows of 32 bytes, eight rows are 256 bytes.
  const uint64_t at = __cvta_generic_to_shared(tile);
  return (at & 0x3ffff) >> 4 | (uint64_t)1 << 16 | (uint64_t)(256 >> 4) << 32 | (uint64_t)3 << 62;
}

__global__ void __launch_bounds__(128)
    tile(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c) {
  __shared__ __align__(1024) __nv_bfloat16 as[M * K], bs[N * K];
  __shared__ uint64_t full;
  const uint32_t bar = (uint32_t)__cvta_generic_to_shared(&full);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar),
                 "r"((M + N) * ROW_BYTES));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %3}], [%2];" ::"r"((uint32_t)__cvta_generic_to_shared(as)),
        "l"(&a), "r"(bar), "r"(0)
        : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %3}], [%2];" ::"r"((uint32_t)__cvta_generic_to_shared(bs)),
        "l"(&b), "r"(bar), "r"(0)
        : "memory");
  }
  __syncthreads();
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(bar)
        : "memory");
  float d[32];
  for (int i = 0; i < 32; i++) d[i] = 0;
  const uint64_t da = descriptor(as), db = descriptor(bs);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, "
      "%10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, "
      "%29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(da), "l"(db));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = 0; i < 32; i++) {
    const int row = warp * 16 + lane / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    c[row * N + column] = d[i];
  }
}

typedef CUresult Encode(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                        const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                        CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                        CUtensorMapFloatOOBfill);

static int make_map(Encode *encode, CUtensorMap *map, void *data, int rows) {
  const cuuint64_t extents[2] = {K, (cuuint64_t)rows}, strides[1] = {ROW_BYTES};
  const cuuint32_t box[2] = {K, (cuuint32_t)rows}, steps[2] = {1, 1};
  return encode(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, extents, strides, box, steps,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_32B,
                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

int main() {
  static __nv_bfloat16 a[M * K], b[N * K];
  static float c[M * N];
  for (int i = 0; i < M * K; i++) a[i] = __float2bfloat16((float)(i % 7 - 3));
  for (int i = 0; i < N * K; i++) b[i] = __float2bfloat16((float)(i % 5 - 2));
  void *da, *db, *dc;
  cudaMalloc(&da, sizeof a);
  cudaMalloc(&db, sizeof b);
  cudaMalloc(&dc, sizeof c);
  cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
  void *encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                   &found);
  CUtensorMap maps[2];
  if (!encode || make_map((Encode *)encode, &maps[0], da, M) ||
      make_map((Encode *)encode, &maps[1], db, N))
    return printf("no tensor map\n"), 2;
  tile<<<1, 128>>>(maps[0], maps[1], (float *)dc);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error || cudaGetLastError()) return printf("%s\n", cudaGetErrorName(error)), 2;
  cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int row = 0; row < M; row++)
    for (int column = 0; column < N; column++) {
      float sum = 0;
      for (int k = 0; k < K; k++)
        sum += __bfloat162float(a[row * K + k]) * __bfloat162float(b[column * K + k]);
      wrong += c[row * N + column] != sum;
    }
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
