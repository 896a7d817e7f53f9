// The launches of a recorded program, in a file that every process of it has in memory: the command
// reads it when the program has ended, however it ended.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define SEEN_MAGIC UINT64_C(0x32306e6565734d47)
enum { SEEN_ROWS = 4096, SEEN_NAME = 488, SEEN_NOTE = 200, SEEN_WRITERS = 64 };

typedef struct SeenRow {
  uint32_t taken;  // 1: the rest of the row may be read
  int32_t grid[3], block[3], cluster[3];
  int32_t smem;
  uint32_t has_ptx;
  uint64_t hash;
  uint64_t count;
  uint64_t first;  // launches of this kernel in other ways before its first one
  uint64_t timed;  // how many the GPU was timed at
  double ms;       // of these, together
  char name[SEEN_NAME];
  char note[SEEN_NOTE];  // why the kernel was not run, or not kept
} SeenRow;

typedef struct SeenTable {
  uint64_t magic;
  uint64_t launches;             // all, those for which there was no row included
  uint64_t matched;              // by --kernel
  uint32_t written;              // capsules, one of a process at most
  int32_t writer[SEEN_WRITERS];  // the processes that wrote the first of them
  uint32_t by_gpu;               // a real driver was behind
  uint32_t loaded;               // processes that had the driver
  uint32_t missed;               // a runtime in the program that could not be reached
  char failed[512];              // why the capsule could not be written
  SeenRow rows[SEEN_ROWS];
} SeenTable;
