// Each row of the table is a kernel of lab/clock with a number of warps. What a round takes is the
// difference of a long and a short run over the rounds between them; the median of nine such
// differences counts, and what follows from two rows follows from their medians.
//
// Worked example, a barrier of 4 warps takes 20.6 clocks and one of 16 takes 44.6: (44.6 - 20.6) /
// 12 is 2 clocks for each warp that arrives, and 20.6 - 4 · 2 - 1.6 are left from the last arrival
// on, for the instruction itself holds a warp for some of them.
#include "kernels/device/probe/clock_probe.h"

#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "kernels/device/gpu.h"
#include "kernels/device/timing.h"
#include "kernels/toolchain/machine/clock_answer.h"
#include "kernels/toolchain/machine/clock_facts.h"
#include "kernels/toolchain/nvrtc.h"

enum { SAMPLES = 9, UNROLL = 16, ALL_SMS = 0, MIB = 1 << 20 };
enum { MEMORY_BYTES = 64 * MIB, TILE_BYTES = 65536, CLOCKS_MAX = 1024, SINK_WORDS = 4096 };

static const char hopper_arch[] = "sm_90a";

typedef enum RowKind { PLAIN, LINKED, MOVED } RowKind;  // MOVED: in bytes a clock

// All that is timed, its kernel, warps of a block, blocks, instructions or products in a round, and
// whether it takes sm_90a. `first`: what the kernel finds in sink[0].
typedef struct Row {
  const char *what, *kernel;
  int warps, blocks, per;
  RowKind kind;
  bool hopper;
  unsigned first;
} Row;

#define CHAIN(name, what) \
  { what ", each after the one before", name "_chain", 1, 1, UNROLL, PLAIN, false, 0 }
#define RATE(name, warps, per, what) \
  { what ", none after another", name, warps, 1, per, PLAIN, false, 0 }
#define GROUP(columns, many, what) \
  { what, "wgmma_n" #columns "_" many, 4, 1, 1, PLAIN, true, 0 }
static const Row rows[] = {
    CHAIN("fma", "FFMA"),
    RATE("fma_rate", 16, UNROLL, "FFMA"),
    RATE("imad_rate", 16, UNROLL, "IMAD"),
    RATE("shift_rate", 16, UNROLL, "SHF"),
    RATE("half_rate", 16, UNROLL, "HFMA2 and HFMA2.MMA in turns"),
    RATE("fp64_rate", 16, UNROLL, "DFMA"),
    CHAIN("exp2", "MUFU.EX2"),
    RATE("exp2_rate", 16, UNROLL, "MUFU.EX2"),
    RATE("exp2_burst", 1, 1, "4 MUFU.EX2 and 28 FFMA"),
    CHAIN("shuffle", "SHFL.BFLY"),
    CHAIN("mma_bf16", "HMMA.16816.F32.BF16"),
    RATE("mma_bf16_rate", 16, UNROLL, "HMMA.16816.F32.BF16"),
    RATE("mma_f16k8_rate", 16, UNROLL, "HMMA.1688.F32"),
    RATE("mma_tf32_rate", 16, UNROLL, "HMMA.1688.F32.TF32"),
    RATE("mma_tf32k4_rate", 16, UNROLL, "HMMA.1684.F32.TF32"),
    RATE("mma_add4", 16, 8, "HMMA.16816 with four FADD"),
    CHAIN("lds32", "LDS"),
    CHAIN("ldsm4", "LDSM of four matrices"),
    RATE("lds32_rate", 16, 8, "LDS"),
    RATE("lds128_rate", 1, 8, "LDS.128 of one warp"),
    RATE("ldsm4_rate", 16, 8, "LDSM of four matrices"),
    RATE("sts128_rate", 16, UNROLL, "STS.128"),
    {"LDG from L1, each after the one before", "weak_chain", 1, 1, UNROLL, LINKED, false, 64},
    {"LDG from L2, each after the one before", "weak_chain", 1, 1, UNROLL, LINKED, false, 65536},
    {"LDL, each after the one before, and its address", "local_load_chain", 1, 1, UNROLL, PLAIN,
     false, 0},
    {"BAR.SYNC of 4 warps", "barrier_rate", 4, 1, UNROLL, PLAIN, false, 0},
    {"BAR.SYNC of 16 warps", "barrier_rate", 16, 1, UNROLL, PLAIN, false, 0},
    {"LDG.128 from L2 by one SM", "far_load_rate", 32, 1, UNROLL, MOVED, false, 16},
    {"LDG.128 from L2 by all SMs", "far_load_rate", 32, ALL_SMS, UNROLL, MOVED, false, 16},
    {"STG.128 by one SM", "far_store_rate", 32, 1, UNROLL, MOVED, false, 16},
    {"STG.128 by all SMs", "far_store_rate", 32, ALL_SMS, UNROLL, MOVED, false, 16},
    {"an mbarrier arrived at and asked by one thread", "mbarrier_alone", 1, 1, 1, PLAIN, true, 0},
    {"two warps that wake each other by mbarriers", "mbarrier_turns", 2, 1, 1, PLAIN, true, 0},
    GROUP(64, "one", "a wgmma m64n64k16, waited for"),
    GROUP(256, "one", "a wgmma m64n256k16, waited for"),
    GROUP(256, "four", "four wgmma m64n256k16, waited for"),
    GROUP(256, "sixteen", "sixteen wgmma m64n256k16, waited for"),
    GROUP(256, "registers_four", "four of them, A in registers, waited for"),
};
enum { N_ROWS = sizeof rows / sizeof *rows };

// A fact is (row `of`, of its number of warps, less row `less`) · scale - minus.
typedef struct FactRow {
  const char *key, *of;
  int warps;
  const char *less;
  int less_warps;
  double scale, minus;
} FactRow;

static const FactRow fact_rows[] = {
    {"xu_clocks", "exp2_rate", 16, NULL, 0, 0.25, 0},
    {"unit_clocks", "exp2_chain", 1, NULL, 0, 1, 0},
    {"tensor_clocks", "mma_bf16_rate", 16, NULL, 0, 0.25, 0},
    {"tensor_half_clocks", "mma_f16k8_rate", 16, NULL, 0, 0.25, 0},
    {"shared_clocks", "lds32_chain", 1, NULL, 0, 1, 0},
    {"queue_clocks", "ldsm4_chain", 1, "lds32_chain", 1, 1.0 / 3, 0},
    {"near_clocks", "weak_chain", 1, NULL, 0, 1, 0},
    {"arrival_clocks", "barrier_rate", 16, "barrier_rate", 4, 1.0 / 12, 0},
    {"group_clocks", "wgmma_n256_sixteen", 4, "wgmma_n256_four", 4, 1.0 / 12 / 256, 0},
};
enum { N_FACTS = sizeof fact_rows / sizeof *fact_rows };

int clock_probe_count(void) { return N_ROWS; }

struct ClockProbe {
  Arena *arena;
  Gpu *gpu;
  const TargetTable *targets;
  bool hopper;
  const CompileResult *compiled;
  void *module;
  GpuBuffer clocks, memory, sink;
};

// ---- opening ------------------------------------------------------------------------------------

static const char *part(Arena *arena, const char *name) {
  const EmbeddedFile *file = embed_find(arena, arena_printf(arena, "lab/clock/%s.cu", name));
  return file ? file->text : "";
}

Plan *clock_probe_plan(Arena *arena, const char *arch) {
  Plan *plan = ARENA_NEW(arena, Plan);
  const bool hopper = str_equal(arch, hopper_arch);
  *plan = (Plan){.cuda = arena_printf(arena, "%s%s%s", part(arena, "begin"), part(arena, "sm"),
                                      hopper ? part(arena, "hopper") : ""),
                 .arch = arch,
                 .label = "lab/clock",
                 .m = 1,
                 .n = 1,
                 .k = 1,
                 .n_kernels = 1,
                 .kernels = {{.name = "fma_chain", .grid = {1, 1, 1}, .block = {LANES, 1, 1}}}};
  return plan;
}

static bool compile(ClockProbe *probe) {
  const char *arch = probe->hopper ? hopper_arch : gpu_arch(probe->arena, probe->gpu);
  probe->compiled = nvrtc_compile(probe->arena, clock_probe_plan(probe->arena, arch), COMPILE_BOTH);
  return probe->compiled->ok ||
         gpu_refuse(probe->gpu, "the microbenchmarks: %s", probe->compiled->error);
}

ClockProbe *clock_probe_open(Arena *arena, Gpu *gpu, const TargetTable *targets) {
  ClockProbe *probe = ARENA_NEW(arena, ClockProbe);
  *probe = (ClockProbe){.arena = arena, .gpu = gpu, .targets = targets};
  probe->hopper = gpu_cc(gpu) == 90;
  const bool ok =
      compile(probe) &&
      gpu_check(gpu, gpu->cuda->cuModuleLoadData(&probe->module, probe->compiled->cubin),
                "cuModuleLoadData") &&
      gpu_alloc(gpu, &probe->clocks, CLOCKS_MAX * 8, "the clocks") &&
      gpu_alloc(gpu, &probe->memory, MEMORY_BYTES, "the microbenchmarks' memory") &&
      gpu_alloc(gpu, &probe->sink, SINK_WORDS * 4, "the microbenchmarks' results") &&
      gpu_fill_bytes(gpu, &probe->memory, 0, false) && gpu_fill_bytes(gpu, &probe->sink, 0, false);
  if (ok) return probe;
  clock_probe_close(probe);
  return NULL;
}

void clock_probe_close(ClockProbe *probe) {
  gpu_release(probe->gpu, &probe->clocks);
  gpu_release(probe->gpu, &probe->memory);
  gpu_release(probe->gpu, &probe->sink);
  if (probe->module) probe->gpu->cuda->cuModuleUnload(probe->module);
  probe->module = NULL;
}

// ---- running ------------------------------------------------------------------------------------

static bool launch(ClockProbe *probe, const char *kernel, int threads, int blocks, int rounds) {
  Gpu *gpu = probe->gpu;
  void *function = NULL;
  CuDevicePtr clocks = probe->clocks.data, memory = probe->memory.data, sink = probe->sink.data;
  void *parameters[] = {&clocks, &memory, &sink, &rounds};
  return gpu_check(gpu, gpu->cuda->cuModuleGetFunction(&function, probe->module, kernel), kernel) &&
         gpu_check(gpu,
                   gpu->cuda->cuFuncSetAttribute(function, CU_FUNC_MAX_DYNAMIC_SMEM, TILE_BYTES),
                   "cuFuncSetAttribute") &&
         gpu_check(gpu,
                   gpu->cuda->cuLaunchKernel(function, (unsigned)blocks, 1, 1, (unsigned)threads, 1,
                                             1, TILE_BYTES, gpu->stream, parameters, NULL),
                   "cuLaunchKernel") &&
         gpu_wait(gpu);
}

// The clocks of the middle block.
static bool time_rounds(ClockProbe *probe, const Row *row, int blocks, int rounds, double *clocks) {
  long long taken[CLOCKS_MAX];
  double sorted[CLOCKS_MAX];
  if (!launch(probe, row->kernel, row->warps * LANES, blocks, rounds) ||
      !gpu_read(probe->gpu, taken, probe->clocks.data, sizeof taken))
    return false;
  for (int i = 0; i < blocks; i++) sorted[i] = (double)taken[i];
  *clocks = timing_median(sorted, blocks);
  return true;
}

static bool prepare(ClockProbe *probe, const Row *row) {
  return gpu_write(probe->gpu, probe->sink.data, &row->first, sizeof row->first) &&
         (row->kind != LINKED || launch(probe, "weak_link", 8 * LANES, 64, 1));
}

// The first pair fills the caches.
static bool measure(ClockProbe *probe, const Row *row, ClockProbeResult *out) {
  enum { SHORT = 20, LONG = 120, WARM_UP = 8192 };
  double samples[SAMPLES], few = 0, many = 0, warm;
  if (!prepare(probe, row)) return false;
  if (row->kind == LINKED && !time_rounds(probe, row, out->blocks, WARM_UP / UNROLL * 8, &warm))
    return false;
  for (int i = -1; i < SAMPLES; i++) {
    if (!time_rounds(probe, row, out->blocks, SHORT, &few) ||
        !time_rounds(probe, row, out->blocks, LONG, &many))
      return false;
    const double each = (many - few) / (LONG - SHORT) / row->per;
    if (i >= 0) samples[i] = row->kind == MOVED ? row->warps * LANES * 16 / each : each;
  }
  out->value = timing_median(samples, SAMPLES);
  out->low = samples[1];
  out->high = samples[SAMPLES - 2];
  return true;
}

// Below 0: addresses decide, or what other SMs do.
static double play(const ClockProbe *probe, const Row *row) {
  if (row->kind != PLAIN || str_starts(row->kernel, "mbarrier")) return -1;
  const ClockAsk ask = {.kernel = row->kernel, .launch = {.threads = row->warps * LANES}};
  const ClockAnswer answer = clock_answer_cubin(probe->arena, probe->compiled->cubin,
                                                probe->compiled->cubin_bytes, probe->targets, &ask);
  return answer.why_not ? -1 : answer.loop[answer.main].clocks.value / row->per;
}

ClockProbeResult clock_probe_run(ClockProbe *probe, int index) {
  const Row *row = &rows[index];
  ClockProbeResult out = {
      .kernel = row->kernel,
      .what = row->what,
      .unit = row->kind == MOVED ? "bytes a clock" : "clocks",
      .warps = row->warps,
      .blocks = row->blocks ? row->blocks : (int)gpu_info(probe->gpu)->device.sm_count,
      .value = -1,
      .played = -1};
  if (row->hopper && !probe->hopper)
    out.skipped = true, out.error = "for sm_90a alone";
  else if (!measure(probe, row, &out))
    out.error = str_sanitise(probe->arena, gpu_error(probe->gpu));
  if (out.error) return out;
  out.played = play(probe, row);
  const double off = out.played / out.value - 1;
  out.fits = out.played < 0 || (off <= 0.125 && off >= -0.125);
  return out;
}

// ---- facts --------------------------------------------------------------------------------------

static const ClockProbeResult *find(const ClockProbeResult *results, const char *kernel,
                                    int warps) {
  for (int i = 0; i < N_ROWS; i++)
    if (str_equal(results[i].kernel, kernel) && results[i].warps == warps)
      return results[i].error ? NULL : &results[i];
  return NULL;
}

int clock_probe_facts(const ClockProbe *probe, const ClockProbeResult *results,
                      ClockProbeFact out[CLOCK_PROBE_FACTS_MAX]) {
  int n = 0;
  for (int i = 0; i < N_FACTS; i++) {
    const FactRow *fact = &fact_rows[i];
    const ClockProbeResult *of = find(results, fact->of, fact->warps),
                           *less = fact->less ? find(results, fact->less, fact->less_warps) : NULL;
    if (!of || (fact->less && !less)) continue;
    const double value = (of->value - (less ? less->value : 0)) * fact->scale - fact->minus;
    out[n++] = (ClockProbeFact){fact->key, value,
                                clock_facts_value(probe->arena, gpu_cc(probe->gpu), fact->key)};
  }
  return n;
}
