// This program run again with other arguments, and what it printed: for commands that are a door to
// others (diff, mcp).
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

enum { SELF_ARGS_MAX = 256, SELF_OUTPUT_MAX = 16 << 20 };

typedef struct SelfRun {
  int status;  // an exit status of cli.h; CLI_TIMEOUT where it was ended at its deadline
  char *out, *err;
  size_t n_out;
  bool cut;  // it printed more than SELF_OUTPUT_MAX bytes, and was ended
} SelfRun;

// argv[0 … n): what stands behind "gemmview". stdin is empty.
SelfRun self_run(Arena *arena, int n, const char *const *argv, int seconds);
