// One block of a kernel, traced: when each of its warps did what, by the clock of its SM.
//
// The plan with stamps is verified and timed in turns with the plan without, so that what the
// stamps cost is known; then it runs once more, warm, on poisoned memory: C of that run is checked
// too, and its stamps are read.
#pragma once
#include "kernels/device/bench.h"
#include "model/text/stamp_page.h"

enum { TRACE_WARPS_MAX = 32 };  // of a block

typedef struct TraceResult {
  bool ok;
  const char *error;    // a sentence; NULL when ok
  BenchResult bench;    // entries[0] with stamps, [1] without
  VerifyResult verify;  // of the run that was traced
  int64_t block;
  int sm;            // that it ran on; −1 = not known
  double clock_mhz;  // of that SM, by %globaltimer; 0 = not known
  int n_warps;
  const StampedWarp *warp;
} TraceResult;

// Never NULL. Of the options budget_s, seed, progress and context count.
TraceResult *trace_run(Arena *arena, Gpu *gpu, const BenchInput *traced, const BenchInput *plain,
                       const BenchOptions *options);
