// All that a job of measuring is given, and what comes of it.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "kernels/toolchain/nvrtc.h"
#include "kernels/toolchain/plan.h"
#include "kernels/toolchain/verify.h"

enum { BENCH_MAX_PLANS = 4 };

// Nanoseconds of one product. All 0 when there is no measurement (n_samples = 0).
typedef struct Timing {
  double median_ns, min_ns, p10_ns, p25_ns, p75_ns, p90_ns;
  int n_samples;  // each is the mean of `launches_per_sample` products
  int launches_per_sample;
} Timing;

// Read only, from NVML. −1 (or false) = not known.
typedef struct GpuState {
  bool known;
  int sm_mhz, memory_mhz, temperature_c;
  double power_w;
  uint64_t throttle_reasons;  // NVML's bits
  bool throttled;             // any reason other than idle, application clocks or a display limit
  const char *throttle_text;  // "none", "power cap", "thermal slowdown", …
} GpuState;

typedef struct BenchEntry {
  const char *label;
  bool ok;            // verified and timed
  const char *error;  // a sentence; NULL when ok
  VerifyResult verify;
  Timing time;
  double tflops;  // from the median; 0 when not timed
  // The share of cuBLAS's speed, 1.0 = as fast; 0 = not known. In short turns the ratio of the
  // medians; hot, the median of the ratios within a round, which a drifting clock does not move,
  // and their range.
  double ratio, ratio_min, ratio_max;
  int blocks_per_sm, registers,
      local_bytes;  // of the longest kernel, from the driver; −1 = not known
} BenchEntry;

typedef struct BenchReference {
  bool ok;
  const char *error;
  const char *name;     // "cublasLt heuristic 3", "cublasGemmEx", …
  const char *library;  // "cuBLAS 13.1.0"
  int n_candidates;     // tried
  VerifyResult verify;
  Timing time;
  double tflops;
} BenchReference;

typedef struct BenchResult {
  bool ok;            // every plan was verified and timed
  const char *error;  // what stopped the whole job; NULL when the entries tell
  bool poisoned;      // the CUDA context is lost: this process must end
  bool cancelled;
  int n_entries;
  BenchEntry entries[BENCH_MAX_PLANS];
  BenchReference reference;
  GpuState before, after;
  bool l2_flushed, hot;
  double verify_ms, total_ms;  // of the job on the wall clock
  uint64_t seed;               // of the data
  int64_t m, n, k;
  const char *gpu, *gpu_uuid, *driver, *cuda, *date;  // date: "2025-01-31T12:00:00Z"
  const char *method;                                 // one sentence to print beside the numbers
} BenchResult;

typedef struct BenchPeer BenchPeer;  // peer.h

typedef struct BenchOptions {
  double budget_s;    // for the timing, all participants together; 0 = 2, hot: 4
  bool flush_l2;      // default: warm
  bool hot;           // long turns on a loaded card, the reference chosen there; not with flush_l2
  bool brief;         // a few milliseconds, checked once: to rank; not with hot
  bool no_reference;  // leave cuBLAS out
  bool verify_only;
  const BenchPeer *peer;  // the reference where cuBLAS has none; NULL: there is none then
  uint64_t seed;          // 0 = 1
  // Called between steps: `stage` is "verify", "reference", "time". A true return cancels the job.
  bool (*progress)(void *context, const char *stage, double fraction);
  void *context;
} BenchOptions;

// A plan and, if it was compiled already, its binary: the cubin is loaded first, the PTX if the
// driver refuses it. Both NULL: compiled here.
typedef struct BenchInput {
  const Plan *plan;
  const unsigned char *cubin;
  size_t cubin_bytes;
  const char *ptx;
} BenchInput;

typedef struct Gpu Gpu;  // driver.h
