// Tells what the variables of a kernel are called in its text.
#pragma once
#include "model/ir/names.h"

// By variable id: the name of the nest wherever it is free, otherwise the name and a number.
const char **emit_names(Arena *arena, const Program *program, const Kernel *kernel);
