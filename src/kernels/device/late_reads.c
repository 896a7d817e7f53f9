// H200, 2026-11-22: 27 % of the reads came late without a fence, 18 % when the producer waited 250
// clocks instead, and none when it fenced, though its fence took 187 clocks in the mean (the clock
// itself and the branches take 69): it waits for the reads of all warps, and not for a time.
#include "kernels/device/late_reads.h"

#include "kernels/device/gpu.h"
#include "kernels/toolchain/nvrtc.h"

enum {
  READERS = 8,  // warps
  LANES = 32,
  READS = 16,  // of a lane in a turn
  TURNS = 2000,
  PATTERNS = 4,  // what the slot holds in turns 0, 1, 2, 3, and again
  SLOT_WORDS = LANES * LANES,
};

static const char text[] =
    "#define FENCE asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\")\n"
    "__device__ unsigned shared_address(const void *at) {\n"
    "  return (unsigned)__cvta_generic_to_shared(at);\n"
    "}\n"
    "__device__ void wait(unsigned bar, int phase) {\n"
    "  asm volatile(\"{ .reg .pred ended;\\n\"\n"
    "               \"again%=: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\\n\"\n"
    "               \"@!ended bra again%=; }\" :: \"r\"(bar), \"r\"(phase) : \"memory\");\n"
    "}\n"
    // One lane: fills the slot, turn by turn.
    "__device__ void produce(const unsigned *from, unsigned slot, unsigned full, unsigned empty,\n"
    "                        int row, int clocks, unsigned long long *spent) {\n"
    "  for (int turn = 0; turn < TURNS; turn++) {\n"
    "    wait(empty, (turn + 1) % 2);\n"
    "    const long long began = clock64();\n"
    "    if (row == ASKER_FENCES) FENCE;\n"
    "    while (row == ASKER_WAITS && clock64() - began < clocks) {}\n"
    "    *spent += clock64() - began;\n"
    "    asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\"\n"
    "                 :: \"r\"(full), \"n\"(SLOT_WORDS * 4) : \"memory\");\n"
    "    asm volatile(\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes\"\n"
    "                 \" [%0], [%1], %2, [%3];\" :: \"r\"(slot),\n"
    "                 \"l\"(from + turn % PATTERNS * SLOT_WORDS), \"n\"(SLOT_WORDS * 4), "
    "\"r\"(full)\n"
    "                 : \"memory\");\n"
    "  }\n"
    "}\n"
    // Lane l reads row l of the slot: all lanes meet in one bank.
    "__device__ void consume(unsigned slot, unsigned full, unsigned empty, int row,\n"
    "                        unsigned long long *late) {\n"
    "  const int lane = threadIdx.x % 32;\n"
    "  for (int turn = 0; turn < TURNS; turn++) {\n"
    "    unsigned value[READS];\n"
    "    wait(full, turn % 2);\n"
    "    #pragma unroll\n"
    "    for (int i = 0; i < READS; i++)\n"
    "      asm volatile(\"ld.shared.u32 %0, [%1];\" : \"=r\"(value[i])\n"
    "                   : \"r\"(slot + lane * 128 + i * 4) : \"memory\");\n"
    "    if (row == READERS_FENCE) FENCE;\n"
    "    __syncwarp();\n"
    "    if (lane == 0)\n"
    "      asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0];\" :: \"r\"(empty) : "
    "\"memory\");\n"
    "    #pragma unroll\n"
    "    for (int i = 0; i < READS; i++) *late += value[i] != turn % PATTERNS;\n"
    "  }\n"
    "}\n"
    "extern \"C\" __global__ void __launch_bounds__(32 * READERS + 32)\n"
    "late_reads(const unsigned *from, unsigned long long *counts, int row, int clocks) {\n"
    "  __shared__ __align__(128) unsigned slot[SLOT_WORDS];\n"
    "  __shared__ unsigned long long bars[2];\n"
    "  const unsigned full = shared_address(&bars[0]), empty = shared_address(&bars[1]);\n"
    "  unsigned long long late = 0, spent = 0;\n"
    "  if (threadIdx.x == 0)\n"
    "    asm volatile(\"mbarrier.init.shared::cta.b64 [%0], 1;\\n\"\n"
    "                 \"mbarrier.init.shared::cta.b64 [%1], %2;\\n\"\n"
    "                 \"fence.mbarrier_init.release.cluster;\"\n"
    "                 :: \"r\"(full), \"r\"(empty), \"r\"((int)READERS) : \"memory\");\n"
    "  __syncthreads();\n"
    "  if (threadIdx.x < 32 * READERS)\n"
    "    consume(shared_address(slot), full, empty, row, &late);\n"
    "  else if (threadIdx.x == 32 * READERS)\n"
    "    produce(from, shared_address(slot), full, empty, row, clocks, &spent);\n"
    "  if (late) atomicAdd(&counts[0], late);\n"
    "  if (spent) atomicAdd(&counts[1], spent);\n"
    "}\n";

static const struct {
  const char *name;
  bool must_hold;
} rows[LATE_N] = {
    [LATE_NOBODY_FENCES] = {"no thread fences", false},
    [LATE_READERS_FENCE] = {"the readers fence", true},
    [LATE_ASKER_FENCES] = {"the asking thread fences", true},
    [LATE_ASKER_WAITS] = {"the asking thread waits as long", false},
};

const char *late_row_name(LateRow row) { return rows[row].name; }
bool late_row_must_hold(LateRow row) { return rows[row].must_hold; }
bool late_reads_on(int cc) { return cc >= 90; }

Plan *late_reads_plan(Arena *arena, const char *arch, int blocks) {
  Plan *plan = ARENA_NEW(arena, Plan);
  *plan = (Plan){
      .cuda = arena_printf(arena,
                           "enum { READERS = %d, READS = %d, TURNS = %d, PATTERNS = %d,\n"
                           "       SLOT_WORDS = %d,\n"
                           "       READERS_FENCE = %d, ASKER_FENCES = %d, ASKER_WAITS = %d };\n%s",
                           READERS, READS, TURNS, PATTERNS, SLOT_WORDS, LATE_READERS_FENCE,
                           LATE_ASKER_FENCES, LATE_ASKER_WAITS, text),
      .arch = arch,
      .label = "late reads",
      .m = 1,
      .n = 1,
      .k = 1,
      .n_kernels = 1,
      .kernels = {{.name = "late_reads",
                   .grid = {blocks, 1, 1},
                   .block = {LANES * READERS + LANES, 1, 1}}}};
  return plan;
}

// ---- on the GPU ---------------------------------------------------------------------------------

typedef struct Buffers {
  GpuBuffer from, counts;
} Buffers;

// Slot by slot, each word the number of its pattern.
static bool upload(Gpu *gpu, Buffers *buffers) {
  uint32_t word[PATTERNS * SLOT_WORDS];
  for (int i = 0; i < PATTERNS * SLOT_WORDS; i++) word[i] = (uint32_t)(i / SLOT_WORDS);
  return gpu_alloc(gpu, &buffers->from, sizeof word, "the patterns of a slot") &&
         gpu_alloc(gpu, &buffers->counts, 2 * sizeof(uint64_t), "the counts") &&
         gpu_write(gpu, buffers->from.data, word, sizeof word) &&
         gpu_fill_bytes(gpu, &buffers->counts, 0, false);
}

static bool launch(Gpu *gpu, const GpuProgram *program, const Buffers *buffers, int row,
                   int clocks) {
  CuDevicePtr from = buffers->from.data, counts = buffers->counts.data;
  void *parameters[] = {&from, &counts, &row, &clocks};
  const PlanKernel *kernel = &program->plan->kernels[0];
  return gpu_check(
      gpu,
      gpu->cuda->cuLaunchKernel(program->functions[0], (unsigned)program->grid_x[0], 1, 1,
                                (unsigned)kernel->block[0], 1, 1, 0, gpu->stream, parameters, NULL),
      "cuLaunchKernel");
}

static const char *run(Arena *arena, Gpu *gpu, const BenchInput *input, LateRow row,
                       LateReads counts[LATE_N]) {
  GpuProgram program = {0};
  Buffers buffers = {0};
  uint64_t got[2];
  const double blocks = (double)input->plan->kernels[0].grid[0];
  bool ok = gpu_load(gpu, input, &program) && upload(gpu, &buffers) &&
            launch(gpu, &program, &buffers, (int)row, (int)counts[LATE_ASKER_FENCES].clocks) &&
            gpu_read(gpu, got, buffers.counts.data, sizeof got);
  const char *error = ok ? NULL : str_sanitise(arena, gpu_error(gpu));
  if (ok)
    counts[row] = (LateReads){(int64_t)blocks * READERS * LANES * READS * TURNS, (int64_t)got[0],
                              (double)got[1] / blocks / TURNS};
  gpu_release(gpu, &buffers.from);
  gpu_release(gpu, &buffers.counts);
  gpu_unload(gpu, &program);
  return error;
}

const char *late_reads(Arena *arena, Gpu *gpu, LateRow row, LateReads counts[LATE_N]) {
  const Plan *plan =
      late_reads_plan(arena, gpu_arch(arena, gpu), (int)gpu_info(gpu)->device.sm_count);
  const CompileResult *compiled = nvrtc_compile(arena, plan, COMPILE_BOTH);
  if (!compiled->ok) return arena_printf(arena, "%s: %s", compiled->error, compiled->log);
  const BenchInput input = {plan, compiled->cubin, compiled->cubin_bytes, compiled->ptx};
  return run(arena, gpu, &input, row, counts);
}
