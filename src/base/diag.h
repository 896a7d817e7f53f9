// The findings about the user's input: a list, each a sentence with its numbers.
//
// Nothing is printed here and nothing stops at the first finding: readers add to the list, the
// command line or the screen shows all of it. Worked example: BM=1000,BN=32 gives
//   threads_fit: BM=1000, BN=32: 32000 threads in a block, at most 1024 on h200; nearest: BM=32
#pragma once
#include <stdbool.h>

#include "base/arena.h"

typedef struct Diag {
  const char *rule;     // stable id: "threads_fit", "syntax", "unknown_knob", …
  const char *text;     // the sentence, without the nearest value
  const char *nearest;  // "BM=32": the smallest change that mends it; NULL when there is none
  struct Diag *next;
} Diag;

typedef struct Diags {
  Arena *arena;
  Diag *first, *last;
  int count;
} Diags;

Diags diags_new(Arena *arena);
Diag *diag_add(Diags *diags, const char *rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Copies the names in `nearest`, which may lie in memory that is about to be freed, into the list.
void diags_keep(Diags *diags);

// Adds the findings of another list, which may go afterwards.
void diags_add_all(Diags *diags, const Diags *from);

// "rule: text; nearest: BM=32", one line each, for stderr and the screen.
char *diags_text(Arena *arena, const Diags *diags);
