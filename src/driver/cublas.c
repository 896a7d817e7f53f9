// Handles of cuBLAS, for programs that make one before their own kernels run. Calls on a handle are
// refused (hook.c): cuBLAS's kernels have no PTX.
#include "driver/runtime.h"

int rt_cublasCreate_v2(void **handle) {
  enum { INVALID_VALUE = 7 };
  static char made;
  if (!handle) return INVALID_VALUE;
  *handle = &made;
  return DRIVER_OK;
}
int rt_cublasDestroy_v2(void *handle) {
  enum { NOT_INITIALIZED = 1 };
  return handle ? DRIVER_OK : NOT_INITIALIZED;
}
