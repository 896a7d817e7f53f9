// A CUDA driver, NVRTC and cuBLAS made of host memory: enough for a benchmark to run from end to
// end without a GPU. Device pointers are pointers of malloc, so the address sanitizer sees every
// byte that the caller gets wrong; kernels are C functions found by name; time is counted, not
// measured.
//
// Kernels of a plan: "gemm" is right, "gemm_wrong" spoils cell (3, 5), "gemm_short" leaves the last
// row unwritten, "gemm_outside" also stores behind C, "gemm_crash" breaks the context, "zero"
// clears C.
#pragma once
#include <stdbool.h>

#include "kernels/toolchain/plan.h"

void fake_cuda_install(void);
void fake_cuda_remove(void);

// One more kernel, until the next install; `name` is kept as it is.
void fake_cuda_add_kernel(const char *name, void (*run)(void **parameters));

// Blocks along x of its last launch.
int64_t fake_cuda_grid(const char *name);
// Launches that asked for programmatic serialization, in this process.
int fake_cuda_early_launches(void);

// What the driver tells of an attribute (CU_DEVICE_…), until the next install.
void fake_cuda_set_attribute(int attribute, int value);

// The n-th call from now fails with this CUresult; n = 0 = none.
void fake_cuda_fail(int n, int status);
int fake_cuda_calls(void);
// For fakes in other files: what the call that is being made answers.
int fake_cuda_answer(void);
// Buffers, modules, streams, events, handles and descriptions that were not given back.
int fake_cuda_live(void);
// cuBLAS computes like tf32 from now on.
void fake_cublas_round(bool rounds);
// What "gemm" sums in and stores as from now on; the operands' type is what the data was made in.
// cuBLAS refuses a call whose types, scalars or compute type do not fit it.
void fake_cuda_set_types(PlanType accumulate, PlanType output);
// What a product takes by cublasGemmEx and by the two heuristics that cublasLt offers, the first
// and the third, in ms: on a cool card, and once 500 ms of fake time have passed.
typedef struct FakeCublasTimes {
  double cool[3], hot[3];
} FakeCublasTimes;
void fake_cublas_set_times(FakeCublasTimes times);
// Whatever is launched takes so much longer for every second of fake time that has passed.
void fake_cuda_slow_down(double share_per_s);
// Microseconds of fake time that a launch of `name` takes.
void fake_cuda_set_us(const char *name, double us);
