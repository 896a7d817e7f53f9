// One run of gemmview open: a file becomes PTX, blocks run, what they did is put together.
#pragma once
#include "base/diag.h"
#include "cli/open/open_request.h"
#include "cli/open/open_result.h"

// The text and the kernel of a request; CLI_OK, or what the command ends with after findings.
// `kernel` stays NULL when only the module is wanted.
int open_read_kernel(Arena *arena, const OpenRequest *request, bool module_only, OpenResult *out,
                     Diags *diags);
// Runs it. What the request leaves out is taken from the last time (open_memory.h).
int open_run(const OpenRequest *request, OpenResult *out, Diags *diags);
