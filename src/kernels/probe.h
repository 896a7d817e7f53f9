// How many clocks one shared-memory access takes on the GPU at hand, to stand beside the wavefronts
// the bank model counts for it. Needs no permission for counters.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "banks/bank.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"
#include "kernels/driver.h"
#include "kernels/plan.h"

typedef struct ProbeResult {
  bool ok;
  const char *error;  // a sentence; NULL when ok
  bool poisoned;      // the CUDA context is lost
  const char *op;     // "lds128"
  // SM clocks per access while eight warps of one SM issue it without pause: the pipe's time, not
  // the latency. Median, and the range without the outer tenths.
  double clocks, p10_clocks, p90_clocks;
  int n_samples;
  int wavefronts;  // what the bank model says; −1 = it has no count for this operation
  const char *gpu, *date;
} ProbeResult;

// The kernel, as a plan that can be compiled anywhere; NULL with a sentence when these addresses
// cannot be probed (a lane that ldmatrix needs is inactive, too wide a span).
Plan *probe_plan(Arena *arena, const char *arch, const BankOp *op, const int64_t addr[BANK_LANES],
                 const char **error);

// Never NULL.
ProbeResult *probe_run(Arena *arena, Gpu *gpu, const BankOp *op, const int64_t addr[BANK_LANES]);

void probe_result_write_json(Str *out, const ProbeResult *result);
ProbeResult *probe_result_read_json(Arena *arena, const char *text, Diags *diags);
