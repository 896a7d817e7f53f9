// Everything is synchronous. Errors of a kernel appear at the next wait, as on a GPU, and stay.
#include "fake_cuda.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda_parts.h"
#include "fake_tensor_map.h"
#include "kernels/device/problem_kernels.h"
#include "kernels/toolchain/dl.h"
#include "numbers.h"

typedef unsigned long long U64;

static int live, calls, fail_at, fail_status, broken;
static double slower_per_s;
double fake_clock_ms;
static U64 last_m, last_n, last_k;
static int last_a_col, last_b_col;
FakeTypes fake_types;

typedef struct Kernel {
  const char *name;
  double us;
  void (*run)(void **parameters);
  int64_t grid_x;  // of its last launch
} Kernel;

// What a lost context keeps is freed at the end of the test.
static void *things[1 << 16];
static int n_things;

void *fake_keep(void *thing) {
  things[n_things++ % (1 << 16)] = thing;
  live++;
  return thing;
}

static void give_back(void *thing) {
  for (int i = n_things - 1; i >= 0; i--)
    if (things[i] == thing) {
      things[i] = things[--n_things];
      break;
    }
  free(thing);
  live--;
}

static int answer(void) {
  calls++;
  if (fail_at > 0 && --fail_at == 0) {
    if (fail_status >= 700) broken = fail_status;
    return fail_status;
  }
  return broken;
}

#define POINTER(T, I) ((T *)(uintptr_t) * (CuDevicePtr *)parameters[I])
#define VALUE(T, I) (*(T *)parameters[I])

static void run_fill(void **parameters) {
  void *out = POINTER(void, 0);
  PlanType type = (PlanType)VALUE(int, 1);
  U64 n = VALUE(U64, 2), state = VALUE(U64, 3) * 977 + 1;
  for (U64 i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < 6; j++) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      sum += (double)(state >> 40) / (double)(1 << 24) - 0.5;
    }
    number_store(type, out, i, type == PLAN_S8 ? 32 * sum : sum);
  }
}

static double a_at(const void *a, U64 i, U64 p) {
  return number_load(fake_types.operand, a, last_a_col ? p * last_m + i : i * last_k + p);
}
static double b_at(const void *b, U64 p, U64 j) {
  return number_load(fake_types.operand, b, last_b_col ? j * last_k + p : p * last_n + j);
}

static void run_product(void **parameters) {
  const void *a = POINTER(void, 0), *b = POINTER(void, 1);
  double *expected = POINTER(double, 2);
  float *magnitude = POINTER(float, 3);
  fake_types.operand = (PlanType)VALUE(int, 4);
  last_m = VALUE(U64, 5), last_n = VALUE(U64, 6), last_k = VALUE(U64, 7);
  last_a_col = VALUE(int, 8), last_b_col = VALUE(int, 9);
  for (U64 i = 0; i < last_m; i++)
    for (U64 j = 0; j < last_n; j++) {
      double sum = 0, size = 0;
      for (U64 p = 0; p < last_k; p++) {
        sum += a_at(a, i, p) * b_at(b, p, j);
        size += fabs(a_at(a, i, p) * b_at(b, p, j));
      }
      expected[i * last_n + j] = sum;
      magnitude[i * last_n + j] = (float)size;
    }
}

static void run_compare(void **parameters) {
  const void *c = POINTER(void, 0);
  const float *magnitude = POINTER(float, 3);
  PlanType type = (PlanType)VALUE(int, 1);
  const double *expected = POINTER(double, 2);
  U64 m = VALUE(U64, 4), n = VALUE(U64, 5), map_m = VALUE(U64, 9), map_n = VALUE(U64, 10);
  double tolerance = VALUE(double, 6), rounding = VALUE(double, 7), least = VALUE(double, 8);
  unsigned *map = POINTER(unsigned, 11);
  HelperCounters *counters = POINTER(HelperCounters, 12);
  for (U64 i = 0; i < m * n; i++) {
    double error = fabs(number_load(type, c, i) - expected[i]);
    double bound = tolerance * (double)magnitude[i] + rounding * fabs(expected[i]) + least;
    float worst = error > 0 ? (float)(error / bound) : 0, before;
    memcpy(&before, &counters->worst_bits, 4);
    if (worst > before) memcpy(&counters->worst_bits, &worst, 4);
    if (error <= bound) continue;
    const unsigned char *bytes = (const unsigned char *)c + i * (U64)plan_type_bytes(type);
    bool untouched = true;
    for (int b = 0; b < plan_type_bytes(type); b++) untouched = untouched && bytes[b] == 0xff;
    counters->n_nan += isnan(error) != 0;
    counters->n_wrong++;
    counters->n_unwritten += untouched;
    if (i < counters->first_wrong) counters->first_wrong = i;
    map[i / n / map_m * ((n + map_n - 1) / map_n) + i % n / map_n]++;
  }
}

static void run_count(void **parameters) {
  const uint32_t *words = POINTER(uint32_t, 0);
  U64 n = VALUE(U64, 1);
  HelperCounters *counters = POINTER(HelperCounters, 2);
  for (U64 i = 0; i < n; i++) counters->n_outside += words[i] != UINT32_MAX;
}

void fake_spend_ms(double ms) { fake_clock_ms += ms * (1 + slower_per_s * fake_clock_ms / 1000); }

static void run_spin(void **parameters) { fake_clock_ms += (double)VALUE(long long, 0) / 1.5e6; }

double fake_operand(double x) {
  return fake_types.operand == PLAN_TF32 ? number_cut_to_tf32(x) : x;
}

static void run_gemm(void **parameters) {
  const void *a = POINTER(void, 0), *b = POINTER(void, 1);
  void *c = POINTER(void, 2);
  for (U64 i = 0; i < last_m; i++)
    for (U64 j = 0; j < last_n; j++) {
      double sum = 0;
      for (U64 p = 0; p < last_k; p++)
        sum = number_rounded(fake_types.sum,
                             sum + fake_operand(a_at(a, i, p)) * fake_operand(b_at(b, p, j)));
      number_store(fake_types.output, c, i * last_n + j, sum);
    }
}

static void run_wrong(void **parameters) {
  run_gemm(parameters);
  void *c = POINTER(void, 2);
  U64 cell = 3 * last_n + 5;
  number_store(fake_types.output, c, cell, number_load(fake_types.output, c, cell) + 1);
}
static void run_short(void **parameters) {
  run_gemm(parameters);
  U64 bytes = (U64)plan_type_bytes(fake_types.output);
  memset(POINTER(char, 2) + (last_m - 1) * last_n * bytes, 0xFF, last_n * bytes);
}
static void run_outside(void **parameters) {
  run_gemm(parameters);
  number_store(fake_types.output, POINTER(void, 2), last_m * last_n + 7, 1);
}
static void run_crash(void **parameters) {
  (void)parameters;
  broken = 700;
}
static void run_zero(void **parameters) {
  memset(POINTER(float, 0), 0, last_m * last_n * (U64)plan_type_bytes(fake_types.output));
}

// Zeros, a row for each block: what a test's own kernel of attention writes.
static Kernel *find_kernel(const char *name);
static void run_attention(void **parameters) {
  const size_t cells = (size_t)(find_kernel("attention_f64")->grid_x * VALUE(int64_t, 8));
  memset(POINTER(double, 3), 0, cells * sizeof(double));
  memset(POINTER(float, 4), 0, cells * sizeof(float));
}

// Eight warps that start together; 16 accesses of 32 clocks a round.
static void run_probe(void **parameters) {
  long long *times = POINTER(long long, 0);
  for (int warp = 0; warp < 8; warp++) {
    times[2 * warp] = 1000 + warp;
    times[2 * warp + 1] = 1500 + warp + VALUE(int, 2) * 16ll * 8 * 32;
  }
  times[16] = 0;
}

static Kernel kernels[] = {{"probe", 1, run_probe, 0},
                           {"fill_normal", 1, run_fill, 0},
                           {"product_f64", 1, run_product, 0},
                           {"attention_f64", 1, run_attention, 0},
                           {"compare", 1, run_compare, 0},
                           {"count_changed", 1, run_count, 0},
                           {"spin", 0, run_spin, 0},
                           {"gemm", 100, run_gemm, 0},
                           {"gemm_wrong", 50, run_wrong, 0},
                           {"gemm_short", 50, run_short, 0},
                           {"gemm_outside", 50, run_outside, 0},
                           {"gemm_crash", 50, run_crash, 0},
                           {"zero", 10, run_zero, 0}};
enum { N_KERNELS = sizeof kernels / sizeof *kernels };

// Kernels of a test's own, and PTX that has them all.
enum { ADDED_MAX = 64 };
static Kernel added[ADDED_MAX];
static int n_added;
static char fake_ptx[8192];

void fake_cuda_add_kernel(const char *name, void (*run)(void **parameters)) {
  added[n_added++ % ADDED_MAX] = (Kernel){.name = name, .us = 1, .run = run};
  const size_t n = strlen(fake_ptx);
  snprintf(fake_ptx + n, sizeof fake_ptx - n, ".entry %s(\n", name);
}

static Kernel *find_kernel(const char *name) {
  for (int i = 0; i < N_KERNELS; i++)
    if (strcmp(kernels[i].name, name) == 0) return &kernels[i];
  for (int i = 0; i < n_added; i++)
    if (strcmp(added[i].name, name) == 0) return &added[i];
  return NULL;
}

void fake_cuda_set_us(const char *name, double us) {
  for (int i = 0; i < N_KERNELS; i++)
    if (strcmp(kernels[i].name, name) == 0) kernels[i].us = us;
}

static int fake_init(unsigned flags) { return flags ? 1 : answer(); }
static int fake_version(int *version) { return *version = 13000, answer(); }
static int fake_count(int *count) { return *count = 1, answer(); }
static int fake_device(int *device, int ordinal) { return *device = ordinal, answer(); }
static int fake_name(char *name, int bytes, int device) {
  snprintf(name, (size_t)bytes, "Fake GPU %d", device);
  return answer();
}
static int fake_uuid(CuUuid *uuid, int device) {
  memset(uuid, device + 1, sizeof *uuid);
  return answer();
}
static int fake_memory(size_t *bytes, int device) {
  return *bytes = (size_t)1 << 30, device + answer();
}
enum { TOLD_MAX = 16 };
static struct { int attribute, value; } told[TOLD_MAX];
static int n_told;

void fake_cuda_set_attribute(int attribute, int value) {
  told[n_told % TOLD_MAX].attribute = attribute;
  told[n_told++ % TOLD_MAX].value = value;
}

static int fake_attribute(int *value, int attribute, int device) {
  *value = attribute == CU_DEVICE_CAPABILITY_MAJOR       ? 9
           : attribute == CU_DEVICE_CAPABILITY_MINOR     ? 0
           : attribute == CU_DEVICE_SMEM_PER_BLOCK_OPTIN ? 232448
           : attribute == CU_DEVICE_L2_CACHE_SIZE        ? 1 << 16
                                                         : 100;
  for (int i = 0; i < n_told && i < TOLD_MAX; i++)
    if (told[i].attribute == attribute) *value = told[i].value;
  return device + answer();
}

int fake_create(void **thing) {
  int status = answer();
  if (status == 0) *thing = fake_keep(malloc(1));
  return status;
}
int fake_destroy(void *thing) {
  int status = answer();
  give_back(thing);
  return status;
}
static int fake_retain(void **context, int device) {
  return device == 0 ? fake_create(context) : 101;
}
static int fake_release(int device) { return device + answer(); }
static int fake_set_current(void *context) {
  static void *current;
  if (!context) give_back(current);
  current = context;
  return answer();
}
static int fake_load(void **module, const void *image) { return image ? fake_create(module) : 200; }
static int fake_function(void **function, void *module, const char *name) {
  *function = find_kernel(name);
  if (!*function) return 500;
  return module ? answer() : 400;
}
static int fake_function_attribute(int *value, int attribute, void *function) {
  *value = attribute == CU_FUNC_REGISTERS ? 128 : 0;
  return function ? answer() : 400;
}
static int fake_set_attribute(void *function, int attribute, int value) {
  bool known = attribute == CU_FUNC_MAX_DYNAMIC_SMEM || attribute == CU_FUNC_NON_PORTABLE_CLUSTER;
  return function && known && value > 0 ? answer() : 1;
}
static int fake_occupancy(int *blocks, void *function, int threads, size_t smem_bytes) {
  *blocks = 2048 / threads;
  return function && smem_bytes < 232448 ? answer() : 1;
}
// SMs share a GPC by fours.
static int fake_clusters(int *clusters, void *function, const CuLaunchConfig *config) {
  const CuLaunchAttribute *attribute = config->attributes;
  const unsigned together = attribute->value.cluster.x * attribute->value.cluster.y;
  int sms = 0;
  fake_attribute(&sms, CU_DEVICE_MULTIPROCESSOR_COUNT, 0);
  *clusters = sms / 4 * (int)(4 * (2048 / config->block_x) / together);
  return function && config->n_attributes == 1 && config->grid_x % together == 0 ? answer() : 1;
}
int64_t fake_cuda_grid(const char *name) { return find_kernel(name)->grid_x; }

static int fake_launch(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned smem_bytes,
                       void *stream, void **parameters, void **extra) {
  Kernel *kernel = function;
  if (!grid_x || !grid_y || !grid_z || !block_x || !block_y || !block_z || smem_bytes > 232448 ||
      !stream || extra)
    return 1;
  int status = answer();
  if (status) return status;
  kernel->grid_x = grid_x;
  fake_spend_ms(kernel->us / 1000);
  kernel->run(parameters);
  return 0;
}
static int early_launches;
int fake_cuda_early_launches(void) { return early_launches; }

static bool fake_accepts(const CuLaunchConfig *config, const CuLaunchAttribute *attribute) {
  if (attribute->id == CU_ATTRIBUTE_PROGRAMMATIC_SERIALIZATION) {
    early_launches += attribute->value.flag;
    return true;
  }
  return attribute->id == CU_ATTRIBUTE_CLUSTER_DIMENSION &&
         config->grid_x % attribute->value.cluster.x == 0 &&
         config->grid_y % attribute->value.cluster.y == 0 &&
         config->grid_z % attribute->value.cluster.z == 0;
}

static int fake_launch_ex(const CuLaunchConfig *config, void *function, void **parameters,
                          void **extra) {
  for (unsigned i = 0; i < config->n_attributes; i++)
    if (!fake_accepts(config, &config->attributes[i])) return 1;
  if (config->n_attributes == 0) return 1;
  return fake_launch(function, config->grid_x, config->grid_y, config->grid_z, config->block_x,
                     config->block_y, config->block_z, config->smem_bytes, config->stream,
                     parameters, extra);
}
static int fake_memory_info(size_t *free_bytes, size_t *total) {
  *free_bytes = *total = (size_t)1 << 30;
  return answer();
}
static int fake_alloc(CuDevicePtr *pointer, size_t bytes) {
  int status = answer();
  if (status) return status;
  // At least as aligned as the driver's.
  *pointer = (CuDevicePtr)(uintptr_t)fake_keep(aligned_alloc(256, (bytes + 255) / 256 * 256));
  return 0;
}
static int fake_free(CuDevicePtr pointer) { return fake_destroy((void *)(uintptr_t)pointer); }
static int fake_upload(CuDevicePtr to, const void *from, size_t bytes, void *stream) {
  memcpy((void *)(uintptr_t)to, from, bytes);
  return stream ? answer() : 1;
}
static int fake_download(void *to, CuDevicePtr from, size_t bytes, void *stream) {
  int status = answer();
  if (status == 0) memcpy(to, (const void *)(uintptr_t)from, bytes);
  return stream ? status : 1;
}
static int fake_set8(CuDevicePtr to, unsigned char value, size_t count, void *stream) {
  memset((void *)(uintptr_t)to, value, count);
  return stream ? answer() : 1;
}
static int fake_set32(CuDevicePtr to, unsigned value, size_t count, void *stream) {
  for (size_t i = 0; i < count; i++) ((uint32_t *)(uintptr_t)to)[i] = value;
  return stream ? answer() : 1;
}
static int fake_stream(void **stream, unsigned flags) {
  return flags == CU_STREAM_NON_BLOCKING ? fake_create(stream) : 1;
}
static int fake_wait(void *stream) { return stream ? answer() : 1; }
static int fake_event(void **event, unsigned flags) {
  int status = flags ? 1 : answer();
  if (status == 0) *event = fake_keep(calloc(1, sizeof(double)));
  return status;
}
static int fake_record(void *event, void *stream) {
  *(double *)event = fake_clock_ms;
  return stream ? answer() : 1;
}
static int fake_elapsed(float *ms, void *start, void *stop) {
  *ms = (float)(*(double *)stop - *(double *)start);
  return answer();
}
static int fake_error_name(int error, const char **name) {
  *name = error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_FAKE";
  return 0;
}
static int fake_error_string(int error, const char **text) { return *text = "made up", error * 0; }

// Fake memory is shared with nobody: the handle is the address.
static int fake_share(void *handle, CuDevicePtr pointer) {
  memset(handle, 0, 64);
  memcpy(handle, &pointer, sizeof pointer);
  return fake_cuda_answer();
}
static int fake_range(CuDevicePtr *base, size_t *bytes, CuDevicePtr pointer) {
  *base = pointer - 16;
  *bytes = 16;
  return fake_cuda_answer();
}

static const CudaApi cuda = {
    .cuInit = fake_init,
    .cuDriverGetVersion = fake_version,
    .cuDeviceGetCount = fake_count,
    .cuDeviceGet = fake_device,
    .cuDeviceGetName = fake_name,
    .cuDeviceGetUuid_v2 = fake_uuid,
    .cuDeviceTotalMem_v2 = fake_memory,
    .cuDeviceGetAttribute = fake_attribute,
    .cuDevicePrimaryCtxRetain = fake_retain,
    .cuDevicePrimaryCtxRelease_v2 = fake_release,
    .cuCtxSetCurrent = fake_set_current,
    .cuModuleLoadData = fake_load,
    .cuModuleUnload = fake_destroy,
    .cuModuleGetFunction = fake_function,
    .cuFuncGetAttribute = fake_function_attribute,
    .cuFuncSetAttribute = fake_set_attribute,
    .cuOccupancyMaxActiveBlocksPerMultiprocessor = fake_occupancy,
    .cuOccupancyMaxActiveClusters = fake_clusters,
    .cuLaunchKernel = fake_launch,
    .cuLaunchKernelEx = fake_launch_ex,
    .cuTensorMapEncodeTiled = fake_tensor_map_encode,
    .cuIpcGetMemHandle = fake_share,
    .cuMemGetAddressRange_v2 = fake_range,
    .cuMemGetInfo_v2 = fake_memory_info,
    .cuMemAlloc_v2 = fake_alloc,
    .cuMemFree_v2 = fake_free,
    .cuMemcpyHtoDAsync_v2 = fake_upload,
    .cuMemcpyDtoHAsync_v2 = fake_download,
    .cuMemsetD8Async = fake_set8,
    .cuMemsetD32Async = fake_set32,
    .cuStreamCreate = fake_stream,
    .cuStreamDestroy_v2 = fake_destroy,
    .cuStreamSynchronize = fake_wait,
    .cuEventCreate = fake_event,
    .cuEventDestroy_v2 = fake_destroy,
    .cuEventRecord = fake_record,
    .cuEventSynchronize = fake_wait,
    .cuEventElapsedTime = fake_elapsed,
    .cuGetErrorName = fake_error_name,
    .cuGetErrorString = fake_error_string,
};

// NVRTC that finds every kernel in every text.
static const char own_ptx[] =
    ".entry fill_normal(\n.entry gemm(\n.entry gemm_wrong(\n.entry gemm_short(\n"
    ".entry probe(\n.entry gemm_outside(\n.entry gemm_crash(\n.entry zero(\n";
static const char *fake_nvrtc_error(int status) { return status ? "error" : "success"; }
static int fake_nvrtc_version(int *major, int *minor) { return *major = 13, *minor = 0; }
static int fake_archs(int *count) { return *count = 1, 0; }
static int fake_arch_list(int *archs) { return *archs = 90, 0; }
static int fake_program(void **program, const char *text, const char *name, int n_headers,
                        const char *const *headers, const char *const *include_names) {
  *program = fake_keep(malloc(1));
  return text && name && n_headers == 0 && !headers && !include_names ? 0 : 3;
}
static int fake_program_end(void **program) {
  give_back(*program);
  *program = NULL;
  return 0;
}
static int fake_compile(void *program, int n, const char *const *options) {
  return program && n > 0 && options ? 0 : 5;
}
static int fake_ptx_size(void *program, size_t *bytes) {
  return *bytes = strlen(fake_ptx) + 1, !program;
}
static int fake_ptx_get(void *program, char *ptx) {
  memcpy(ptx, fake_ptx, strlen(fake_ptx) + 1);
  return !program;
}
static int fake_cubin_size(void *program, size_t *bytes) { return *bytes = 4, !program; }
static int fake_cubin_get(void *program, char *cubin) {
  return memcpy(cubin, "\177ELF", 4), !program;
}
static int fake_log_size(void *program, size_t *bytes) { return *bytes = 1, !program; }
static int fake_log_get(void *program, char *log) { return log[0] = '\0', !program; }

static const NvrtcApi nvrtc = {
    .nvrtcGetErrorString = fake_nvrtc_error,
    .nvrtcVersion = fake_nvrtc_version,
    .nvrtcGetNumSupportedArchs = fake_archs,
    .nvrtcGetSupportedArchs = fake_arch_list,
    .nvrtcCreateProgram = fake_program,
    .nvrtcDestroyProgram = fake_program_end,
    .nvrtcCompileProgram = fake_compile,
    .nvrtcGetPTXSize = fake_ptx_size,
    .nvrtcGetPTX = fake_ptx_get,
    .nvrtcGetCUBINSize = fake_cubin_size,
    .nvrtcGetCUBIN = fake_cubin_get,
    .nvrtcGetProgramLogSize = fake_log_size,
    .nvrtcGetProgramLog = fake_log_get,
};

static int nvml_init(void) { return live++, 0; }
static int nvml_end(void) { return live--, 0; }
static int nvml_driver(char *version, unsigned bytes) {
  return snprintf(version, bytes, "580.00") < 0;
}
static int nvml_handle(const char *uuid, void **device) {
  *device = &live;
  return strncmp(uuid, "GPU-01010101-0101-", 18) != 0;
}
static int nvml_clock(void *device, int clock, unsigned *mhz) {
  *mhz = clock == NVML_CLOCK_SM ? 1980 : 3201;
  return !device;
}
static int nvml_power(void *device, unsigned *milliwatt) { return *milliwatt = 512345, !device; }
static int nvml_temperature(void *device, int sensor, unsigned *celsius) {
  return *celsius = 45, !device || sensor;
}
static int nvml_throttle(void *device, unsigned long long *reasons) {
  return *reasons = 4, !device;
}

static const NvmlApi nvml = {
    .nvmlInit_v2 = nvml_init,
    .nvmlShutdown = nvml_end,
    .nvmlSystemGetDriverVersion = nvml_driver,
    .nvmlDeviceGetHandleByUUID = nvml_handle,
    .nvmlDeviceGetClockInfo = nvml_clock,
    .nvmlDeviceGetPowerUsage = nvml_power,
    .nvmlDeviceGetTemperature = nvml_temperature,
    .nvmlDeviceGetCurrentClocksThrottleReasons = nvml_throttle,
};

void fake_cuda_install(void) {
  dl_replace(DL_CUDA, &cuda);
  dl_replace(DL_NVRTC, &nvrtc);
  dl_replace(DL_CUBLAS, &fake_cublas);
  dl_replace(DL_CUBLASLT, &fake_cublaslt);
  dl_replace(DL_NVML, &nvml);
  live = calls = fail_at = broken = n_added = n_told = 0;
  memcpy(fake_ptx, own_ptx, sizeof own_ptx);
  fake_clock_ms = slower_per_s = 0;
  fake_cublas_start();
  fake_tensor_map_forget();
  fake_cuda_set_types(PLAN_F32, PLAN_F32);
}

void fake_cuda_remove(void) {
  for (int i = 0; i < DL_N; i++) dl_replace((DlLibrary)i, NULL);
  while (n_things > 0) free(things[--n_things]);
}

void fake_cuda_fail(int n, int status) {
  fail_at = n;
  fail_status = status;
}
int fake_cuda_answer(void) { return answer(); }
int fake_cuda_calls(void) { return calls; }
int fake_cuda_live(void) { return live; }
void fake_cuda_set_types(PlanType accumulate, PlanType output) {
  fake_types.sum = accumulate;
  fake_types.output = output;
}
void fake_cuda_slow_down(double share_per_s) { slower_per_s = share_per_s; }
