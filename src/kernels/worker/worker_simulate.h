// A GPU that is not there: the scripted worker's answers to compile and bench, for tests of a
// search.
//
// A plan's label is its state. The time of a state that stands in data/results is the recorded one;
// any other's follows from the model, by a law of its own that a roofline does not know (units that
// reach parts of their peaks, latency that few warps do not hide), and a spread that is the same
// whenever the state comes again.
#pragma once
#include "kernels/device/bench.h"
#include "kernels/toolchain/nvrtc.h"
#include "kernels/toolchain/plan.h"
#include "model/words/target.h"

typedef struct Simulation Simulation;

// Reads data/gpus.json and the recorded times; NULL when they cannot be read.
Simulation *simulation_new(Arena *arena);

// Nanoseconds of one product of the plan on a GPU that is `speed` times as fast as the model's; 0:
// the label is no legal state.
double simulation_ns(const Simulation *simulation, const Plan *plan, double speed);

CompileResult *simulation_compile(Arena *arena, const Plan *plan);
// For up to two plans; NULL where one has no legal state.
BenchResult *simulation_bench(Arena *arena, const Simulation *simulation, const Plan *const *plans,
                              int n, bool reference, const char *gpu, double speed);
