// The ladders that the program brings along, and parts of them.
#pragma once
#include "model/words/ladder.h"

// By name; NULL after a finding with the nearest one.
const Ladder *cli_ladder(Arena *arena, const char *name, Diags *diags);
// All of them, NULL-terminated; NULL after findings.
const Ladder *const *cli_ladders(Arena *arena, Diags *diags);

// "padded,fragments,7" or NULL for all: sets chosen[rung] of the ladder. False after findings.
bool cli_choose_rungs(const Ladder *ladder, const char *list, bool *chosen, Diags *diags);
