// A smaller problem that exercises the same program: for the interpreter.
#pragma once
#include "model/ir/names.h"
#include "model/words/knob.h"
#include "model/words/target.h"

// Work that the interpreter does in less than a second.
enum { REDUCE_WORK_MAX = 1 << 24, REDUCE_FOR_SLABS = 8, REDUCE_FOR_TURNS = 16 };

// The multiply-adds of a schedule's grid, those of cells outside C included. A tensor core's come
// by the thousand and are an eighth of the trouble: they count as an eighth. A double, for the
// largest extents have more of them than 63 bits count.
double schedule_fma(const Schedule *schedule);
// The work of interpreting the grid once, counted in multiply-adds: those, the steps of warps that
// are not full, the cells of C, which are cleared, watched and compared, and the blocks.
double schedule_work(const Schedule *schedule);
// The same of a program that no schedule stands behind: its operations, as often as its loops say.
double program_work(const Program *program);
// Two orders of one multiply-add, measured; rather too long than too short.
#define REDUCE_WORK_SECONDS 2e-8

// How far one block reaches along the axis of KNOB_M or KNOB_N, and how far all splits of K reach
// with one slab each, in elements.
int64_t schedule_tile(const Schedule *schedule, KnobId axis);
// The extent has to be a multiple of this: 8 for K and N where rows of f16 are copied 16 bytes at a
// time (M or K where an operand is column-major), 4 where TMA copies rows of f32, else 1.
int64_t schedule_grain(const Schedule *schedule, KnobId axis);

// The axis along which a block's slabs follow each other: K; of attention the keys, N.
KnobId schedule_walked(const Schedule *schedule);
// The same kernel on another problem, m rows and n columns, and `walked` elements along the axis
// above. Of attention, whose head dimension is a part of the kernel, that is m queries and `walked`
// keys, at least as many as queries where it is causal; n is not asked.
void schedule_resize(Schedule *schedule, int64_t m, int64_t n, int64_t walked);
// The same for extents of M, N and K as a user says them: the keys of attention are N.
void schedule_resize_mnk(Schedule *schedule, const int extent[3]);

// Slabs of one split.
int64_t schedule_slabs(const Schedule *schedule);
// Slabs in the ring, 1 where there is none.
int64_t schedule_ring_slots(const Schedule *schedule);
// The number of slabs that show all that a ring can do wrong: each slot is used again, and with
// mbarriers once more, for only then does a phase bit come back.
int64_t schedule_slabs_to_see(const Schedule *schedule);

// `schedule` with M, N and K cut down until the grid takes at most `work_max` work, keeping
// what makes the program what it is: the remainder of each extent by its tile (so that every edge
// and every wide access stays), two tiles each way, more of them down M where blocks walk in
// groups, and schedule_slabs_to_see() in every split. Tiles are given up before slabs, and for
// slabs one tile may cost REDUCE_FOR_SLABS times the limit. Extents that are small already stay. A
// tile that is larger than the limit by itself is kept. The result is legal when `schedule` is.
Schedule schedule_reduce(Arena *scratch, const TargetTable *targets, const Schedule *schedule,
                         double work_max);

// `schedule` with one tile of C for each block of a cluster, and the edges. Every slab stays, so it
// takes the same number of turns as block 0 of the whole problem takes for its first tile.
Schedule schedule_one_tile(const Schedule *schedule);

// Fewer slabs for each tile, with which its ring ends at the same slot and in the same phase: about
// half of them. The same schedule where there are too few for that.
Schedule schedule_half_the_slabs(const Schedule *schedule);

// Tiles of C that a cluster, or a block by itself, needs one after the other to show all that a
// persistent one can do wrong between them: one for each set of sums, and another that takes the
// first set again. 1 where blocks are not persistent.
int64_t schedule_turns_to_see(const Schedule *schedule);
// The most that there are, with a single cluster at work.
int64_t schedule_turns(const Schedule *schedule);

// schedule_reduce(), but with more tiles: where that leaves a persistent schedule fewer tiles than
// schedule_turns_to_see(), it is cut down to a row of that many, or a column, which may cost
// REDUCE_FOR_TURNS times the limit.
Schedule schedule_reduce_turns(Arena *scratch, const TargetTable *targets, const Schedule *schedule,
                               double work_max);
// The same with `turns` tiles, at most all that there are.
Schedule schedule_reduce_to_turns(Arena *scratch, const TargetTable *targets,
                                  const Schedule *schedule, int64_t turns, double work_max);
