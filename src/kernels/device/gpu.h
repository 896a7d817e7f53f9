// The declarations that the files driving the GPU share: memory, programs, launches, errors.
// Callers outside use driver.h and bench.h.
//
// Every function that can fail returns false and leaves a sentence in gpu_error(gpu).
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "kernels/device/driver.h"
#include "kernels/toolchain/cuda_api.h"
#include "model/words/places.h"

// Guard bytes before and after the data, filled with 0xFF (a NaN in every type): a kernel that
// reads past an operand computes NaN, one that writes past C is seen.
enum { GPU_GUARD_BYTES = 1 << 18 };

typedef struct GpuBuffer {
  CuDevicePtr base, data;  // data = base + guard
  int64_t bytes;           // of data; 0 = not allocated
} GpuBuffer;

// A tensor map as a kernel gets it, and the address in it.
typedef struct GpuMap {
  CuDevicePtr data;  // 0 = not encoded yet
  uint64_t word[16];
} GpuMap;

// A loaded module and the launches of a plan (or the helpers) in it.
typedef struct GpuProgram {
  void *module;
  int n_functions;
  void *functions[PLAN_MAX_KERNELS];
  int64_t grid_x[PLAN_MAX_KERNELS];  // as launched on this device
  const Plan *plan;
  GpuMap maps[PLAN_MAX_MAPS];  // by the plan's
  // By the rows of launch_arg.def, pointers and numbers that kernels take; else not there. GRID:
  // what goes through the tiles of a persistent kernel, clusters of its grid or lists. STAMPS: a
  // StampPage for each warp of a cluster, TRACED: the cluster.
  GpuBuffer made[LAUNCH_ARGS];
  int number[LAUNCH_ARGS];
  int traced_blocks;  // of the cluster that is traced
} GpuProgram;

// The product being measured: operands, the float64 answer and C. One is kept per Gpu.
typedef struct GpuProblem {
  bool ready;
  Plan shape;  // sizes, types and layouts only
  uint64_t seed;
  GpuBuffer a, b, c, v, workspaces[PLAN_MAX_WORKSPACES];  // v: of attention alone
  GpuBuffer sfa, sfb;                                     // of block-scaled operands
  GpuBuffer expected;                                     // double[rows · columns] of C
  GpuBuffer magnitude;  // float[rows · columns]: (|A|·|B|)ij, or sums of weights times |V|
  GpuBuffer counters;
} GpuProblem;

typedef enum GpuHelper {
  GPU_FILL_NORMAL,
  GPU_PRODUCT_F64,
  GPU_ATTENTION_F64,
  GPU_COMPARE,
  GPU_COUNT_CHANGED,
  GPU_SPIN,
  GPU_N_HELPERS
} GpuHelper;

typedef struct ReferenceState ReferenceState;  // reference.c

struct Gpu {
  Arena *arena;
  const CudaApi *cuda;
  void *nvml_device;  // NULL = no NVML
  int device;
  void *context, *stream;
  bool retained, poisoned;
  GpuInfo info;
  char error[1024];
  void *helper_module;
  void *helpers[GPU_N_HELPERS];
  GpuProblem problem;
  GpuBuffer flush;
  PlaceMap places;  // found when a kernel asks for it first
  unsigned epoch;   // of the latest launch
  ReferenceState *reference;
};

// Settles the OWN arguments of launch_arg.def for a persistent kernel; an SM holds `blocks` of its
// blocks.
typedef bool GpuSettle(Gpu *gpu, GpuProgram *program, int kernel, int blocks);
#define SETTLE_GIVEN(id)
#define SETTLE_TOO(id)
#define SETTLE_OWN(id) GpuSettle gpu_settle_##id;
#define LAUNCH_ARG(id, name, type, taken, holds, made) SETTLE_##made(id)
#include "model/text/launch_arg.def"

int gpu_cluster_blocks(const PlanKernel *kernel);  // 1: it has no clusters
const char *gpu_error(const Gpu *gpu);
// Whether `status` is success; notes the error and whether it poisons the context.
bool gpu_check(Gpu *gpu, int status, const char *call);
// Notes a sentence of the caller's own; returns false.
bool gpu_refuse(Gpu *gpu, const char *format, ...) __attribute__((format(printf, 2, 3)));

// "2025-01-31T12:00:00Z", for results.
const char *gpu_date_now(Arena *arena);

// The driver's own part of gpu_close(): stream, context, the GPU itself.
void gpu_let_go(Gpu *gpu);

bool gpu_alloc(Gpu *gpu, GpuBuffer *buffer, int64_t bytes, const char *what);
void gpu_release(Gpu *gpu, GpuBuffer *buffer);
bool gpu_fill_bytes(Gpu *gpu, const GpuBuffer *buffer, unsigned char value, bool guards);
bool gpu_write(Gpu *gpu, CuDevicePtr to, const void *from, size_t bytes);  // waits
bool gpu_read(Gpu *gpu, void *to, CuDevicePtr from, size_t bytes);         // waits
bool gpu_wait(Gpu *gpu);
bool gpu_load_module(Gpu *gpu, const BenchInput *input, void **module);

// launch.c: modules and launches.
bool gpu_load(Gpu *gpu, const BenchInput *input, GpuProgram *program);
void gpu_unload(Gpu *gpu, GpuProgram *program);
// Launches one product: the plan's kernels in order, on the problem's buffers. It does not wait.
bool gpu_launch(Gpu *gpu, GpuProgram *program);
// Blocks an SM holds at once, registers and local bytes of the plan's longest kernel, taken to be
// the one with the most threads · registers; −1 where the driver does not say.
void gpu_describe(Gpu *gpu, const GpuProgram *program, BenchEntry *entry);
// gpu_helpers.c: our own kernels, compiled when first asked for. `parameters` are pointers to the
// values.
bool gpu_launch_helper(Gpu *gpu, GpuHelper helper, int64_t blocks, int threads, void **parameters);
// Keeps the stream busy for some `us` microseconds, so that launches queue up behind it.
bool gpu_spin(Gpu *gpu, double us);

// places_probe.c: finds out, once, which SMs are neighbours. False when the GPU failed.
bool gpu_find_places(Gpu *gpu);

// tensor_map.c: buffers that kernels take as tensor maps.
// False, with a sentence, when the plan has maps and the driver has none.
bool gpu_can_map(Gpu *gpu, const Plan *plan);
// The program's maps describe the problem's buffers, encoded again when the buffers have moved.
bool gpu_encode_maps(Gpu *gpu, GpuProgram *program);

// problem.c: the data and the check.
bool problem_is_ready(const Gpu *gpu, const Plan *plan, uint64_t seed);
// Another problem's reference has to be released before.
bool problem_prepare(Gpu *gpu, const Plan *plan, uint64_t seed);
bool problem_reserve_workspaces(Gpu *gpu, const Plan *plan);
// The problem's buffer of this name, one of the first PLAN_N_BUFFERS arguments.
GpuBuffer *problem_buffer(GpuProblem *problem, PlanArg buffer);
void problem_release(Gpu *gpu);
// Poisons C and the workspaces for a verifying run.
bool problem_poison(Gpu *gpu);
// Compares the present contents of C; the map uses the plan's tile. False only when the GPU failed.
bool problem_compare(Arena *arena, Gpu *gpu, const Plan *plan, VerifyResult *result);

// reference.c: cuBLAS.
// Finds the fastest right row for the prepared problem (once per problem, and again where `hot` is
// another), filling name, library, n_candidates, verify, or error. Hot, it takes some ten seconds.
// False when there is none or the GPU failed.
bool reference_choose(Arena *arena, Gpu *gpu, const Plan *plan, bool hot, BenchReference *out);
bool reference_launch(Gpu *gpu);  // one product by the chosen row; does not wait
void reference_release(Gpu *gpu);
