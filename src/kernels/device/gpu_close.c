// All that was made on a GPU goes, the last first.
#include "kernels/device/gpu.h"

void gpu_close(Gpu *gpu) {
  if (!gpu) return;
  if (!gpu->poisoned && gpu->stream) gpu_wait(gpu);
  reference_release(gpu);
  // A lost context refuses every call and may hang in one; its process ends next.
  if (!gpu->poisoned && gpu->retained) {
    problem_release(gpu);
    gpu_release(gpu, &gpu->flush);
    if (gpu->helper_module) gpu->cuda->cuModuleUnload(gpu->helper_module);
  }
  gpu_let_go(gpu);
}
