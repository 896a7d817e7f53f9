// A kernel that does nothing but one access, over and over, and the clock around it.
//
//   if (the lane is active)
//     for (round …)                         16 accesses, each 128 bytes behind the one before:
//       ld.shared [a]; ld.shared [a + 128]; … [a + 1920]     the same banks, other words
//
// Identical loads would be merged by the assembler, hence the steps; 128 bytes are one row of all
// banks, so every step is the pattern asked for. Loads that are the same in every round would be
// lifted out of the loop, so each round adds a stride to the address that is 0, which the assembler
// cannot know. Eight warps, two on each scheduler, keep the pipe full: it then needs as many clocks
// per access as the access has wavefronts, if that is more than issuing takes (about one clock).
// Start-up and drain are cancelled by running 8 and 40 rounds:
//
//   clocks = (T(40) − T(8)) / (32 rounds · 16 accesses · 8 warps)
//
// Worked example: lds32 with lane · 128 has all lanes on bank 0, 32 wavefronts; T grows by 32 · 16
// · 8 · 32 = 131072 clocks, 32.0 per access. Addresses are moved down by whole rows first, so that
// only their span has to fit into shared memory. Copies by cp.async include their way through L1;
// they are waited for once, after the last round, so that no round pays for a latency.
#include "kernels/device/probe/probe.h"

#include "base/str.h"
#include "kernels/device/gpu.h"
#include "kernels/device/timing.h"
#include "kernels/toolchain/nvrtc.h"

enum { STEPS = 16, WARPS = 8, SHORT_ROUNDS = 8, LONG_ROUNDS = 40, SAMPLES = 15 };
enum { SPAN_MAX = 200 << 10, SOURCE_BYTES = 4096 };

static const char text_head[] =
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "probe(long long *times, const char *source, int rounds, int stride) {\n"
    "  extern __shared__ __align__(1024) char pool[];\n"
    "  const int lane = threadIdx.x & 31;\n"
    "  const int offset = offsets[lane];\n"
    "  const unsigned base = (unsigned)__cvta_generic_to_shared(pool);\n"
    "  unsigned a = base + (unsigned)offset;\n"
    "  const char *from = source + lane * 16;\n"
    "  unsigned r0 = lane, r1 = lane, r2 = lane, r3 = lane, sink = 0;\n"
    "  __syncthreads();\n"
    "  const long long start = clock64();\n"
    "  if (offset >= 0) {\n"
    "#pragma unroll 1\n"
    "    for (int round = 0; round < rounds; round++) {\n";

static const char text_tail[] =
    "  }\n"
    "  const long long stop = clock64();\n"
    "  const int warp = threadIdx.x / 32;\n"
    "  if (offset >= 0) {\n"
    "    times[2 * warp] = start;\n"
    "    times[2 * warp + 1] = stop;\n"
    "  }\n"
    "  if (threadIdx.x == 0) times[16] = base & 127;\n"
    "  if (sink == 0x5eed5eed && from == 0) times[17] = sink + r0 + r1 + r2 + r3;\n"
    "}\n";

// "{%0, %1}": registers from `first` on; a single one stands alone, but for the matrix operations.
static const char *registers(Arena *arena, const BankOp *op, int first, int n) {
  Str text = str_new(arena);
  const bool braces = n > 1 || op->kind == BANK_LDMATRIX || op->kind == BANK_STMATRIX;
  if (braces) str_add(&text, "{");
  for (int i = 0; i < n; i++) str_printf(&text, "%s%%%d", i ? ", " : "", first + i);
  if (braces) str_add(&text, "}");
  return text.text;
}

static void add_constraints(Str *text, const char *kind, int n) {
  for (int i = 0; i < n; i++) str_printf(text, "%s\"%s\"(r%d)", i ? ", " : "", kind, i);
}

static int n_registers(const BankOp *op) {
  if (op->kind == BANK_LDMATRIX || op->kind == BANK_STMATRIX) return op->n_addresses / 8;
  return op->bytes < 4 ? 1 : op->bytes / 4;
}

static void add_load(Arena *arena, Str *text, const BankOp *op, int step) {
  const int n = n_registers(op);
  str_printf(text, "      asm volatile(\"%s %s, [%%%d+%d];\" : ", op->ptx,
             registers(arena, op, 0, n), n, step * BANK_LINE_BYTES);
  add_constraints(text, "=r", n);
  str_add(text, " : \"r\"(a));\n      sink ^= r0");
  for (int i = 1; i < n; i++) str_printf(text, " ^ r%d", i);
  str_add(text, ";\n");
}

static void add_store(Arena *arena, Str *text, const BankOp *op, int step) {
  const int n = n_registers(op);
  str_printf(text, "      asm volatile(\"%s [%%0+%d], %s;\" :: \"r\"(a), ", op->ptx,
             step * BANK_LINE_BYTES, registers(arena, op, 1, n));
  add_constraints(text, "r", n);
  str_add(text, " : \"memory\");\n");
}

static void add_access(Arena *arena, Str *text, const BankOp *op, int step) {
  switch (op->kind) {
    case BANK_LOAD:
    case BANK_LDMATRIX:
      add_load(arena, text, op, step);
      break;
    case BANK_STORE:
    case BANK_STMATRIX:
      add_store(arena, text, op, step);
      break;
    case BANK_CPASYNC:
      str_printf(text,
                 "      asm volatile(\"%s [%%0+%d], [%%1], %d;\" :: \"r\"(a), \"l\"(from) : "
                 "\"memory\");\n",
                 op->ptx, step * BANK_LINE_BYTES, op->bytes);
      break;
    case BANK_GLOBAL:  // has a table of its own (sector.h); no address here is of it
      break;
  }
}

// Offsets of the kernel's table: moved down by whole rows; a lane with an address that is never
// read gets the address of a lane that counts. Gives the span, or −1 with a sentence.
static int64_t place(Arena *arena, const BankOp *op, const int64_t addr[BANK_LANES],
                     int64_t offsets[BANK_LANES], const char **error) {
  int64_t low = INT64_MAX, high = -1;
  const bool matrix = op->kind == BANK_LDMATRIX || op->kind == BANK_STMATRIX;
  for (int lane = 0; lane < op->n_addresses; lane++) {
    if (matrix && addr[lane] < 0) {
      *error = arena_printf(arena, "%s needs an address from lane %d", op->name, lane);
      return -1;
    }
    if (addr[lane] < 0) continue;
    if (addr[lane] < low) low = addr[lane];
    if (addr[lane] > high) high = addr[lane];
  }
  if (high < 0) {
    *error = "no lane is active: there is nothing to time";
    return -1;
  }
  low -= low % BANK_LINE_BYTES;
  for (int lane = 0; lane < BANK_LANES; lane++) {
    int64_t at = addr[lane % op->n_addresses];
    offsets[lane] = at < 0 ? -1 : (at - low) / op->bytes * op->bytes;
  }
  if (high - low <= SPAN_MAX) return high - low;
  *error = arena_printf(arena, "the addresses span %lld bytes; at most %d can be probed",
                        (long long)(high - low), (int)SPAN_MAX);
  return -1;
}

Plan *probe_plan(Arena *arena, const char *arch, const BankOp *op, const int64_t addr[BANK_LANES],
                 const char **error) {
  int64_t offsets[BANK_LANES];
  const int64_t span = place(arena, op, addr, offsets, error);
  if (span < 0) return NULL;
  Str text = str_new(arena);
  str_add(&text, "__constant__ int offsets[32] = {");
  for (int lane = 0; lane < BANK_LANES; lane++)
    str_printf(&text, "%s%lld", lane ? ", " : "", (long long)offsets[lane]);
  str_printf(&text, "};\n%s", text_head);
  for (int step = 0; step < STEPS; step++) add_access(arena, &text, op, step);
  str_add(&text, "      a += (unsigned)stride;\n    }\n");
  if (op->kind == BANK_CPASYNC)
    str_add(&text, "    asm volatile(\"cp.async.wait_all;\" ::: \"memory\");\n");
  str_add(&text, text_tail);
  Plan *plan = ARENA_NEW(arena, Plan);
  *plan = (Plan){.cuda = text.text,
                 .arch = arch,
                 .label = op->name,
                 .m = 1,
                 .n = 1,
                 .k = 1,
                 .n_kernels = 1,
                 .kernels = {{.name = "probe",
                              .grid = {1, 1, 1},
                              .block = {32 * WARPS, 1, 1},
                              .smem_bytes = span + 16 + STEPS * BANK_LINE_BYTES}}};
  return plan;
}

typedef struct Probe {
  Gpu *gpu;
  GpuProgram program;
  GpuBuffer times, source;
} Probe;

// Clocks from the first warp's start to the last warp's end.
static bool run_once(Probe *probe, int rounds, double *clocks) {
  Gpu *gpu = probe->gpu;
  long long times[2 * WARPS + 1], first = INT64_MAX, last = INT64_MIN;
  CuDevicePtr out = probe->times.data, source = probe->source.data;
  int stride = 0;
  void *parameters[] = {&out, &source, &rounds, &stride};
  const PlanKernel *kernel = &probe->program.plan->kernels[0];
  if (!gpu_check(
          gpu,
          gpu->cuda->cuLaunchKernel(probe->program.functions[0], 1, 1, 1, 32 * WARPS, 1, 1,
                                    (unsigned)kernel->smem_bytes, gpu->stream, parameters, NULL),
          "cuLaunchKernel") ||
      !gpu_read(gpu, times, out, sizeof times))
    return false;
  if (times[2 * WARPS] != 0)
    return gpu_refuse(gpu, "shared memory does not begin at a multiple of 128 bytes here");
  for (int warp = 0; warp < WARPS; warp++) {
    if (times[2 * warp] < first) first = times[2 * warp];
    if (times[2 * warp + 1] > last) last = times[2 * warp + 1];
  }
  *clocks = (double)(last - first);
  return true;
}

static bool measure(Probe *probe, Timing *timing) {
  double samples[SAMPLES], few = 0, many = 0;
  // The first pair warms the instruction cache.
  for (int i = -1; i < SAMPLES; i++) {
    if (!run_once(probe, SHORT_ROUNDS, &few) || !run_once(probe, LONG_ROUNDS, &many)) return false;
    if (i >= 0) samples[i] = (many - few) / ((LONG_ROUNDS - SHORT_ROUNDS) * STEPS * WARPS);
  }
  *timing = timing_of_samples(samples, SAMPLES, 1);
  return true;
}

static const CompileResult *compile(Arena *arena, const Plan *plan, const ProbeHooks *hooks) {
  if (hooks && hooks->compile) return hooks->compile(hooks->context, plan);
  return nvrtc_compile(arena, plan, COMPILE_BOTH);
}

static bool prepare(Arena *arena, Probe *probe, const Plan *plan, const ProbeHooks *hooks) {
  Gpu *gpu = probe->gpu;
  const CompileResult *compiled = compile(arena, plan, hooks);
  if (!compiled->ok) return gpu_refuse(gpu, "the probe's kernel: %s", compiled->error);
  const BenchInput input = {plan, compiled->cubin, compiled->cubin_bytes, compiled->ptx};
  return gpu_load(gpu, &input, &probe->program) &&
         gpu_alloc(gpu, &probe->times, 256, "the probe's clocks") &&
         gpu_alloc(gpu, &probe->source, SOURCE_BYTES, "the probe's source") &&
         gpu_fill_bytes(gpu, &probe->source, 0, false);
}

static ProbeResult new_result(Arena *arena, Gpu *gpu, const BankOp *op,
                              const int64_t addr[BANK_LANES]) {
  const BankCount count = banks_count(op, addr);
  return (ProbeResult){.op = op->name,
                       .wavefronts = count.known ? count.wavefronts : -1,
                       .gpu = arena_strdup(arena, gpu_info(gpu)->name),
                       .date = gpu_date_now(arena)};
}

static ProbeResult run_one(Arena *arena, Gpu *gpu, const BankOp *op, const int64_t addr[BANK_LANES],
                           const ProbeHooks *hooks) {
  ProbeResult result = new_result(arena, gpu, op, addr);
  Plan *plan = probe_plan(arena, gpu_arch(arena, gpu), op, addr, &result.error);
  if (!plan) return result;
  Probe probe = {.gpu = gpu};
  Timing timing = {0};
  result.ok = prepare(arena, &probe, plan, hooks) && measure(&probe, &timing);
  if (!result.ok) result.error = str_sanitise(arena, gpu_error(gpu));
  gpu_release(gpu, &probe.times);
  gpu_release(gpu, &probe.source);
  gpu_unload(gpu, &probe.program);
  result.clocks = timing.median_ns;
  result.p10_clocks = timing.p10_ns;
  result.p90_clocks = timing.p90_ns;
  result.n_samples = timing.n_samples;
  if (result.wavefronts > 0) result.clocks_per_wavefront = result.clocks / result.wavefronts;
  result.poisoned = gpu_poisoned(gpu);
  return result;
}

ProbeResult *probe_run(Arena *arena, Gpu *gpu, const BankOp *op, const int64_t addr[BANK_LANES]) {
  ProbeResult *result = ARENA_NEW(arena, ProbeResult);
  *result = run_one(arena, gpu, op, addr, NULL);
  return result;
}

// An access behind the loss of the context is reported, not tried.
static ProbeResult lost(Arena *arena, Gpu *gpu, const ProbeAccess *access, const BankOp *op) {
  ProbeResult result = new_result(arena, gpu, op, access->addr);
  result.error = "not tried: an earlier access lost the CUDA context";
  result.poisoned = true;
  return result;
}

ProbeResults *probe_run_all(Arena *arena, Gpu *gpu, const ProbeRequest *request,
                            const ProbeHooks *hooks) {
  ProbeResults *results = ARENA_NEW(arena, ProbeResults);
  ProbeResult *to = ARENA_ARRAY(arena, ProbeResult, request->n + 1);
  for (int i = 0; i < request->n; i++) {
    const ProbeAccess *access = &request->access[i];
    const BankOp *op = banks_op_find(access->op);
    results->cancelled = hooks && hooks->progress &&
                         hooks->progress(hooks->context, "probe", (double)i / request->n);
    if (results->cancelled) break;
    to[i] = gpu_poisoned(gpu) ? lost(arena, gpu, access, op)
                              : run_one(arena, gpu, op, access->addr, hooks);
    results->n++;
  }
  results->result = to;
  return results;
}

bool probe_same(const BankOp *op, const int64_t a[BANK_LANES], const int64_t b[BANK_LANES]) {
  bool found = false;
  int64_t distance = 0;
  for (int lane = 0; lane < op->n_addresses; lane++) {
    if ((a[lane] < 0) != (b[lane] < 0)) return false;
    if (a[lane] < 0) continue;
    if (!found) distance = a[lane] - b[lane];
    if (a[lane] - b[lane] != distance) return false;
    found = true;
  }
  return distance % BANK_LINE_BYTES == 0;
}
