// A GPU with 128 lanes of FP32 an SM (sm_86, sm_89, sm_90) takes a warp's FFMA in one clock, so
// that another one is seen. One warp on each scheduler of an SM runs the same row of FFMA many
// times between two readings of the clock; the difference of a long and a short run leaves the rest
// out.
//
// An instruction of sm_70 to sm_90 is 128 bits, here as two words of 64. Read off what ptxas and
// nvdisasm say of each other (a test does so again): the low 12 bits of the first are the operation
// (0x223: FFMA of three registers); bits 24 to 31 are the first source and 32 to 39 the second; the
// low 8 bits of the second word are the third. Bits 41 to 44 of the second word are the clocks to
// wait before the next instruction, bit 45 says that the warp rather stays (a warp that gives way
// loses what .reuse keeps, and nvdisasm does not print the mark), bits 46 to 57 what it waits for,
// bits 58 to 60 the .reuse marks.
//
// Destinations stay as compiled: sixteen sums in turns, so that none is read before it is there,
// and sources are registers that the row does not write, or whose values are of no interest.
#include "kernels/device/probe/register_probe.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "kernels/device/gpu.h"
#include "kernels/device/timing.h"
#include "kernels/toolchain/machine/register_banks.h"

enum { RZ = 255, THREADS = 128, SAMPLES = 15, SHORT_ROUNDS = 8, LONG_ROUNDS = 72 };
enum { WORD_BYTES = 8, INSTRUCTION_BYTES = 16, OP_FFMA = 0x223 };
static const double tolerance_clocks = 0.2;

// Registers from R8 on: the kernel has some forty.
static const RegisterProbeCase cases[] = {
    {"two banks", 1, {{{8, 9, 10}, 0}}},
    {"two banks, the pair behind", 1, {{{8, 11, 9}, 0}}},
    {"three of the even bank", 1, {{{8, 10, 12}, 0}}},
    {"three of the odd bank", 1, {{{9, 11, 13}, 0}}},
    {"three with one number modulo 4", 1, {{{8, 12, 16}, 0}}},
    {"three with one number modulo 8", 1, {{{8, 16, 24}, 0}}},
    {"one register twice", 1, {{{8, 8, 10}, 0}}},
    {"RZ in the place of the third", 1, {{{8, 10, RZ}, 0}}},
    {"three, the first reused", 1, {{{8, 10, 12}, 1}}},
    {"three, the second reused", 1, {{{8, 10, 12}, 2}}},
    {"three, the third reused", 1, {{{8, 10, 12}, 4}}},
    {"every other one of three", 2, {{{8, 9, 10}, 0}, {{8, 10, 12}, 0}}},
    {"marked, read by the next in that slot", 2, {{{8, 9, 11}, 1}, {{8, 10, 12}, 0}}},
    {"marked, read by the next in another slot", 2, {{{8, 9, 11}, 1}, {{10, 8, 12}, 0}}},
};

int register_probe_count(void) { return (int)(sizeof cases / sizeof *cases); }
const RegisterProbeCase *register_probe_case(int index) { return &cases[index]; }

// ---- what the rule says -------------------------------------------------------------------------

static const char *form_text(Arena *arena, const FfmaForm *form) {
  Str text = str_new(arena);
  str_add(&text, "FFMA R0");
  for (int slot = 0; slot < 3; slot++) {
    if (form->source[slot] == RZ)
      str_add(&text, ", RZ");
    else
      str_printf(&text, ", R%d%s", form->source[slot], form->reuse >> slot & 1 ? ".reuse" : "");
  }
  return text.text;
}

double register_probe_predict(Arena *arena, const RegisterProbeCase *row, int sm,
                              const char **text) {
  SassLine *lines = ARENA_ARRAY(arena, SassLine, REGISTER_PROBE_FFMA);
  Str said = str_new(arena);
  for (int i = 0; i < REGISTER_PROBE_FFMA; i++)
    lines[i] = (SassLine){
        .kernel = "row", .text = form_text(arena, &row->form[i % row->n_forms]), .opcode = "FFMA"};
  for (int i = 0; i < row->n_forms; i++) str_printf(&said, "%s%s", i ? "; " : "", lines[i].text);
  const SassResult sass = {.ok = true, .n_lines = REGISTER_PROBE_FFMA, .lines = lines};
  const ClockMarks banks = register_banks_read(arena, &sass, sm);
  *text = said.text;
  return register_banks_clocks(&banks);
}

// ---- the kernel ---------------------------------------------------------------------------------

static const char text_of_kernel[] =
    "extern \"C\" __global__ void __launch_bounds__(128)\n"
    "register_row(const float *in, float *out, long long *clocks, int rounds) {\n"
    "  float x[8], y[8], sum[16];\n"
    "  for (int i = 0; i < 8; i++) {\n"
    "    x[i] = in[threadIdx.x + 128 * i];\n"
    "    y[i] = in[threadIdx.x + 128 * (8 + i)];\n"
    "  }\n"
    "  for (int i = 0; i < 16; i++) sum[i] = x[i % 8] + y[i / 2];\n"
    "  __syncthreads();\n"
    "  long long begin = clock64();\n"
    "#pragma unroll 1\n"
    "  for (int round = 0; round < rounds; round++) {\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < 256; i++)\n"
    "      asm volatile(\"fma.rn.f32 %0, %1, %2, %0;\"\n"
    "                   : \"+f\"(sum[i % 16]) : \"f\"(x[i % 8]), \"f\"(y[i / 16 % 8]));\n"
    "  }\n"
    "  long long end = clock64();\n"
    "  for (int i = 0; i < 16; i++) out[threadIdx.x + 128 * i] = sum[i];\n"
    "  clocks[threadIdx.x] = end - begin;\n"
    "}\n";
enum { IN_BYTES = 16 * THREADS * 4, OUT_BYTES = IN_BYTES };

Plan *register_probe_plan(Arena *arena, const char *arch) {
  Plan *plan = ARENA_NEW(arena, Plan);
  *plan =
      (Plan){.cuda = text_of_kernel,
             .arch = arch,
             .label = "register banks",
             .m = 1,
             .n = 1,
             .k = 1,
             .n_kernels = 1,
             .kernels = {{.name = "register_row", .grid = {1, 1, 1}, .block = {THREADS, 1, 1}}}};
  return plan;
}

// ---- its machine code ---------------------------------------------------------------------------

static uint64_t load(const unsigned char *at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; i++) value |= (uint64_t)at[i] << (8 * i);
  return value;
}

static void store(unsigned char *at, uint64_t value) {
  for (size_t i = 0; i < WORD_BYTES; i++) at[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t with_bits(uint64_t word, int first, int n, uint64_t value) {
  const uint64_t mask = ((UINT64_C(1) << n) - 1) << first;
  return (word & ~mask) | (value << first & mask);
}

static void write_form(unsigned char *at, const FfmaForm *form) {
  uint64_t low = load(at, WORD_BYTES), high = load(at + WORD_BYTES, WORD_BYTES);
  low = with_bits(low, 24, 8, form->source[0]);
  low = with_bits(low, 32, 8, form->source[1]);
  high = with_bits(high, 0, 8, form->source[2]);
  high = with_bits(high, 41, 4, 1);
  high = with_bits(high, 45, 1, 1);
  high = with_bits(high, 58, 3, form->reuse);
  store(at, low);
  store(at + WORD_BYTES, high);
}

// The bytes of the section ".text.register_row" of an ELF file (its header: the ELF-64 format).
static unsigned char *find_code(unsigned char *cubin, size_t bytes, size_t *n_bytes) {
  enum { HEADER = 64, SECTION = 64 };
  if (bytes < HEADER || memcmp(cubin, "\177ELF\2", 5) != 0) return NULL;
  const uint64_t table = load(cubin + 40, 8), n = load(cubin + 60, 2), names = load(cubin + 62, 2);
  if (table > bytes || (bytes - table) / SECTION < n || names >= n) return NULL;
  const uint64_t name_offset = load(cubin + table + names * SECTION + 24, 8);
  static const char wanted[] = ".text.register_row";
  for (uint64_t i = 0; i < n; i++) {
    const unsigned char *section = cubin + table + i * SECTION;
    const uint64_t name = name_offset + load(section, 4);
    const uint64_t offset = load(section + 24, 8), size = load(section + 32, 8);
    if (name > bytes || bytes - name < sizeof wanted || offset > bytes || bytes - offset < size)
      continue;
    if (memcmp(cubin + name, wanted, sizeof wanted) != 0) continue;
    *n_bytes = (size_t)size;
    return cubin + offset;
  }
  return NULL;
}

static bool is_ffma(const unsigned char *at) { return (load(at, 2) & 0xFFF) == OP_FFMA; }

bool register_probe_patch(unsigned char *cubin, size_t bytes, const RegisterProbeCase *row) {
  size_t n_bytes = 0;
  int n = 0;
  unsigned char *code = find_code(cubin, bytes, &n_bytes);
  for (size_t at = 0; code && at + INSTRUCTION_BYTES <= n_bytes; at += INSTRUCTION_BYTES)
    n += is_ffma(code + at);
  if (n != REGISTER_PROBE_FFMA) return false;
  n = 0;
  for (size_t at = 0; at + INSTRUCTION_BYTES <= n_bytes; at += INSTRUCTION_BYTES)
    if (is_ffma(code + at)) write_form(code + at, &row->form[n++ % row->n_forms]);
  return true;
}

// ---- the clock ----------------------------------------------------------------------------------

typedef struct RegisterProbe {
  Gpu *gpu;
  GpuProgram program;
  GpuBuffer in, out, clocks;
} RegisterProbe;

static bool run_once(RegisterProbe *probe, int rounds, double *clocks) {
  Gpu *gpu = probe->gpu;
  long long taken[THREADS];
  CuDevicePtr in = probe->in.data, out = probe->out.data, to = probe->clocks.data;
  void *parameters[] = {&in, &out, &to, &rounds};
  if (!gpu_check(gpu,
                 gpu->cuda->cuLaunchKernel(probe->program.functions[0], 1, 1, 1, THREADS, 1, 1, 0,
                                           gpu->stream, parameters, NULL),
                 "cuLaunchKernel") ||
      !gpu_read(gpu, taken, to, sizeof taken))
    return false;
  *clocks = (double)taken[0];
  return true;
}

static bool measure(RegisterProbe *probe, double *clocks) {
  double samples[SAMPLES], few = 0, many = 0;
  // The first pair warms the instruction cache.
  for (int i = -1; i < SAMPLES; i++) {
    if (!run_once(probe, SHORT_ROUNDS, &few) || !run_once(probe, LONG_ROUNDS, &many)) return false;
    if (i >= 0)
      samples[i] = (many - few) / ((LONG_ROUNDS - SHORT_ROUNDS) * (double)REGISTER_PROBE_FFMA);
  }
  *clocks = timing_median(samples, SAMPLES);
  return true;
}

static bool prepare(Arena *arena, RegisterProbe *probe, const RegisterProbeCase *row) {
  Gpu *gpu = probe->gpu;
  const Plan *plan = register_probe_plan(arena, gpu_arch(arena, gpu));
  const CompileResult *compiled = nvrtc_compile(arena, plan, COMPILE_BOTH);
  if (!compiled->ok) return gpu_refuse(gpu, "the row's kernel: %s", compiled->error);
  unsigned char *cubin = arena_alloc(arena, compiled->cubin_bytes);
  memcpy(cubin, compiled->cubin, compiled->cubin_bytes);
  if (!register_probe_patch(cubin, compiled->cubin_bytes, row))
    return gpu_refuse(gpu, "the machine code for %s has no row of %d FFMA that can be written",
                      plan->arch, (int)REGISTER_PROBE_FFMA);
  const BenchInput input = {plan, cubin, compiled->cubin_bytes, NULL};
  return gpu_load(gpu, &input, &probe->program) &&
         gpu_alloc(gpu, &probe->in, IN_BYTES, "the row's operands") &&
         gpu_alloc(gpu, &probe->out, OUT_BYTES, "the row's sums") &&
         gpu_alloc(gpu, &probe->clocks, THREADS * 8, "the row's clocks") &&
         gpu_fill_bytes(gpu, &probe->in, 0, false);
}

RegisterProbeResult register_probe_run(Arena *arena, Gpu *gpu, int index) {
  const RegisterProbeCase *row = &cases[index];
  RegisterProbe probe = {.gpu = gpu};
  RegisterProbeResult result = {.name = row->name};
  const int sm = atoi(gpu_arch(arena, gpu) + strlen("sm_"));
  result.predicted = register_probe_predict(arena, row, sm, &result.text);
  if (!prepare(arena, &probe, row) || !measure(&probe, &result.clocks))
    result.error = str_sanitise(arena, gpu_error(gpu));
  gpu_release(gpu, &probe.in);
  gpu_release(gpu, &probe.out);
  gpu_release(gpu, &probe.clocks);
  gpu_unload(gpu, &probe.program);
  const double off = result.clocks - result.predicted;
  result.fits = !result.error && off <= tolerance_clocks && off >= -tolerance_clocks;
  return result;
}
