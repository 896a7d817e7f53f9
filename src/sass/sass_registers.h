// Registers of a thread of a kernel, as its cubin says them.
#pragma once
#include <stddef.h>

#include "base/arena.h"

// 0: the cubin has no such kernel, or does not say.
int sass_registers(Arena *arena, const void *cubin, size_t bytes, const char *kernel);
