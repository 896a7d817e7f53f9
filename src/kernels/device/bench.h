// Verified, then timed, with cuBLAS beside it in the same run.
//
// One job measures up to BENCH_MAX_PLANS plans of one problem and the reference, in turns: A B
// cuBLAS B cuBLAS A … A plan that fails its check is not timed. See bench.c for the method.
#pragma once
#include "kernels/device/bench_result.h"

// Never NULL.
BenchResult *bench_run(Arena *arena, Gpu *gpu, const BenchInput *inputs, int n_inputs,
                       const BenchOptions *options);
