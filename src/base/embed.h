// The files below data/: part of the program, and replaceable from a folder.
//
// Paths are relative to data/: "gpus.json", "ladders/fp32.json". When the environment variable
// GEMMVIEW_DATA names a folder, a file of that path in it stands in for the embedded one, and files
// that only the folder has are listed too. If the variable is unset nothing touches the disk.
#pragma once
#include <stddef.h>

#include "base/arena.h"

typedef struct EmbeddedFile {
  const char *path;
  const char *text;  // `size` bytes and a NUL that does not count
  size_t size;
} EmbeddedFile;

// NULL when neither the folder nor the program has it. A path that leaves the folder ("..", a
// leading "/") is never looked for on the disk.
const EmbeddedFile *embed_find(Arena *arena, const char *path);

typedef struct EmbeddedList {
  const char **paths;
  int count;
} EmbeddedList;

// The paths that start with `prefix` ("ladders/"), sorted.
EmbeddedList embed_list(Arena *arena, const char *prefix);

// All of them, sorted by path; the generated file defines these.
extern const EmbeddedFile embed_table[];
extern const int embed_table_count;
