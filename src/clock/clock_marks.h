// Which FFMA of a code read one register bank more often than they have clocks for, and what that
// costs one pass over the code.
//
// A neighbour may leave free what one FFMA wants too much: reads may come up to three clocks
// late. So one that reads a bank twice costs a clock at most, and nothing where its neighbours
// leave that bank free.
//
//   FFMA R1, R2.reuse, R4, R7     a mark: the even bank has to give R2 and R4
//   FFMA R3, R2, R8, R11          spared: R2 comes from the cache of its slot
//   FFMA R5, R2, R9, R12          none of both: R2 and R12, from the even bank, are two again
#pragma once
#include "base/arena.h"
#include "clock/clock_banks.h"

typedef enum ClockBankMark {
  BANK_MARK_NONE,      // no FFMA, or no more registers of one bank than it has clocks
  BANK_MARK_SPARED,    // more of them, but for one or more that are reused
  BANK_MARK_CONFLICT,  // more reads of one bank than it has clocks: a clock more, or a neighbour's
} ClockBankMark;

// Two registers of one bank that no cache gives.
typedef struct ClockBankPair {
  int one, other;
} ClockBankPair;

typedef struct ClockMarks {
  int clocks;                 // of an FFMA of one warp, and so reads of each bank that cost nothing
  const ClockBankMark *mark;  // of each instruction
  const ClockBankPair *pair;  // of each that is marked as a conflict
  int n_ffma, n_conflicts, n_spared;
  int n_reused;             // operands of FFMA that come from a cache
  int n_read[CLOCK_BANKS];  // registers that the even and the odd bank give to FFMA
  // Clocks lost in one pass over the code: with reads as late as they may be, and with none late.
  int lost_least, lost_most;
} ClockMarks;

// `forgets`: for each instruction, whether the one before it is unknown; NULL: the targets of
// branches.
ClockMarks clock_marks(Arena *arena, const SassCode *code, const bool *forgets, int clocks);
