// The share of the blocks' requests that L2 answers: the blocks' order replayed against its size.
//
//   L2Replay replay = l2_replay(scratch, grid);      replay.hit: 0.67 in rows, 0.93 in groups of 8
#pragma once
#include "model/readings/place/grid.h"

enum { L2_REPLAY_CTAS = 8192 };  // of more, at least two waves are replayed and stand for the rest

// The share that L2 does not hold of the panels that waves read, each counted once a wave: of the
// first wave, and of those behind it. Blocks that read a panel side by side all wait for DRAM where
// one of them does.
typedef struct L2Missed {
  double first, later;
} L2Missed;

// Estimated. Bytes are of panels of A and B, of the whole grid; what is written is not among them,
// but takes room.
typedef struct L2Replay {
  double asked_bytes, missed_bytes;
  double hit;      // 0 … 1, by bytes
  L2Missed empty;  // where L2 has nothing at the launch
  L2Missed again;  // where the same kernel has just run
} L2Replay;

L2Replay l2_replay(Arena *scratch, const Grid *grid);
