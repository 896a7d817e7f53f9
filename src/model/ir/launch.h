// How a kernel is launched: its grid, clusters and threads.
#pragma once
#include "model/ir/names.h"

// How a kernel's hardware loops are digits of the hardware indices:
//   var = (index / stride) % extent, index = blockIdx.x or threadIdx.x.
typedef struct HardwareDigit {
  Var *var;
  int64_t stride;
} HardwareDigit;

// Digits of the tier CLUSTER are the least significant ones of a block's, so that the blocks of a
// cluster are neighbours, and index % cluster is a block's rank in it.
typedef struct Launch {
  int n_block_digits, n_thread_digits;
  HardwareDigit block[DIGITS_MAX], thread[DIGITS_MAX];
  int64_t n_blocks;   // grid size; of a persistent kernel its tiles, the most blocks that have work
  int64_t cluster;    // blocks of a cluster; 1: there are none
  int64_t n_threads;  // of the digits: those that multiply
  int64_t block_threads;  // block size, with the producers, which stand behind the others
  const Stmt *body;  // the first statement below the hardware loops, LETs between them excluded
  int n_lets;        // LETs that stand between the hardware loops, outermost first
  const Stmt *let[DIGITS_MAX];
  const Stmt *tiles;  // the loop over tiles of a persistent kernel, its first; else NULL
} Launch;

Launch kernel_launch(const Kernel *kernel);
// Warps of a block, those that multiply and all; the last may have idle lanes.
int launch_warps(const Launch *launch);
int launch_block_warps(const Launch *launch);
