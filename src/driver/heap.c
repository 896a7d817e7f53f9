// Memory of the device that is none: addresses are reserved and cannot be touched, as those of a
// GPU cannot; the bytes, and what is known of each, lie elsewhere and are what the machine works
// on.
//
// cudaMalloc(4000) gives a page that faults when the host reads it, 4016 bytes of zeros, and 4016
// facts that say "unwritten": the first kernel that reads an unwritten byte is told so.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "driver/entry.h"

enum { SLACK = 16, GUARD_BYTES = 1 << 20, PITCH = 512 };
#define TOTAL_BYTES (UINT64_C(64) << 30)

static DriverMemory *memories, *last_found;
static size_t used;
static int n_allocated;

DriverMemory *driver_memories(void) { return memories; }
static void *map_bytes(size_t bytes, int access) {
  void *at = mmap(NULL, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

static void unmap(void *at, size_t bytes) {
  if (at) munmap(at, bytes);
}

static void insert(DriverMemory *memory) {
  DriverMemory **at = &memories;
  while (*at && (*at)->address < memory->address) at = &(*at)->next;
  memory->next = *at;
  *at = memory;
}

static const char *name_of(const char *what) {
  char name[64];
  snprintf(name, sizeof name, "%s %d", what, ++n_allocated);
  return strdup(name);
}

DriverResult driver_allocate(uint64_t *address, size_t bytes, const char *what) {
  if (!address || bytes == 0) return DRIVER_INVALID_VALUE;
  if (bytes > TOTAL_BYTES - used) return DRIVER_OUT_OF_MEMORY;
  DriverMemory *memory = calloc(1, sizeof *memory);
  if (!memory) return DRIVER_OUT_OF_MEMORY;
  void *reserved = map_bytes(bytes + GUARD_BYTES, PROT_NONE);
  memory->memory = map_bytes(bytes + SLACK, PROT_READ | PROT_WRITE);
  memory->state = map_bytes(bytes + SLACK, PROT_READ | PROT_WRITE);
  if (!reserved || !memory->memory || !memory->state) {
    unmap(reserved, bytes + GUARD_BYTES);
    unmap(memory->memory, bytes + SLACK);
    unmap(memory->state, bytes + SLACK);
    free(memory);
    return DRIVER_OUT_OF_MEMORY;
  }
  memory->address = *address = (uint64_t)(uintptr_t)reserved;
  memory->bytes = bytes;
  memory->name = name_of(what);
  used += bytes;
  insert(memory);
  return DRIVER_OK;
}

void driver_share(void *shared, size_t bytes, const char *what) {
  DriverMemory *memory = calloc(1, sizeof *memory);
  if (!memory) return;
  *memory = (DriverMemory){.address = (uint64_t)(uintptr_t)shared,
                           .bytes = bytes,
                           .memory = shared,
                           .state = map_bytes(bytes + SLACK, PROT_READ | PROT_WRITE),
                           .name = name_of(what),
                           .on_host = true};
  if (!memory->state) {
    free(memory);
    return;
  }
  memset(memory->state, PTX_BYTE_WRITTEN, bytes);
  insert(memory);
}

DriverResult driver_free(uint64_t address) {
  if (!address) return DRIVER_OK;
  for (DriverMemory **at = &memories; *at; at = &(*at)->next) {
    DriverMemory *memory = *at;
    if (memory->address != address) continue;
    *at = memory->next;
    if (last_found == memory) last_found = NULL;
    unmap(memory->state, memory->bytes + SLACK);
    if (!memory->on_host) {
      unmap(memory->memory, memory->bytes + SLACK);
      unmap((void *)(uintptr_t)address, memory->bytes + GUARD_BYTES);
      used -= memory->bytes;
    }
    free(memory);
    return DRIVER_OK;
  }
  return DRIVER_INVALID_VALUE;
}

DriverMemory *driver_memory_at(uint64_t address) {
  if (last_found && address - last_found->address < last_found->bytes) return last_found;
  for (DriverMemory *m = memories; m && m->address <= address; m = m->next)
    if (address - m->address < m->bytes) return last_found = m;
  return NULL;
}

unsigned char *driver_bytes(uint64_t address, size_t bytes, unsigned char **state) {
  const DriverMemory *m = driver_memory_at(address);
  if (!m || bytes > m->bytes - (size_t)(address - m->address)) return NULL;
  if (state) *state = m->state + (address - m->address);
  return m->memory + (address - m->address);
}

// ---- entries ------------------------------------------------------------------------------------

static int allocate_locked(uint64_t *address, size_t bytes) {
  pthread_mutex_lock(&driver_mutex);
  const int result = driver_allocate(address, bytes, "allocation");
  pthread_mutex_unlock(&driver_mutex);
  return result;
}

static int free_locked(uint64_t address) {
  pthread_mutex_lock(&driver_mutex);
  const int result = driver_free(address);
  pthread_mutex_unlock(&driver_mutex);
  return result;
}

int drv_cuMemAlloc_v2(uint64_t *address, size_t bytes) { return allocate_locked(address, bytes); }
int drv_cuMemAllocAsync(uint64_t *address, size_t bytes, void *stream) {
  (void)stream;
  return allocate_locked(address, bytes);
}
int drv_cuMemAllocFromPoolAsync(uint64_t *address, size_t bytes, void *pool, void *stream) {
  (void)pool, (void)stream;
  return allocate_locked(address, bytes);
}

int drv_cuMemAllocPitch_v2(uint64_t *address, size_t *pitch, size_t width, size_t rows,
                           unsigned element) {
  (void)element;
  if (!pitch || width > SIZE_MAX / 2 - PITCH) return DRIVER_INVALID_VALUE;
  *pitch = (width + PITCH - 1) / PITCH * PITCH;
  if (rows && *pitch > SIZE_MAX / rows) return DRIVER_OUT_OF_MEMORY;
  return allocate_locked(address, *pitch * rows);
}

int drv_cuMemFree_v2(uint64_t address) { return free_locked(address); }
int drv_cuMemFreeAsync(uint64_t address, void *stream) {
  (void)stream;
  return free_locked(address);
}

int drv_cuMemPoolTrimTo(void *pool, size_t bytes) {
  (void)pool, (void)bytes;
  return DRIVER_OK;
}
int drv_cuMemPoolSetAttribute(void *pool, int attribute, void *value) {
  (void)pool, (void)attribute, (void)value;
  return DRIVER_OK;
}
int drv_cuMemPoolGetAttribute(void *pool, int attribute, void *value) {
  (void)pool, (void)attribute;
  if (value) memset(value, 0, sizeof(uint64_t));
  return DRIVER_OK;
}

int drv_cuMemGetInfo_v2(size_t *left, size_t *total) {
  if (!left || !total) return DRIVER_INVALID_VALUE;
  *total = TOTAL_BYTES;
  *left = TOTAL_BYTES - used;
  return DRIVER_OK;
}

int drv_cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t address) {
  pthread_mutex_lock(&driver_mutex);
  const DriverMemory *m = driver_memory_at(address);
  if (m && base) *base = m->address;
  if (m && bytes) *bytes = m->bytes;
  pthread_mutex_unlock(&driver_mutex);
  return m ? DRIVER_OK : DRIVER_NOT_FOUND;
}

// ---- memory of the host -------------------------------------------------------------------------

int drv_cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  (void)flags;
  if (!memory || bytes == 0) return DRIVER_INVALID_VALUE;
  *memory = map_bytes(bytes + SLACK, PROT_READ | PROT_WRITE);
  if (!*memory) return DRIVER_OUT_OF_MEMORY;
  pthread_mutex_lock(&driver_mutex);
  driver_share(*memory, bytes, "host memory");
  pthread_mutex_unlock(&driver_mutex);
  return DRIVER_OK;
}
int drv_cuMemAllocHost_v2(void **memory, size_t bytes) {
  return drv_cuMemHostAlloc(memory, bytes, 0);
}
int drv_cuMemFreeHost(void *memory) {
  if (!memory) return DRIVER_OK;
  pthread_mutex_lock(&driver_mutex);
  const DriverMemory *m = driver_memory_at((uint64_t)(uintptr_t)memory);
  const size_t bytes = m ? m->bytes : 0;
  const int result = driver_free((uint64_t)(uintptr_t)memory);
  if (result == DRIVER_OK) unmap(memory, bytes + SLACK);
  pthread_mutex_unlock(&driver_mutex);
  return result;
}
int drv_cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) {
  (void)flags;
  if (!memory || bytes == 0) return DRIVER_INVALID_VALUE;
  pthread_mutex_lock(&driver_mutex);
  driver_share(memory, bytes, "registered memory");
  pthread_mutex_unlock(&driver_mutex);
  return DRIVER_OK;
}
int drv_cuMemHostUnregister(void *memory) { return free_locked((uint64_t)(uintptr_t)memory); }
int drv_cuMemHostGetDevicePointer_v2(uint64_t *address, void *memory, unsigned flags) {
  (void)flags;
  if (!address) return DRIVER_INVALID_VALUE;
  *address = (uint64_t)(uintptr_t)memory;
  return DRIVER_OK;
}

int drv_cuPointerGetAttribute(void *value, int attribute, uint64_t address) {
  enum { CONTEXT = 1, MEMORY_TYPE = 2, DEVICE_POINTER = 3, IS_MANAGED = 8, ORDINAL = 9 };
  enum { TYPE_HOST = 1, TYPE_DEVICE = 2 };
  pthread_mutex_lock(&driver_mutex);
  const DriverMemory *m = driver_memory_at(address);
  const bool on_host = m && m->on_host;
  pthread_mutex_unlock(&driver_mutex);
  if (!m || !value) return DRIVER_INVALID_VALUE;
  switch (attribute) {
    case MEMORY_TYPE:
      *(unsigned *)value = on_host ? TYPE_HOST : TYPE_DEVICE;
      return DRIVER_OK;
    case DEVICE_POINTER:
      *(uint64_t *)value = address;
      return DRIVER_OK;
    case ORDINAL:
    case IS_MANAGED:
      *(int *)value = 0;
      return DRIVER_OK;
    case CONTEXT:
      return drv_cuCtxGetCurrent(value);
    default:
      return DRIVER_NOT_SUPPORTED;
  }
}
