// The code that nvcc puts around a kernel: images and names are registered before main, and a
// launch names the kernel by the address of its function on the host.
#include "driver/runtime.h"

#include <stdlib.h>
#include <string.h>

// Several translation units register an image each; it is read when something of it is wanted.
typedef struct Image {
  const void *fatbin;
  DriverModule *module;
} Image;

typedef struct Named {
  const void *host;
  Image *image;
  const char *name;
  struct Named *next;
} Named;

static Named *functions, *variables;

static void add_named(Named **list, const void *host, void **handle, const char *name) {
  Named *named = calloc(1, sizeof *named);
  if (!named) return;
  *named = (Named){host, (Image *)handle, name, *list};
  *list = named;
}

void **rt___cudaRegisterFatBinary(void *fatbin) {
  Image *image = calloc(1, sizeof *image);
  if (image) image->fatbin = fatbin;
  return (void **)image;
}
void rt___cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void rt___cudaUnregisterFatBinary(void **handle) { (void)handle; }
char rt___cudaInitModule(void **handle) { return handle != NULL; }

void rt___cudaRegisterFunction(void **handle, const void *host, char *device, const char *name,
                               int limit, void *tid, void *bid, void *block, void *grid,
                               int *size) {
  (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)size;
  add_named(&functions, host, handle, name);
}
void rt___cudaRegisterVar(void **handle, const void *host, char *address, const char *name,
                          int outside, size_t bytes, int constant, int global) {
  (void)address, (void)outside, (void)bytes, (void)constant, (void)global;
  add_named(&variables, host, handle, name);
}

// ---- kernels ------------------------------------------------------------------------------------

static Named *find(Named *list, const void *host) {
  for (Named *n = list; n; n = n->next)
    if (n->host == host) return n;
  return NULL;
}

static DriverModule *module_of(Named *named) {
  void *module = named->image->module;
  if (!module && drv_cuModuleLoadData(&module, named->image->fatbin) == DRIVER_OK)
    named->image->module = module;
  return module;
}

static int kernel_of(void **function, const void *host) {
  enum { INVALID_DEVICE_FUNCTION = 98 };
  Named *named = find(functions, host);
  if (!named) {  // a kernel's handle
    *function = (void *)(uintptr_t)host;
    return host ? DRIVER_OK : INVALID_DEVICE_FUNCTION;
  }
  void *module = module_of(named);
  return module ? drv_cuModuleGetFunction(function, module, named->name) : DRIVER_INVALID_IMAGE;
}

int rt___cudaGetKernel(void **kernel, const void *host) {
  return rt_result(kernel_of(kernel, host));
}
int rt_cudaGetFuncBySymbol(void **function, const void *host) {
  return rt_result(kernel_of(function, host));
}

// ---- launches -----------------------------------------------------------------------------------

static __thread struct {
  RtDim grid, block;
  size_t smem;
  void *stream;
} pushed[16];
static __thread int n_pushed;

unsigned rt___cudaPushCallConfiguration(RtDim grid, RtDim block, size_t smem, void *stream) {
  if (n_pushed == (int)(sizeof pushed / sizeof pushed[0])) return 1;
  pushed[n_pushed].grid = grid;
  pushed[n_pushed].block = block;
  pushed[n_pushed].smem = smem;
  pushed[n_pushed++].stream = stream;
  return 0;
}
int rt___cudaPopCallConfiguration(RtDim *grid, RtDim *block, size_t *smem, void **stream) {
  enum { MISSING_CONFIGURATION = 52 };
  if (n_pushed == 0) return rt_result(MISSING_CONFIGURATION);
  *grid = pushed[--n_pushed].grid;
  *block = pushed[n_pushed].block;
  *smem = pushed[n_pushed].smem;
  *stream = pushed[n_pushed].stream;
  return DRIVER_OK;
}

int rt___cudaLaunchKernel(void *kernel, RtDim grid, RtDim block, void **params, size_t smem,
                          void *stream) {
  rt_begin();
  return rt_result(drv_cuLaunchKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                      (unsigned)smem, stream, params, NULL));
}
int rt_cudaLaunchKernel(const void *host, RtDim grid, RtDim block, void **params, size_t smem,
                        void *stream) {
  void *function = NULL;
  const int found = kernel_of(&function, host);
  return found ? rt_result(found)
               : rt___cudaLaunchKernel(function, grid, block, params, smem, stream);
}
int rt_cudaLaunchCooperativeKernel(const void *host, RtDim grid, RtDim block, void **params,
                                   size_t smem, void *stream) {
  void *function = NULL;
  const int found = kernel_of(&function, host);
  return rt_result(found ? found
                         : drv_cuLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x,
                                                         block.y, block.z, (unsigned)smem, stream,
                                                         params));
}

static CuLaunchConfig driver_config(const RtLaunchConfig *c) {
  return (CuLaunchConfig){.grid_x = c->grid.x,
                          .grid_y = c->grid.y,
                          .grid_z = c->grid.z,
                          .block_x = c->block.x,
                          .block_y = c->block.y,
                          .block_z = c->block.z,
                          .smem_bytes = (unsigned)c->smem,
                          .stream = c->stream,
                          .attributes = c->attributes,
                          .n_attributes = c->n_attributes};
}
int rt_cudaLaunchKernelExC(const RtLaunchConfig *config, const void *host, void **params) {
  void *function = NULL;
  if (!config) return rt_result(DRIVER_INVALID_VALUE);
  const CuLaunchConfig how = driver_config(config);
  const int found = kernel_of(&function, host);
  rt_begin();
  return rt_result(found ? found : drv_cuLaunchKernelEx(&how, function, params, NULL));
}

// ---- graphs -------------------------------------------------------------------------------------

int rt_cudaStreamBeginCapture(void *stream, int mode) {
  rt_begin();
  return rt_result(drv_cuStreamBeginCapture_v2(stream, mode));
}
int rt_cudaStreamEndCapture(void *stream, void **graph) {
  return rt_result(drv_cuStreamEndCapture(stream, graph));
}
int rt_cudaGraphCreate(void **graph, unsigned flags) {
  return rt_result(drv_cuGraphCreate(graph, flags));
}
int rt_cudaGraphAddKernelNode(void **node, void *graph, const void *const *needs, size_t n,
                              const RtKernelNode *p) {
  void *function = NULL;
  const int found = p ? kernel_of(&function, p->host) : DRIVER_INVALID_VALUE;
  if (found) return rt_result(found);
  const CuKernelNode how = {.function = function,
                            .grid = {p->grid.x, p->grid.y, p->grid.z},
                            .block = {p->block.x, p->block.y, p->block.z},
                            .smem = p->smem,
                            .params = p->params,
                            .extra = p->extra};
  return rt_result(drv_cuGraphAddKernelNode_v2(node, graph, needs, n, &how));
}
int rt_cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags) {
  return rt_result(drv_cuGraphInstantiateWithFlags(exec, graph, flags));
}
int rt_cudaGraphLaunch(void *exec, void *stream) {
  return rt_result(drv_cuGraphLaunch(exec, stream));
}
int rt_cudaGraphDestroy(void *graph) { return rt_result(drv_cuGraphDestroy(graph)); }

// ---- attributes ---------------------------------------------------------------------------------

int rt_cudaFuncSetAttribute(const void *host, int attribute, int value) {
  void *function = NULL;
  const int found = kernel_of(&function, host);
  return rt_result(found ? found : drv_cuFuncSetAttribute(function, attribute, value));
}
int rt_cudaFuncSetCacheConfig(const void *host, int config) {
  (void)host, (void)config;
  return DRIVER_OK;
}
int rt_cudaFuncGetAttributes(RtFuncAttributes *out, const void *host) {
  enum { THREADS = 0, STATIC = 1, LOCAL = 3, REGISTERS = 4, PTX = 5, BINARY = 6, DYNAMIC = 8 };
  void *function = NULL;
  const int found = kernel_of(&function, host);
  if (found || !out) return rt_result(found ? found : DRIVER_INVALID_VALUE);
  int value = 0;
  memset(out, 0, offsetof(RtFuncAttributes, rest));
  drv_cuFuncGetAttribute(&value, STATIC, function);
  out->shared = (size_t)value;
  drv_cuFuncGetAttribute(&value, LOCAL, function);
  out->local = (size_t)value;
  drv_cuFuncGetAttribute(&out->threads_most, THREADS, function);
  drv_cuFuncGetAttribute(&out->registers, REGISTERS, function);
  drv_cuFuncGetAttribute(&out->ptx, PTX, function);
  drv_cuFuncGetAttribute(&out->binary, BINARY, function);
  drv_cuFuncGetAttribute(&out->dynamic_most, DYNAMIC, function);
  return DRIVER_OK;
}
int rt_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads,
                                                     size_t smem) {
  void *function = NULL;
  const int found = kernel_of(&function, host);
  return rt_result(
      found ? found
            : drv_cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, smem));
}
int rt_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host,
                                                              int threads, size_t smem,
                                                              unsigned flags) {
  (void)flags;
  return rt_cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, host, threads, smem);
}
int rt_cudaOccupancyMaxActiveClusters(int *clusters, const void *host,
                                      const RtLaunchConfig *config) {
  void *function = NULL;
  if (!config) return rt_result(DRIVER_INVALID_VALUE);
  const CuLaunchConfig how = driver_config(config);
  const int found = kernel_of(&function, host);
  return rt_result(found ? found : drv_cuOccupancyMaxActiveClusters(clusters, function, &how));
}

// ---- variables ----------------------------------------------------------------------------------

static int variable_of(const void *host, uint64_t *address, size_t *bytes) {
  enum { INVALID_SYMBOL = 13 };
  Named *named = find(variables, host);
  void *module = named ? module_of(named) : NULL;
  if (!module || drv_cuModuleGetGlobal_v2(address, bytes, module, named->name) != DRIVER_OK)
    return INVALID_SYMBOL;
  return DRIVER_OK;
}
int rt_cudaGetSymbolAddress(void **address, const void *host) {
  uint64_t at = 0;
  size_t bytes = 0;
  const int found = variable_of(host, &at, &bytes);
  if (!found && address) *address = (void *)(uintptr_t)at;
  return rt_result(found);
}
int rt_cudaGetSymbolSize(size_t *bytes, const void *host) {
  uint64_t at = 0;
  return rt_result(variable_of(host, &at, bytes));
}

static int copy_variable(const void *host, uint64_t other, size_t n, size_t offset, bool into) {
  uint64_t at = 0;
  size_t bytes = 0;
  const int found = variable_of(host, &at, &bytes);
  if (found || offset > bytes || n > bytes - offset)
    return rt_result(found ? found : DRIVER_INVALID_VALUE);
  return rt_result(into ? drv_cuMemcpy(at + offset, other, n)
                        : drv_cuMemcpy(other, at + offset, n));
}
int rt_cudaMemcpyToSymbol(const void *host, const void *from, size_t n, size_t offset, int kind) {
  (void)kind;
  return copy_variable(host, (uint64_t)(uintptr_t)from, n, offset, true);
}
int rt_cudaMemcpyToSymbolAsync(const void *host, const void *from, size_t n, size_t offset,
                               int kind, void *stream) {
  (void)stream;
  return rt_cudaMemcpyToSymbol(host, from, n, offset, kind);
}
int rt_cudaMemcpyFromSymbol(void *to, const void *host, size_t n, size_t offset, int kind) {
  (void)kind;
  return copy_variable(host, (uint64_t)(uintptr_t)to, n, offset, false);
}
int rt_cudaMemcpyFromSymbolAsync(void *to, const void *host, size_t n, size_t offset, int kind,
                                 void *stream) {
  (void)stream;
  return rt_cudaMemcpyFromSymbol(to, host, n, offset, kind);
}
