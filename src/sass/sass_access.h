// Instructions of machine code that move bytes of memory.
#pragma once
#include "sass/sass_code.h"

// Bits at which its registers stand: where LDGSTS writes, the address, what a store writes.
enum { SASS_COPY_TO_AT = 16, SASS_ADDRESS_AT = 24, SASS_DATA_AT = 32 };

// Whether it moves bytes of shared, global or local memory.
bool sass_accesses(const SassInst *inst);
// Whether it goes to the stack of its thread, where spilled values are: LDL and STL.
bool sass_is_local(const SassInst *inst);
