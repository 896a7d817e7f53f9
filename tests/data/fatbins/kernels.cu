// nvcc 13.0; zstd.fatbin: -fatbin --compress-mode=size for sm_80, sm_90a and PTX for compute_90a,
// lz4.fatbin: -fatbin --compress-mode=speed, PTX for compute_90a alone, lto.fatbin: code=lto_90;
// host.o and unlinked.o: -c and -dc for sm_90a, --compress-mode=none, stripped of debugging.
__constant__ float step = 2.f;

template <class T>
__global__ void twice(T *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * (T)2;
}
template __global__ void twice<float>(float *, int);

extern "C" __global__ void add_step(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += step;
}
