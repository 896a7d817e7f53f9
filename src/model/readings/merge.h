// Predicts which neighbouring accesses of a thread the assembler merges into wider ones.
#pragma once
#include "model/readings/derive.h"

// All widths of those sites of `written` that lie inside of k_o and whose accesses are merged.
MachineAccesses merge_predict(Arena *arena, const Program *program, const Sites *written);
