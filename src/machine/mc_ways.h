// The ways of a block's warps through machine code, as a run on the CPU went them: the same that
// sass/sass_run.h computes from a launch, with branches and addresses that follow from memory, too.
//
//   McWays *ways = mc_ways_new(arena, &code, warps, &listener);
//   ptx_machine_trace(machine, mc_ways_step, ways);      machine: of a module of machine code
//   ptx_machine_watch(machine, mc_ways_access, ways);
//   ptx_machine_run(machine, x, y, z);
//   SassWay *of = mc_ways_take(ways);                    of each warp; the next block begins
//
// In a cluster only the block that is watched is followed. A warp that asks an mbarrier without
// success and asks again has asked once: the clock finds out by itself how long it waits.
#pragma once
#include "ptx/run/machine.h"
#include "sass/sass_run.h"

typedef struct McWays McWays;

// `listener` is told of every access to shared and global memory.
McWays *mc_ways_new(Arena *arena, const SassCode *code, int warps, const SassListener *listener);
PtxTrace mc_ways_step;
PtxAccessSink mc_ways_access;
// A way has not `ended` where the warp went through more than 2^20 stretches.
SassWay *mc_ways_take(McWays *ways);
