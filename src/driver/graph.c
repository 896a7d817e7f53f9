// Graphs: lists of nodes, in the order in which they came; nodes depend on earlier ones alone.
//
//   cudaStreamBeginCapture(s, …); k<<<1, 32, 0, s>>>(a, 1); cudaStreamEndCapture(s, &g);
//   cudaGraphInstantiate(&e, g, 0); cudaGraphLaunch(e, s);        k runs, with what was given then
//
// One capture is open at a time; streams that a program forks into it are taken for part of it, the
// default stream is not. An executable graph is the graph itself: a program changes neither.
#include "driver/graph.h"

#include <stdlib.h>
#include <string.h>

#include "driver/entry.h"

typedef enum NodeKind { NODE_LAUNCH, NODE_COPY, NODE_FILL } NodeKind;

typedef struct Node {
  NodeKind kind;
  GraphLaunch launch;
  uint64_t to, from, value;
  size_t n;
  int value_bytes;
  struct Node *next;
} Node;

typedef struct Graph {
  Node *first, **last;
} Graph;

static Arena *arena;    // of all graphs: programs have few, and keep them
static Graph *capture;  // NULL: none is open
static const void *captured;

static Graph *new_graph(void) {
  if (!arena) arena = arena_new("graphs");
  Graph *graph = ARENA_NEW(arena, Graph);
  *graph = (Graph){.last = &graph->first};
  return graph;
}

static Node *add(Graph *graph, NodeKind kind) {
  Node *node = ARENA_NEW(arena, Node);
  *node = (Node){.kind = kind};
  *graph->last = node;
  graph->last = &node->next;
  return node;
}

bool graph_is_open(const void *stream) {
  return capture && (stream == captured || (uintptr_t)stream > 2);  // 0 to 2: default streams
}

static Node *add_launch(Graph *graph, const GraphLaunch *launch) {
  Node *node = add(graph, NODE_LAUNCH);
  unsigned char *params = arena_alloc(arena, launch->param_bytes + 1);
  if (launch->param_bytes) memcpy(params, launch->params, launch->param_bytes);
  node->launch = *launch;
  node->launch.params = params;
  return node;
}

void graph_add_launch(const GraphLaunch *launch) { add_launch(capture, launch); }

void graph_add_copy(uint64_t to, uint64_t from, size_t n) {
  Node *node = add(capture, NODE_COPY);
  node->to = to, node->from = from, node->n = n;
}

void graph_add_fill(uint64_t to, uint64_t value, int value_bytes, size_t count) {
  Node *node = add(capture, NODE_FILL);
  node->to = to, node->value = value, node->value_bytes = value_bytes, node->n = count;
}

static DriverResult run_node(const Node *node) {
  switch (node->kind) {
    case NODE_LAUNCH:
      return driver_launch_again(&node->launch);
    case NODE_COPY:
      return driver_copy(node->to, node->from, node->n) ? DRIVER_OK : DRIVER_INVALID_VALUE;
    case NODE_FILL:
      return driver_fill(node->to, node->value, node->value_bytes, node->n) ? DRIVER_OK
                                                                            : DRIVER_INVALID_VALUE;
  }
  return DRIVER_INVALID_VALUE;
}

static DriverResult run_graph(const Graph *graph) {
  DriverResult result = graph ? DRIVER_OK : DRIVER_INVALID_VALUE;
  for (const Node *node = graph ? graph->first : NULL; node && !result; node = node->next)
    result = run_node(node);
  return result;
}

// ---- entries ------------------------------------------------------------------------------------

int drv_cuStreamBeginCapture_v2(void *stream, int mode) {
  (void)mode;
  if (capture) return DRIVER_NOT_SUPPORTED;
  pthread_mutex_lock(&driver_mutex);
  capture = new_graph();
  captured = stream;
  pthread_mutex_unlock(&driver_mutex);
  return DRIVER_OK;
}

int drv_cuStreamEndCapture(void *stream, void **graph) {
  if (!graph || !capture || stream != captured) return DRIVER_INVALID_VALUE;
  *graph = capture;
  capture = NULL;
  return DRIVER_OK;
}

int drv_cuStreamIsCapturing(void *stream, int *status) {
  if (!status) return DRIVER_INVALID_VALUE;
  *status = graph_is_open(stream);
  return DRIVER_OK;
}

int drv_cuGraphCreate(void **graph, unsigned flags) {
  if (!graph || flags) return DRIVER_INVALID_VALUE;
  pthread_mutex_lock(&driver_mutex);
  *graph = new_graph();
  pthread_mutex_unlock(&driver_mutex);
  return DRIVER_OK;
}

int drv_cuGraphAddKernelNode_v2(void **node, void *graph, const void *const *needs, size_t n,
                                const CuKernelNode *params) {
  (void)needs, (void)n;
  if (!graph || !params) return DRIVER_INVALID_VALUE;
  GraphLaunch launch = {.function = params->function ? params->function : params->kernel,
                        .smem = params->smem};
  memcpy(launch.grid, params->grid, sizeof launch.grid);
  memcpy(launch.block, params->block, sizeof launch.block);
  pthread_mutex_lock(&driver_mutex);
  const bool ok = driver_take_launch(&launch, params->params, params->extra);
  Node *made = ok ? add_launch(graph, &launch) : NULL;
  pthread_mutex_unlock(&driver_mutex);
  if (node) *node = made;
  return ok ? DRIVER_OK : DRIVER_INVALID_VALUE;
}

int drv_cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) {
  (void)flags;
  if (!exec || !graph) return DRIVER_INVALID_VALUE;
  *exec = graph;
  return DRIVER_OK;
}
int drv_cuGraphInstantiateWithParams(void **exec, void *graph, void *params) {
  (void)params;
  return drv_cuGraphInstantiateWithFlags(exec, graph, 0);
}

int drv_cuGraphLaunch(void *exec, void *stream) {
  (void)stream;
  pthread_mutex_lock(&driver_mutex);
  const DriverResult result = run_graph(exec);
  pthread_mutex_unlock(&driver_mutex);
  return result;
}

int drv_cuGraphDestroy(void *graph) { return graph ? DRIVER_OK : DRIVER_INVALID_VALUE; }
