// Two kernels for the tables of lines and the loops that the suite cubins reads.
__device__ __forceinline__ float both(const float *s) { return s[0] + s[1]; }

extern "C" __global__ void pairs(const float *a, float *c) {
  __shared__ __align__(16) float s[256];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  c[threadIdx.x] = both(s + 2 * (threadIdx.x & 127));
}

extern "C" __global__ void dots(const float *a, float *c, int n) {
  __shared__ float s[256];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  float sum = 0, other = 1;
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    sum = fmaf(s[i], s[i + 32], sum);
    other = fmaf(other, sum, s[threadIdx.x]);
    sum = fmaf(other, 3.f, sum);
  }
  c[threadIdx.x] = sum;
}
