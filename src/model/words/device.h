// The GPU at hand, as its driver describes it, beside the row of the table that stands for it.
//
//   Device device = {.name = "NVIDIA H100 80GB HBM3", .arch = "sm_90", .l2_bytes = 52428800};
//   const Target *row = device_target(&table, &device);             the row h100
//   DeviceWord word = device_apply(arena, &device, &table);         the driver's word stands
//   word.n, device_word_text(arena, &word)                          what it said otherwise
#pragma once
#include "model/words/knob.h"
#include "model/words/target.h"

// Fields of a row that a driver tells, by their names there and in the worker's messages.
// clang-format off
#define DEVICE_FIELD_TABLE(X) \
  X(sm_count) X(l2_bytes) X(smem_per_block) X(smem_per_sm) X(regs_per_sm) X(boost_mhz) \
  X(max_threads_per_block) X(max_threads_per_sm) X(max_warps_per_sm) X(max_blocks_per_sm)
// clang-format on

#define X(field) +1
enum { DEVICE_FIELDS = 0 DEVICE_FIELD_TABLE(X) };
#undef X

enum { DEVICE_NAME_BYTES = 128, DEVICE_ARCH_BYTES = 16 };

typedef struct Device {
  char name[DEVICE_NAME_BYTES];  // "" : there is no GPU
  char arch[DEVICE_ARCH_BYTES];  // "sm_90"; "" not told
#define X(field) int64_t field;  // 0: not told
  DEVICE_FIELD_TABLE(X)
#undef X
} Device;

// The row with an id that is in the name ("h100" in "NVIDIA H100 80GB HBM3"), else the first of its
// arch. NULL: there is no row for it.
const Target *device_target(const TargetTable *table, const Device *device);

typedef struct DeviceDifference {
  TargetField field;
  double table, driver;
} DeviceDifference;
// "l2_bytes: 62914560 bytes by the driver, 52428800 in the row h200 (NVIDIA H100 …)".
const char *device_difference_text(Arena *arena, const Target *row, const DeviceDifference *d);

// The driver's corrections of its GPU's row.
typedef struct DeviceWord {
  const Target *row;  // as it was before; NULL: there is none for the device
  int n;              // numbers that the driver gives otherwise, in the order of target.def
  DeviceDifference differs[DEVICE_FIELDS];
} DeviceWord;
// The table with the driver's numbers in the device's row, and the driver as their source. Rows
// that were handed out before stay as they were. The explorer and the commands that measure run
// kernels on the GPU at hand, so they build their models by this table.
DeviceWord device_apply(Arena *arena, const Device *device, TargetTable *table);
// All differences, "; " between them; "" where there is none.
const char *device_word_text(Arena *arena, const DeviceWord *word);

// The schedule on that row, as if TARGET had been given. False, and nothing changed, where TARGET
// was given already or the row is its target anyway.
bool device_take_target(const TargetTable *table, const Target *row, Schedule *schedule);
