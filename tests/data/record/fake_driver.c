// A driver with a GPU, as far as driver_add.c and a recording ask: memory is the process's, and the
// only kernel it runs adds. It counts what is asked of it, so that a test sees that calls arrive.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORIES = 16 };
static struct {
  unsigned char *at;
  size_t n;
} memories[MEMORIES];
static int n_memories, n_calls;

int cuInit(unsigned flags) { return flags != 0; }
int cuDeviceGetCount(int *n) {
  *n = 1;
  return 0;
}
int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char *name, int bytes, int device) {
  snprintf(name, (size_t)bytes, "a fake GPU %d", device);
  return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = (void *)(uintptr_t)(0x100 + device);
  return 0;
}
int cuCtxSetCurrent(void *context) { return context == NULL; }
int cuCtxSynchronize(void) { return 0; }
int cuModuleLoad(void **module, const char *path) {
  *module = (void *)0x200;
  return path == NULL;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = (void *)0x300;
  return module != (void *)0x200 || strstr(name, "add") == NULL;
}
int cuFuncGetName(const char **name, void *function) {
  *name = "_Z3addIfEvPKT_S2_PS0_i";
  return function != (void *)0x300;
}
int cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *bytes) {
  if (function != (void *)0x300 || index > 3) return 1;
  // As a driver says it where parameters are aligned: with another beginning, and another gap.
  *offset = 112 + 8 * index + (index > 1 ? 16 : 0);
  *bytes = index == 3 ? 4 : 8;
  return 0;
}
int cuMemAlloc_v2(uint64_t *address, size_t n) {
  memories[n_memories].at = calloc(1, n);
  memories[n_memories].n = n;
  *address = (uint64_t)(uintptr_t)memories[n_memories++].at;
  return 0;
}
int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t address) {
  for (int i = 0; i < n_memories; i++) {
    *base = (uint64_t)(uintptr_t)memories[i].at;
    *bytes = memories[i].n;
    if (address - *base < *bytes) return 0;
  }
  return 1;
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n) {
  memcpy((void *)(uintptr_t)to, from, n);
  return 0;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n) {
  memcpy(to, (void *)(uintptr_t)from, n);
  return 0;
}
int cuMemAllocManaged(uint64_t *address, size_t n, unsigned flags) {
  (void)flags;
  return cuMemAlloc_v2(address, n) ? 1 : 4711;
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned smem, void *stream, void **params, void **extra) {
  (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)smem, (void)stream;
  if (function != (void *)0x300) return 1;
  const unsigned char *block = extra ? extra[1] : NULL;
  float *p[3];
  int n;
  for (int i = 0; i < 3; i++) memcpy(&p[i], block ? block + 8 * i : params[i], sizeof p[i]);
  memcpy(&n, block ? block + 24 : params[3], sizeof n);
  for (int i = 0; i < n; i++) p[2][i] = p[0][i] + p[1][i];
  fprintf(stderr, "the fake GPU ran launch %d\n", n_calls++);
  return 0;
}
int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                        int *status) {
  (void)version, (void)flags;
  *function = strcmp(name, "cuLaunchKernel") ? NULL : (void *)cuLaunchKernel;
  if (status) *status = *function == NULL;
  return *function ? 0 : 500;
}
