// One block of a kernel, or all of its cluster, traced: when each warp did what, by the clock of
// its SM.
//
// The plan with stamps is verified and timed in turns with the plan without, so that what the
// stamps cost is known; then it runs once more, warm, on poisoned memory: C of that run is checked
// too, and its stamps are read.
#pragma once
#include "kernels/device/bench.h"
#include "model/text/stamp_page.h"

enum { TRACE_BLOCKS_MAX = 16, TRACE_WARPS_MAX = 32 * TRACE_BLOCKS_MAX };  // of a cluster

typedef struct TraceResult {
  bool ok;
  const char *error;    // a sentence; NULL when ok
  BenchResult bench;    // entries[0] with stamps, [1] without
  VerifyResult verify;  // of the run that was traced
  int64_t block;        // the first of those that were traced
  int n_blocks;         // of its cluster; 1: there are no clusters
  double clock_mhz;     // of their SMs, by %globaltimer; 0 = not known: then blocks begin together
  int n_warps;          // of all blocks, the first block's warps first
  const StampedWarp *warp;
} TraceResult;

// "block 7 on SM 13", "blocks 6, 7 on SMs 12, 13".
const char *trace_where(Arena *arena, const TraceResult *result);

// Never NULL. Of the options budget_s, seed, progress and context count.
TraceResult *trace_run(Arena *arena, Gpu *gpu, const BenchInput *traced, const BenchInput *plain,
                       const BenchOptions *options);
