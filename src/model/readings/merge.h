// What the assembler is expected to make of neighbouring accesses of a thread: wider ones.
#pragma once
#include "model/readings/derive.h"

// Of the sites of `written` that lie inside of k_o and whose accesses are merged, all widths.
MachineAccesses merge_predict(Arena *arena, const Program *program, const Sites *written);
