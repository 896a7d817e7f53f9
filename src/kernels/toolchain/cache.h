// Compilations that were done before: files under $XDG_CACHE_HOME/gemmview/compile.
//
// An entry is found by everything that decides it: the compiler, the flags (stage, architecture,
// kernel names) and the text. The whole key is stored and compared, so two texts never share an
// entry; a damaged file is a miss. Several processes may use the folder at once.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct CacheKey {
  const char *compiler, *flags, *text;
} CacheKey;

typedef struct CacheEntry {
  const char *json;           // the result, terminated
  const unsigned char *blob;  // the cubin; NULL when n_blob is 0
  size_t n_blob;
} CacheEntry;

enum { CACHE_MAX_MIB = 512 };

// Makes the folder if need be. NULL when there is no place to write to: compile without a cache.
const char *cache_folder(Arena *arena);

bool cache_load(Arena *arena, const char *folder, const CacheKey *key, CacheEntry *entry);
// False when it could not be written: nothing is left behind then.
bool cache_store(const char *folder, const CacheKey *key, const CacheEntry *entry);
// Removes the entries that were not used for longest until at most `max_bytes` remain.
void cache_trim(const char *folder, int64_t max_bytes);
