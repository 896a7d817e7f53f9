// The GPU through the driver API, opened at run time. One Gpu is one primary context on one device
// of this process.
//
// Every call is checked. Errors that outlive the call that met them (illegal address, launch
// timeout, hardware faults: 700, 702, 714–719 …) set `poisoned`: nothing works in this process any
// more and the worker must end.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "kernels/device/bench_result.h"
#include "kernels/toolchain/plan.h"
#include "model/words/device.h"

typedef struct GpuInfo {
  const char *name, *uuid;    // "NVIDIA H200", "GPU-1f…"
  const char *driver, *cuda;  // "580.95.05" or "unknown"; "13.0": the driver's CUDA version
  int capability_major, capability_minor;
  int64_t memory_bytes;
  int n_gpus;     // that the driver sees
  Device device;  // what the rules want to know
} GpuInfo;

// Tells what that device is, without a context on it: nothing runs there, and no memory is taken.
// False with a sentence in `error` where there is no driver or no such device. Texts are of
// `arena`.
bool gpu_find(Arena *arena, int ordinal, GpuInfo *info, const char **error);
// NULL with a sentence in `error` where there is no driver or no such device. The Gpu and its info
// live in a memory of their own until gpu_close.
Gpu *gpu_open(Arena *arena, int ordinal, const char **error);
// Frees everything on the device; the context is given back so that others have the memory.
void gpu_close(Gpu *gpu);
const GpuInfo *gpu_info(const Gpu *gpu);
int gpu_cc(const Gpu *gpu);                          // compute capability: 90 for 9.0
const char *gpu_arch(Arena *arena, const Gpu *gpu);  // "sm_90"
bool gpu_poisoned(const Gpu *gpu);
GpuState gpu_state(Arena *arena, Gpu *gpu);
