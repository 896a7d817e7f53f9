// A cubin, or a library that has some, as a module of machine code.
#pragma once
#include "cli/open/open_request.h"
#include "ptx/module/ptx_module.h"

// Whether these bytes are a cubin.
bool open_is_cubin(const void *bytes, size_t n);
// The kernel that is asked for, or the only one; or all of them, without code. NULL after a
// finding.
const PtxModule *open_cubin(Arena *arena, const OpenRequest *request, const void *bytes, size_t n,
                            bool kernels_only, Diags *diags);
