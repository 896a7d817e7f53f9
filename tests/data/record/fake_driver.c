// A driver with a GPU, as far as driver_add.c and a recording ask: memory is the process's, and the
// only kernel it runs adds. It counts what is asked of it, so that a test sees that calls arrive.
// Graphs are what one stream was asked for while it was captured, each node behind the one before.
// By its events a launch takes 2.5 ms.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORIES = 16 };
static struct {
  unsigned char *at;
  size_t n;
} memories[MEMORIES];
static int n_memories, n_calls;

int cuInit(unsigned flags) { return flags != 0; }
int cuDeviceGetCount(int *n) {
  *n = 1;
  return 0;
}
int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char *name, int bytes, int device) {
  snprintf(name, (size_t)bytes, "a fake GPU %d", device);
  return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = (void *)(uintptr_t)(0x100 + device);
  return 0;
}
int cuCtxSetCurrent(void *context) { return context == NULL; }
int cuCtxSynchronize(void) { return 0; }
int cuModuleLoad(void **module, const char *path) {
  *module = (void *)0x200;
  return path == NULL;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = (void *)0x300;
  return module != (void *)0x200 || strstr(name, "add") == NULL;
}
int cuFuncGetName(const char **name, void *function) {
  *name = "_Z3addIfEvPKT_S2_PS0_i";
  return function != (void *)0x300;
}
int cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *bytes) {
  if (function != (void *)0x300 || index > 3) return 1;
  // As a driver says it where parameters are aligned: with another beginning, and another gap.
  *offset = 112 + 8 * index + (index > 1 ? 16 : 0);
  *bytes = index == 3 ? 4 : 8;
  return 0;
}
int cuMemAlloc_v2(uint64_t *address, size_t n) {
  memories[n_memories].at = calloc(1, n);
  memories[n_memories].n = n;
  *address = (uint64_t)(uintptr_t)memories[n_memories++].at;
  return 0;
}
int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t address) {
  for (int i = 0; i < n_memories; i++) {
    *base = (uint64_t)(uintptr_t)memories[i].at;
    *bytes = memories[i].n;
    if (address - *base < *bytes) return 0;
  }
  return 1;
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n) {
  memcpy((void *)(uintptr_t)to, from, n);
  return 0;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n) {
  memcpy(to, (void *)(uintptr_t)from, n);
  return 0;
}
int cuMemAllocManaged(uint64_t *address, size_t n, unsigned flags) {
  (void)flags;
  return cuMemAlloc_v2(address, n) ? 1 : 4711;
}

typedef struct Node {
  int type;  // 0: a kernel, 1: a copy
  int on;
  unsigned grid[3], block[3];
  void *params[4];
  uint64_t bytes[4];
  uint64_t to;
  const void *from;
  size_t n;
} Node;
enum { NODES = 8, STREAM = 0x400, GRAPH = 0x500, EXEC = 0x600, NODE = 0x700 };
static Node nodes[NODES];
static int n_nodes, captures, is_destroyed;

static Node *node_of(void *handle) { return &nodes[(uintptr_t)handle - NODE]; }

static void add(void *const *params) {
  float *p[3];
  int n;
  for (int i = 0; i < 3; i++) memcpy(&p[i], params[i], sizeof p[i]);
  memcpy(&n, params[3], sizeof n);
  for (int i = 0; i < n; i++) p[2][i] = p[0][i] + p[1][i];
  fprintf(stderr, "the fake GPU ran launch %d\n", n_calls++);
}

int cuStreamCreate(void **stream, unsigned flags) {
  *stream = (void *)STREAM;
  return flags != 0;
}
int cuStreamBeginCapture_v2(void *stream, int mode) {
  captures = 1;
  return stream != (void *)STREAM || mode;
}
int cuStreamIsCapturing(void *stream, int *status) {
  *status = captures && stream == (void *)STREAM;
  return 0;
}
int cuStreamEndCapture(void *stream, void **graph) {
  captures = 0;
  *graph = (void *)GRAPH;
  return stream != (void *)STREAM;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *stream) {
  if (!captures || stream != (void *)STREAM) return 1;
  nodes[n_nodes++] = (Node){.type = 1, .on = 1, .to = to, .from = from, .n = n};
  return 0;
}
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) {
  *exec = (void *)EXEC;
  return graph != (void *)GRAPH || flags;
}
int cuGraphDestroy(void *graph) {
  is_destroyed = 1;
  return graph != (void *)GRAPH;
}
int cuGraphExecDestroy(void *exec) { return exec != (void *)EXEC; }
int cuGraphGetNodes(void *graph, void **out, size_t *n) {
  if (is_destroyed || graph != (void *)GRAPH) return 1;
  for (int i = 0; out && i < n_nodes; i++) out[i] = (void *)(uintptr_t)(NODE + i);
  *n = (size_t)n_nodes;
  return 0;
}
int cuGraphGetEdges(void *graph, void **from, void **to, size_t *n) {
  if (is_destroyed || graph != (void *)GRAPH) return 1;
  for (int i = 1; from && i < n_nodes; i++) {
    from[i - 1] = (void *)(uintptr_t)(NODE + i - 1);
    to[i - 1] = (void *)(uintptr_t)(NODE + i);
  }
  *n = (size_t)n_nodes - 1;
  return 0;
}
int cuGraphNodeGetType(void *node, int *type) {
  *type = node_of(node)->type;
  return is_destroyed;
}
int cuGraphKernelNodeGetParams_v2(void *node, void *out) {
  const Node *of = node_of(node);
  struct {
    void *function;
    unsigned grid[3], block[3], smem;
    void *const *params;
    void *rest[3];
  } kernel = {.function = (void *)0x300, .params = of->params};
  memcpy(kernel.grid, of->grid, sizeof of->grid);
  memcpy(kernel.block, of->block, sizeof of->block);
  memcpy(out, &kernel, sizeof kernel);
  return is_destroyed;
}
int cuGraphNodeGetEnabled(void *exec, void *node, unsigned *on) {
  *on = (unsigned)node_of(node)->on;
  return exec != (void *)EXEC || is_destroyed;
}
int cuGraphNodeSetEnabled(void *exec, void *node, unsigned on) {
  node_of(node)->on = (int)on;
  return exec != (void *)EXEC || is_destroyed;
}
int cuGraphLaunch(void *exec, void *stream) {
  if (exec != (void *)EXEC || stream != (void *)STREAM) return 1;
  for (const Node *node = nodes; node < nodes + n_nodes; node++) {
    if (!node->on) continue;
    if (node->type)
      memcpy((void *)(uintptr_t)node->to, node->from, node->n);
    else
      add(node->params);
  }
  return 0;
}

static int keep_node(const unsigned grid[3], const unsigned block[3], void **params) {
  Node *node = &nodes[n_nodes++];
  *node = (Node){.type = 0, .on = 1};
  memcpy(node->grid, grid, sizeof node->grid);
  memcpy(node->block, block, sizeof node->block);
  for (int i = 0; i < 4; i++) {
    memcpy(&node->bytes[i], params[i], i == 3 ? 4 : 8);
    node->params[i] = &node->bytes[i];
  }
  return 0;
}

int cuEventCreate(void **event, unsigned flags) {
  *event = (void *)0x800;
  return flags != 0;
}
int cuEventDestroy_v2(void *event) { return event != (void *)0x800; }
int cuEventRecord(void *event, void *stream) { return event != (void *)0x800 || stream != NULL; }
int cuEventQuery(void *event) { return event != (void *)0x800; }
int cuEventElapsedTime(float *ms, void *from, void *to) {
  *ms = 2.5F;
  return from != to;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned smem, void *stream, void **params, void **extra) {
  (void)smem;
  if (function != (void *)0x300) return 1;
  if (captures && stream == (void *)STREAM)
    return keep_node((unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, params);
  unsigned char *block = extra ? extra[1] : NULL;
  void *of_block[4];
  for (int i = 0; block && i < 4; i++) of_block[i] = block + 8 * i;
  add(block ? of_block : params);
  return 0;
}
int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                        int *status) {
  (void)version, (void)flags;
  *function = strcmp(name, "cuLaunchKernel") ? NULL : (void *)cuLaunchKernel;
  if (status) *status = *function == NULL;
  return *function ? 0 : 500;
}
