// Runs a tool of the toolkit on some bytes: no shell, a deadline, a limit on its memory, and an end
// when gemmview ends, however that is.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

typedef struct ToolResult {
  bool ok;             // it ended by itself with status 0
  bool limited;        // it was ended at its deadline, or was refused memory
  const char *error;   // a sentence; NULL when ok
  const char *output;  // its stdout and stderr, terminated; may be cut at 64 MiB
} ToolResult;

// argv[0] is the path of the tool; the argument "INPUT" is replaced by a path under which the tool
// reads the bytes. `folder`, or NULL, is one of tool_folder(): the tool has its temporary files in
// it.
ToolResult tool_run(Arena *arena, const char *const *argv, const void *input, size_t bytes,
                    const char *folder, double deadline_s);

// A new folder below the one for temporary files; NULL with errno. tool_folder_remove()
// (tool_keeper.h) takes it away again.
const char *tool_folder(Arena *arena);
// So much of this machine's memory a tool may use.
size_t tool_memory_bytes(void);
