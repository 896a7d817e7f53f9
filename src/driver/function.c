// Questions about a function, without a GPU. Registers are those of its machine code. ptxas is not
// asked for one that comes as PTX: it is said to have all that a block of its most threads can
// have, 64 of 1024 threads, for programs divide by the number. Occupancy goes by threads and shared
// memory.
#include "driver/entry.h"
#include "ptx/run/run.h"
#include "sass/sass_registers.h"

enum { THREADS_MAX = 1024, DYNAMIC_DEFAULT = 49152 };

static int device_number(int attribute) {
  int value = 0;
  drv_cuDeviceGetAttribute(&value, attribute, 0);
  return value;
}

int drv_cuFuncGetName(const char **name, void *function) {
  if (!name || !function) return DRIVER_INVALID_VALUE;
  *name = ((DriverFunction *)function)->name;
  return DRIVER_OK;
}
int drv_cuFuncGetModule(void **module, void *function) {
  if (!module || !function) return DRIVER_INVALID_VALUE;
  *module = ((DriverFunction *)function)->module;
  return DRIVER_OK;
}
int drv_cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *bytes) {
  const DriverFunction *f = function;
  if (!f || !f->kernel || index >= (size_t)f->kernel->n_params) return DRIVER_INVALID_VALUE;
  if (offset) *offset = (size_t)f->kernel->params[index].offset;
  if (bytes) *bytes = (size_t)f->kernel->params[index].bytes;
  return DRIVER_OK;
}

static int static_smem(const DriverFunction *f) {
  if (!f->kernel) return 0;
  Arena *arena = arena_new("shared");
  const PtxModule *ptx = f->ptx;
  const PtxSharedPlace place = ptx_place_shared(arena, ptx, (int)(f->kernel - ptx->functions));
  arena_free(arena);
  return (int)place.end;
}

static int threads_most(const DriverFunction *f) {
  const int *most = f->kernel ? f->kernel->maxntid : NULL;
  return most && most[0] ? most[0] * (most[1] ? most[1] : 1) * (most[2] ? most[2] : 1)
                         : THREADS_MAX;
}

static int registers(const DriverFunction *f) {
  enum { MOST = 255, UNIT = 8 };
  const DriverImage *image = &f->module->image;
  Arena *arena = arena_new("registers");
  const int counted =
      image->cubin ? sass_registers(arena, image->cubin, image->cubin_bytes, f->name) : 0;
  arena_free(arena);
  if (counted > 0) return counted;
  const int fit = device_number(CU_DEVICE_REGISTERS_PER_SM) / threads_most(f) / UNIT * UNIT;
  return fit > MOST ? MOST : fit;
}

int drv_cuFuncGetAttribute(int *value, int attribute, void *function) {
  enum { THREADS = 0, STATIC = 1, LOCAL = 3, REGISTERS = 4, PTX = 5, BINARY = 6, DYNAMIC = 8 };
  const DriverFunction *f = function;
  if (!value || !f) return DRIVER_INVALID_VALUE;
  const PtxModule *ptx = f->ptx;
  *value = attribute == THREADS                      ? threads_most(f)
           : attribute == STATIC                     ? static_smem(f)
           : attribute == LOCAL                      ? (ptx ? (int)ptx->local_bytes : 0)
           : attribute == REGISTERS                  ? registers(f)
           : attribute == PTX || attribute == BINARY ? (ptx ? ptx->cc : 0)
           : attribute == DYNAMIC ? (f->max_dynamic_smem ? f->max_dynamic_smem : DYNAMIC_DEFAULT)
                                  : 0;
  return DRIVER_OK;
}
int drv_cuFuncSetAttribute(void *function, int attribute, int value) {
  enum { DYNAMIC = 8 };
  DriverFunction *f = function;
  if (!f) return DRIVER_INVALID_VALUE;
  if (attribute == DYNAMIC) f->max_dynamic_smem = value;
  return DRIVER_OK;
}
int drv_cuKernelGetAttribute(int *value, int attribute, void *function, int device) {
  (void)device;
  return drv_cuFuncGetAttribute(value, attribute, function);
}
int drv_cuKernelSetAttribute(int attribute, int value, void *function, int device) {
  (void)device;
  return drv_cuFuncSetAttribute(function, attribute, value);
}
int drv_cuFuncSetCacheConfig(void *function, int config) {
  (void)config;
  return function ? DRIVER_OK : DRIVER_INVALID_VALUE;
}

// ---- occupancy ----------------------------------------------------------------------------------

int drv_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads,
                                                    size_t smem) {
  enum { RESERVED = 1024 };
  const DriverFunction *f = function;
  if (!blocks || !f || threads < 1) return DRIVER_INVALID_VALUE;
  const int by_threads = device_number(CU_DEVICE_MAX_THREADS_PER_SM) / ((threads + 31) / 32 * 32),
            by_smem = (int)((size_t)device_number(CU_DEVICE_SMEM_PER_SM) /
                            (smem + (size_t)static_smem(f) + RESERVED)),
            most = device_number(CU_DEVICE_MAX_BLOCKS_PER_SM);
  *blocks = by_threads < by_smem ? by_threads : by_smem;
  if (most && *blocks > most) *blocks = most;
  return DRIVER_OK;
}
int drv_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, void *function,
                                                             int threads, size_t smem,
                                                             unsigned flags) {
  (void)flags;
  return drv_cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, smem);
}
int drv_cuOccupancyMaxActiveClusters(int *clusters, void *function, const CuLaunchConfig *config) {
  int blocks = 0, size = 1;
  if (!clusters || !config) return DRIVER_INVALID_VALUE;
  for (unsigned i = 0; i < config->n_attributes; i++)
    if (config->attributes[i].id == CU_ATTRIBUTE_CLUSTER_DIMENSION)
      size = (int)(config->attributes[i].value.cluster.x * config->attributes[i].value.cluster.y *
                   config->attributes[i].value.cluster.z);
  const int result = drv_cuOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, function, (int)(config->block_x * config->block_y * config->block_z),
      config->smem_bytes);
  *clusters = blocks * device_number(CU_DEVICE_MULTIPROCESSOR_COUNT) / (size ? size : 1);
  return result;
}
int drv_cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *function,
                                         size_t (*smem_of)(int), size_t smem, int limit) {
  if (!grid || !block || !function) return DRIVER_INVALID_VALUE;
  const int most = threads_most(function);
  *block = limit > 0 && limit < most ? limit : most;
  int blocks = 0;
  const int result = drv_cuOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, function, *block, smem_of ? smem_of(*block) : smem);
  *grid = blocks * device_number(CU_DEVICE_MULTIPROCESSOR_COUNT);
  return result;
}
