// The cost of a schedule as the model estimates it: where the clocks of a slab go, and every access
// to shared memory with its wavefronts, to global memory with its sectors. All of it is estimated;
// the printed words say so.
#pragma once
#include "model/readings/model.h"

void cli_print_traffic(Arena *arena, const Model *model);
void cli_print_sites(Arena *arena, const Model *model);
void cli_print_globals(Arena *arena, const Model *model);
