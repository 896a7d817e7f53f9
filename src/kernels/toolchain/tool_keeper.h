// The process that stands between gemmview and a tool: it ends the tool, whatever that has started
// and its folder, however gemmview itself ends.
#pragma once
#include <stddef.h>
#include <sys/types.h>

typedef struct KeptTool {
  char *const *argv, *const *environment;  // as of execve
  int input, output;                       // files that it finds as 3, and as 1 and 2
  size_t memory_bytes, output_bytes;       // limits on its address space and on each file it writes
  const char *folder;                      // removed if the parent is gone; NULL: none
  pid_t parent;                            // who forked
} KeptTool;

// For the child of a fork: runs the tool and ends as it ends, with its status or by its signal.
// SIGTERM, and the death of the thread that forked, end all of it.
_Noreturn void tool_keep(const KeptTool *tool);
// Removes a folder and the files in it.
void tool_folder_remove(const char *folder);
