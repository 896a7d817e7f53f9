// The cost of a kernel's accesses to memory, instruction by instruction, from the addresses that
// its lanes ask for: wavefronts of shared memory, lines and sectors of global memory. The code that
// follows a warp through machine code tells the addresses: sass/sass_run.h, which computes them, or
// a run on the CPU (run_ways.h).
//
//   LDS.128, lanes 16 bytes apart        4 wavefronts
//   LDG.E, lanes 4 bytes apart           1 line, 128 bytes from L2; 0 bytes where another warp of
//   the
//                                        block has asked for them before
#pragma once
#include "sass/sass_run.h"

// Pieces of memory that were asked for; nothing is forgotten.
typedef struct AccessSeen {
  int n;
  uint64_t *key;
} AccessSeen;

// Each array has a number for each instruction: a sum while accesses are told, a mean behind
// access_costs_finish(). Shares are of executions, from 0 to 1.
typedef struct AccessCosts {
  const SassCode *code;
  double *wavefronts;   // of shared memory
  double *lines;        // of 128 bytes, asked for in L1
  double *far_bytes;    // from or to L2
  double *far_share;    // that wait for L2
  double *first_share;  // of those, that bring what no warp of the block asked for before
  double *new_share;    // that ask for what the warp never asked for before
  double local_share;   // of loads of spilled values, that wait for L2; set before the finish
  int *n;               // executions that were told
  AccessSeen l1, l2;
} AccessCosts;

AccessCosts access_costs_new(Arena *arena, const SassCode *code);
SassAccess access_costs_note;  // context: the AccessCosts
// An access of which no address was told has the wavefronts, or lines, that its bytes need.
void access_costs_finish(AccessCosts *costs);

// A copy of a box by TMA.
bool access_is_box(const SassInst *inst);
