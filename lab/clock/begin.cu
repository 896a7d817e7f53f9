// Microbenchmarks of one SM by its own clock: where the facts of data/clock/ARCH.json come from.
// `gemmview probe --clock` runs them; each file is compiled behind this one.
//
//   cat lab/clock/begin.cu lab/clock/sm.cu | nvcc -x cu -cubin -arch=sm_90a -o sm.cubin -
//
// Every kernel does the same `rounds` times and writes what its first thread read off clock64()
// into clocks[block]; the difference of a long and a short run, over the rounds between them, is
// clean of what begins and ends a kernel. A chain is UNROLL instructions that each wait for the one
// before, a rate UNROLL that do not.
//
// Assembler text keeps the compiler from folding instructions together; the machine code was read
// with nvdisasm (CUDA 13.0): one instruction for each line of text, beside the loop's own three and
// what addresses need.
#define UNROLL 16
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(1024) name
#define ARGUMENTS long long *clocks, unsigned char *memory, unsigned *sink, int rounds
typedef unsigned long long u64;

__device__ __forceinline__ unsigned shared_address(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

__device__ __forceinline__ long long begin_clock() {
  __syncthreads();
  return clock64();
}

__device__ __forceinline__ void end_clock(long long *clocks, long long begin) {
  __syncthreads();
  if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - begin;
}

extern __shared__ __align__(1024) unsigned char tile[];

// `text` so often in a row.
#define FENCE(name, text)                                                                    \
  KERNEL(name)(ARGUMENTS) {                                                                  \
    const long long begin = begin_clock();                                                   \
    _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {                                   \
      _Pragma("unroll") for (int i = 0; i < UNROLL; i++) asm volatile(text ::: "memory");    \
    }                                                                                        \
    end_clock(clocks, begin);                                                                \
  }
