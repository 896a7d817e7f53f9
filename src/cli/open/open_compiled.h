// The machine code that the assembler makes of a kernel, if ptxas and nvdisasm are at hand.
#pragma once
#include "cli/open/open_report.h"

// True: the tally's widths and lines are those of the machine code, which goes into result->sass.
// False: they are predicted, and result->why_not says why.
bool open_reconcile(OpenResult *result, PtxTally *tally);
// The machine code of the kernel: of a capsule as it was launched, of a text as ptxas makes it.
// NULL with a sentence in *why.
const char *open_machine_code(const OpenResult *result, size_t *bytes, const char **why);
// The text, or one kernel of it (NULL: all), as ptxas makes machine code of it for that
// architecture; NULL with a sentence in *why.
const char *open_assemble(Arena *arena, const char *ptxas, const OpenText *text, const char *kernel,
                          const char *target, size_t *bytes, const char **why);
