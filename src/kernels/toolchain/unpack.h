// The machine code or PTX of an entry of a fatbin (sass/fat_file.h), unpacked.
#pragma once
#include "base/arena.h"
#include "sass/fat_file.h"

typedef struct Unpacked {
  const unsigned char *at;  // NULL: *why is a sentence
  size_t bytes;             // of PTX without the filling behind its end
  const char *why;
} Unpacked;

// Points into the file where nothing is to be unpacked. Zstandard needs libzstd.so.1, which is
// opened when the first entry asks for it.
Unpacked unpack_entry(Arena *arena, const FatEntry *entry);
