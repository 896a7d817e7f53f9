// Tells what the host side of an exported block-scaled product has of its own: factors, and
// elements of which two may share a byte.
#pragma once
#include "base/str.h"
#include "model/ir/names.h"

// typedefs, element(), number() of factors and results, set() of operands, and what fills factors.
void export_scaled_types(Str *out, const Problem *problem);
// Where a factor lies, and the kernel that checks cells.
const char *export_scaled_check(Arena *arena, const Problem *problem);
// Operands and factors are allocated and filled, C is left unwritten.
const char *export_scaled_fill(Arena *arena, const Problem *problem);
