// cubin → SASS, by the toolkit's nvdisasm where there is one. The padding behind a kernel's last
// instruction is left out.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

typedef struct SassLine {
  const char *kernel;  // of which function
  const char *text;    // "@!P0 BRA 0x150", sanitised, without the address comment
  const char *opcode;  // "LDS.128", "FFMA": with its modifiers; NULL for a label
  int address;         // bytes from the kernel's start; −1 for a label
  int cuda_line;       // of the text; inlined code counts for its call; −1 = not known
  int live_registers;  // that hold a value here; −1 = not known
} SassLine;

typedef struct SassCount {
  const char *kernel, *opcode;
  int count;
} SassCount;

typedef struct SassResult {
  bool ok;
  const char *error;  // a sentence: no nvdisasm, deadline, not a cubin
  const char *tool;   // the path that was run
  int n_lines;
  const SassLine *lines;
  int n_counts;  // by kernel, most frequent first
  const SassCount *counts;
} SassResult;

// Searches $GEMMVIEW_NVDISASM, PATH and the toolkits dl.h knows; NULL when there is none.
const char *sass_find_tool(Arena *arena);
// Never NULL. Runs the tool as a child without a shell and ends it at the deadline.
// Live registers are not known yet: the tool prints them and source lines in one run each.
SassResult *sass_disassemble(Arena *arena, const void *cubin, size_t bytes, double deadline_s);
// The same of one kernel alone, by the index of its symbol; -1: of all.
SassResult *sass_disassemble_one(Arena *arena, const void *cubin, size_t bytes, int symbol,
                                 double deadline_s);
// The same of instructions alone, for a target as PTX names it, "sm_90a"; in the order that they
// stand in, with places of branches as numbers; those that are no instruction are left out.
SassResult *sass_disassemble_bytes(Arena *arena, const char *target, const void *code, size_t bytes,
                                   double deadline_s);
// Fills in the live registers of what was disassembled from the same cubin, by a second run of the
// tool, a third of a second for the smallest cubin; where that fails they stay unknown.
void sass_add_live(Arena *arena, SassResult *result, const void *cubin, size_t bytes,
                   double deadline_s);
// The tool's text alone, for tests and for stored listings.
SassResult *sass_parse(Arena *arena, const char *text);
// For instructions that are known; fills in their opcodes.
const SassResult *sass_list(Arena *arena, SassLine *lines, int n);
