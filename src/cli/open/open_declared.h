// Arrays in shared memory as the source declares them: "__shared__ float tile[32][BK + 1];".
#pragma once
#include "ptx/record/record.h"

// For the declarations of a CUDA text those whose extents are numbers, #define and const names with
// + - * /: rows of the last extent, elements of a type that is known. *n of them.
const PtxPitch *open_declared(Arena *arena, const char *cuda, int *n);
// "As:64", bytes; false after a finding of rule "slab".
bool open_read_slab(const char *text, PtxPitch *out, Arena *arena, Diags *diags);
