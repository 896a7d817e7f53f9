// Copies and fills, each done where it is asked for: streams have an order of their own only where
// something runs beside them. A byte that is copied is known as well, or as little, as its source.
#include <string.h>

#include "base/clock.h"
#include "driver/driver_launch.h"
#include "driver/entry.h"

enum { KNOWN = PTX_BYTE_WRITTEN };

// One end of a copy: memory of the device, else of the program.
typedef struct End {
  unsigned char *bytes, *state;  // state NULL: the program's
} End;

static bool find_end(uint64_t address, size_t n, End *end) {
  *end = (End){0};
  end->bytes = driver_bytes(address, n, &end->state);
  if (end->bytes) return true;
  // It begins in the device's memory and does not end there, or is nothing.
  if (driver_memory_at(address) || !address) return false;
  end->bytes = (unsigned char *)(uintptr_t)address;
  return true;
}

bool driver_copy(uint64_t to, uint64_t from, size_t n) {
  End source, target;
  if (n == 0) return true;
  if (!find_end(from, n, &source) || !find_end(to, n, &target)) return false;
  memmove(target.bytes, source.bytes, n);
  if (target.state && source.state)
    memmove(target.state, source.state, n);
  else if (target.state)
    memset(target.state, KNOWN, n);
  return true;
}

static bool fill_bytes(uint64_t to, uint64_t value, int value_bytes, size_t count) {
  End target;
  const size_t n = count * (size_t)value_bytes;
  if (n == 0) return true;
  if (count > SIZE_MAX / 8 || !find_end(to, n, &target)) return false;
  if (value_bytes == 1) {
    memset(target.bytes, (int)(value & 255), n);
  } else {
    for (size_t i = 0; i < count; i++)
      memcpy(target.bytes + i * (size_t)value_bytes, &value, (size_t)value_bytes);
  }
  if (target.state) memset(target.state, KNOWN, n);
  return true;
}

// A benchmark clears its caches between launches: no longer than those have time.
bool driver_fill(uint64_t to, uint64_t value, int value_bytes, size_t count) {
  if (patience_is_over()) return true;
  const double started = clock_seconds();
  const bool ok = fill_bytes(to, value, value_bytes, count);
  patience_spend(clock_seconds() - started);
  return ok;
}

static int copy(uint64_t to, uint64_t from, size_t n) {
  pthread_mutex_lock(&driver_mutex);
  const bool ok = driver_copy(to, from, n);
  pthread_mutex_unlock(&driver_mutex);
  return ok ? DRIVER_OK : DRIVER_INVALID_VALUE;
}

static int fill(uint64_t to, uint64_t value, int value_bytes, size_t count) {
  pthread_mutex_lock(&driver_mutex);
  const bool ok = driver_fill(to, value, value_bytes, count);
  pthread_mutex_unlock(&driver_mutex);
  return ok ? DRIVER_OK : DRIVER_INVALID_VALUE;
}

static uint64_t host(const void *at) { return (uint64_t)(uintptr_t)at; }

int drv_cuMemcpy(uint64_t to, uint64_t from, size_t n) { return copy(to, from, n); }
int drv_cuMemcpyAsync(uint64_t to, uint64_t from, size_t n, void *stream) {
  (void)stream;
  return copy(to, from, n);
}
int drv_cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n) { return copy(to, host(from), n); }
int drv_cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *stream) {
  (void)stream;
  return copy(to, host(from), n);
}
int drv_cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n) { return copy(host(to), from, n); }
int drv_cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, void *stream) {
  (void)stream;
  return copy(host(to), from, n);
}
int drv_cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t n) { return copy(to, from, n); }
int drv_cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void *stream) {
  (void)stream;
  return copy(to, from, n);
}
int drv_cuMemsetD8_v2(uint64_t to, unsigned char value, size_t n) { return fill(to, value, 1, n); }
int drv_cuMemsetD8Async(uint64_t to, unsigned char value, size_t n, void *stream) {
  (void)stream;
  return fill(to, value, 1, n);
}
int drv_cuMemsetD16_v2(uint64_t to, unsigned short value, size_t n) {
  return fill(to, value, 2, n);
}
int drv_cuMemsetD16Async(uint64_t to, unsigned short value, size_t n, void *stream) {
  (void)stream;
  return fill(to, value, 2, n);
}
int drv_cuMemsetD32_v2(uint64_t to, unsigned value, size_t n) { return fill(to, value, 4, n); }
int drv_cuMemsetD32Async(uint64_t to, unsigned value, size_t n, void *stream) {
  (void)stream;
  return fill(to, value, 4, n);
}
