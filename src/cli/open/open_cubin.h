// A cubin, or a library that has some, as a module of machine code.
#pragma once
#include "capsule/capsule.h"
#include "cli/open/open_request.h"
#include "ptx/module/ptx_module.h"

// Whether these bytes are a cubin.
bool open_is_cubin(const void *bytes, size_t n);
// The kernel that is asked for, or the only one; or all of them, without code. `capsule`: its
// variables are those of the recorded program; NULL: as the cubin has them. NULL after a finding.
const PtxModule *open_cubin(Arena *arena, const OpenRequest *request, const Capsule *capsule,
                            const void *bytes, size_t n, bool kernels_only, Diags *diags);
