// One case on the GPU: words up, one warp, words down.
//
// Words that no lane stores stay 0xFFFFFFFF, which no case expects.
#include "kernels/device/fragment_check.h"
#include "kernels/device/gpu.h"
#include "kernels/toolchain/nvrtc.h"

typedef struct Buffers {
  GpuBuffer in, out;
  int64_t in_bytes, out_bytes;
} Buffers;

static bool upload(Gpu *gpu, const TaggedCase *tagged, Buffers *buffers) {
  const int64_t lanes = (int64_t)tagged->n_rounds * TAGGED_LANES;
  buffers->in_bytes = lanes * tagged->n_in * 4;
  buffers->out_bytes = lanes * tagged->n_out * 4;
  return gpu_alloc(gpu, &buffers->in, buffers->in_bytes, "the tagged data") &&
         gpu_alloc(gpu, &buffers->out, buffers->out_bytes, "what the lanes received") &&
         gpu_write(gpu, buffers->in.data, tagged->in, (size_t)buffers->in_bytes) &&
         gpu_fill_bytes(gpu, &buffers->out, 0xFF, false);
}

static bool launch(Gpu *gpu, const TaggedCase *tagged, const GpuProgram *program,
                   const Buffers *buffers) {
  CuDevicePtr in = buffers->in.data, out = buffers->out.data;
  int rounds = tagged->n_rounds;
  void *parameters[] = {&in, &out, &rounds};
  return gpu_check(gpu,
                   gpu->cuda->cuLaunchKernel(program->functions[0], 1, 1, 1, TAGGED_LANES, 1, 1, 0,
                                             gpu->stream, parameters, NULL),
                   "cuLaunchKernel");
}

static const char *run(Arena *arena, Gpu *gpu, const TaggedCase *tagged,
                       const CompileResult *compiled) {
  const BenchInput input = {tagged->plan, compiled->cubin, compiled->cubin_bytes, compiled->ptx};
  GpuProgram program = {0};
  Buffers buffers = {0};
  uint32_t *out = NULL;
  bool ok = gpu_load(gpu, &input, &program) && upload(gpu, tagged, &buffers) &&
            launch(gpu, tagged, &program, &buffers);
  if (ok) {
    out = arena_alloc(arena, (size_t)buffers.out_bytes);
    ok = gpu_read(gpu, out, buffers.out.data, (size_t)buffers.out_bytes);
  }
  const char *error = ok ? NULL : str_sanitise(arena, gpu_error(gpu));
  gpu_release(gpu, &buffers.in);
  gpu_release(gpu, &buffers.out);
  gpu_unload(gpu, &program);
  return error ? arena_printf(arena, "%s: %s", tagged->name, error)
               : tagged_difference(arena, tagged, out);
}

const char *tagged_check(Arena *arena, Gpu *gpu, int index) {
  const TaggedCase *tagged = tagged_build(arena, gpu_arch(arena, gpu), index);
  const CompileResult *compiled = nvrtc_compile(arena, tagged->plan, COMPILE_BOTH);
  if (!compiled->ok)
    return arena_printf(arena, "%s: %s: %s", tagged->name, compiled->error, compiled->log);
  return run(arena, gpu, tagged, compiled);
}
