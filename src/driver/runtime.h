// NVIDIA's runtime as its headers of CUDA 13 declare it, for programs that have it linked in: its
// functions here do what the driver's do, without asking NVIDIA's runtime anything.
#pragma once
#include "driver/entry.h"

typedef struct RtDim {
  unsigned x, y, z;
} RtDim;

typedef struct RtLaunchConfig {
  RtDim grid, block;
  size_t smem;
  void *stream;
  CuLaunchAttribute *attributes;
  unsigned n_attributes;
} RtLaunchConfig;

typedef struct RtFuncAttributes {
  size_t shared, constant, local;
  int threads_most, registers, ptx, binary, cache, dynamic_most;
  int rest[24];
} RtFuncAttributes;

typedef struct RtPointerAttributes {
  int type, device;
  void *device_pointer, *host_pointer;
} RtPointerAttributes;

typedef struct RtKernelNode {
  const void *host;
  RtDim grid, block;
  unsigned smem;
  void **params, **extra;
} RtKernelNode;

#define RUNTIME(name, type, parameters) type rt_##name parameters;
#define RUNTIME_AS(name, same)
#include "driver/runtime.def"
#undef RUNTIME
#undef RUNTIME_AS

int rt_result(int result);  // remembers what is no success, for cudaGetLastError
int rt_begin(void);         // a context for the thread
