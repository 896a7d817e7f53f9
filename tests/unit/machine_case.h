// Kernels of cubins as modules, for tests of the runner of machine code.
#pragma once
#include "machine/mc_module.h"

// Files of tests/data/machine/open: machine code that ptxas 13.0 made of tests/data/open/ID.ptx for
// sm_90a, and what nvdisasm 13.0 prints of it. They are there where no toolkit is.
const PtxModule *machine_case_recorded(Arena *arena, const char *id);
// The same, of the cubin and the listing as they are given; NULL after a finding.
const PtxModule *machine_case_read(Arena *arena, const void *cubin, size_t n, const char *listing,
                                   const char *kernel, Diags *diags);
struct SassResult;
const PtxModule *machine_case_listed(Arena *arena, const void *cubin, size_t n,
                                     const struct SassResult *sass, const char *kernel,
                                     Diags *diags);
// By nvdisasm; NULL: there is none.
const PtxModule *machine_case_module(Arena *arena, const void *cubin, size_t n, const char *kernel,
                                     Diags *diags);
// PTX through ptxas; NULL: there is no ptxas.
const char *machine_case_assemble(Arena *arena, const char *ptx, const char *target, size_t *n);
char *machine_case_file(Arena *arena, const char *id, const char *ending, size_t *n);
