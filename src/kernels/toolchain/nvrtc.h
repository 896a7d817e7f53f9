// CUDA text → PTX → cubin through NVRTC, opened at run time; no CUDA header, no GPU needed.
//
// The text is hostile until proven otherwise: NVRTC may run for minutes or end the process, so
// callers run these functions in a disposable child with a deadline (the worker does). #include is
// refused here, before NVRTC sees the text.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "kernels/toolchain/plan.h"
#include "model/readings/cost/compiled_code.h"

typedef enum CompileStage {
  COMPILE_PTX = 1,    // PTX text only: the fast answer
  COMPILE_CUBIN = 2,  // cubin and the resources of each kernel
  COMPILE_BOTH = 3
} CompileStage;

// The resources of one kernel, as ptxas reports them; −1 = not known.
typedef struct KernelResources {
  const char *name;
  int registers;  // per thread
  int smem_bytes, stack_bytes, spill_store_bytes, spill_load_bytes, constant_bytes, n_barriers;
  // Tells what ptxas did to the kernel's wgmmas that the text does not say: "wgmma serialized: …"
  // where it waits behind each of them (C7510 and its neighbours), else "wgmma mended: …" where it
  // put in a wait or a fence (C7517, C7519). NULL: nothing.
  const char *note;
  CompiledCode code;      // its loops, of the cubin (kernel_code.h)
  CompiledSpills spills;  // where it spills, likewise
  int instructions;       // of the kernel, likewise
} KernelResources;

// Tells what a thread's code spills, as the model counts it: the mean of the bytes that it stores
// and of those that it loads again. −1 = not known.
int kernel_spill_bytes(const KernelResources *kernel);

typedef struct CompileResult {
  bool ok;
  const char *error;   // a sentence; NULL when ok
  const char *failed;  // "library", "input", "ptx", "cubin"; NULL when ok
  const char *log;     // sanitised, never NULL: warnings too
  const char *ptx;     // NULL unless that stage was asked for and ran
  size_t ptx_bytes, cubin_bytes;
  const unsigned char *cubin;
  double ptx_ms, cubin_ms;  // −1 = not run
  int n_kernels;            // resources, in the plan's order
  KernelResources kernels[PLAN_MAX_KERNELS];
  const char *compiler;  // "NVRTC 13.0"; NULL when none was found
} CompileResult;

// Never NULL. `stage` may be COMPILE_PTX first and COMPILE_CUBIN in a second call, so that the PTX
// is on the screen while ptxas still works.
CompileResult *nvrtc_compile(Arena *arena, const Plan *plan, CompileStage stage);

// Reads `code`, `spills` and `instructions` of each kernel off the cubin, where there is one. A
// cached answer is read again when it is loaded: what stands beside the cubin may be of an older
// reader.
void compile_read_cubin(CompileResult *result);

// "NVRTC 13.0 (/usr/local/cuda/lib64/libnvrtc.so.13)" or the sentence why there is none.
const char *nvrtc_describe(Arena *arena, bool *found);
// Whether this NVRTC compiles for "sm_90a"; the list it knows goes to `supported` ("75 80 … 121").
bool nvrtc_supports(Arena *arena, const char *arch, const char **supported);

// The two readers that nvrtc_compile is made of, for tests.
//
// Whether the text could make the compiler read a file (#include in any spelling, #embed, …). The
// conservative answer: a line of a comment that begins with one counts too, and so does ## in a
// text with #if, for it can put __has_include together. The line goes to `line`.
bool nvrtc_reads_files(const char *cuda, int *line);
// ptxas's verbose report: fills the resources of the kernels it names, in the plan's order, and
// returns the number found. `ptxas_ms` gets the sum of its compile times, −1 if it tells none.
int nvrtc_read_report(Arena *arena, const char *log, const Plan *plan, KernelResources *resources,
                      double *ptxas_ms);
