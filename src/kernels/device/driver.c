// The device, its memory, and what its errors mean.
//
// A Gpu holds the primary context (cuBLAS uses the same one) and one stream that nothing else
// waits for. Buffers lie between two guards of 256 KiB:
//
//   base            data                          data + bytes
//   | FF FF FF FF … | the matrix                  | FF FF FF FF … |
//
// 0xFF bytes are a NaN in f64, f32, f16 and bf16, so a product that strays over the edge of A or B
// is NaN and fails its check, and the guards of C show a store that strayed.
//
// An error sentence names the call and the driver's own words: "cuStreamSynchronize:
// CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered". The errors in
// `poisons` come from a kernel that broke the context: every later call would give them again.
#include "kernels/device/driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "kernels/device/gpu.h"
#include "kernels/device/nvml.h"
#include "kernels/toolchain/dl.h"

static bool poisons(int status) {
  static const int codes[] = {214, 220, 226, 700, 702, 709, 710, 714,
                              715, 716, 717, 718, 719, 721, 999};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (codes[i] == status) return true;
  return false;
}

static void describe(const CudaApi *cuda, int status, const char *call, char *text, size_t bytes) {
  const char *name = NULL, *words = NULL;
  cuda->cuGetErrorName(status, &name);
  cuda->cuGetErrorString(status, &words);
  snprintf(text, bytes, "%s: %s (%d): %s", call, name ? name : "unknown error", status,
           words ? words : "no description");
}

const char *gpu_error(const Gpu *gpu) { return gpu->error; }
bool gpu_poisoned(const Gpu *gpu) { return gpu->poisoned; }
const GpuInfo *gpu_info(const Gpu *gpu) { return &gpu->info; }

bool gpu_check(Gpu *gpu, int status, const char *call) {
  if (status == CU_SUCCESS) return true;
  describe(gpu->cuda, status, call, gpu->error, sizeof gpu->error);
  gpu->poisoned = gpu->poisoned || poisons(status);
  return false;
}

bool gpu_refuse(Gpu *gpu, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(gpu->error, sizeof gpu->error, format, args);
  va_end(args);
  return false;
}

static int attribute(Gpu *gpu, int which) {
  int value = 0;
  return gpu_check(gpu, gpu->cuda->cuDeviceGetAttribute(&value, which, gpu->device),
                   "cuDeviceGetAttribute")
             ? value
             : 0;
}

static const char *uuid_text(Arena *arena, const CuUuid *uuid) {
  Str text = str_new(arena);
  str_add(&text, "GPU-");
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) str_add_char(&text, '-');
    str_printf(&text, "%02x", uuid->bytes[i]);
  }
  return text.text;
}

static void read_limits(Gpu *gpu) {
  GpuInfo *info = &gpu->info;
  const int threads = attribute(gpu, CU_DEVICE_MAX_THREADS_PER_SM);
  const int lanes = attribute(gpu, CU_DEVICE_WARP_SIZE);
  info->capability_major = attribute(gpu, CU_DEVICE_CAPABILITY_MAJOR);
  info->capability_minor = attribute(gpu, CU_DEVICE_CAPABILITY_MINOR);
  info->device = (Device){
      .sm_count = attribute(gpu, CU_DEVICE_MULTIPROCESSOR_COUNT),
      .l2_bytes = attribute(gpu, CU_DEVICE_L2_CACHE_SIZE),
      .smem_per_block = attribute(gpu, CU_DEVICE_SMEM_PER_BLOCK_OPTIN),
      .smem_per_sm = attribute(gpu, CU_DEVICE_SMEM_PER_SM),
      .regs_per_sm = attribute(gpu, CU_DEVICE_REGISTERS_PER_SM),
      .boost_mhz = attribute(gpu, CU_DEVICE_CLOCK_RATE) / 1000,  // from kHz
      .max_threads_per_block = attribute(gpu, CU_DEVICE_MAX_THREADS_PER_BLOCK),
      .max_threads_per_sm = threads,
      .max_warps_per_sm = lanes ? threads / lanes : 0,
      .max_blocks_per_sm = attribute(gpu, CU_DEVICE_MAX_BLOCKS_PER_SM),
  };
  snprintf(info->device.name, sizeof info->device.name, "%s", info->name);
  snprintf(info->device.arch, sizeof info->device.arch, "%s", gpu_arch(gpu->arena, gpu));
}

static bool read_info(Gpu *gpu) {
  const CudaApi *cuda = gpu->cuda;
  char name[256] = "";
  CuUuid uuid = {{0}};
  size_t memory = 0;
  int version = 0;
  if (!gpu_check(gpu, cuda->cuDeviceGetName(name, sizeof name, gpu->device), "cuDeviceGetName") ||
      !gpu_check(gpu, cuda->cuDeviceGetUuid_v2(&uuid, gpu->device), "cuDeviceGetUuid") ||
      !gpu_check(gpu, cuda->cuDeviceTotalMem_v2(&memory, gpu->device), "cuDeviceTotalMem") ||
      !gpu_check(gpu, cuda->cuDriverGetVersion(&version), "cuDriverGetVersion"))
    return false;
  gpu->info.name = str_sanitise(gpu->arena, name);
  gpu->info.uuid = uuid_text(gpu->arena, &uuid);
  gpu->info.memory_bytes = (int64_t)memory;
  gpu->info.cuda = arena_printf(gpu->arena, "%d.%d", version / 1000, version % 1000 / 10);
  gpu->info.driver = nvml_driver_version(gpu->arena);
  if (!gpu->info.driver) gpu->info.driver = "unknown";
  read_limits(gpu);
  return gpu->info.capability_major > 0;
}

static bool find_device(Gpu *gpu, int ordinal) {
  const CudaApi *cuda = gpu->cuda;
  int count = 0;
  if (!gpu_check(gpu, cuda->cuInit(0), "cuInit") ||
      !gpu_check(gpu, cuda->cuDeviceGetCount(&count), "cuDeviceGetCount"))
    return false;
  if (ordinal < 0 || ordinal >= count)
    return gpu_refuse(gpu, "GPU %d does not exist; the driver sees %d", ordinal, count);
  gpu->info.n_gpus = count;
  return gpu_check(gpu, cuda->cuDeviceGet(&gpu->device, ordinal), "cuDeviceGet") && read_info(gpu);
}

static Gpu *gpu_in(Arena *arena, const CudaApi *cuda) {
  Gpu *gpu = ARENA_NEW(arena, Gpu);
  gpu->arena = arena;
  gpu->cuda = cuda;
  return gpu;
}

bool gpu_find(Arena *arena, int ordinal, GpuInfo *info, const char **error) {
  const CudaApi *cuda = dl_cuda(error);
  if (!cuda) return false;
  Gpu *gpu = gpu_in(arena, cuda);
  const bool found = find_device(gpu, ordinal);
  *info = gpu->info;
  *error = found ? NULL : str_sanitise(arena, gpu->error);
  return found;
}

static bool open_context(Gpu *gpu) {
  const CudaApi *cuda = gpu->cuda;
  gpu->retained = gpu_check(gpu, cuda->cuDevicePrimaryCtxRetain(&gpu->context, gpu->device),
                            "cuDevicePrimaryCtxRetain");
  return gpu->retained && gpu_check(gpu, cuda->cuCtxSetCurrent(gpu->context), "cuCtxSetCurrent") &&
         gpu_check(gpu, cuda->cuStreamCreate(&gpu->stream, CU_STREAM_NON_BLOCKING),
                   "cuStreamCreate");
}

Gpu *gpu_open(Arena *arena, int ordinal, const char **error) {
  const CudaApi *cuda = dl_cuda(error);
  if (!cuda) return NULL;
  Gpu *gpu = gpu_in(arena_new("gpu"), cuda);
  if (!find_device(gpu, ordinal) || !open_context(gpu)) {
    *error = str_sanitise(arena, gpu->error);
    gpu_let_go(gpu);
    return NULL;
  }
  gpu->nvml_device = nvml_open(gpu->info.uuid);
  *error = NULL;
  return gpu;
}

void gpu_let_go(Gpu *gpu) {
  const CudaApi *cuda = gpu->cuda;
  if (!gpu->poisoned && gpu->retained) {
    if (gpu->stream) cuda->cuStreamDestroy_v2(gpu->stream);
    cuda->cuCtxSetCurrent(NULL);
    cuda->cuDevicePrimaryCtxRelease_v2(gpu->device);
  }
  nvml_close(gpu->nvml_device);
  arena_free(gpu->arena);
}

GpuState gpu_state(Arena *arena, Gpu *gpu) { return nvml_state(arena, gpu->nvml_device); }

const char *gpu_date_now(Arena *arena) {
  char text[32];
  time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return arena_strdup(arena, text);
}

bool gpu_alloc(Gpu *gpu, GpuBuffer *buffer, int64_t bytes, const char *what) {
  size_t free_bytes = 0, total_bytes = 0;
  if (buffer->bytes == bytes && bytes > 0) return true;
  gpu_release(gpu, buffer);
  const int64_t whole = (bytes + 255) / 256 * 256 + 2 * GPU_GUARD_BYTES;
  if (!gpu_check(gpu, gpu->cuda->cuMemGetInfo_v2(&free_bytes, &total_bytes), "cuMemGetInfo"))
    return false;
  if (whole > (int64_t)free_bytes)
    return gpu_refuse(gpu, "%s needs %.2f GiB of GPU memory; %.2f of %.2f GiB are free", what,
                      (double)whole / (1 << 30), (double)free_bytes / (1 << 30),
                      (double)total_bytes / (1 << 30));
  if (!gpu_check(gpu, gpu->cuda->cuMemAlloc_v2(&buffer->base, (size_t)whole), "cuMemAlloc"))
    return false;
  buffer->data = buffer->base + GPU_GUARD_BYTES;
  buffer->bytes = bytes;
  return true;
}

void gpu_release(Gpu *gpu, GpuBuffer *buffer) {
  if (buffer->bytes > 0) gpu_check(gpu, gpu->cuda->cuMemFree_v2(buffer->base), "cuMemFree");
  *buffer = (GpuBuffer){0};
}

bool gpu_fill_bytes(Gpu *gpu, const GpuBuffer *buffer, unsigned char value, bool guards) {
  CuDevicePtr to = guards ? buffer->base : buffer->data;
  size_t bytes = (size_t)buffer->bytes;
  if (guards) bytes = (bytes + 255) / 256 * 256 + 2 * (size_t)GPU_GUARD_BYTES;
  return gpu_check(gpu, gpu->cuda->cuMemsetD8Async(to, value, bytes, gpu->stream),
                   "cuMemsetD8Async");
}

bool gpu_wait(Gpu *gpu) {
  return gpu_check(gpu, gpu->cuda->cuStreamSynchronize(gpu->stream), "cuStreamSynchronize");
}

int gpu_cc(const Gpu *gpu) { return 10 * gpu->info.capability_major + gpu->info.capability_minor; }

const char *gpu_arch(Arena *arena, const Gpu *gpu) {
  return arena_printf(arena, "sm_%d", gpu_cc(gpu));
}

bool gpu_write(Gpu *gpu, CuDevicePtr to, const void *from, size_t bytes) {
  return gpu_check(gpu, gpu->cuda->cuMemcpyHtoDAsync_v2(to, from, bytes, gpu->stream),
                   "cuMemcpyHtoDAsync") &&
         gpu_wait(gpu);
}

bool gpu_read(Gpu *gpu, void *to, CuDevicePtr from, size_t bytes) {
  return gpu_check(gpu, gpu->cuda->cuMemcpyDtoHAsync_v2(to, from, bytes, gpu->stream),
                   "cuMemcpyDtoHAsync") &&
         gpu_wait(gpu);
}

bool gpu_load_module(Gpu *gpu, const BenchInput *input, void **module) {
  const CudaApi *cuda = gpu->cuda;
  if (!input->cubin && !input->ptx)
    return gpu_refuse(gpu, "there is neither a cubin nor PTX to load");
  int status = -1;
  if (input->cubin) status = cuda->cuModuleLoadData(module, input->cubin);
  if (status != CU_SUCCESS && input->ptx && !gpu->poisoned)
    status = cuda->cuModuleLoadData(module, input->ptx);
  return gpu_check(gpu, status, "cuModuleLoadData");
}
