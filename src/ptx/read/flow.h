// The ways through a function: basic blocks, and where the ways behind a branch meet again.
#pragma once
#include "ptx/module/ptx_module.h"

// Sets `first` and `rejoin` of every instruction.
void ptx_flow(Arena *arena, PtxModule *module);
