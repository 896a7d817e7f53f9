// The machine code that the assembler makes of a kernel, if ptxas and nvdisasm are at hand.
#pragma once
#include "cli/open/open_input.h"
#include "ptx/tally/tally.h"

// True: the tally's widths and lines are those of the machine code. False: they are predicted, and
// *why says why.
bool open_reconcile(Arena *arena, const OpenText *text, const PtxModule *module,
                    const PtxFunction *kernel, PtxTally *tally, const char **why);
