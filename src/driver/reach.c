// Memory of the device for the keeper of a launch: the real driver's, or ours.
#include <string.h>

#include "driver/driver_launch.h"

typedef int GetRange(uint64_t *base, size_t *bytes, uint64_t address);
typedef int CopyOut(void *to, uint64_t from, size_t n);
typedef int Wait(void);
typedef int IsCapturing(void *stream, int *status);
typedef int GetGlobal(uint64_t *address, size_t *bytes, void *module, const char *name);
typedef int GetPart(void **out, void *of);

bool reach_range(uint64_t address, Reached *out) {
  enum { LOWEST = 1 << 16 };
  if (address < LOWEST) return false;
  if (!driver_forwards()) {
    const DriverMemory *m = driver_memory_at(address);
    if (m) *out = (Reached){m->address, m->bytes, m->name};
    return m != NULL;
  }
  GetRange *range = (GetRange *)driver_real("cuMemGetAddressRange_v2");
  *out = (Reached){.name = "allocation"};
  return range && range(&out->address, &out->bytes, address) == DRIVER_OK && out->bytes > 0;
}

bool reach_read(uint64_t from, size_t n, unsigned char *to, unsigned char *state) {
  if (driver_forwards()) {
    CopyOut *copy = (CopyOut *)driver_real("cuMemcpyDtoH_v2");
    memset(state, PTX_BYTE_WRITTEN, n);
    return copy && copy(to, from, n) == DRIVER_OK;
  }
  unsigned char *known = NULL;
  const unsigned char *bytes = driver_bytes(from, n, &known);
  if (!bytes) return false;
  memcpy(to, bytes, n);
  memcpy(state, known, n);
  return true;
}

bool reach_wait(const DriverRun *run) {
  if (!driver_forwards()) return true;
  IsCapturing *is_capturing = (IsCapturing *)driver_real("cuStreamIsCapturing");
  Wait *wait = (Wait *)driver_real("cuCtxSynchronize");
  int status = 0;
  if (is_capturing && run->stream && is_capturing(run->stream, &status) == DRIVER_OK && status)
    return false;
  return wait && wait() == DRIVER_OK;
}

bool reach_variable(const DriverRun *run, const char *name, uint64_t *address) {
  if (!driver_forwards()) {
    const DriverVariable *v = driver_variable(run->function->module, name);
    if (v) *address = v->address;
    return v != NULL;
  }
  GetGlobal *global = (GetGlobal *)driver_real("cuModuleGetGlobal_v2");
  GetPart *module_of = (GetPart *)driver_real("cuFuncGetModule"),
          *function_of = (GetPart *)driver_real("cuKernelGetFunction");
  void *module = NULL, *function = NULL;
  if (!global || !module_of) return false;
  if (module_of(&module, run->handle) != DRIVER_OK &&
      (!function_of || function_of(&function, run->handle) != DRIVER_OK ||
       module_of(&module, function) != DRIVER_OK))
    return false;
  size_t bytes = 0;
  return global(address, &bytes, module, name) == DRIVER_OK;
}
