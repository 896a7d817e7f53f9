// A graph is one call, and its kernels run one behind the other in it. The wanted one is cut out:
// an executable graph is launched three times, with other nodes switched on: what the kernel
// depends on, the kernel, the rest. Memory is read before the second and behind it.
//
//   copy ─► k0 ─► k1 ─► k2        --launch 1:  { copy k0 }  read  { k1 }  read  { k2 }
//
// cuGraphNodeSetEnabled (CUDA 11.6) switches kernels, copies and fills. A graph with other nodes is
// launched whole, and the sentence says so. Nodes are those of the graph that was instantiated, so
// that such a graph lives as long as its executable one.
#include "driver/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/entry.h"

enum { TYPE_KERNEL, TYPE_COPY, TYPE_FILL, TYPE_EMPTY = 5 };
enum { NODES_MAX = 1 << 14 };

typedef struct Node {
  void *handle;
  int type;
  unsigned on;  // the program has it switched on
  bool mark;
} Node;

typedef struct Exec {
  void *handle, *graph;
  bool destroyed;  // the program destroyed the graph: it goes with this
  bool changed;    // the program gave nodes other parameters
  bool asked;
  Node *nodes;
  size_t n, n_edges;
  void **from, **to;  // edges
  struct Exec *next;
} Exec;

static Exec *execs;

typedef int GetNodes(void *graph, void **nodes, size_t *n);
typedef int GetEdges(void *graph, void **from, void **to, size_t *n);
typedef int GetType(void *node, int *type);
typedef int GetKernel(void *node, CuKernelNode *out);
typedef int GetAttribute(void *node, int id, void *value);
typedef int GetEnabled(void *exec, void *node, unsigned *on);
typedef int SetEnabled(void *exec, void *node, unsigned on);
typedef int LaunchGraph(void *exec, void *stream);
typedef int OfHandle(void *handle);

// ---- the nodes ----------------------------------------------------------------------------------

static Exec *exec_of(const void *handle) {
  Exec *e = execs;
  while (e && e->handle != handle) e = e->next;
  return e;
}

static void take_edges(Exec *e) {
  GetEdges *edges = (GetEdges *)driver_real("cuGraphGetEdges");
  size_t n = 0;
  if (!edges || edges(e->graph, NULL, NULL, &n) != DRIVER_OK || n > (size_t)NODES_MAX * 8) {
    e->changed = true;  // unknown: the graph cannot be cut
    return;
  }
  e->from = calloc(n + 1, sizeof *e->from);
  e->to = calloc(n + 1, sizeof *e->to);
  if (n == 0 || !e->from || !e->to) return;
  e->n_edges = edges(e->graph, e->from, e->to, &n) == DRIVER_OK ? n : 0;
}

static void take_nodes(Exec *e) {
  GetNodes *nodes = (GetNodes *)driver_real("cuGraphGetNodes");
  GetType *type = (GetType *)driver_real("cuGraphNodeGetType");
  size_t n = 0;
  e->asked = true;
  if (!nodes || !type || nodes(e->graph, NULL, &n) != DRIVER_OK || n > NODES_MAX) return;
  void **handles = calloc(n + 1, sizeof *handles);
  e->nodes = calloc(n + 1, sizeof *e->nodes);
  if (handles && e->nodes && nodes(e->graph, handles, &n) == DRIVER_OK) e->n = n;
  for (size_t i = 0; i < e->n; i++) {
    e->nodes[i].handle = handles[i];
    if (type(handles[i], &e->nodes[i].type) != DRIVER_OK) e->nodes[i].type = -1;
  }
  free(handles);
  take_edges(e);
}

static void ask_enabled(Exec *e) {
  GetEnabled *get = (GetEnabled *)driver_real("cuGraphNodeGetEnabled");
  for (size_t i = 0; i < e->n; i++) {
    Node *node = &e->nodes[i];
    const bool can = node->type >= TYPE_KERNEL && node->type <= TYPE_FILL;
    if (!can || !get || get(e->handle, node->handle, &node->on) != DRIVER_OK) node->on = 1;
  }
}

static void free_exec(Exec *e) {
  free(e->nodes);
  free(e->from);
  free(e->to);
  free(e);
}

// ---- a part of a graph --------------------------------------------------------------------------

typedef struct Cut {
  Exec *exec;
  Node *kernel;  // the one that is a launch now
  void *stream;
  LaunchGraph *launch;
  bool is_cut;  // prepare() has begun: parts of the graph were run
} Cut;

static bool can_be_cut(const Exec *e) {
  for (size_t i = 0; i < e->n; i++)
    if (e->nodes[i].type != TYPE_EMPTY &&
        (e->nodes[i].type < TYPE_KERNEL || e->nodes[i].type > TYPE_FILL))
      return false;
  return !e->changed && driver_real("cuGraphNodeSetEnabled");
}

static Node *node_of(const Exec *e, const void *handle) {
  for (size_t i = 0; i < e->n; i++)
    if (e->nodes[i].handle == handle) return &e->nodes[i];
  return NULL;
}

// Marks all that a node depends on, itself left out.
static void mark_before(const Exec *e, const Node *kernel) {
  for (size_t i = 0; i < e->n; i++) e->nodes[i].mark = false;
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < e->n_edges; i++) {
      const Node *to = node_of(e, e->to[i]);
      Node *from = node_of(e, e->from[i]);
      if (!to || !from || from->mark || (to != kernel && !to->mark)) continue;
      from->mark = more = true;
    }
  }
}

typedef enum Part { BEFORE, ITSELF, REST, ALL } Part;

static DriverResult run_part(const Cut *cut, Part part) {
  SetEnabled *set = (SetEnabled *)driver_real("cuGraphNodeSetEnabled");
  for (size_t i = 0; i < cut->exec->n; i++) {
    const Node *node = &cut->exec->nodes[i];
    const bool is_kernel = node == cut->kernel;
    const Part of = is_kernel ? ITSELF : node->mark ? BEFORE : REST;
    if (node->type != TYPE_EMPTY)
      set(cut->exec->handle, node->handle, node->on && (part == ALL || of == part));
  }
  return part == ALL ? DRIVER_OK : cut->launch(cut->exec->handle, cut->stream);
}

static bool prepare(void *self) {
  Cut *cut = self;
  if (!can_be_cut(cut->exec)) return false;
  mark_before(cut->exec, cut->kernel);
  cut->is_cut = true;
  return run_part(cut, BEFORE) == DRIVER_OK;
}

static DriverResult run_kernel(void *self) {
  const Cut *cut = self;
  return cut->is_cut ? run_part(cut, ITSELF) : DRIVER_OK;
}

// ---- launches -----------------------------------------------------------------------------------

static bool take_kernel(const Node *node, GpuGraphKernel *out) {
  enum { CLUSTER = 4, COOPERATIVE = 2 };
  GetKernel *get = (GetKernel *)driver_real("cuGraphKernelNodeGetParams_v2");
  GetAttribute *attribute = (GetAttribute *)driver_real("cuGraphKernelNodeGetAttribute");
  CuLaunchAttribute value = {0};
  if (!get || get(node->handle, &out->node) != DRIVER_OK) return false;
  if (attribute && attribute(node->handle, CLUSTER, &value.value) == DRIVER_OK) {
    out->cluster[0] = value.value.cluster.x;
    out->cluster[1] = value.value.cluster.y;
    out->cluster[2] = value.value.cluster.z;
  }
  memset(&value, 0, sizeof value);
  if (attribute && attribute(node->handle, COOPERATIVE, &value.value) == DRIVER_OK)
    out->cooperative = value.value.flag != 0;
  return true;
}

// The order in which the kernels are counted: that of their nodes, which is the captured one.
static DriverResult launch(const char *name, void *handle, void *stream) {
  LaunchGraph *real = (LaunchGraph *)driver_real(name);
  Exec *e = exec_of(handle);
  if (!real) return DRIVER_NOT_SUPPORTED;
  if (!e) return real(handle, stream);
  if (!e->asked) take_nodes(e);
  ask_enabled(e);
  Cut cut = {.exec = e, .stream = stream, .launch = real};
  Cut done = cut;
  DriverResult result = DRIVER_OK;
  for (size_t i = 0; i < e->n; i++) {
    if (e->nodes[i].type != TYPE_KERNEL || !e->nodes[i].on) continue;
    cut.kernel = &e->nodes[i];
    cut.is_cut = false;
    GpuGraphKernel kernel = {.stream = stream, .prepare = prepare, .run = run_kernel, .self = &cut};
    if (!take_kernel(cut.kernel, &kernel)) continue;
    const DriverResult one = driver_launch_node(&kernel);
    if (cut.is_cut) done = cut, result = one;
  }
  if (!done.is_cut) return real(handle, stream);
  const DriverResult rest = run_part(&done, REST);
  run_part(&done, ALL);
  return result ? result : rest;
}

static int launch_locked(const char *name, void *exec, void *stream) {
  pthread_mutex_lock(&driver_mutex);
  const DriverResult result = launch(name, exec, stream);
  pthread_mutex_unlock(&driver_mutex);
  return result;
}

int real_cuGraphLaunch(void *exec, void *stream) {
  return launch_locked("cuGraphLaunch", exec, stream);
}
int real_cuGraphLaunch_ptsz(void *exec, void *stream) {
  return launch_locked("cuGraphLaunch_ptsz", exec, stream);
}

// ---- graphs come and go -------------------------------------------------------------------------

static int keep(int result, void *const *exec, void *graph) {
  if (result != DRIVER_OK || !exec) return result;
  Exec *e = calloc(1, sizeof *e);
  if (!e) return result;
  *e = (Exec){.handle = *exec, .graph = graph};
  pthread_mutex_lock(&driver_mutex);
  e->next = execs;
  execs = e;
  pthread_mutex_unlock(&driver_mutex);
  return result;
}

typedef int WithFlags(void **exec, void *graph, unsigned long long flags);
typedef int WithParams(void **exec, void *graph, void *params);
typedef int WithLog(void **exec, void *graph, void **node, char *log, size_t n);

int real_cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) {
  WithFlags *real = (WithFlags *)driver_real("cuGraphInstantiateWithFlags");
  return real ? keep(real(exec, graph, flags), exec, graph) : DRIVER_NOT_SUPPORTED;
}
int real_cuGraphInstantiateWithParams(void **exec, void *graph, void *params) {
  WithParams *real = (WithParams *)driver_real("cuGraphInstantiateWithParams");
  return real ? keep(real(exec, graph, params), exec, graph) : DRIVER_NOT_SUPPORTED;
}
int real_cuGraphInstantiateWithParams_ptsz(void **exec, void *graph, void *params) {
  WithParams *real = (WithParams *)driver_real("cuGraphInstantiateWithParams_ptsz");
  return real ? keep(real(exec, graph, params), exec, graph) : DRIVER_NOT_SUPPORTED;
}
int real_cuGraphInstantiate_v2(void **exec, void *graph, void **node, char *log, size_t n) {
  WithLog *real = (WithLog *)driver_real("cuGraphInstantiate_v2");
  return real ? keep(real(exec, graph, node, log, n), exec, graph) : DRIVER_NOT_SUPPORTED;
}

int real_cuGraphDestroy(void *graph) {
  OfHandle *real = (OfHandle *)driver_real("cuGraphDestroy");
  bool used = false;
  pthread_mutex_lock(&driver_mutex);
  for (Exec *e = execs; e && !used; e = e->next)
    if (e->graph == graph) e->destroyed = used = true;
  pthread_mutex_unlock(&driver_mutex);
  return used ? DRIVER_OK : real ? real(graph) : DRIVER_NOT_SUPPORTED;
}

int real_cuGraphExecDestroy(void *exec) {
  OfHandle *real = (OfHandle *)driver_real("cuGraphExecDestroy"),
           *of_graph = (OfHandle *)driver_real("cuGraphDestroy");
  pthread_mutex_lock(&driver_mutex);
  Exec **at = &execs;
  while (*at && (*at)->handle != exec) at = &(*at)->next;
  Exec *e = *at;
  if (e) *at = e->next;
  pthread_mutex_unlock(&driver_mutex);
  const int result = real ? real(exec) : DRIVER_NOT_SUPPORTED;
  if (!e) return result;
  Exec *other = execs;
  while (other && other->graph != e->graph) other = other->next;
  if (other && e->destroyed) other->destroyed = true;
  if (!other && e->destroyed && of_graph) of_graph(e->graph);
  free_exec(e);
  return result;
}

static void tell_changed(const void *exec) {
  pthread_mutex_lock(&driver_mutex);
  Exec *e = exec_of(exec);
  if (e) e->changed = true;
  pthread_mutex_unlock(&driver_mutex);
}

typedef int Change(void *exec, void *what, void *how);
static int change(const char *name, void *exec, void *what, void *how) {
  Change *real = (Change *)driver_real(name);
  tell_changed(exec);
  return real ? real(exec, what, how) : DRIVER_NOT_SUPPORTED;
}
int real_cuGraphExecUpdate_v2(void *exec, void *graph, void *info) {
  return change("cuGraphExecUpdate_v2", exec, graph, info);
}
int real_cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, void *params) {
  return change("cuGraphExecKernelNodeSetParams_v2", exec, node, params);
}
int real_cuGraphExecNodeSetParams(void *exec, void *node, void *params) {
  return change("cuGraphExecNodeSetParams", exec, node, params);
}

// ---- captures -----------------------------------------------------------------------------------

// A stream that the program has not made is captured by nobody: it is not asked. The entries that
// begin and end a capture cannot be counted instead: the runtime inside a program may know them by
// tables of its own.
bool gpu_graph_captures(void *stream) {
  typedef int IsCapturing(void *of, int *status);
  IsCapturing *is = (IsCapturing *)driver_real("cuStreamIsCapturing");
  int status = 0;
  return stream && is && is(stream, &status) == DRIVER_OK && status != 0;
}
