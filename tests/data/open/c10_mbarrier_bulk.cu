// Bulk copies into a ring that mbarriers guard: one thread fetches, four warps compute; results go back by a bulk store.
// launch: grid 3x1x1, block 160x1x1; arguments in, out, tiles = 6
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
constexpr int STAGES = 2, TILE = 512;
__device__ __forceinline__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(uint64_t *b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void arrive(uint64_t *b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory"); }
__device__ __forceinline__ void expect(uint64_t *b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void wait(uint64_t *b, int parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(at(b)), "r"(parity) : "memory");
}
__global__ void __launch_bounds__(160) bulk(const float *in, float *out, int tiles) {
  __shared__ __align__(128) float ring[STAGES][TILE];
  __shared__ __align__(128) float result[128 * 4];
  __shared__ uint64_t full[STAGES], empty[STAGES];
  const int t = threadIdx.x;
  in += blockIdx.x * tiles * TILE;
  if (t == 0) {
    for (int i = 0; i < STAGES; i++) { init(&full[i], 1); init(&empty[i], 128); }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (t >= 128) {
    if (t == 128)
      for (int k = 0; k < tiles; k++) {
        const int s = k % STAGES;
        if (k >= STAGES) wait(&empty[s], (k / STAGES + 1) & 1);
        expect(&full[s], TILE * 4);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(ring[s])), "l"(in + k * TILE), "r"(TILE * 4), "r"(at(&full[s])) : "memory");
      }
    return;
  }
  float4 sum = make_float4(0, 0, 0, 0);
  for (int k = 0; k < tiles; k++) {
    const int s = k % STAGES;
    wait(&full[s], k / STAGES & 1);
    sum.x += ring[s][t];
    sum.y += ring[s][t * 4];
    sum.z += ring[s][t * 2 + 1];
    const float4 v = *(const float4 *)&ring[s][t * 4];
    sum.w += v.x + v.y * 2 + v.z * 3 + v.w * 4;
    arrive(&empty[s]);
  }
  *(float4 *)&result[t * 4] = sum;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("bar.sync 1, 128;" ::: "memory");
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + blockIdx.x * 512), "r"(at(result)), "r"(2048) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
int main() {
  const int tiles = 6, grid = 3, n = grid * tiles * TILE;
  float *h = (float *)malloc(n * 4), o[grid * 512], *di, *dout;
  cudaMalloc((void **)&di, n * 4); cudaMalloc((void **)&dout, sizeof o);
  for (int i = 0; i < n; i++) h[i] = i * 13 % 37 - 18;
  cudaMemcpy(di, h, n * 4, cudaMemcpyHostToDevice);
  bulk<<<grid, 160>>>(di, dout, tiles);
  if (cudaDeviceSynchronize()) return 2;
  cudaMemcpy(o, dout, sizeof o, cudaMemcpyDeviceToHost);
  for (int b = 0; b < grid; b++) for (int t = 0; t < 128; t++) {
    float s[4] = {0};
    for (int k = 0; k < tiles; k++) {
      const float *v = h + (b * tiles + k) * TILE;
      s[0] += v[t]; s[1] += v[t * 4]; s[2] += v[t * 2 + 1];
      s[3] += v[t * 4] + v[t * 4 + 1] * 2 + v[t * 4 + 2] * 3 + v[t * 4 + 3] * 4;
    }
    for (int e = 0; e < 4; e++) if (o[b * 512 + t * 4 + e] != s[e]) { printf("FAIL c10 %d %d %d\n", b, t, e); return 1; }
  }
  printf("OK c10\n");
}
