// One kernel of a PTX text on arrays of 32-bit numbers, for tests of the machine.
#pragma once
#include "ptx/run/machine.h"
#include "ptx/tally/tally.h"

enum { PTX_KERNEL_WORDS = 1024 };

// Numbers that differ in each bit, for the first argument.
void ptx_kernel_numbers(uint32_t in[PTX_KERNEL_WORDS]);

typedef struct PtxKernel {
  PtxModule *module;
  PtxMachine *machine;
  PtxOutcome outcome;
  PtxTally *tally;
  const uint32_t *out;  // what its second argument points to
  uint64_t out_address;
} PtxKernel;

// Runs kernel(const uint32_t in[1024], uint32_t out[1024]) in one block; `name` NULL: the only one.
PtxKernel ptx_kernel_run(Arena *arena, const char *ptx, const char *name, int threads,
                         const uint32_t *in);
// The text of a kernel k(in, out) with this body: in's address is in %in, out's in %out, the thread
// in %t, four times it in %t4; out[t] is [%o], in[t] is [%i]. There are %r, %rd, %f, %fd, %h, %p
// registers from 0 to 31.
const char *ptx_kernel_text(Arena *arena, const char *body);
// "%a0, %a1, …": so many registers of a prefix, as an operand lists them.
const char *ptx_kernel_registers(Arena *arena, const char *prefix, int n);
// Loads them: register r of lane l is word at + 32 · r + l of in.
const char *ptx_kernel_loads(Arena *arena, const char *prefix, int n, int at);
// The first finding of this kind; NULL.
const PtxFinding *ptx_kernel_finding(const PtxKernel *kernel, PtxFindingKind kind);
