// Our own kernels on the GPU, which fill, multiply and compare: compiled by NVRTC when the first of
// them is asked for, and kept as long as the GPU is open.
#include "kernels/device/gpu.h"
#include "kernels/device/problem_kernels.h"
#include "kernels/toolchain/nvrtc.h"

// Our kernels as a plan: NVRTC's checks and errors are the same for them.
static bool compile_helpers(Gpu *gpu, Arena *arena, BenchInput *input) {
  Plan *plan = ARENA_NEW(arena, Plan);
  *plan = (Plan){.cuda = helper_cuda(arena),
                 .arch = gpu_arch(arena, gpu),
                 .m = 1,
                 .n = 1,
                 .k = 1,
                 .n_kernels = 1,
                 .kernels = {{.name = helper_names[0], .grid = {1, 1, 1}, .block = {1, 1, 1}}}};
  CompileResult *compiled = nvrtc_compile(arena, plan, COMPILE_BOTH);
  if (!compiled->ok) return gpu_refuse(gpu, "the checking kernels: %s", compiled->error);
  *input = (BenchInput){plan, compiled->cubin, compiled->cubin_bytes, compiled->ptx};
  return true;
}

static bool load_helpers(Gpu *gpu) {
  if (gpu->helper_module) return true;
  Arena *arena = arena_new("helpers");
  BenchInput input = {0};
  void *module = NULL;
  bool ok = compile_helpers(gpu, arena, &input) && gpu_load_module(gpu, &input, &module);
  for (int i = 0; ok && i < GPU_N_HELPERS; i++)
    ok = gpu_check(gpu, gpu->cuda->cuModuleGetFunction(&gpu->helpers[i], module, helper_names[i]),
                   "cuModuleGetFunction");
  if (ok)
    gpu->helper_module = module;
  else if (module && !gpu->poisoned)
    gpu->cuda->cuModuleUnload(module);
  arena_free(arena);
  return ok;
}

bool gpu_launch_helper(Gpu *gpu, GpuHelper helper, int64_t blocks, int threads, void **parameters) {
  if (!load_helpers(gpu)) return false;
  return gpu_check(
      gpu,
      gpu->cuda->cuLaunchKernel(gpu->helpers[helper], (unsigned)blocks, 1, 1, (unsigned)threads, 1,
                                1, 0, gpu->stream, parameters, NULL),
      "cuLaunchKernel");
}

bool gpu_spin(Gpu *gpu, double us) {
  long long clocks = (long long)(us * 1500);  // at 1.5 GHz; a little more or less is no matter
  void *parameters[] = {&clocks};
  return gpu_launch_helper(gpu, GPU_SPIN, 1, 1, parameters);
}
