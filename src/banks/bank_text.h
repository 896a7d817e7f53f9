// The punch card of one access as plain text, and its numbers in words.
//
//      bank   0       8       16      24     31
//             |       |       |       |       |
//   h1    1   0011223344556677889 …             one row: one wavefront; a cell: the lane served
//         2   …
//
// Lanes are written 0-9 a-v; a word shared by several lanes shows the lowest, with their number on
// the line below (2-9 a-w). Phases are w1 (whole warp), h1 h2 (half-warps), q1 … (quarter-warps) or
// m1 … (matrices).
#pragma once
#include <stdbool.h>

#include "banks/bank.h"
#include "base/str.h"

char bank_text_lane(int lane);                        // 0-9 a-v
char bank_text_sharers(uint32_t lanes);               // 2-9 a-w, blank for one lane or none
char bank_text_phase(const BankMap *map, int phase);  // 'w' 'h' 'q' 'm'
void bank_text_lanes(Str *out, uint32_t lanes);       // "0-3 8 16-31"

void bank_text_card(Str *out, const BankMap *map, bool ascii);
void bank_text_numbers(Str *out, const BankMap *map);
// Which words collide in the worst bank of the worst phase and who asks for them; nothing when
// there is no conflict.
void bank_text_worst(Str *out, const BankMap *map);
