// Is the program sound? Asked after every pass, and of every text that is read back.
#pragma once
#include "model/ir/names.h"

// Structural check; NULL when the program is sound, else a sentence. Shared and register accesses
// stay inside their buffers, register indices are known at compile time, vector accesses are
// aligned, barriers stand where all threads of the block reach them.
const char *program_check(Arena *arena, const Program *program);
