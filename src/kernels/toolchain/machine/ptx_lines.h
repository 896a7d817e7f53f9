// PTX text, line by line, with the line of the CUDA text each instruction comes from.
#pragma once
#include <stddef.h>

#include "base/arena.h"

typedef struct PtxLine {
  const char *text;    // sanitised, tabs as blanks; directives about lines and debug data left out
  const char *opcode;  // "ld.shared.v4.f32" with its modifiers; NULL for anything else
  int cuda_line;       // counted from 1; inlined code counts for its call; −1 = not known
} PtxLine;

typedef struct PtxCount {
  const char *opcode;
  int count;
} PtxCount;

typedef struct PtxListing {
  int n_lines;
  const PtxLine *lines;
  int n_counts;  // most frequent first
  const PtxCount *counts;
} PtxListing;

// Never NULL; a text that is no PTX gives lines without opcodes.
const PtxListing *ptx_read(Arena *arena, const char *ptx);
// For lines that are known; fills in their opcodes.
const PtxListing *ptx_list(Arena *arena, PtxLine *lines, int n);
