// A smaller problem that exercises the same program: for the interpreter.
#pragma once
#include "model/knob.h"
#include "model/target.h"

// Multiply-adds that the interpreter does in about a second.
enum { REDUCE_FMA_MAX = 1 << 24, REDUCE_FOR_SLABS = 8 };

// The multiply-adds of a schedule's grid, those of cells outside C included. A tensor core's come
// by the thousand and are an eighth of the trouble: they count as an eighth.
int64_t schedule_fma(const Schedule *schedule);

// How far one block reaches along the axis of KNOB_M or KNOB_N, and how far all splits of K reach
// with one slab each, in elements.
int64_t schedule_tile(const Schedule *schedule, KnobId axis);
// What the extent has to be a multiple of: 8 for K and N where rows of f16 are copied 16 bytes at a
// time (M or K where an operand is column-major), 4 where TMA copies rows of f32, else 1.
int64_t schedule_grain(const Schedule *schedule, KnobId axis);

// Slabs of one split.
int64_t schedule_slabs(const Schedule *schedule);
// How many of them show all that a ring can do wrong: each slot is used again, and with mbarriers
// once more, for only then does a phase bit come back.
int64_t schedule_slabs_to_see(const Schedule *schedule);

// `schedule` with M, N and K cut down until the grid does at most `fma_max` multiply-adds, keeping
// what makes the program what it is: the remainder of each extent by its tile (so that every edge
// and every wide access stays), two tiles each way, more of them down M where blocks walk in
// groups, and schedule_slabs_to_see() in every split. Tiles are given up before slabs, and for
// slabs one tile may cost REDUCE_FOR_SLABS times the limit. Extents that are small already stay. A
// tile that is larger than the limit by itself is kept. The result is legal when `schedule` is.
Schedule schedule_reduce(Arena *scratch, const TargetTable *targets, const Schedule *schedule,
                         int64_t fma_max);
