// --against machine: the PTX and its machine code run side by side, and the first word of memory
// that differs goes back to the instruction that made it.
#pragma once
#include "cli/open/open_run.h"

// CLI_OK: memory is equal; CLI_NO: it differs; else after findings. `result` has a kernel.
int open_against(const OpenRequest *request, OpenResult *result, Diags *diags);
