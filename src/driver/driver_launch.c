// A launch: its function and arguments, whether it is the wanted one, and the machine that runs it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "driver/driver_launch.h"
#include "driver/entry.h"
#include "driver/graph.h"

// A launch as the program asks for it.
typedef struct Call {
  void *function;
  unsigned grid[3], block[3], cluster[3], smem;
  bool cooperative;
  void *stream, **params, **extra;
  DriverResult (*run)(void *self);  // asks the real driver
  void *self;
  bool (*prepare)(void *self);  // of a node of a graph: does what comes before the wanted launch
} Call;

// ---- parameters ---------------------------------------------------------------------------------

static bool param_at(const DriverRun *run, void *handle, int index, size_t *offset, size_t *bytes) {
  typedef int Info(void *, size_t, size_t *, size_t *);
  if (!driver_forwards())
    return drv_cuFuncGetParamInfo(run->function, (size_t)index, offset, bytes) == DRIVER_OK;
  Info *of_function = (Info *)driver_real("cuFuncGetParamInfo"),
       *of_kernel = (Info *)driver_real("cuKernelGetParamInfo");
  if (!of_function && !of_kernel)  // before CUDA 12.4: as the text has them
    return drv_cuFuncGetParamInfo(run->function, (size_t)index, offset, bytes) == DRIVER_OK;
  return (of_function && of_function(handle, (size_t)index, offset, bytes) == DRIVER_OK) ||
         (of_kernel && of_kernel(handle, (size_t)index, offset, bytes) == DRIVER_OK);
}

// cuLaunchKernel's `extra`: pairs of a key and a value up to a 0; 1 is the parameters, 2 their
// bytes.
static bool take_extra(DriverRun *run, void **extra) {
  const void *bytes = NULL;
  size_t n = 0;
  for (int i = 0; extra[i]; i += 2) {
    if ((uintptr_t)extra[i] == 1) bytes = extra[i + 1];
    if ((uintptr_t)extra[i] == 2) n = *(const size_t *)extra[i + 1];
  }
  if (n > sizeof run->params || (n && !bytes)) return false;
  if (n) memcpy(run->params, bytes, n);
  run->param_bytes = n;
  return true;
}

// Parameters stand where the text has them. A driver counts from where its constant bank has them,
// which begins at no multiple of 64: a tensor map that comes first was seen at 112, one behind 24
// bytes at 48 (driver 580), where the text has 0 and 64. Without a text the first stands at 0.
static size_t place_of(const DriverRun *run, int index, size_t offset, size_t first, size_t bytes) {
  const PtxFunction *kernel = run->function->kernel;
  const PtxParam *param = kernel && index < kernel->n_params ? &kernel->params[index] : NULL;
  return param && (size_t)param->bytes == bytes ? (size_t)param->offset : offset - first;
}

static bool take_params(DriverRun *run, const Call *call) {
  const int most = (int)(sizeof run->param / sizeof run->param[0]);
  size_t offset, bytes, first = 0;
  for (; run->n_params < most && param_at(run, call->function, run->n_params, &offset, &bytes);
       run->n_params++) {
    if (run->n_params == 0) first = offset;
    if (offset < first) return false;
    offset = place_of(run, run->n_params, offset, first, bytes);
    if (offset > sizeof run->params || bytes > sizeof run->params - offset) return false;
    run->param[run->n_params].offset = offset;
    run->param[run->n_params].bytes = bytes;
    if (!call->params) continue;
    if (!call->params[run->n_params]) return false;
    memcpy(run->params + offset, call->params[run->n_params], bytes);
    if (offset + bytes > run->param_bytes) run->param_bytes = offset + bytes;
  }
  return call->params || !call->extra || take_extra(run, call->extra);
}

#define GRAPH_WHOLE                                                                              \
  "the launch is part of a CUDA graph that cannot be launched in parts: it has nodes that are "  \
  "neither kernels, copies nor fills, or its parameters were changed later. Record the program " \
  "without graphs, or by --cpu"

// ---- the launch ---------------------------------------------------------------------------------

static void note(SeenRow *row, const char *text) {
  if (row && text && !row->note[0]) snprintf(row->note, sizeof row->note, "%s", text);
}

static DriverResult run_on_cpu(DriverRun *run, SeenRow *row, bool wanted) {
  if (driver_settings()->skips) return DRIVER_OK;
  if (run->function->kernel) {
    if (!patience_begin(run, wanted)) return DRIVER_OK;
    const DriverResult result = cpu_run(run);
    patience_end(run);
    return result;
  }
  const DriverFunction *f = run->function;
  const char *why = f->why_not ? f->why_not : f->module->image.why_not;
  note(row, why);
  driver_say("%s is not run: %s", run->function->name, why ? why : "it has no PTX");
  return DRIVER_NO_BINARY_FOR_GPU;
}

static DriverResult run_it(DriverRun *run, SeenRow *row, bool wanted) {
  return run->run ? run->run(run->self) : run_on_cpu(run, row, wanted);
}

static bool has_text(const DriverFunction *f) { return f->kernel && !f->ptx->machine; }

static bool is_wanted(DriverRun *run, SeenTable *seen) {
  const DriverSettings *settings = driver_settings();
  DriverFunction *f = run->function;
  if (!f->matches)
    f->matches = driver_name_matches(settings->kernel, f->name) ? NAME_MATCHES : NAME_DIFFERS;
  // Without a GPU a kernel of machine code alone is wanted by its name: PyTorch's own kernels stand
  // in front of a Triton kernel.
  if (!settings->kernel && !run->run && !has_text(f)) return false;
  if (f->matches == NAME_DIFFERS) return false;
  static uint64_t own;  // of this process alone
  const uint64_t all = seen ? __atomic_fetch_add(&seen->matched, 1, __ATOMIC_RELAXED) : 0;
  run->number = settings->each_process ? own++ : all;
  return settings->capsule && seen && run->number == (uint64_t)settings->launch;
}

static DriverResult launch(const Call *call) {
  static DriverRun run;  // the lock is held; 130 kB are too much for a thread of a program
  run.function = driver_function_of(call->function);
  if (!run.function) return call->run ? call->run(call->self) : DRIVER_INVALID_HANDLE;
  run.at = (PtxLaunch){.dynamic_smem = (int)call->smem,
                       .budget = driver_settings()->budget,
                       .cooperative = call->cooperative};
  for (int d = 0; d < 3; d++) {
    run.at.grid[d] = (int)call->grid[d];
    run.at.block[d] = (int)call->block[d];
    run.at.cluster[d] = (int)call->cluster[d];
  }
  run.handle = call->function;
  run.stream = call->stream;
  run.run = call->run;
  run.self = call->self;
  SeenTable *seen = driver_seen();
  SeenRow *row = driver_seen_row(&run);
  if (row) row->count++;
  if (seen) seen->launches++;
  if (!run.run) driver_find_kernel(run.function);
  const bool wanted = is_wanted(&run, seen);
  if (!wanted && run.run) return call->prepare ? run.run(run.self) : driver_time_launch(&run, row);
  if (wanted) driver_find_kernel(run.function);
  if (row) row->has_ptx = run.function->module->image.ptx || run.function->kernel;
  run.left = false;
  run.until = 0;
  run.n_params = 0;
  run.param_bytes = 0;
  memset(run.params, 0, sizeof run.params);
  if (!take_params(&run, call)) return run.run ? run.run(run.self) : DRIVER_INVALID_VALUE;
  const bool reached = wanted && (!call->prepare || call->prepare(call->self));
  if (wanted && !reached) keep_fails(GRAPH_WHOLE);
  Kept *kept = reached ? keep_before(&run) : NULL;
  const DriverResult result = run_it(&run, row, wanted);
  if (kept) keep_after(kept, &run, result == DRIVER_OK && !run.left);
  return result;
}

// ---- graphs -------------------------------------------------------------------------------------

bool driver_take_launch(GraphLaunch *out, void **params, void **extra) {
  static DriverRun run;
  const Call call = {.function = out->function, .params = params, .extra = extra};
  run.function = driver_function_of(out->function);
  run.n_params = 0;
  run.param_bytes = 0;
  if (!run.function) return false;
  driver_find_kernel(run.function);
  if (!take_params(&run, &call)) return false;
  out->params = run.params;
  out->param_bytes = run.param_bytes;
  return true;
}

DriverResult driver_launch_again(const GraphLaunch *kept) {
  size_t n = kept->param_bytes;
  void *extra[] = {(void *)1, (void *)(uintptr_t)kept->params, (void *)2, &n, NULL};
  Call call = {.function = kept->function,
               .smem = kept->smem,
               .cooperative = kept->cooperative,
               .extra = extra};
  memcpy(call.grid, kept->grid, sizeof call.grid);
  memcpy(call.block, kept->block, sizeof call.block);
  memcpy(call.cluster, kept->cluster, sizeof call.cluster);
  return launch(&call);
}

static DriverResult keep_for_graph(const Call *call) {
  GraphLaunch kept = {
      .function = call->function, .smem = call->smem, .cooperative = call->cooperative};
  memcpy(kept.grid, call->grid, sizeof kept.grid);
  memcpy(kept.block, call->block, sizeof kept.block);
  memcpy(kept.cluster, call->cluster, sizeof kept.cluster);
  if (!driver_take_launch(&kept, call->params, call->extra)) return DRIVER_INVALID_VALUE;
  graph_add_launch(&kept);
  return DRIVER_OK;
}

DriverResult driver_launch_node(const GpuGraphKernel *kernel) {
  const CuKernelNode *node = &kernel->node;
  Call call = {.function = node->function ? node->function : node->kernel,
               .smem = node->smem,
               .cooperative = kernel->cooperative,
               .stream = kernel->stream,
               .params = node->params,
               .extra = node->extra,
               .run = kernel->run,
               .self = kernel->self,
               .prepare = kernel->prepare};
  memcpy(call.grid, node->grid, sizeof call.grid);
  memcpy(call.block, node->block, sizeof call.block);
  memcpy(call.cluster, kernel->cluster, sizeof call.cluster);
  return launch(&call);
}

// A node that a graph gets is no launch yet.
static DriverResult launch_or_keep(const Call *call) {
  if (call->run) return gpu_graph_captures(call->stream) ? call->run(call->self) : launch(call);
  return graph_is_open(call->stream) ? keep_for_graph(call) : launch(call);
}

static int launch_locked(const Call *call) {
  pthread_mutex_lock(&driver_mutex);
  const DriverResult result = launch_or_keep(call);
  pthread_mutex_unlock(&driver_mutex);
  return result;
}

// ---- entries ------------------------------------------------------------------------------------

typedef int LaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, void *, void **, void **);
typedef int LaunchCooperative(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              unsigned, void *, void **);
typedef int LaunchEx(const CuLaunchConfig *, void *, void **, void **);

typedef struct RealCall {
  const char *name;
  const Call *call;
  const CuLaunchConfig *config;
} RealCall;

static DriverResult ask_real(void *self) {
  const RealCall *real = self;
  const Call *c = real->call;
  void *function = driver_real(real->name);
  if (!function) return DRIVER_NOT_SUPPORTED;
  if (real->config) return ((LaunchEx *)function)(real->config, c->function, c->params, c->extra);
  if (str_starts(real->name, "cuLaunchCooperative"))
    return ((LaunchCooperative *)function)(c->function, c->grid[0], c->grid[1], c->grid[2],
                                           c->block[0], c->block[1], c->block[2], c->smem,
                                           c->stream, c->params);
  return ((LaunchKernel *)function)(c->function, c->grid[0], c->grid[1], c->grid[2], c->block[0],
                                    c->block[1], c->block[2], c->smem, c->stream, c->params,
                                    c->extra);
}

static int launch_as(const char *name, Call call, const CuLaunchConfig *config) {
  enum { STREAM_OF_THREAD = 2 };
  RealCall real = {name, &call, config};
  if (!call.stream && strstr(name, "_ptsz")) call.stream = (void *)STREAM_OF_THREAD;
  if (driver_forwards()) {
    call.run = ask_real;
    call.self = &real;
  }
  return launch_locked(&call);
}

static Call plain(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                  unsigned bz, unsigned smem, void *stream, void **params, void **extra) {
  return (Call){.function = function,
                .grid = {gx, gy, gz},
                .block = {bx, by, bz},
                .smem = smem,
                .stream = stream,
                .params = params,
                .extra = extra};
}

static Call configured(const CuLaunchConfig *config, void *function, void **params, void **extra) {
  Call call =
      plain(function, config->grid_x, config->grid_y, config->grid_z, config->block_x,
            config->block_y, config->block_z, config->smem_bytes, config->stream, params, extra);
  for (unsigned i = 0; i < config->n_attributes; i++) {
    const CuLaunchAttribute *attribute = &config->attributes[i];
    if (attribute->id == CU_ATTRIBUTE_COOPERATIVE) call.cooperative = attribute->value.flag != 0;
    if (attribute->id != CU_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    call.cluster[0] = attribute->value.cluster.x;
    call.cluster[1] = attribute->value.cluster.y;
    call.cluster[2] = attribute->value.cluster.z;
  }
  return call;
}

int drv_cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned smem, void *stream, void **params,
                       void **extra) {
  return launch_as("cuLaunchKernel",
                   plain(function, gx, gy, gz, bx, by, bz, smem, stream, params, extra), NULL);
}
int drv_cuLaunchKernel_ptsz(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                            unsigned by, unsigned bz, unsigned smem, void *stream, void **params,
                            void **extra) {
  return launch_as("cuLaunchKernel_ptsz",
                   plain(function, gx, gy, gz, bx, by, bz, smem, stream, params, extra), NULL);
}
int drv_cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz,
                                  unsigned bx, unsigned by, unsigned bz, unsigned smem,
                                  void *stream, void **params) {
  Call call = plain(function, gx, gy, gz, bx, by, bz, smem, stream, params, NULL);
  call.cooperative = true;
  return launch_as("cuLaunchCooperativeKernel", call, NULL);
}
int drv_cuLaunchKernelEx(const CuLaunchConfig *config, void *function, void **params,
                         void **extra) {
  if (!config) return DRIVER_INVALID_VALUE;
  return launch_as("cuLaunchKernelEx", configured(config, function, params, extra), config);
}
int drv_cuLaunchKernelEx_ptsz(const CuLaunchConfig *config, void *function, void **params,
                              void **extra) {
  if (!config) return DRIVER_INVALID_VALUE;
  return launch_as("cuLaunchKernelEx_ptsz", configured(config, function, params, extra), config);
}
