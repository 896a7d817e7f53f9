// The punch card of one access as plain text, and its numbers in words.
//
//      bank   0       8       16      24     31
//             |       |       |       |       |
//   h1    1   0011223344556677889 …             one row: one wavefront; a cell: the lane served
//         2   …
//
// Lanes are written 0-9 a-v; a word shared by several lanes shows the lowest, and the line below it
// the number of the others: "+3──". Phases are w1 (whole warp), h1 h2 (half-warps), q1 …
// (quarter-warps) or m1 … (matrices).
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "banks/engine/bank.h"
#include "base/str.h"

char bank_text_lane(int lane);  // 0-9 a-v
// Numbers of 32 columns, one cell each, so that none can be read as a lane: a run of equal ones is
// written once behind its mark, "×8──", over idle columns where it needs them, or else is the mark
// alone. Cells that stay "" are idle.
typedef char BankCells[BANK_COUNT][4];
typedef enum BankMark { BANK_TIMES, BANK_MORE } BankMark;  // × (ASCII x) and +
void bank_text_runs(const uint8_t number[BANK_COUNT], BankMark mark, bool ascii, BankCells out);
// Counts for each bank the lanes that share the word it serves with the one that is shown.
void bank_text_sharers(const BankRow *row, uint8_t more[BANK_COUNT]);
char bank_text_phase(const BankMap *map, int phase);  // 'w' 'h' 'q' 'm'
void bank_text_lanes(Str *out, uint32_t lanes);       // "0-3 8 16-31"

// Why a copy of 16 bytes past L1 has bounds instead of a count, in one sentence.
extern const char bank_text_past_l1[];
// "8 to 32", or "8" where both bounds are one: what the profiler counts of one access.
const char *bank_text_bounds(int least, int most, char out[32]);

void bank_text_card(Str *out, const BankMap *map, bool ascii);
void bank_text_numbers(Str *out, const BankMap *map);
// Says which words collide in the worst bank of the worst phase and which lanes ask for them; adds
// nothing when there is no conflict.
void bank_text_worst(Str *out, const BankMap *map);
