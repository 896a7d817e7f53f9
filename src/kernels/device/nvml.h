// Clocks, power, temperature and throttle reasons, read through NVML. Nothing is ever set.
#pragma once
#include "base/arena.h"
#include "kernels/device/bench_result.h"

// The device with this UUID ("GPU-…"); NULL without NVML.
void *nvml_open(const char *uuid);
void nvml_close(void *device);
GpuState nvml_state(Arena *arena, void *device);
// "580.95.05"; NULL without NVML.
const char *nvml_driver_version(Arena *arena);

// "none", "power cap, thermal slowdown"; `throttled` says whether a reason slows the SMs down for
// another cause than having nothing to do.
const char *nvml_reasons_text(Arena *arena, uint64_t reasons, bool *throttled);
