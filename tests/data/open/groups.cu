// Halves of a warp that a redux names go on alone (WARPSYNC.EXCLUSIVE) until lanes meet: at the
// block's barrier, at the warp's, where the way forks, at a shuffle. (nvcc 13.0 -ptx -arch=sm_90a)
#define HALF (threadIdx.x & 16 ? 0xffff0000u : 0xffffu)
#define KERNEL extern "C" __global__ void
KERNEL at_barrier(int *out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = __reduce_add_sync(HALF, t);
  __syncthreads();
  out[t] = s[63 - t];
}
KERNEL at_warp(int *out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = __reduce_add_sync(HALF, t);
  __syncwarp();
  out[t] = s[t ^ 31];
}
KERNEL at_fork(int *out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  const int v = __reduce_add_sync(HALF, t);
  if (out[t] > 3) s[t] = v;
  __syncwarp();
  s[t] = v + 1;
  __syncwarp();
  out[t] = s[t ^ 31];
}
KERNEL at_shuffle(int *out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  int v = __reduce_add_sync(HALF, t);
  s[t] = v;
  v += __shfl_xor_sync(0xffffffffu, v, 1);
  __syncthreads();
  out[t] = s[63 - t] + v;
}
KERNEL whole(int *out, unsigned lanes) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = __reduce_add_sync(0xffffffffu, t);
  __syncthreads();
  out[t] = s[63 - t];
}
