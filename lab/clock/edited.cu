// Runs kernels of cubins that lab/clock/edited.py has changed, each three times, and says how long
// the last launch took; what they compute is no matter.
//
//   nvcc -O2 -o edited lab/clock/edited.cu -lcuda
//   ./edited GRID BLOCK DYNAMIC_BYTES FILE.cubin...     or behind ncu, for clocks by instruction
#include <cuda.h>

#include <cstdio>
#include <cstdlib>

static void need(CUresult result, const char *what) {
  if (result == CUDA_SUCCESS) return;
  const char *name = nullptr;
  cuGetErrorName(result, &name);
  printf("%s: %s\n", what, name ? name : "?");
  exit(1);
}

int main(int n, char **given) {
  enum { FIRST = 4, LAUNCHES = 3, POINTERS = 4 };
  const size_t bytes = size_t(4096) * 4096 * 4;
  if (n <= FIRST) return 2;
  const unsigned grid = unsigned(atoi(given[1])), block = unsigned(atoi(given[2]));
  const int dynamic = atoi(given[3]);
  CUdevice device;
  CUcontext context;
  need(cuInit(0), "cuInit");
  need(cuDeviceGet(&device, 0), "device");
  need(cuDevicePrimaryCtxRetain(&context, device), "context");
  need(cuCtxSetCurrent(context), "context");
  CUdeviceptr memory[POINTERS];
  void *arguments[POINTERS];
  for (int i = 0; i < POINTERS; i++) {
    need(cuMemAlloc(&memory[i], bytes), "memory");
    need(cuMemsetD32(memory[i], 0x3f000000, bytes / 4), "memory");
    arguments[i] = &memory[i];
  }
  CUevent begin, end;
  need(cuEventCreate(&begin, CU_EVENT_DEFAULT), "event");
  need(cuEventCreate(&end, CU_EVENT_DEFAULT), "event");
  for (int i = FIRST; i < n; i++) {
    CUmodule module;
    CUfunction kernel;
    float ms = 0;
    need(cuModuleLoad(&module, given[i]), given[i]);
    need(cuModuleGetFunction(&kernel, module, "matmul"), given[i]);
    need(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, dynamic),
         given[i]);
    for (int k = 0; k < LAUNCHES; k++) {
      need(cuEventRecord(begin, nullptr), "event");
      need(cuLaunchKernel(kernel, grid, 1, 1, block, 1, 1, unsigned(dynamic), nullptr, arguments,
                          nullptr),
           given[i]);
      need(cuEventRecord(end, nullptr), "event");
    }
    need(cuEventSynchronize(end), given[i]);
    need(cuEventElapsedTime(&ms, begin, end), "event");
    printf("%s: %.2f us\n", given[i], 1e3 * ms);
    cuModuleUnload(module);
  }
}
