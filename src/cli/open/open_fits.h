// Whether the GPU that a kernel was compiled for can launch it.
#pragma once
#include "cli/open/open_result.h"

// Sets OpenResult.misfit to the sentence, where it cannot: shared memory, threads or registers are
// beyond its limits.
void open_check_fit(OpenResult *r);
