// Runs a tool of the toolkit on some bytes: no shell, no files, a deadline.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

typedef struct ToolResult {
  bool ok;             // it ended by itself with status 0
  const char *error;   // a sentence; NULL when ok
  const char *output;  // its stdout and stderr, terminated; may be cut at 64 MiB
} ToolResult;

// argv[0] is the path of the tool; the argument "INPUT" is replaced by a path under which the tool
// reads the bytes.
ToolResult tool_run(Arena *arena, const char *const *argv, const void *input, size_t bytes,
                    double deadline_s);
