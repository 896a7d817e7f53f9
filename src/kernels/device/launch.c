// Modules, launches, and the numbers the driver gives about a kernel.
//
// A plan's kernels are launched in order on one stream, so the second sees what the first stored:
// split-K's zero kernel, then the adds. Shared memory beyond 48 KiB must be asked for by attribute;
// it is asked for whenever a plan has dynamic shared memory, since static and dynamic count
// together. Clusters and dependent kernels go through cuLaunchKernelEx, everything else through
// cuLaunchKernel, which every driver has. Both copy an argument when it is launched, so a tensor
// map is passed like a pointer: by the address of its value.
//
// A persistent kernel is launched with the blocks that the device holds at once, which only its
// driver knows: SMs times the blocks that fit on one, by the registers that the assembler has given
// out; of tensor memory, which the driver does not count, the plan knows. Worked example, 512
// tiles, one block of 384 threads an SM on 132 SMs: a grid of 132. A cluster has room only inside
// of a place: of four blocks each, 32 of the 33 that 132 SMs seem to hold, and the last would go
// through its whole list when all others are over. What else it takes that only the device knows is
// settled then too (launch_arg.def).
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "kernels/device/gpu.h"
#include "model/text/stamp_page.h"

enum { PORTABLE_CLUSTER = 8 };

int gpu_cluster_blocks(const PlanKernel *kernel) {
  int blocks = 1;
  for (int d = 0; d < 3; d++) blocks *= kernel->cluster[d] > 1 ? kernel->cluster[d] : 1;
  return blocks;
}

static int block_threads(const PlanKernel *kernel) {
  return kernel->block[0] * kernel->block[1] * kernel->block[2];
}

enum { WARP = 32 };

// For a block.
static int64_t stamp_pages(const PlanKernel *kernel) {
  return (block_threads(kernel) + WARP - 1) / WARP;
}

static bool takes(const PlanKernel *kernel, PlanArg arg) {
  for (int i = 0; i < kernel->n_args; i++)
    if (kernel->args[i] == arg) return true;
  return false;
}

// Whether a launch says more than cuLaunchKernel can.
static bool is_extended(const PlanKernel *kernel) {
  return gpu_cluster_blocks(kernel) > 1 || kernel->dependent;
}

enum { ATTRIBUTES_MAX = 2 };

// The launch of a kernel with clusters, or of a dependent one; the attributes are the caller's, and
// have to live as long.
static CuLaunchConfig extended_launch(const Gpu *gpu, const GpuProgram *program, int i,
                                      CuLaunchAttribute attributes[ATTRIBUTES_MAX]) {
  const PlanKernel *kernel = &program->plan->kernels[i];
  unsigned n = 0;
  memset(attributes, 0, ATTRIBUTES_MAX * sizeof *attributes);
  if (gpu_cluster_blocks(kernel) > 1) {
    CuLaunchAttribute *attribute = &attributes[n++];
    attribute->id = CU_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute->value.cluster.x = (unsigned)(kernel->cluster[0] > 1 ? kernel->cluster[0] : 1);
    attribute->value.cluster.y = (unsigned)(kernel->cluster[1] > 1 ? kernel->cluster[1] : 1);
    attribute->value.cluster.z = (unsigned)(kernel->cluster[2] > 1 ? kernel->cluster[2] : 1);
  }
  if (kernel->dependent)
    attributes[n++] =
        (CuLaunchAttribute){.id = CU_ATTRIBUTE_PROGRAMMATIC_SERIALIZATION, .value.flag = 1};
  return (CuLaunchConfig){
      .grid_x = (unsigned)program->grid_x[i],
      .grid_y = (unsigned)kernel->grid[1],
      .grid_z = (unsigned)kernel->grid[2],
      .block_x = (unsigned)kernel->block[0],
      .block_y = (unsigned)kernel->block[1],
      .block_z = (unsigned)kernel->block[2],
      .smem_bytes = (unsigned)kernel->smem_bytes,
      .stream = gpu->stream,
      .attributes = attributes,
      .n_attributes = n,
  };
}

// The clusters of a persistent kernel that there is room for at once.
static bool settle_clusters(Gpu *gpu, GpuProgram *program, int i) {
  const int together = gpu_cluster_blocks(&program->plan->kernels[i]);
  int64_t *grid = &program->grid_x[i];
  CuLaunchAttribute attributes[ATTRIBUTES_MAX];
  int clusters = 0;
  *grid = max64(*grid - *grid % together, together);
  if (together == 1 || !gpu->cuda->cuOccupancyMaxActiveClusters) return true;
  const CuLaunchConfig config = extended_launch(gpu, program, i, attributes);
  int status = gpu->cuda->cuOccupancyMaxActiveClusters(&clusters, program->functions[i], &config);
  if (!gpu_check(gpu, status, "cuOccupancyMaxActiveClusters")) return false;
  if (clusters < 1)
    return gpu_refuse(gpu, "no cluster of %s fits on the GPU", program->plan->kernels[i].name);
  *grid = min64(*grid, (int64_t)clusters * together);
  return true;
}

// Blocks that an SM holds, by the driver, which knows nothing of tensor memory. One too many would
// stand in tcgen05.alloc until another one ends.
static int find_blocks(const Gpu *gpu, const GpuProgram *program, int i, int *blocks) {
  const PlanKernel *kernel = &program->plan->kernels[i];
  const int status = gpu->cuda->cuOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, program->functions[i], block_threads(kernel), (size_t)kernel->smem_bytes);
  if (kernel->blocks_per_sm && *blocks > kernel->blocks_per_sm) *blocks = kernel->blocks_per_sm;
  return status;
}

static GpuSettle *const settles[LAUNCH_ARGS] = {
#define ROW_GIVEN(id) NULL
#define ROW_TOO(id) NULL
#define ROW_OWN(id) gpu_settle_##id
#define LAUNCH_ARG(id, name, type, taken, holds, made) ROW_##made(id),
#include "model/text/launch_arg.def"
};

static bool settle_arguments(Gpu *gpu, GpuProgram *program, int i, int blocks) {
  for (int arg = 0; arg < LAUNCH_ARGS; arg++)
    if (settles[arg] && takes(&program->plan->kernels[i], (PlanArg)(PLAN_ARG_ALPHA + arg)) &&
        !settles[arg](gpu, program, i, blocks))
      return false;
  return true;
}

static bool settle_grid(Gpu *gpu, GpuProgram *program, int i) {
  const PlanKernel *kernel = &program->plan->kernels[i];
  int blocks = 0;
  int64_t *grid = &program->grid_x[i];
  *grid = kernel->grid[0];
  if (!kernel->persistent) return true;
  const int status = find_blocks(gpu, program, i, &blocks);
  if (!gpu_check(gpu, status, "cuOccupancyMaxActiveBlocksPerMultiprocessor")) return false;
  if (blocks < 1) return gpu_refuse(gpu, "no block of %s fits on an SM", kernel->name);
  *grid = min64(*grid, blocks * gpu->info.device.sm_count);
  if (!settle_clusters(gpu, program, i)) return false;
  program->number[LAUNCH_GRID] = (int)(*grid / gpu_cluster_blocks(kernel));
  return settle_arguments(gpu, program, i, blocks);
}

// For a persistent kernel only the device knows the number of blocks.
static bool settle_stamps(Gpu *gpu, GpuProgram *program, int i) {
  const PlanKernel *kernel = &program->plan->kernels[i];
  const int64_t block = program->plan->traced;
  if (!takes(kernel, PLAN_ARG_STAMPS)) return true;
  if (block >= program->grid_x[i])
    return gpu_refuse(gpu, "block %lld cannot be traced: %s has only %lld blocks", (long long)block,
                      kernel->name, (long long)program->grid_x[i]);
  program->traced_blocks = gpu_cluster_blocks(kernel);
  program->number[LAUNCH_TRACED] = (int)block / program->traced_blocks;
  return gpu_alloc(gpu, &program->made[LAUNCH_STAMPS],
                   program->traced_blocks * stamp_pages(kernel) * (int64_t)sizeof(StampPage),
                   "stamps");
}

static bool allow_extended(Gpu *gpu, const PlanKernel *kernel, void *function) {
  if (!is_extended(kernel)) return true;
  if (!gpu->cuda->cuLaunchKernelEx)
    return gpu_refuse(gpu, "%s: this driver does not launch %s", kernel->name,
                      gpu_cluster_blocks(kernel) > 1 ? "clusters" : "dependent kernels");
  return gpu_cluster_blocks(kernel) <= PORTABLE_CLUSTER ||
         gpu_check(gpu, gpu->cuda->cuFuncSetAttribute(function, CU_FUNC_NON_PORTABLE_CLUSTER, 1),
                   "cuFuncSetAttribute");
}

static bool prepare_kernel(Gpu *gpu, GpuProgram *program, int i) {
  const PlanKernel *kernel = &program->plan->kernels[i];
  const CudaApi *cuda = gpu->cuda;
  void **function = &program->functions[i];
  if (!gpu_check(gpu, cuda->cuModuleGetFunction(function, program->module, kernel->name),
                 "cuModuleGetFunction"))
    return false;
  int fixed = 0;
  if (!gpu_check(gpu, cuda->cuFuncGetAttribute(&fixed, CU_FUNC_SHARED_BYTES, *function),
                 "cuFuncGetAttribute"))
    return false;
  if (kernel->smem_bytes + fixed > gpu->info.device.smem_per_block)
    return gpu_refuse(gpu,
                      "%s needs %lld B of shared memory; a block on this %s has at most %lld B",
                      kernel->name, (long long)(kernel->smem_bytes + fixed), gpu->info.name,
                      (long long)gpu->info.device.smem_per_block);
  if (kernel->smem_bytes > 0 &&
      !gpu_check(
          gpu,
          cuda->cuFuncSetAttribute(*function, CU_FUNC_MAX_DYNAMIC_SMEM, (int)kernel->smem_bytes),
          "cuFuncSetAttribute"))
    return false;
  return allow_extended(gpu, kernel, *function) && settle_grid(gpu, program, i) &&
         settle_stamps(gpu, program, i);
}

// The driver reads PTX as a terminated text and a cubin by its own header.
bool gpu_load(Gpu *gpu, const BenchInput *input, GpuProgram *program) {
  *program = (GpuProgram){.plan = input->plan};
  if (!gpu_can_map(gpu, input->plan)) return false;
  if (!gpu_load_module(gpu, input, &program->module)) return false;
  program->n_functions = input->plan->n_kernels;
  for (int i = 0; i < program->n_functions; i++)
    if (!prepare_kernel(gpu, program, i)) {
      gpu_unload(gpu, program);
      return false;
    }
  return true;
}

void gpu_unload(Gpu *gpu, GpuProgram *program) {
  if (program->module && !gpu->poisoned)
    gpu_check(gpu, gpu->cuda->cuModuleUnload(program->module), "cuModuleUnload");
  program->module = NULL;
  if (gpu->poisoned) return;
  for (int arg = 0; arg < LAUNCH_ARGS; arg++) gpu_release(gpu, &program->made[arg]);
}

static bool launch_extended(Gpu *gpu, const GpuProgram *program, int i, void **parameters) {
  CuLaunchAttribute attributes[ATTRIBUTES_MAX];
  const CuLaunchConfig config = extended_launch(gpu, program, i, attributes);
  void *function = program->functions[i];
  return gpu_check(gpu, gpu->cuda->cuLaunchKernelEx(&config, function, parameters, NULL),
                   "cuLaunchKernelEx");
}

bool gpu_launch(Gpu *gpu, GpuProgram *program) {
  float alpha = plan_alpha(program->plan);
  void *values[PLAN_N_ARGS];
  for (int arg = 0; arg < LAUNCH_ARGS; arg++) {
    const LaunchHolds holds = launch_arg_facts(arg)->holds;
    if (holds == HOLDS_COUNT) program->number[arg] = (int)++gpu->epoch;
    values[PLAN_ARG_ALPHA + arg] = holds == HOLDS_POINTER ? (void *)&program->made[arg].data
                                   : holds == HOLDS_REAL  ? (void *)&alpha
                                                          : (void *)&program->number[arg];
  }
  for (int i = 0; i < PLAN_N_BUFFERS; i++)
    values[i] = &problem_buffer(&gpu->problem, (PlanArg)i)->data;
  for (int i = 0; i < PLAN_MAX_MAPS; i++) values[PLAN_ARG_MAP + i] = program->maps[i].word;
  if (!gpu_encode_maps(gpu, program)) return false;
  for (int i = 0; i < program->n_functions; i++) {
    const PlanKernel *kernel = &program->plan->kernels[i];
    void *parameters[PLAN_MAX_ARGS];
    for (int a = 0; a < kernel->n_args; a++) parameters[a] = values[kernel->args[a]];
    void *function = program->functions[i];
    bool ok = is_extended(kernel)
                  ? launch_extended(gpu, program, i, parameters)
                  : gpu_check(gpu,
                              gpu->cuda->cuLaunchKernel(
                                  function, (unsigned)program->grid_x[i], (unsigned)kernel->grid[1],
                                  (unsigned)kernel->grid[2], (unsigned)kernel->block[0],
                                  (unsigned)kernel->block[1], (unsigned)kernel->block[2],
                                  (unsigned)kernel->smem_bytes, gpu->stream, parameters, NULL),
                              "cuLaunchKernel");
    if (!ok) return false;
  }
  return true;
}

static int function_attribute(Gpu *gpu, void *function, int which) {
  int value = 0;
  return gpu->cuda->cuFuncGetAttribute(&value, which, function) == CU_SUCCESS ? value : -1;
}

void gpu_describe(Gpu *gpu, const GpuProgram *program, BenchEntry *entry) {
  const int i = program->plan->main_kernel;
  int blocks = -1;
  entry->blocks_per_sm = entry->registers = entry->local_bytes = -1;
  if (i >= program->n_functions) return;
  void *function = program->functions[i];
  if (find_blocks(gpu, program, i, &blocks) != CU_SUCCESS) blocks = -1;
  entry->blocks_per_sm = blocks;
  entry->registers = function_attribute(gpu, function, CU_FUNC_REGISTERS);
  entry->local_bytes = function_attribute(gpu, function, CU_FUNC_LOCAL_BYTES);
}
