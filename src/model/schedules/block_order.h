// The same schedule with its blocks in another order.
#pragma once
#include "model/words/knob.h"

// Row order where blocks walk in groups, groups of 8 tiles down M where they go row by row; groups
// where clusters claim lists by place. Returns what was changed, as a state says it: "GROUP_M=1".
const char *block_order_toggle(Arena *arena, Schedule *schedule);
