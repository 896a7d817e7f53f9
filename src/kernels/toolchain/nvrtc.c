// One NVRTC program per stage, and the reading of what ptxas says about it.
//
//   stage           architecture   gives                     a 16 × 8 × 8 body, unrolled
//   COMPILE_PTX     compute_90a    PTX                       250 ms, of which 20 ms are fixed
//   COMPILE_CUBIN   sm_90a         cubin, registers, spills  380 ms, of which ptxas 115 ms
//   COMPILE_BOTH    sm_90a         both from one run
//
// `--minimal` leaves out declarations that the texts never use (textures and the like) and saves a
// quarter of the fixed cost; a NVRTC that does not know it gets the run again without it. Line
// information is always on: it changes no instruction and lets PTX and SASS point at the text.
// `--no-cache` keeps NVRTC 12.9 and later from a cache of its own, which asks the driver in every
// process that compiles: where 64 began at once, on four H200 with 64 cores (2026-11-26), they
// waited 8.6 s for it before their first text, and 0.7 s without it. What is worth keeping is kept
// here (cache.h).
// `--ptxas-options=-v` makes ptxas print its report into NVRTC's log; with the report of
//
//   ptxas info    : Compiling entry function 'gemm' for 'sm_90a'
//   ptxas         .     0 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads
//   ptxas info    : Used 154 registers, used 1 barriers, 33280 bytes smem, 400 bytes cmem[0]
//
// gemm gets 154 registers, 33280 bytes of static shared memory, 8 and 16 bytes of spills: every
// number is found by the words that follow it, since their order differs between versions.
#include "kernels/toolchain/nvrtc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "kernels/toolchain/dl.h"
#include "kernels/toolchain/machine/kernel_code.h"

enum { OPTION_MAX = 8, ARCH_MAX = 64, LOG_MAX = 256 << 10 };

typedef struct Job {
  Arena *arena;
  const NvrtcApi *api;
  const Plan *plan;
  CompileResult *result;
  void *program;
} Job;

static CompileResult *fail(CompileResult *result, const char *stage, const char *sentence) {
  result->ok = false;
  result->failed = stage;
  result->error = sentence;
  return result;
}

int kernel_spill_bytes(const KernelResources *kernel) {
  const int stored = kernel->spill_store_bytes, loaded = kernel->spill_load_bytes;
  return stored < 0 || loaded < 0 ? -1 : (stored + loaded) / 2;
}

// The number that stands before `words` in the line, −1 when the line has no such words.
static int number_before(const char *line, size_t length, const char *words) {
  const char *at = memmem(line, length, words, strlen(words));
  if (!at) return -1;
  while (at > line && at[-1] == ' ') at--;
  const char *digits = at;
  while (digits > line && isdigit((unsigned char)digits[-1])) digits--;
  return digits == at ? -1 : atoi(digits);
}

static void read_line(const char *line, size_t length, KernelResources *kernel) {
  int stack = number_before(line, length, "bytes stack frame");
  if (stack >= 0) {
    kernel->stack_bytes = stack;
    kernel->spill_store_bytes = number_before(line, length, "bytes spill stores");
    kernel->spill_load_bytes = number_before(line, length, "bytes spill loads");
  }
  int registers = number_before(line, length, "registers");
  if (registers < 0) return;
  kernel->registers = registers;
  // ptxas leaves out values that are zero.
  int smem = number_before(line, length, "bytes smem");
  int constant = number_before(line, length, "bytes cmem[0]");
  int barriers = number_before(line, length, "barriers");
  kernel->smem_bytes = smem < 0 ? 0 : smem;
  kernel->constant_bytes = constant;
  kernel->n_barriers = barriers < 0 ? 0 : barriers;
}

// The index in the plan of the kernel a "Compiling entry function 'name' for" line names; −1 if
// none.
static int kernel_named(const char *line, size_t length, const Plan *plan, bool *names_one) {
  static const char words[] = "Compiling entry function '";
  const char *name = memmem(line, length, words, sizeof words - 1);
  *names_one = name != NULL;
  if (!name) return -1;
  name += sizeof words - 1;
  for (int i = 0; i < plan->n_kernels; i++) {
    size_t n = strlen(plan->kernels[i].name);
    if (strncmp(name, plan->kernels[i].name, n) == 0 && name[n] == '\'') return i;
  }
  return -1;
}

// All that ptxas says of wgmma stands in front of the reports, with the kernel behind it:
//   (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to …
//       in the function 'matmul'
//   (C7517) warpgroup.wait is injected in around line 43 by compiler to … in function 'matmul'
// Serialized is the worse of the two: it is kept, and else the first that was put in.
static const struct {
  const char *begins, *ends, *says;
} wgmma_words[] = {
    {"wgmma.mma_async instructions are serialized due to ", " in the function '",
     "wgmma serialized: "},
    {"warpgroup.", " in function '", "wgmma mended: warpgroup."},
};

static void read_note(Arena *arena, const char *line, size_t length, const Plan *plan, int which,
                      KernelResources *resources) {
  size_t n_begins = strlen(wgmma_words[which].begins), n_ends = strlen(wgmma_words[which].ends);
  const char *begin = memmem(line, length, wgmma_words[which].begins, n_begins);
  if (!begin) return;
  begin += n_begins;
  const char *end = memmem(begin, length - (size_t)(begin - line), wgmma_words[which].ends, n_ends);
  if (!end) return;
  for (int i = 0; i < plan->n_kernels; i++) {
    size_t n = strlen(plan->kernels[i].name);
    const char *name = end + n_ends;
    bool this_one = strncmp(name, plan->kernels[i].name, n) == 0 && name[n] == '\'';
    if (this_one && !resources[i].note)
      resources[i].note =
          arena_printf(arena, "%s%.*s", wgmma_words[which].says, (int)(end - begin), begin);
  }
}

static void read_notes(Arena *arena, const char *log, const Plan *plan,
                       KernelResources *resources) {
  for (int which = 0; which < 2; which++)
    for (const char *line = log; *line;) {
      size_t length = strcspn(line, "\n");
      read_note(arena, line, length, plan, which, resources);
      line += length + (line[length] == '\n');
    }
}

int nvrtc_read_report(Arena *arena, const char *log, const Plan *plan, KernelResources *resources,
                      double *ptxas_ms) {
  int current = -1, found = 0;
  *ptxas_ms = -1;
  for (int i = 0; i < plan->n_kernels; i++)
    resources[i] = (KernelResources){.name = plan->kernels[i].name,
                                     .registers = -1,
                                     .smem_bytes = -1,
                                     .stack_bytes = -1,
                                     .spill_store_bytes = -1,
                                     .spill_load_bytes = -1,
                                     .constant_bytes = -1,
                                     .n_barriers = -1,
                                     .instructions = -1};
  read_notes(arena, log, plan, resources);
  for (const char *line = log; *line;) {
    size_t length = strcspn(line, "\n");
    bool names_one = false;
    int named = kernel_named(line, length, plan, &names_one);
    if (names_one) current = named;
    if (current >= 0) read_line(line, length, &resources[current]);
    const char *ms = memmem(line, length, "Compile time = ", 15);
    if (ms) *ptxas_ms = (*ptxas_ms < 0 ? 0 : *ptxas_ms) + strtod(ms + 15, NULL);
    line += length + (line[length] == '\n');
  }
  for (int i = 0; i < plan->n_kernels; i++) found += resources[i].registers >= 0;
  return found;
}

static const char *compiler_name(Arena *arena, const NvrtcApi *api) {
  int major = 0, minor = 0;
  if (api->nvrtcVersion(&major, &minor) != NVRTC_SUCCESS) return "NVRTC";
  return arena_printf(arena, "NVRTC %d.%d", major, minor);
}

const char *nvrtc_describe(Arena *arena, bool *found) {
  const char *error = NULL;
  const NvrtcApi *api = dl_nvrtc(&error);
  *found = api != NULL;
  if (!api) return arena_strdup(arena, error);
  return arena_printf(arena, "%s (%s)", compiler_name(arena, api), dl_status(DL_NVRTC).path);
}

bool nvrtc_supports(Arena *arena, const char *arch, const char **supported) {
  const NvrtcApi *api = dl_nvrtc(NULL);
  int archs[ARCH_MAX], n = 0;
  *supported = "";
  if (!api || api->nvrtcGetNumSupportedArchs(&n) != NVRTC_SUCCESS || n > ARCH_MAX) return false;
  if (api->nvrtcGetSupportedArchs(archs) != NVRTC_SUCCESS) return false;
  Str list = str_new(arena);
  bool known = false;
  for (int i = 0; i < n; i++) {
    str_printf(&list, "%s%d", i ? " " : "", archs[i]);
    known = known || (str_starts(arch, "sm_") && atoi(arch + 3) == archs[i]);
  }
  *supported = list.text;
  return known;
}

static const char *program_log(const Job *job) {
  size_t bytes = 0;
  if (job->api->nvrtcGetProgramLogSize(job->program, &bytes) != NVRTC_SUCCESS || bytes == 0)
    return "";
  char *log = arena_alloc(job->arena, bytes + 1);
  if (job->api->nvrtcGetProgramLog(job->program, log) != NVRTC_SUCCESS) return "";
  if (bytes > LOG_MAX) log[LOG_MAX] = '\0';
  return str_sanitise(job->arena, log);
}

// Runs NVRTC once; options that this version does not know are dropped from the end.
static int run(Job *job, bool cubin) {
  const char *options[OPTION_MAX];
  int n = 0, status;
  options[n++] = arena_printf(job->arena, "--gpu-architecture=%s%s", cubin ? "sm_" : "compute_",
                              job->plan->arch + 3);
  options[n++] = "--std=c++17";
  options[n++] = "--generate-line-info";
  if (cubin) options[n++] = "--ptxas-options=-v";
  const char *opt = job->plan->ptxas_opt;
  if (cubin && opt && *opt) options[n++] = arena_printf(job->arena, "--ptxas-options=-O%s", opt);
  int required = n;
  options[n++] = "--minimal";
  options[n++] = "--no-source-include";
  options[n++] = "--no-cache";
  do {
    if (job->program) job->api->nvrtcDestroyProgram(&job->program);
    status =
        job->api->nvrtcCreateProgram(&job->program, job->plan->cuda, "kernel.cu", 0, NULL, NULL);
    if (status != NVRTC_SUCCESS) return status;
    status = job->api->nvrtcCompileProgram(job->program, n, options);
  } while (status == NVRTC_INVALID_OPTION && n-- > required);
  job->result->log = program_log(job);
  return status;
}

// NVRTC puts its working folder before the name: `.file 1 "/home/ana/kernel.cu"`. Cut, so that the
// same text gives the same PTX wherever it is compiled.
static void cut_folder(char *ptx) {
  char *name = strstr(ptx, "/kernel.cu\"");
  char *quote = name;
  while (quote && quote > ptx && *quote != '"' && *quote != '\n') quote--;
  if (quote && *quote == '"') memmove(quote + 1, name + 1, strlen(name + 1) + 1);
}

static bool take_ptx(Job *job) {
  CompileResult *result = job->result;
  if (job->api->nvrtcGetPTXSize(job->program, &result->ptx_bytes) != NVRTC_SUCCESS) return false;
  char *ptx = arena_alloc(job->arena, result->ptx_bytes + 1);
  if (job->api->nvrtcGetPTX(job->program, ptx) != NVRTC_SUCCESS) return false;
  cut_folder(ptx);
  result->ptx = str_sanitise(job->arena, ptx);
  result->ptx_bytes = strlen(result->ptx);
  return true;
}

static bool take_cubin(Job *job) {
  CompileResult *result = job->result;
  size_t bytes = 0;
  if (job->api->nvrtcGetCUBINSize(job->program, &bytes) != NVRTC_SUCCESS || bytes == 0)
    return false;
  char *cubin = arena_alloc(job->arena, bytes);
  if (job->api->nvrtcGetCUBIN(job->program, cubin) != NVRTC_SUCCESS) return false;
  result->cubin = (const unsigned char *)cubin;
  result->cubin_bytes = bytes;
  return true;
}

// The first kernel of the plan that the PTX does not define.
static const char *missing_kernel(Arena *arena, const Plan *plan, const char *ptx) {
  for (int i = 0; i < plan->n_kernels; i++) {
    const char *head = arena_printf(arena, ".entry %s", plan->kernels[i].name);
    const char *at = ptx;
    bool found = false;
    while (!found && (at = strstr(at, head))) {
      at += strlen(head);
      found = !isalnum((unsigned char)*at) && *at != '_' && *at != '$';
    }
    if (!found) return plan->kernels[i].name;
  }
  return NULL;
}

// Where ptxas says that nothing is spilled, stores to local memory belong to the stack frame: a
// kernel that waits at mbarriers may store a zero there that is never loaded.
static bool spills_nothing(const KernelResources *of) {
  return of->spill_store_bytes == 0 && of->spill_load_bytes == 0;
}

void compile_read_cubin(CompileResult *result) {
  for (int i = 0; result->cubin && i < result->n_kernels; i++) {
    KernelResources *of = &result->kernels[i];
    const KernelReading reading = kernel_reading(result->cubin, result->cubin_bytes, of->name);
    of->code = reading.code;
    of->spills = spills_nothing(of) ? (CompiledSpills){0} : reading.spills;
    of->instructions = reading.instructions;
  }
}

static CompileResult *compile(Job *job, CompileStage stage) {
  CompileResult *result = job->result;
  bool cubin = (stage & COMPILE_CUBIN) != 0;
  const char *name = cubin ? "cubin" : "ptx";
  double started = clock_seconds(), ptxas_ms = -1;
  int status = run(job, cubin);
  double wall_ms = (clock_seconds() - started) * 1e3;
  if (status != NVRTC_SUCCESS) {
    const char *why = job->api->nvrtcGetErrorString(status);
    return fail(result, name,
                arena_printf(job->arena, "%s refused the text (%s): see its log", result->compiler,
                             why ? why : "unknown error"));
  }
  if (!take_ptx(job) || (cubin && !take_cubin(job)))
    return fail(result, name, arena_printf(job->arena, "%s gave no %s", result->compiler, name));
  const char *missing = missing_kernel(job->arena, job->plan, result->ptx);
  if (missing)
    return fail(
        result, "input",
        arena_printf(job->arena, "the text defines no extern \"C\" __global__ %s", missing));
  result->n_kernels = job->plan->n_kernels;
  nvrtc_read_report(job->arena, cubin ? result->log : "", job->plan, result->kernels, &ptxas_ms);
  compile_read_cubin(result);
  if (!cubin) result->ptx_ms = wall_ms;
  if (cubin) result->cubin_ms = wall_ms;
  if (stage == COMPILE_BOTH && ptxas_ms >= 0) {
    result->cubin_ms = ptxas_ms;
    result->ptx_ms = wall_ms - ptxas_ms;
  }
  if (stage == COMPILE_CUBIN) result->ptx = NULL;
  result->ok = true;
  return result;
}

CompileResult *nvrtc_compile(Arena *arena, const Plan *plan, CompileStage stage) {
  CompileResult *result = ARENA_NEW(arena, CompileResult);
  *result = (CompileResult){.log = "", .ptx_ms = -1, .cubin_ms = -1};
  Diags diags = diags_new(arena);
  if (!plan_check(plan, &diags)) return fail(result, "input", diags.first->text);
  int line = 0;
  if (nvrtc_reads_files(plan->cuda, &line))
    return fail(
        result, "input",
        arena_printf(arena, "line %d may read another file; the text of a kernel must be complete",
                     line));
  const char *error = NULL, *supported = "";
  Job job = {arena, dl_nvrtc(&error), plan, result, NULL};
  if (!job.api) return fail(result, "library", arena_strdup(arena, error));
  result->compiler = compiler_name(arena, job.api);
  if (!nvrtc_supports(arena, plan->arch, &supported))
    return fail(result, "library",
                arena_printf(arena, "%s does not compile for %s; it knows sm_: %s",
                             result->compiler, plan->arch, supported));
  compile(&job, stage);
  if (job.program) job.api->nvrtcDestroyProgram(&job.program);
  return result;
}
