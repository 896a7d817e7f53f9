// One device, contexts, streams and events. Nothing runs beside the program, so whatever is waited
// for is over, and a stream or an event is no more than a handle.
//
// The device's numbers are those of the GPU that the command chose (data/gpus.json); an attribute
// that the table has not is 0.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "driver/entry.h"

enum { CUDA_VERSION = 13000, N_CONTEXTS = 64 };
#define TOTAL_BYTES (UINT64_C(64) << 30)

static char primary;  // its address is the context
static __thread void *stack[N_CONTEXTS];
static __thread int depth;

static bool is_device(int device) { return device == 0; }

int drv_cuInit(unsigned flags) { return flags ? DRIVER_INVALID_VALUE : DRIVER_OK; }
int drv_cuDriverGetVersion(int *version) {
  if (!version) return DRIVER_INVALID_VALUE;
  *version = CUDA_VERSION;
  return DRIVER_OK;
}
int drv_cuDeviceGetCount(int *count) {
  if (!count) return DRIVER_INVALID_VALUE;
  *count = 1;
  return DRIVER_OK;
}
int drv_cuDeviceGet(int *device, int ordinal) {
  if (!device || !is_device(ordinal)) return DRIVER_INVALID_DEVICE;
  *device = 0;
  return DRIVER_OK;
}
int drv_cuDeviceGetName(char *name, int bytes, int device) {
  if (!name || bytes < 1 || !is_device(device)) return DRIVER_INVALID_VALUE;
  snprintf(name, (size_t)bytes, "%s", driver_settings()->device);
  return DRIVER_OK;
}
int drv_cuDeviceGetUuid_v2(CuUuid *uuid, int device) {
  if (!uuid || !is_device(device)) return DRIVER_INVALID_VALUE;
  memcpy(uuid->bytes, "gemmview record", sizeof uuid->bytes);
  return DRIVER_OK;
}
int drv_cuDeviceTotalMem_v2(size_t *bytes, int device) {
  if (!bytes || !is_device(device)) return DRIVER_INVALID_VALUE;
  *bytes = TOTAL_BYTES;
  return DRIVER_OK;
}

static int attribute_of(int id) {
  const DriverSettings *settings = driver_settings();
  for (int i = 0; i < settings->n_attributes; i++)
    if (settings->attributes[i].id == id) return settings->attributes[i].value;
  return 0;
}

int drv_cuDeviceGetAttribute(int *value, int attribute, int device) {
  if (!value || !is_device(device)) return DRIVER_INVALID_VALUE;
  *value = attribute_of(attribute);
  return DRIVER_OK;
}
int drv_cuDeviceComputeCapability(int *major, int *minor, int device) {
  if (!major || !minor || !is_device(device)) return DRIVER_INVALID_VALUE;
  *major = attribute_of(CU_DEVICE_CAPABILITY_MAJOR);
  *minor = attribute_of(CU_DEVICE_CAPABILITY_MINOR);
  return DRIVER_OK;
}
int driver_capability(void) {
  typedef int GetAttribute(int *, int, int);
  GetAttribute *get = driver_forwards() ? (GetAttribute *)driver_real("cuDeviceGetAttribute")
                                        : drv_cuDeviceGetAttribute;
  int major = 0, minor = 0;
  if (!get || get(&major, CU_DEVICE_CAPABILITY_MAJOR, 0) != DRIVER_OK) return 0;
  return get(&minor, CU_DEVICE_CAPABILITY_MINOR, 0) == DRIVER_OK ? 10 * major + minor : 0;
}
int drv_cuDeviceGetPCIBusId(char *text, int bytes, int device) {
  if (!text || bytes < 1 || !is_device(device)) return DRIVER_INVALID_VALUE;
  snprintf(text, (size_t)bytes, "0000:00:00.0");
  return DRIVER_OK;
}
int drv_cuDeviceCanAccessPeer(int *can, int device, int peer) {
  if (!can || !is_device(device) || !is_device(peer)) return DRIVER_INVALID_DEVICE;
  *can = 0;
  return DRIVER_OK;
}
int drv_cuDeviceGetDefaultMemPool(void **pool, int device) {
  if (!pool || !is_device(device)) return DRIVER_INVALID_VALUE;
  *pool = &primary;
  return DRIVER_OK;
}

// ---- contexts -----------------------------------------------------------------------------------

int drv_cuDevicePrimaryCtxRetain(void **context, int device) {
  if (!context || !is_device(device)) return DRIVER_INVALID_VALUE;
  *context = &primary;
  return DRIVER_OK;
}
int drv_cuDevicePrimaryCtxRelease_v2(int device) {
  return is_device(device) ? DRIVER_OK : DRIVER_INVALID_DEVICE;
}
int drv_cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
  if (!is_device(device) || !flags || !active) return DRIVER_INVALID_VALUE;
  *flags = 0;
  *active = 1;
  return DRIVER_OK;
}
int drv_cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
  (void)flags;
  return is_device(device) ? DRIVER_OK : DRIVER_INVALID_DEVICE;
}

static void *current(void) { return depth ? stack[depth - 1] : NULL; }

static int make_context(void **context, int device) {
  if (!context || !is_device(device)) return DRIVER_INVALID_VALUE;
  *context = malloc(1);
  if (!*context) return DRIVER_OUT_OF_MEMORY;
  return drv_cuCtxPushCurrent_v2(*context);
}
int drv_cuCtxCreate_v2(void **context, unsigned flags, int device) {
  (void)flags;
  return make_context(context, device);
}
int drv_cuCtxCreate_v3(void **context, void *affinity, int n, unsigned flags, int device) {
  (void)affinity, (void)n, (void)flags;
  return make_context(context, device);
}
int drv_cuCtxCreate_v4(void **context, void *how, unsigned flags, int device) {
  (void)how, (void)flags;
  return make_context(context, device);
}
int drv_cuCtxDestroy_v2(void *context) {
  if (!context || context == &primary) return DRIVER_INVALID_CONTEXT;
  if (current() == context) depth--;
  free(context);
  return DRIVER_OK;
}
int drv_cuCtxGetCurrent(void **context) {
  if (!context) return DRIVER_INVALID_VALUE;
  *context = current();
  return DRIVER_OK;
}
int drv_cuCtxSetCurrent(void *context) {
  if (depth) depth--;
  return context ? drv_cuCtxPushCurrent_v2(context) : DRIVER_OK;
}
int drv_cuCtxPushCurrent_v2(void *context) {
  if (!context || depth == N_CONTEXTS) return DRIVER_INVALID_CONTEXT;
  stack[depth++] = context;
  return DRIVER_OK;
}
int drv_cuCtxPopCurrent_v2(void **context) {
  if (!depth) return DRIVER_INVALID_CONTEXT;
  depth--;
  if (context) *context = stack[depth];
  return DRIVER_OK;
}
int drv_cuCtxGetDevice(int *device) {
  if (!device) return DRIVER_INVALID_VALUE;
  *device = 0;
  return current() ? DRIVER_OK : DRIVER_INVALID_CONTEXT;
}
int drv_cuCtxGetDevice_v2(int *device, void *context) {
  (void)context;
  return drv_cuCtxGetDevice(device);
}
int drv_cuCtxSynchronize(void) { return DRIVER_OK; }
int drv_cuCtxGetFlags(unsigned *flags) {
  if (!flags) return DRIVER_INVALID_VALUE;
  *flags = 0;
  return DRIVER_OK;
}
int drv_cuCtxGetLimit(size_t *value, int limit) {
  enum { STACK = 0, PRINTF = 1, HEAP = 2 };
  if (!value) return DRIVER_INVALID_VALUE;
  *value = limit == STACK ? 1024 : limit == PRINTF ? 1 << 20 : limit == HEAP ? 8 << 20 : 0;
  return DRIVER_OK;
}
int drv_cuCtxSetLimit(int limit, size_t value) {
  (void)limit, (void)value;
  return DRIVER_OK;
}
// Nothing is ever logged.
int drv_cuLogsRegisterCallback(void *callback, void *data, void **handle) {
  if (!callback) return DRIVER_INVALID_VALUE;
  if (handle) *handle = data;
  return DRIVER_OK;
}
int drv_cuLogsUnregisterCallback(void *handle) {
  (void)handle;
  return DRIVER_OK;
}
int drv_cuCtxGetApiVersion(void *context, unsigned *version) {
  (void)context;
  if (!version) return DRIVER_INVALID_VALUE;
  *version = CUDA_VERSION;
  return DRIVER_OK;
}
int drv_cuCtxGetId(void *context, unsigned long long *id) {
  if (!id) return DRIVER_INVALID_VALUE;
  *id = (unsigned long long)(uintptr_t)(context ? context : current());
  return DRIVER_OK;
}
int drv_cuCtxSetCacheConfig(int config) {
  (void)config;
  return DRIVER_OK;
}
int drv_cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = 0;
  return DRIVER_OK;
}
int drv_cuCtxResetPersistingL2Cache(void) { return DRIVER_OK; }

// ---- streams and events -------------------------------------------------------------------------

int drv_cuStreamCreate(void **stream, unsigned flags) {
  (void)flags;
  if (!stream) return DRIVER_INVALID_VALUE;
  *stream = malloc(1);
  return *stream ? DRIVER_OK : DRIVER_OUT_OF_MEMORY;
}
int drv_cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
  (void)priority;
  return drv_cuStreamCreate(stream, flags);
}
// Destroyed, waited for, asked: a handle that is kept costs a byte, and none is ever wrong.
int drv_cuStreamDestroy_v2(void *stream) {
  (void)stream;
  return DRIVER_OK;
}
int drv_cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  (void)stream, (void)flags;
  return event ? DRIVER_OK : DRIVER_INVALID_HANDLE;
}
int drv_cuStreamGetFlags(void *stream, unsigned *flags) {
  (void)stream;
  return drv_cuCtxGetFlags(flags);
}
int drv_cuStreamGetPriority(void *stream, int *priority) {
  (void)stream;
  if (!priority) return DRIVER_INVALID_VALUE;
  *priority = 0;
  return DRIVER_OK;
}
int drv_cuStreamGetCtx(void *stream, void **context) {
  (void)stream;
  return drv_cuCtxGetCurrent(context);
}
int drv_cuLaunchHostFunc(void *stream, void (*call)(void *), void *data) {
  (void)stream;
  if (!call) return DRIVER_INVALID_VALUE;
  call(data);
  return DRIVER_OK;
}

typedef struct Event {
  struct timespec at;
} Event;

int drv_cuEventCreate(void **event, unsigned flags) {
  (void)flags;
  if (!event) return DRIVER_INVALID_VALUE;
  *event = calloc(1, sizeof(Event));
  return *event ? DRIVER_OK : DRIVER_OUT_OF_MEMORY;
}
int drv_cuEventDestroy_v2(void *event) {
  free(event);
  return DRIVER_OK;
}
int drv_cuEventRecord(void *event, void *stream) {
  (void)stream;
  if (!event) return DRIVER_INVALID_HANDLE;
  clock_gettime(CLOCK_MONOTONIC, &((Event *)event)->at);
  return DRIVER_OK;
}
int drv_cuEventRecordWithFlags(void *event, void *stream, unsigned flags) {
  (void)flags;
  return drv_cuEventRecord(event, stream);
}
int drv_cuEventSynchronize(void *event) { return event ? DRIVER_OK : DRIVER_INVALID_HANDLE; }
// The CPU's time: it says nothing of a GPU.
int drv_cuEventElapsedTime(float *ms, void *start, void *end) {
  const Event *from = start, *to = end;
  if (!ms || !from || !to) return DRIVER_INVALID_HANDLE;
  const double seconds = (double)(to->at.tv_sec - from->at.tv_sec),
               rest = (double)(to->at.tv_nsec - from->at.tv_nsec);
  *ms = (float)(seconds * 1e3 + rest / 1e6);
  return DRIVER_OK;
}

// ---- errors -------------------------------------------------------------------------------------

static const struct {
  int code;
  const char *name, *text;
} errors[] = {
    {DRIVER_OK, "CUDA_SUCCESS", "no error"},
    {DRIVER_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {DRIVER_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {DRIVER_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no device"},
    {DRIVER_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {DRIVER_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "not an image"},
    {DRIVER_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {DRIVER_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU", "the kernel has no PTX"},
    {DRIVER_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "the PTX is not legal"},
    {DRIVER_FILE_NOT_FOUND, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {DRIVER_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid handle"},
    {DRIVER_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {DRIVER_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "illegal memory access"},
    {DRIVER_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {DRIVER_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {DRIVER_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};
enum { N_ERRORS = sizeof errors / sizeof errors[0] };

int drv_cuGetErrorName(int error, const char **name) {
  for (int i = 0; i < N_ERRORS; i++)
    if (errors[i].code == error) {
      *name = errors[i].name;
      return DRIVER_OK;
    }
  *name = NULL;
  return DRIVER_INVALID_VALUE;
}
int drv_cuGetErrorString(int error, const char **text) {
  for (int i = 0; i < N_ERRORS; i++)
    if (errors[i].code == error) {
      *text = errors[i].text;
      return DRIVER_OK;
    }
  *text = NULL;
  return DRIVER_INVALID_VALUE;
}
