// Another assignment of registers under which fewer FFMA of a loop read one bank twice.
//
// Accumulators are exchanged by twos, an even one for an odd one, wherever more FFMA gain than
// lose. A register that the loop loads, stores or names in anything but an FFMA keeps its number:
// it may be one of several that an instruction names together.
//
//   FFMA R10, R4, 2, R10      the even bank gives R4 and R10
//   FFMA R13, R5, 2, R13      the odd bank gives R5 and R13
//   R10 with R13 exchanged: each of the two takes one register from each bank
#pragma once
#include "base/arena.h"
#include "clock/clock_marks.h"
#include "sass/sass_loops.h"

enum { CLOCK_EXCHANGES_MAX = 128, CLOCK_REGISTERS = 256 };

typedef struct ClockAssignment {
  int n;  // exchanges; 0: none is better
  ClockBankPair exchange[CLOCK_EXCHANGES_MAX];
  int moves;          // registers among them that the code outside names in wide instructions
  int before, after;  // FFMA of the loop that read a bank more often than they have clocks for
  SassCode code;      // with the exchanges made, all over the kernel
  short to[CLOCK_REGISTERS];  // the number that each register has then; 0 where none is exchanged
} ClockAssignment;

// `clocks`: of an FFMA of a warp (clock_marks.h).
ClockAssignment clock_assign(Arena *arena, const SassCode *code, const SassLoop *loop, int clocks);
// The number that a register has after the exchanges.
int clock_assigned(const ClockAssignment *assignment, int number);
// The first register that the instruction reads and that is exchanged, and what for; false: none
// is.
bool clock_assign_moves(const ClockAssignment *assignment, const SassInst *inst,
                        ClockBankPair *out);
