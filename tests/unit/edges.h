// Lists of instructions that are run at the edges of their operands, and what they give.
//
// A row of a list is a body. A row "a 1 2 3" says which values, of 64 bits each, lanes have as
// their operand a from here on: lane l has number l % 3 of them; of b it is the next one where a
// begins again; of c number l % n. Where 32 lanes do not hold every a beside every b, the body is
// run again for the next 32 pairs, where that is asked for. Rows that begin with # are told as they
// stand.
#pragma once
#include "base/str.h"

enum { EDGE_LANES = 32, EDGE_ROUNDS_MAX = 64 };

// Runs a body and appends what it gives. The arena is the body's own.
typedef void EdgeRun(Arena *arena, Str *out, const char *body,
                     const uint64_t operands[3][EDGE_LANES]);
// Every body of tests/data/`list`, at most so many times; the answers are compared with
// tests/golden/`golden`.
void edges_check(const char *list, const char *golden, int rounds, EdgeRun *run);
// The text of tests/data/`list`, which may be taken apart.
char *edges_read(Arena *arena, const char *list);
// Whether a body names this register: R1, but not R16.
bool edges_name(const char *body, const char *name);
// " NAME" and each lane's number of this many words, the lower one first in memory; `digits`: of
// one word, in base 16. One digit: all lanes behind each other.
void edges_tell(Str *out, const char *name, const uint32_t *words, int n, int digits);
