// The runtime's functions that are the driver's with an error to remember.
#include <string.h>

#include "driver/runtime.h"

static __thread int last_error;

int rt_result(int result) {
  if (result) last_error = result;
  return result;
}

int rt_begin(void) {
  void *context = NULL;
  drv_cuCtxGetCurrent(&context);
  if (context) return DRIVER_OK;
  drv_cuDevicePrimaryCtxRetain(&context, 0);
  return drv_cuCtxSetCurrent(context);
}

int rt_cudaGetLastError(void) {
  const int error = last_error;
  last_error = DRIVER_OK;
  return error;
}
int rt_cudaPeekAtLastError(void) { return last_error; }
const char *rt_cudaGetErrorString(int error) {
  const char *text = NULL;
  return drv_cuGetErrorString(error, &text) == DRIVER_OK ? text : "unknown error";
}
const char *rt_cudaGetErrorName(int error) {
  const char *name = NULL;
  return drv_cuGetErrorName(error, &name) == DRIVER_OK ? name : "cudaErrorUnknown";
}

// ---- the device ---------------------------------------------------------------------------------

int rt_cudaGetDeviceCount(int *count) { return rt_result(drv_cuDeviceGetCount(count)); }
int rt_cudaSetDevice(int device) {
  (void)device;
  return rt_begin();
}
int rt_cudaInitDevice(int device, unsigned flags, unsigned how) {
  (void)device, (void)flags, (void)how;
  return rt_begin();
}
int rt_cudaGetDevice(int *device) {
  if (!device) return rt_result(DRIVER_INVALID_VALUE);
  *device = 0;
  return rt_begin();
}
int rt_cudaGetDeviceFlags(unsigned *flags) { return rt_result(drv_cuCtxGetFlags(flags)); }
int rt_cudaChooseDevice(int *device, const void *wanted) {
  (void)wanted;
  return rt_cudaGetDevice(device);
}
int rt_cudaDeviceGetAttribute(int *value, int attribute, int device) {
  return rt_result(drv_cuDeviceGetAttribute(value, attribute, device));
}
int rt_cudaDriverGetVersion(int *version) { return rt_result(drv_cuDriverGetVersion(version)); }
int rt_cudaDeviceSynchronize(void) { return rt_begin(); }
int rt_cudaDeviceSetLimit(int limit, size_t value) { return drv_cuCtxSetLimit(limit, value); }
int rt_cudaDeviceGetLimit(size_t *value, int limit) {
  return rt_result(drv_cuCtxGetLimit(value, limit));
}
int rt_cudaDeviceSetCacheConfig(int config) { return drv_cuCtxSetCacheConfig(config); }
int rt_cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  return rt_result(drv_cuDeviceCanAccessPeer(can, device, peer));
}
int rt_cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  return drv_cuCtxGetStreamPriorityRange(least, greatest);
}
int rt_cudaDeviceGetDefaultMemPool(void **pool, int device) {
  return rt_result(drv_cuDeviceGetDefaultMemPool(pool, device));
}
int rt_cudaMemPoolSetAttribute(void *pool, int attribute, void *value) {
  return drv_cuMemPoolSetAttribute(pool, attribute, value);
}

// cudaDeviceProp: an attribute of the driver, and where its number stands for a program that was
// built with CUDA 13 and for one of CUDA 12, whose runtime calls the function
// cudaGetDeviceProperties_v2. NONE: it has no such number. The clocks went away with CUDA 13, and
// what stood behind them moved.
enum { NONE = -1, PROPERTIES_BYTES_13 = 1008, PROPERTIES_BYTES_12 = 1032 };
typedef enum CudaOf { CUDA_13, CUDA_12, N_CUDA_OF } CudaOf;

static const struct {
  int attribute;
  bool wide;
  int offset[N_CUDA_OF];
} properties[] = {
    {8, true, {296, 296}},     // sharedMemPerBlock
    {12, false, {304, 304}},   // regsPerBlock
    {10, false, {308, 308}},   // warpSize
    {1, false, {320, 320}},    // maxThreadsPerBlock
    {2, false, {324, 324}},    // maxThreadsDim
    {3, false, {328, 328}},    //
    {4, false, {332, 332}},    //
    {5, false, {336, 336}},    // maxGridSize
    {6, false, {340, 340}},    //
    {7, false, {344, 344}},    //
    {13, false, {NONE, 348}},  // clockRate
    {9, true, {352, 352}},     // totalConstMem
    {75, false, {360, 360}},   // major
    {76, false, {364, 364}},   // minor
    {14, true, {368, 368}},    // textureAlignment
    {16, false, {384, 388}},   // multiProcessorCount
    {19, false, {392, 400}},   // canMapHostMemory
    {31, false, {560, 576}},   // concurrentKernels
    {41, false, {588, 604}},   // unifiedAddressing
    {36, false, {NONE, 608}},  // memoryClockRate
    {38, false, {596, 616}},   // l2CacheSize
    {39, false, {604, 624}},   // maxThreadsPerMultiProcessor
    {81, true, {624, 640}},    // sharedMemPerMultiprocessor
    {82, false, {632, 648}},   // regsPerMultiprocessor
    {95, false, {668, 688}},   // cooperativeLaunch
    {97, true, {672, 696}},    // sharedMemPerBlockOptin
    {106, false, {688, 712}},  // maxBlocksPerMultiProcessor
};

static int device_properties(unsigned char *out, int device, CudaOf cuda) {
  enum { NAME = 256, TOTAL_MEMORY = 288 };
  if (!out || device != 0) return rt_result(DRIVER_INVALID_DEVICE);
  memset(out, 0, cuda == CUDA_12 ? PROPERTIES_BYTES_12 : PROPERTIES_BYTES_13);
  drv_cuDeviceGetName((char *)out, NAME, 0);
  size_t total = 0;
  drv_cuDeviceTotalMem_v2(&total, 0);
  memcpy(out + TOTAL_MEMORY, &total, sizeof total);
  for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
    int value = 0;
    const int offset = properties[i].offset[cuda];
    if (offset == NONE) continue;
    drv_cuDeviceGetAttribute(&value, properties[i].attribute, 0);
    const size_t wide = (size_t)value;
    if (properties[i].wide)
      memcpy(out + offset, &wide, sizeof wide);
    else
      memcpy(out + offset, &value, sizeof value);
  }
  return DRIVER_OK;
}
int rt_cudaGetDeviceProperties(unsigned char *out, int device) {
  return device_properties(out, device, CUDA_13);
}
int rt_cudaGetDeviceProperties_v2(unsigned char *out, int device) {
  return device_properties(out, device, CUDA_12);
}

int rt_cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                        unsigned long long flags, int *status) {
  rt_begin();
  return rt_result(drv_cuGetProcAddress_v2(name, function, (int)version, flags, status));
}
int rt_cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                               int *status) {
  int version = 0;
  drv_cuDriverGetVersion(&version);
  return rt_cudaGetDriverEntryPointByVersion(name, function, (unsigned)version, flags, status);
}

// ---- streams and events -------------------------------------------------------------------------

int rt_cudaStreamCreate(void **stream) { return rt_result(drv_cuStreamCreate(stream, 0)); }
int rt_cudaStreamCreateWithFlags(void **stream, unsigned flags) {
  return rt_result(drv_cuStreamCreate(stream, flags));
}
int rt_cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
  return rt_result(drv_cuStreamCreateWithPriority(stream, flags, priority));
}
int rt_cudaStreamDestroy(void *stream) { return drv_cuStreamDestroy_v2(stream); }
int rt_cudaStreamWaitEvent(void *stream, void *event, unsigned flags) {
  return rt_result(drv_cuStreamWaitEvent(stream, event, flags));
}
int rt_cudaStreamIsCapturing(void *stream, int *status) {
  return rt_result(drv_cuStreamIsCapturing(stream, status));
}
int rt_cudaLaunchHostFunc(void *stream, void (*call)(void *), void *data) {
  return rt_result(drv_cuLaunchHostFunc(stream, call, data));
}
int rt_cudaEventCreate(void **event) { return rt_result(drv_cuEventCreate(event, 0)); }
int rt_cudaEventCreateWithFlags(void **event, unsigned flags) {
  return rt_result(drv_cuEventCreate(event, flags));
}
int rt_cudaEventDestroy(void *event) { return drv_cuEventDestroy_v2(event); }
int rt_cudaEventRecord(void *event, void *stream) {
  return rt_result(drv_cuEventRecord(event, stream));
}
int rt_cudaEventRecordWithFlags(void *event, void *stream, unsigned flags) {
  (void)flags;
  return rt_cudaEventRecord(event, stream);
}
int rt_cudaEventSynchronize(void *event) { return rt_result(drv_cuEventSynchronize(event)); }
int rt_cudaEventElapsedTime(float *ms, void *start, void *end) {
  return rt_result(drv_cuEventElapsedTime(ms, start, end));
}

// ---- memory -------------------------------------------------------------------------------------

int rt_cudaMalloc(uint64_t *address, size_t n) {
  rt_begin();
  if (address && n == 0) *address = 0;
  return n ? rt_result(drv_cuMemAlloc_v2(address, n)) : DRIVER_OK;
}
int rt_cudaMallocAsync(uint64_t *address, size_t n, void *stream) {
  (void)stream;
  return rt_cudaMalloc(address, n);
}
int rt_cudaMallocFromPoolAsync(uint64_t *address, size_t n, void *pool, void *stream) {
  (void)pool, (void)stream;
  return rt_cudaMalloc(address, n);
}
int rt_cudaMallocPitch(uint64_t *address, size_t *pitch, size_t width, size_t rows) {
  rt_begin();
  return rt_result(drv_cuMemAllocPitch_v2(address, pitch, width, rows, 4));
}
int rt_cudaFree(uint64_t address) {
  rt_begin();
  return rt_result(drv_cuMemFree_v2(address));
}
int rt_cudaFreeAsync(uint64_t address, void *stream) {
  (void)stream;
  return rt_cudaFree(address);
}
int rt_cudaHostAlloc(void **memory, size_t n, unsigned flags) {
  rt_begin();
  return rt_result(drv_cuMemHostAlloc(memory, n, flags));
}
int rt_cudaMallocHost(void **memory, size_t n) { return rt_cudaHostAlloc(memory, n, 0); }
int rt_cudaFreeHost(void *memory) { return rt_result(drv_cuMemFreeHost(memory)); }
// Memory that both reach: the program's own. What it is advised, and where it is wanted, are for
// hardware that moves pages.
int rt_cudaMallocManaged(void **memory, size_t n, unsigned flags) {
  (void)flags;
  return rt_cudaHostAlloc(memory, n, 0);
}
int rt_cudaMemAdvise(const void *memory, size_t n, int advice, int device) {
  (void)n, (void)advice, (void)device;
  return memory ? DRIVER_OK : rt_result(DRIVER_INVALID_VALUE);
}
int rt_cudaStreamAttachMemAsync(void *stream, void *memory, size_t n, unsigned flags) {
  (void)stream, (void)n, (void)flags;
  return memory ? DRIVER_OK : rt_result(DRIVER_INVALID_VALUE);
}
int rt_cudaStreamAddCallback(void *stream, void (*call)(void *, int, void *), void *data,
                             unsigned flags) {
  (void)flags;
  if (!call) return rt_result(DRIVER_INVALID_VALUE);
  call(stream, DRIVER_OK, data);
  return DRIVER_OK;
}
int rt_cudaHostRegister(void *memory, size_t n, unsigned flags) {
  return rt_result(drv_cuMemHostRegister_v2(memory, n, flags));
}
int rt_cudaHostUnregister(void *memory) { return rt_result(drv_cuMemHostUnregister(memory)); }
int rt_cudaHostGetDevicePointer(uint64_t *address, void *memory, unsigned flags) {
  return rt_result(drv_cuMemHostGetDevicePointer_v2(address, memory, flags));
}
int rt_cudaMemGetInfo(size_t *left, size_t *total) {
  return rt_result(drv_cuMemGetInfo_v2(left, total));
}

int rt_cudaPointerGetAttributes(RtPointerAttributes *out, const void *address) {
  enum { UNREGISTERED = 0, HOST = 1, DEVICE = 2 };
  if (!out) return rt_result(DRIVER_INVALID_VALUE);
  void *at = (void *)(uintptr_t)address;
  pthread_mutex_lock(&driver_mutex);
  const DriverMemory *m = driver_memory_at((uint64_t)(uintptr_t)address);
  *out = (RtPointerAttributes){.type = !m           ? UNREGISTERED
                                       : m->on_host ? HOST
                                                    : DEVICE,
                               .device_pointer = m ? at : NULL,
                               .host_pointer = !m || m->on_host ? at : NULL};
  pthread_mutex_unlock(&driver_mutex);
  return DRIVER_OK;
}

int rt_cudaMemcpy(uint64_t to, uint64_t from, size_t n, int kind) {
  (void)kind;
  return rt_result(drv_cuMemcpy(to, from, n));
}
int rt_cudaMemcpyAsync(uint64_t to, uint64_t from, size_t n, int kind, void *stream) {
  (void)kind;
  return rt_result(drv_cuMemcpyAsync(to, from, n, stream));
}
int rt_cudaMemcpy2D(uint64_t to, size_t to_pitch, uint64_t from, size_t from_pitch, size_t width,
                    size_t rows, int kind) {
  int result = DRIVER_OK;
  for (size_t row = 0; row < rows && !result; row++)
    result = rt_cudaMemcpy(to + row * to_pitch, from + row * from_pitch, width, kind);
  return result;
}
int rt_cudaMemcpy2DAsync(uint64_t to, size_t to_pitch, uint64_t from, size_t from_pitch,
                         size_t width, size_t rows, int kind, void *stream) {
  (void)stream;
  return rt_cudaMemcpy2D(to, to_pitch, from, from_pitch, width, rows, kind);
}
int rt_cudaMemset(uint64_t to, int value, size_t n) {
  return rt_result(drv_cuMemsetD8_v2(to, (unsigned char)value, n));
}
int rt_cudaMemsetAsync(uint64_t to, int value, size_t n, void *stream) {
  return rt_result(drv_cuMemsetD8Async(to, (unsigned char)value, n, stream));
}
int rt_cudaMemset2D(uint64_t to, size_t pitch, int value, size_t width, size_t rows) {
  int result = DRIVER_OK;
  for (size_t row = 0; row < rows && !result; row++)
    result = rt_cudaMemset(to + row * pitch, value, width);
  return result;
}
