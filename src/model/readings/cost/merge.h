// Predicts which neighbouring accesses of a thread the assembler merges into wider ones.
#pragma once
#include "model/readings/derive.h"

// How far it is to be believed: of MERGE_COUNTED random schedules whose wavefronts an H200 counted,
// LDS, STS and LDSM together, MERGE_RIGHT came out within 0.5 % (NVRTC 13.0, sm_90a;
// tests/unit/test_counted.c counts them again). With the machine code's own widths 98 % and more
// do.
enum { MERGE_RIGHT = 207, MERGE_COUNTED = 246 };

// All widths of those sites of `written` that lie inside of k_o and whose accesses are merged.
MachineAccesses merge_predict(Arena *arena, const Program *program, const Sites *written);
