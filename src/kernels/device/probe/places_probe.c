// The map of SMs by a probe: blocks of a cluster are in one GPU processing cluster (CUDA
// programming guide, Thread Block Clusters), so SMs that were seen in one cluster share a place.
// Launches of several cluster sizes cut one at different SMs, so that what one leaves apart the
// next one joins:
//
//   clusters of 8 in 18 SMs   0–7   8–15          16 and 17 were not seen
//   clusters of 6             0–5   6–11   12–17  all is one place
//
// A place that stays in pieces costs speed at most: any table is right.
#include "model/words/places.h"

#include <string.h>

#include "base/whole.h"
#include "kernels/device/gpu.h"
#include "kernels/toolchain/nvrtc.h"

static void join(int set[PLACES_SMS], int a, int b) {
  const int from = set[a], to = set[b];
  for (int sm = 0; sm < PLACES_SMS; sm++)
    if (set[sm] == from) set[sm] = to;
}

// ---- the probe ----------------------------------------------------------------------------------

enum { THREADS = 1024, BLOCKS_OF_SM = 2, LARGEST = 8, SPIN_CLOCKS = 30000 };

static const char text[] =
    "extern \"C\" __global__ void places(int *sm_of_block, int clocks) {\n"
    "  const long long began = clock64();\n"
    "  int sm;\n"
    "  asm volatile(\"mov.u32 %0, %%smid;\" : \"=r\"(sm));\n"
    "  if (threadIdx.x == 0) sm_of_block[blockIdx.x] = sm;\n"
    "  while (clock64() - began < clocks) {}\n"
    "}\n";

typedef struct Probe {
  GpuProgram program;
  GpuBuffer sm_of_block;
} Probe;

static bool launch(Gpu *gpu, Probe *probe, int blocks, int cluster) {
  CuDevicePtr out = probe->sm_of_block.data;
  int clocks = SPIN_CLOCKS;
  void *parameters[] = {&out, &clocks};
  CuLaunchAttribute attribute;
  memset(&attribute, 0, sizeof attribute);
  attribute.id = CU_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.cluster.x = (unsigned)cluster;
  attribute.value.cluster.y = attribute.value.cluster.z = 1;
  const CuLaunchConfig config = {.grid_x = (unsigned)blocks,
                                 .grid_y = 1,
                                 .grid_z = 1,
                                 .block_x = THREADS,
                                 .block_y = 1,
                                 .block_z = 1,
                                 .stream = gpu->stream,
                                 .attributes = &attribute,
                                 .n_attributes = 1};
  return gpu_check(
      gpu, gpu->cuda->cuLaunchKernelEx(&config, probe->program.functions[0], parameters, NULL),
      "cuLaunchKernelEx");
}

static bool probe_size(Gpu *gpu, Probe *probe, int cluster, int set[PLACES_SMS]) {
  int sm[BLOCKS_OF_SM * PLACES_SMS], blocks = BLOCKS_OF_SM * (int)gpu->info.device.sm_count;
  blocks -= blocks % cluster;
  if (!launch(gpu, probe, blocks, cluster) ||
      !gpu_read(gpu, sm, probe->sm_of_block.data, (size_t)blocks * sizeof *sm))
    return false;
  for (int i = 0; i < blocks; i++) {
    const int first = sm[i - i % cluster];
    if (sm[i] < 0 || sm[i] >= PLACES_SMS)
      return gpu_refuse(gpu, "a block ran on SM %d, one of at most %d", sm[i], PLACES_SMS);
    if (set[sm[i]] < 0) set[sm[i]] = sm[i];
    join(set, sm[i], first);
  }
  return true;
}

static bool run_probe(Gpu *gpu, const BenchInput *input, int set[PLACES_SMS]) {
  Probe probe = {0};
  bool ok = gpu_load(gpu, input, &probe.program) &&
            gpu_alloc(gpu, &probe.sm_of_block, BLOCKS_OF_SM * PLACES_SMS * (int64_t)sizeof(int),
                      "the SMs of blocks");
  for (int cluster = LARGEST; ok && cluster > 1; cluster--)
    ok = probe_size(gpu, &probe, cluster, set);
  gpu_release(gpu, &probe.sm_of_block);
  gpu_unload(gpu, &probe.program);
  return ok;
}

static Plan *probe_plan(Arena *arena, const char *arch) {
  Plan *plan = ARENA_NEW(arena, Plan);
  *plan = (Plan){.cuda = text,
                 .arch = arch,
                 .m = 1,
                 .n = 1,
                 .k = 1,
                 .n_kernels = 1,
                 .kernels = {{.name = "places", .grid = {1, 1, 1}, .block = {THREADS, 1, 1}}}};
  return plan;
}

static bool probe(Gpu *gpu, int set[PLACES_SMS]) {
  Arena *arena = arena_new("places");
  const Plan *plan = probe_plan(arena, gpu_arch(arena, gpu));
  const CompileResult *compiled = nvrtc_compile(arena, plan, COMPILE_BOTH);
  const BenchInput input = {plan, compiled->cubin, compiled->cubin_bytes, compiled->ptx};
  bool ok = compiled->ok ? run_probe(gpu, &input, set)
                         : gpu_refuse(gpu, "the probe of places: %s", compiled->error);
  arena_free(arena);
  return ok;
}

// Without clusters nothing says which SMs are neighbours: they are one place, in their order.
bool gpu_find_places(Gpu *gpu) {
  enum { FIRST_WITH_CLUSTERS = 9 };
  int set[PLACES_SMS], n = (int)min64(gpu->info.device.sm_count, PLACES_SMS);
  if (gpu->places.n_sms) return true;
  const bool clusters =
      gpu->info.capability_major >= FIRST_WITH_CLUSTERS && gpu->cuda->cuLaunchKernelEx;
  for (int sm = 0; sm < PLACES_SMS; sm++) set[sm] = clusters || sm >= n ? -1 : 0;
  if (clusters && !probe(gpu, set)) return false;
  places_from_sets(set, &gpu->places);
  return true;
}
