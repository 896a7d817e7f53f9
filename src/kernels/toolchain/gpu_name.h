// The name of the GPU at hand, without asking its driver's library: commands that only read a
// schedule are done in milliseconds, which that would take many times over.
#pragma once
#include "base/arena.h"

// "NVIDIA H200", "" for none: $GEMMVIEW_GPU where it is set, else the first that the kernel's
// driver lists.
const char *gpu_name_at_hand(Arena *arena);
