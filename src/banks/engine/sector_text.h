// The card of one access to global memory as plain text, its numbers in words, and both as data.
//
//      word   0       8       16      24     31
//             |       |       |       |       |
//        1    0.......1.......2.......3.......    row: one line of 128 bytes; a cell: the lane
#pragma once
#include "banks/engine/sector.h"
#include "base/form.h"
#include "base/json.h"
#include "base/str.h"

void sector_text_card(Str *out, const SectorMap *map, bool ascii);
void sector_text_numbers(Str *out, const SectorMap *map);
extern const Form sector_map_form;