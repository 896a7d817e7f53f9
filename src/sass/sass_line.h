// A few instructions written in a line, for lessons and tests:
//
//   LDS(R8,R2):b0;15*FFMA(R20,R4.reuse,R9,RZ);FFMA(R21,R8,R9,RZ):w0:s4
//
// Items are parted by ';'. Each is an opcode with its operands in brackets, the destination first,
// and what its control word says: sN clocks to the next issue (1), wN waits for scoreboard N, bN
// has its result release scoreboard N. N* repeats an item. R4.reuse stays in the cache of its slot;
// an operand that is no register, such as RZ or 2, needs no bank. A load of shared memory has 16
// bytes for each lane.
#pragma once
#include "base/arena.h"
#include "sass/sass_code.h"

enum { SASS_LINE_MAX = 512 };  // instructions

// False after a sentence in `why`.
bool sass_line_read(Arena *arena, const char *text, SassCode *out, const char **why);
