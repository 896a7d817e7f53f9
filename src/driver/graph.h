// CUDA graphs. Without a GPU (graph.c): what a stream was asked for while it was captured, or what
// a program adds, done in that order at each launch of the graph.
#pragma once
#include "driver/stand_in.h"

// A launch as a graph keeps it.
typedef struct GraphLaunch {
  void *function;
  unsigned grid[3], block[3], cluster[3], smem;
  bool cooperative;
  const unsigned char *params;
  size_t param_bytes;
} GraphLaunch;

// Whether what this stream is asked for now goes into a graph.
bool graph_is_open(const void *stream);
void graph_add_launch(const GraphLaunch *launch);  // its parameters are copied
void graph_add_copy(uint64_t to, uint64_t from, size_t n);
void graph_add_fill(uint64_t to, uint64_t value, int value_bytes, size_t count);

// driver_launch.c: a launch that a graph kept; a node's parameters, for a graph to keep. The lock
// is held.
DriverResult driver_launch_again(const GraphLaunch *launch);
bool driver_take_launch(GraphLaunch *out, void **params, void **extra);

// ---- gpu_graph.c: in front of a real driver the kernels of a graph are seen at each launch of it
// ---

// Whether any stream is being captured: what is launched then may be a node, and no launch.
bool gpu_graph_captures(void *stream);

// A kernel of a graph that is about to be launched, as a launch of its own (driver_launch.c).
typedef struct GpuGraphKernel {
  CuKernelNode node;
  unsigned cluster[3];
  bool cooperative;
  void *stream;
  bool (*prepare)(void *self);      // does what comes before it; the wanted launch alone asks
  DriverResult (*run)(void *self);  // the kernel alone, where prepare() did so
  void *self;
} GpuGraphKernel;
DriverResult driver_launch_node(const GpuGraphKernel *kernel);
