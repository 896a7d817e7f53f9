// A kernel of a cubin as a module that runs: nvdisasm prints its instructions, machine/mc_module.h
// reads them.
#pragma once
#include "machine/mc_module.h"

// The instructions of the kernel, in the order of their addresses. NULL after a finding of rule
// "machine": there is no nvdisasm, or it failed.
const McListing *code_listing(Arena *arena, const McCubin *cubin, const McKernel *kernel,
                              const char *what, int *n, Diags *diags);
// NULL after a finding.
const PtxModule *code_module(Arena *arena, const McCubin *cubin, const McKernel *kernel,
                             const char *what, Diags *diags);
