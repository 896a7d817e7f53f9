// NVML's readings as a GpuState.
//
// Each question is asked alone and may be refused alone (a container without the right, a card that
// does not report power): what was refused is −1 and the rest stands. Throttle reasons are a bit
// mask (nvml.h, nvmlClocksEventReasons); four of its bits name no lack: an idle GPU, clocks that
// a user set, a display limit, and a sync boost group. Everything else makes a timing suspect.
//
//   0x4 on an H200 in a long float product: "power cap", throttled
#include "kernels/device/nvml.h"

#include <stddef.h>

#include "base/str.h"
#include "kernels/toolchain/dl.h"

typedef struct ReasonRow {
  uint64_t bit;
  const char *text;
  bool slows;
} ReasonRow;

static const ReasonRow reason_rows[] = {
    {0x001, "idle", false},
    {0x002, "application clocks", false},
    {0x004, "power cap", true},
    {0x008, "hardware slowdown", true},
    {0x010, "sync boost", false},
    {0x020, "thermal slowdown", true},
    {0x040, "hardware thermal slowdown", true},
    {0x080, "power brake", true},
    {0x100, "display clocks", false},
};

const char *nvml_reasons_text(Arena *arena, uint64_t reasons, bool *throttled) {
  Str text = str_new(arena);
  uint64_t known = 0;
  *throttled = false;
  for (size_t i = 0; i < sizeof reason_rows / sizeof *reason_rows; i++) {
    known |= reason_rows[i].bit;
    if (!(reasons & reason_rows[i].bit)) continue;
    str_printf(&text, "%s%s", text.length ? ", " : "", reason_rows[i].text);
    *throttled = *throttled || reason_rows[i].slows;
  }
  if (reasons & ~known) {
    str_printf(&text, "%sunnamed reason 0x%llx", text.length ? ", " : "",
               (unsigned long long)(reasons & ~known));
    *throttled = true;
  }
  return text.length ? text.text : "none";
}

void *nvml_open(const char *uuid) {
  const NvmlApi *nvml = dl_nvml(NULL);
  void *device = NULL;
  if (!nvml || nvml->nvmlInit_v2() != 0) return NULL;
  if (nvml->nvmlDeviceGetHandleByUUID(uuid, &device) == 0 && device) return device;
  nvml->nvmlShutdown();
  return NULL;
}

void nvml_close(void *device) {
  if (device) dl_nvml(NULL)->nvmlShutdown();
}

const char *nvml_driver_version(Arena *arena) {
  const NvmlApi *nvml = dl_nvml(NULL);
  char version[96] = "";
  if (!nvml || nvml->nvmlInit_v2() != 0) return NULL;
  bool known = nvml->nvmlSystemGetDriverVersion(version, sizeof version) == 0;
  nvml->nvmlShutdown();
  return known ? str_sanitise(arena, version) : NULL;
}

static int clock_of(const NvmlApi *nvml, void *device, int clock) {
  unsigned mhz = 0;
  return nvml->nvmlDeviceGetClockInfo(device, clock, &mhz) == 0 ? (int)mhz : -1;
}

GpuState nvml_state(Arena *arena, void *device) {
  GpuState state = {.sm_mhz = -1, .memory_mhz = -1, .temperature_c = -1, .power_w = -1};
  if (!device) return state;
  const NvmlApi *nvml = dl_nvml(NULL);
  unsigned value = 0;
  unsigned long long reasons = 0;
  state.sm_mhz = clock_of(nvml, device, NVML_CLOCK_SM);
  state.memory_mhz = clock_of(nvml, device, NVML_CLOCK_MEM);
  if (nvml->nvmlDeviceGetTemperature(device, NVML_TEMPERATURE_GPU, &value) == 0)
    state.temperature_c = (int)value;
  if (nvml->nvmlDeviceGetPowerUsage(device, &value) == 0) state.power_w = value / 1000.0;
  if (nvml->nvmlDeviceGetCurrentClocksThrottleReasons(device, &reasons) == 0) {
    state.throttle_reasons = reasons;
    state.throttle_text = nvml_reasons_text(arena, reasons, &state.throttled);
  }
  state.known = state.sm_mhz >= 0;
  return state;
}
