// Listings of machine code of a few lines, as a test writes them down.
#pragma once
#include "kernels/toolchain/machine/sass.h"

// "FFMA R1, R2, R4, R6; .L_x_1; |NOP": lines end with ";", one that begins with "." is a label, and
// "|" begins another kernel. Instruction i stands at 16 · i, labels counted too.
const SassResult *sass_listing(Arena *arena, const char *text);
