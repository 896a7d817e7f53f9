// The clocks that shared-memory accesses take on the GPU at hand, to stand beside the wavefronts
// that the bank model counts for them. Needs no permission for counters.
//
//   ProbeRequest request = {.n = 2, .access = {{"lds32", {0, 128, …}}, {"ldsm_x4", {0, 64, …}}}};
//   probe_request_write_json(&text, &request);   to the worker (protocol.def, "probe") and back as
//   ProbeResults: one for each access, in the same order
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "banks/engine/bank.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/record_json.h"
#include "base/str.h"
#include "kernels/device/driver.h"
#include "kernels/toolchain/nvrtc.h"
#include "kernels/toolchain/plan.h"

enum { PROBE_ACCESSES_MAX = 64 };  // of one request

typedef struct ProbeAccess {
  const char *op;            // "lds128"
  int64_t addr[BANK_LANES];  // byte offsets; negative = inactive
} ProbeAccess;

typedef struct ProbeRequest {
  int n;
  const ProbeAccess *access;
} ProbeRequest;

typedef struct ProbeResult {
  bool ok;
  const char *error;  // a sentence; NULL when ok
  bool poisoned;      // the CUDA context is lost
  const char *op;     // "lds128"
  // SM clocks per access while eight warps of one SM issue it without pause: the pipe's time, not
  // the latency. Median, and the range without the outer tenths. 0 = not measured.
  double clocks, p10_clocks, p90_clocks;
  int n_samples;
  int wavefronts;  // what the bank model says; −1 = it has no count for this operation
  double clocks_per_wavefront;  // 0 = not known
  const char *gpu, *date;
} ProbeResult;

typedef struct ProbeResults {
  bool cancelled;  // before all were measured
  int n;
  const ProbeResult *result;
} ProbeResults;

// The worker lends these: its cache of compilations, and its pipe. Each may be NULL.
typedef struct ProbeHooks {
  const CompileResult *(*compile)(void *context, const Plan *plan);
  bool (*progress)(void *context, const char *stage, double fraction);  // true cancels
  void *context;
} ProbeHooks;

// The kernel, as a plan that can be compiled anywhere; NULL with a sentence when these addresses
// cannot be probed (a lane that ldmatrix needs is inactive, too wide a span).
Plan *probe_plan(Arena *arena, const char *arch, const BankOp *op, const int64_t addr[BANK_LANES],
                 const char **error);

// Never NULL.
ProbeResult *probe_run(Arena *arena, Gpu *gpu, const BankOp *op, const int64_t addr[BANK_LANES]);
// Runs the accesses one after the other; `hooks` may be NULL. The operations must exist.
ProbeResults *probe_run_all(Arena *arena, Gpu *gpu, const ProbeRequest *request,
                            const ProbeHooks *hooks);

// Whether two accesses are the same to the banks: the same operation, and addresses that differ by
// a multiple of 128 bytes, by the same one in every lane with an address that counts.
bool probe_same(const BankOp *op, const int64_t a[BANK_LANES], const int64_t b[BANK_LANES]);

// probe_json.c. The members of a result, for documents that have one in them.
extern const Record probe_result_record;
// Reading checks the operations, their number, and that addresses lie in shared memory; NULL after
// findings.
void probe_request_write_json(Str *out, const ProbeRequest *request);
ProbeRequest *probe_request_read_json(Arena *arena, const char *text, Diags *diags);
void probe_results_write_json(Str *out, const ProbeResults *results);
ProbeResults *probe_results_read_json(Arena *arena, const char *text, Diags *diags);
