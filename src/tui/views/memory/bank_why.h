// Why an access to shared memory costs what it costs, in a sentence computed from its addresses,
// and which knob changes that.
#pragma once
#include "tui/session/session.h"

// "Lanes are 32 bytes apart: the 8 lanes of a quarter-warp use 16 of the 32 banks, each 2 times.";
// NULL: the access is not counted.
const char *bank_reason(Arena *arena, const BankMap *map, const int64_t addr[BANK_LANES]);
// "With CELL_GROUP 4 it takes 4 wavefronts.": the step of one knob that lowers it most, by the
// trials made so far; NULL: no lanes conflict, or no step lowers it.
const char *bank_remedy(Arena *arena, const Session *session, const Site *site);
// Both; NULL: the access is not counted.
const char *bank_says_in_brief(Arena *arena, const Session *session, const Site *site,
                               const BankMap *map);
// Both, and the lanes that meet in a bank; NULL: the access is not counted.
const char *bank_says(Arena *arena, const Session *session, const Site *site, const BankMap *map);
