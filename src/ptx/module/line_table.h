// The line tables of a cubin: from addresses of machine code to source lines and to PTX lines.
//
// ptxas -lineinfo writes two of them, in the format of DWARF: .debug_line has the user's source,
// .nv_debug_line_sass the lines of the PTX text.
#pragma once
#include <stdint.h>

#include "base/arena.h"

typedef struct LineRow {
  uint64_t address;  // from the kernel's start
  const char *file;
  int line;
} LineRow;

// Why a table has no rows.
typedef enum LineLack {
  LINES_FOUND,
  LINES_NO_SECTION,
  LINES_OF_ANOTHER_FORMAT,  // not DWARF 2, 3 or 4
  LINES_OF_OTHERS           // no sequence is relocated to this kernel
} LineLack;

typedef struct LineTable {
  LineRow *rows;  // in the order of the table; several may have one address
  int n;
  LineLack lack;
} LineTable;

// Rows of one kernel out of the section of this name.
LineTable line_table_read(Arena *arena, const void *cubin, size_t bytes, const char *section,
                          const char *kernel);
// "has no table of lines": the end of a sentence about the machine code.
const char *line_table_lack(const LineTable *table);
// The row that an instruction belongs to: the first of those with its address, else the last one
// before it; NULL. The first one is what the profiler charges: where a function was inlined, the
// row of the call may stand before the function's own.
const LineRow *line_table_find(const LineTable *table, uint64_t address);
