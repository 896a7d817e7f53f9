// Files that are looked at for saves, by their time, size and number: an editor that writes a new
// file and renames it is seen too.
//
//   WatchList list = watch_new();
//   watch_set(&list, paths, n);            as they are now
//   if (watch_saved(&list)) …              once after every save
//   watch_free(&list);
#pragma once
#include <stdbool.h>
#include <sys/stat.h>

#include "base/arena.h"

typedef struct WatchedFile {
  const char *path;
  struct stat last;
} WatchedFile;

typedef struct WatchList {
  Arena *arena;
  WatchedFile *file;
  int n;
} WatchList;

WatchList watch_new(void);
void watch_free(WatchList *list);
// A file that was in the list already keeps what is known of it: a save meanwhile is not lost.
void watch_set(WatchList *list, const char *const *paths, int n);
// Whether a file is another one than last time. One that is gone or empty is being written: it is
// asked for again.
bool watch_saved(WatchList *list);
// "k.cu, tile.h and 3 more": the files by their last names.
const char *watch_text(Arena *arena, const WatchList *list);
