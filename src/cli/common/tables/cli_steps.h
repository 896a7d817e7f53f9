// How a schedule reads fragments: what one iteration of k_o issues, and the orders in which a
// slab's fragments could be read instead, with the computations that each makes of one transfer.
#pragma once
#include "base/json.h"
#include "model/readings/model.h"

void cli_print_steps(Arena *arena, const Model *model);
// Members "fragments", "steps" and "strategies" of an object that is open.
void cli_put_steps(JsonWriter *writer, Arena *arena, const Model *model);
