// The little of CUDA's C interfaces that this program calls, declared here so that it builds
// without a toolkit. Names, order and types follow the public headers of CUDA 12 and 13 (cuda.h,
// nvrtc.h, cublas_api.h, cublasLt.h, nvml.h); a function whose header name is a macro for a
// versioned symbol appears under that symbol.
//
// One row per function: return type, name, parameters. The rows make the table of pointers and the
// list of symbols to look up (dl.c). Enums are passed as int, opaque handles as void *.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef uint64_t CuDevicePtr;

typedef struct CuUuid {
  unsigned char bytes[16];
} CuUuid;

// The attributes of a launch.
enum {
  CU_ATTRIBUTE_COOPERATIVE = 2,
  CU_ATTRIBUTE_CLUSTER_DIMENSION = 4,
  CU_ATTRIBUTE_PROGRAMMATIC_SERIALIZATION = 6
};

typedef struct CuLaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    int flag;
    struct {
      unsigned x, y, z;
    } cluster;
  } value;
} CuLaunchAttribute;

typedef struct CuLaunchConfig {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned smem_bytes;
  void *stream;
  CuLaunchAttribute *attributes;
  unsigned n_attributes;
} CuLaunchConfig;

// CUDA_KERNEL_NODE_PARAMS_v2.
typedef struct CuKernelNode {
  void *function;
  unsigned grid[3], block[3], smem;
  void **params, **extra;
  void *kernel, *context;
} CuKernelNode;

// An operand as the tensor memory accelerator knows it: opaque, passed to a kernel by value.
typedef struct CuTensorMap {
  _Alignas(64) uint64_t word[16];
} CuTensorMap;

// The values are the headers'; only what is used is named.
enum {
  CU_SUCCESS = 0,
  CU_DEVICE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_WARP_SIZE = 10,
  CU_DEVICE_CLOCK_RATE = 13,
  CU_DEVICE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_L2_CACHE_SIZE = 38,
  CU_DEVICE_MAX_THREADS_PER_SM = 39,
  CU_DEVICE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_CAPABILITY_MINOR = 76,
  CU_DEVICE_SMEM_PER_SM = 81,
  CU_DEVICE_REGISTERS_PER_SM = 82,
  CU_DEVICE_SMEM_PER_BLOCK_OPTIN = 97,
  CU_DEVICE_MAX_BLOCKS_PER_SM = 106,
  CU_FUNC_SHARED_BYTES = 1,
  CU_FUNC_LOCAL_BYTES = 3,
  CU_FUNC_REGISTERS = 4,
  CU_FUNC_MAX_DYNAMIC_SMEM = 8,
  CU_FUNC_NON_PORTABLE_CLUSTER = 14,
  CU_STREAM_NON_BLOCKING = 1,
  CU_EVENT_DEFAULT = 0,
  CU_TENSOR_MAP_UINT8 = 0,
  CU_TENSOR_MAP_INT32 = 3,
  CU_TENSOR_MAP_FLOAT16 = 6,
  CU_TENSOR_MAP_FLOAT32 = 7,
  CU_TENSOR_MAP_FLOAT64 = 8,
  CU_TENSOR_MAP_BFLOAT16 = 9,
  CU_TENSOR_MAP_INTERLEAVE_NONE = 0,
  CU_TENSOR_MAP_SWIZZLE_NONE = 0,  // then 32B, 64B, 128B
  CU_TENSOR_MAP_L2_256B = 3,
  CU_TENSOR_MAP_FILL_NONE = 0,  // zeros outside of the operand
};

#define CUDA_FUNCTIONS(X)                                                                      \
  X(int, cuInit, (unsigned flags))                                                             \
  X(int, cuDriverGetVersion, (int *version))                                                   \
  X(int, cuDeviceGetCount, (int *count))                                                       \
  X(int, cuDeviceGet, (int *device, int ordinal))                                              \
  X(int, cuDeviceGetName, (char *name, int bytes, int device))                                 \
  X(int, cuDeviceGetUuid_v2, (CuUuid * uuid, int device))                                      \
  X(int, cuDeviceTotalMem_v2, (size_t * bytes, int device))                                    \
  X(int, cuDeviceGetAttribute, (int *value, int attribute, int device))                        \
  X(int, cuDevicePrimaryCtxRetain, (void **context, int device))                               \
  X(int, cuDevicePrimaryCtxRelease_v2, (int device))                                           \
  X(int, cuCtxSetCurrent, (void *context))                                                     \
  X(int, cuModuleLoadData, (void **module, const void *image))                                 \
  X(int, cuModuleUnload, (void *module))                                                       \
  X(int, cuModuleGetFunction, (void **function, void *module, const char *name))               \
  X(int, cuFuncGetAttribute, (int *value, int attribute, void *function))                      \
  X(int, cuFuncSetAttribute, (void *function, int attribute, int value))                       \
  X(int, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                          \
    (int *blocks, void *function, int threads, size_t smem_bytes))                             \
  X(int, cuLaunchKernel,                                                                       \
    (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,      \
     unsigned block_y, unsigned block_z, unsigned smem_bytes, void *stream, void **parameters, \
     void **extra))                                                                            \
  X(int, cuMemGetInfo_v2, (size_t * free_bytes, size_t * total_bytes))                         \
  X(int, cuMemAlloc_v2, (CuDevicePtr * pointer, size_t bytes))                                 \
  X(int, cuMemFree_v2, (CuDevicePtr pointer))                                                  \
  X(int, cuMemcpyHtoDAsync_v2, (CuDevicePtr to, const void *from, size_t bytes, void *stream)) \
  X(int, cuMemcpyDtoHAsync_v2, (void *to, CuDevicePtr from, size_t bytes, void *stream))       \
  X(int, cuMemsetD8Async, (CuDevicePtr to, unsigned char value, size_t count, void *stream))   \
  X(int, cuMemsetD32Async, (CuDevicePtr to, unsigned value, size_t count, void *stream))       \
  X(int, cuStreamCreate, (void **stream, unsigned flags))                                      \
  X(int, cuStreamDestroy_v2, (void *stream))                                                   \
  X(int, cuStreamSynchronize, (void *stream))                                                  \
  X(int, cuEventCreate, (void **event, unsigned flags))                                        \
  X(int, cuEventDestroy_v2, (void *event))                                                     \
  X(int, cuEventRecord, (void *event, void *stream))                                           \
  X(int, cuEventSynchronize, (void *event))                                                    \
  X(int, cuEventElapsedTime, (float *ms, void *start, void *end))                              \
  X(int, cuGetErrorName, (int error, const char **name))                                       \
  X(int, cuGetErrorString, (int error, const char **text))

// All that launches clusters is absent from drivers older than CUDA 11.8, tensor maps from those
// older than 12.0, the others where processes share no memory; NULL then.
#define CUDA_OPTIONAL_FUNCTIONS(X)                                                              \
  X(int, cuOccupancyMaxActiveClusters,                                                          \
    (int *clusters, void *function, const CuLaunchConfig *config))                              \
  X(int, cuIpcGetMemHandle, (void *handle, CuDevicePtr pointer))                                \
  X(int, cuMemGetAddressRange_v2, (CuDevicePtr * base, size_t * bytes, CuDevicePtr pointer))    \
  X(int, cuLaunchKernelEx,                                                                      \
    (const CuLaunchConfig *config, void *function, void **parameters, void **extra))            \
  X(int, cuTensorMapEncodeTiled,                                                                \
    (CuTensorMap * map, int type, uint32_t rank, void *data, const uint64_t *extents,           \
     const uint64_t *strides_bytes, const uint32_t *box, const uint32_t *steps, int interleave, \
     int swizzle, int l2_promotion, int fill))

enum { NVRTC_SUCCESS = 0, NVRTC_INVALID_OPTION = 5 };

#define NVRTC_FUNCTIONS(X)                                                                \
  X(const char *, nvrtcGetErrorString, (int result))                                      \
  X(int, nvrtcVersion, (int *major, int *minor))                                          \
  X(int, nvrtcGetNumSupportedArchs, (int *count))                                         \
  X(int, nvrtcGetSupportedArchs, (int *archs))                                            \
  X(int, nvrtcCreateProgram,                                                              \
    (void **program, const char *text, const char *name, int n_headers,                   \
     const char *const *headers, const char *const *include_names))                       \
  X(int, nvrtcDestroyProgram, (void **program))                                           \
  X(int, nvrtcCompileProgram, (void *program, int n_options, const char *const *options)) \
  X(int, nvrtcGetPTXSize, (void *program, size_t *bytes))                                 \
  X(int, nvrtcGetPTX, (void *program, char *ptx))                                         \
  X(int, nvrtcGetCUBINSize, (void *program, size_t *bytes))                               \
  X(int, nvrtcGetCUBIN, (void *program, char *cubin))                                     \
  X(int, nvrtcGetProgramLogSize, (void *program, size_t *bytes))                          \
  X(int, nvrtcGetProgramLog, (void *program, char *log))

enum {
  CUBLAS_SUCCESS = 0,
  CUBLAS_NOT_SUPPORTED = 15,
  CUBLAS_OP_N = 0,
  CUBLAS_OP_T = 1,
  CUBLAS_MATH_DEFAULT = 0,
  CUBLAS_ALGO_DEFAULT = -1,
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
  CUDA_TYPE_32F = 0,
  CUDA_TYPE_64F = 1,
  CUDA_TYPE_16F = 2,
  CUDA_TYPE_8I = 3,
  CUDA_TYPE_32I = 10,
  CUDA_TYPE_16BF = 14,
  CUDA_TYPE_8F_E4M3 = 28,
  CUDA_TYPE_8F_E5M2 = 29,
};

#define CUBLAS_FUNCTIONS(X)                                                                    \
  X(int, cublasCreate_v2, (void **handle))                                                     \
  X(int, cublasDestroy_v2, (void *handle))                                                     \
  X(int, cublasGetVersion_v2, (void *handle, int *version))                                    \
  X(int, cublasSetStream_v2, (void *handle, void *stream))                                     \
  X(int, cublasSetWorkspace_v2, (void *handle, void *workspace, size_t bytes))                 \
  X(int, cublasSetMathMode, (void *handle, int mode))                                          \
  X(int, cublasGemmEx,                                                                         \
    (void *handle, int transpose_a, int transpose_b, int m, int n, int k, const void *alpha,   \
     const void *a, int a_type, int lda, const void *b, int b_type, int ldb, const void *beta, \
     void *c, int c_type, int ldc, int compute_type, int algo))

typedef struct CublasLtAlgo {
  uint64_t data[8];
} CublasLtAlgo;

typedef struct CublasLtHeuristic {
  CublasLtAlgo algo;
  size_t workspace_bytes;
  int state;  // a status of this row
  float waves;
  int reserved[4];
} CublasLtHeuristic;

enum {
  CUBLASLT_DESC_TRANSA = 3,
  CUBLASLT_DESC_TRANSB = 4,
  CUBLASLT_DESC_FAST_ACCUM = 25,
  CUBLASLT_PREF_MAX_WORKSPACE_BYTES = 1,
};

#define CUBLASLT_FUNCTIONS(X)                                                                   \
  X(int, cublasLtCreate, (void **handle))                                                       \
  X(int, cublasLtDestroy, (void *handle))                                                       \
  X(int, cublasLtMatmulDescCreate, (void **desc, int compute_type, int scale_type))             \
  X(int, cublasLtMatmulDescDestroy, (void *desc))                                               \
  X(int, cublasLtMatmulDescSetAttribute,                                                        \
    (void *desc, int attribute, const void *value, size_t bytes))                               \
  X(int, cublasLtMatrixLayoutCreate,                                                            \
    (void **layout, int type, uint64_t rows, uint64_t columns, int64_t leading))                \
  X(int, cublasLtMatrixLayoutDestroy, (void *layout))                                           \
  X(int, cublasLtMatmulPreferenceCreate, (void **preference))                                   \
  X(int, cublasLtMatmulPreferenceDestroy, (void *preference))                                   \
  X(int, cublasLtMatmulPreferenceSetAttribute,                                                  \
    (void *preference, int attribute, const void *value, size_t bytes))                         \
  X(int, cublasLtMatmulAlgoGetHeuristic,                                                        \
    (void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference,            \
     int n_requested, CublasLtHeuristic *results, int *n_results))                              \
  X(int, cublasLtMatmul,                                                                        \
    (void *handle, void *desc, const void *alpha, const void *a, void *a_layout, const void *b, \
     void *b_layout, const void *beta, const void *c, void *c_layout, void *d, void *d_layout,  \
     const CublasLtAlgo *algo, void *workspace, size_t workspace_bytes, void *stream))

enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2, NVML_TEMPERATURE_GPU = 0 };

// Read only by intent: no function that sets anything is declared.
#define NVML_FUNCTIONS(X)                                                         \
  X(int, nvmlInit_v2, (void))                                                     \
  X(int, nvmlShutdown, (void))                                                    \
  X(int, nvmlSystemGetDriverVersion, (char *version, unsigned bytes))             \
  X(int, nvmlDeviceGetHandleByUUID, (const char *uuid, void **device))            \
  X(int, nvmlDeviceGetClockInfo, (void *device, int clock, unsigned *mhz))        \
  X(int, nvmlDeviceGetPowerUsage, (void *device, unsigned *milliwatt))            \
  X(int, nvmlDeviceGetTemperature, (void *device, int sensor, unsigned *celsius)) \
  X(int, nvmlDeviceGetCurrentClocksThrottleReasons, (void *device, unsigned long long *reasons))

#define API_FIELD(RETURN, NAME, PARAMETERS) RETURN(*NAME) PARAMETERS;
typedef struct CudaApi {
  CUDA_FUNCTIONS(API_FIELD)
  CUDA_OPTIONAL_FUNCTIONS(API_FIELD)
} CudaApi;
typedef struct NvrtcApi {
  NVRTC_FUNCTIONS(API_FIELD)
} NvrtcApi;
typedef struct CublasApi {
  CUBLAS_FUNCTIONS(API_FIELD)
} CublasApi;
typedef struct CublasLtApi {
  CUBLASLT_FUNCTIONS(API_FIELD)
} CublasLtApi;
typedef struct NvmlApi {
  NVML_FUNCTIONS(API_FIELD)
} NvmlApi;
#undef API_FIELD
