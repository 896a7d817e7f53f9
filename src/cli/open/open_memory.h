// Launch and arguments of the last time, by file and kernel, in the user's state folder. The folder
// of the source is never written to.
#pragma once
#include "cli/open/open_request.h"

// Where they are kept; NULL: nowhere.
const char *open_memory_path(Arena *arena, const char *file, const char *entry);
void open_remember(Arena *arena, const char *path, const OpenRequest *given);
// Which of a file's kernels was run last; NULL: not known.
void open_remember_kernel(Arena *arena, const char *file, const char *entry);
const char *open_recall_kernel(Arena *arena, const char *file);
// Fills in what the request leaves out; true where something was.
bool open_recall(Arena *arena, const char *path, OpenRequest *given);
// "--launch grid=8x7,block=32x8 --arg mem:200000": what was filled in or given.
const char *open_launch_text(Arena *arena, const OpenRequest *given);
