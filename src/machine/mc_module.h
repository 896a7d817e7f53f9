// A kernel of a cubin as a module (mc_code.h): what `open k.cubin` runs.
#pragma once
#include "base/diag.h"
#include "machine/mc_cubin.h"
#include "ptx/module/line_table.h"
#include "ptx/module/ptx_module.h"

// The kernel's instructions as nvdisasm prints them, in the order of their addresses.
typedef struct McListing {
  int address;
  const char *text;
} McListing;

// All kernels are functions of the module; only this one has a body. An instruction that cannot be
// run stops the block that comes to it, by its name. NULL after a finding.
const PtxModule *mc_module(Arena *arena, const McCubin *cubin, const McKernel *kernel,
                           const McListing *lines, int n, const char *what, Diags *diags);
// Another word that may stand in the place of an instruction.
typedef struct McInPlace {
  int pc;
  const unsigned char *bytes;
  const char *text;
  bool branches;  // set by the reading: it cannot be put there, read the code with it instead
} McInPlace;

// The same with other words read at once: code[n_code + i], behind the end of the code, is what
// words[i] is in its place. The instruction that it takes the place of may not branch.
const PtxModule *mc_module_with(Arena *arena, const McCubin *cubin, const McKernel *kernel,
                                const McListing *lines, int n, McInPlace *words, int n_words,
                                const char *what, Diags *diags);
// Constants hold what the cubin's variables (McVariable.bytes) say now.
void mc_module_constants(const PtxModule *module, const McCubin *cubin);
// The kernels with their parameters alone: nothing of it runs.
const PtxModule *mc_kernels(Arena *arena, const McCubin *cubin, const char *what);
