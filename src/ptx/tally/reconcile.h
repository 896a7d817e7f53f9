// The machine code's word on accesses to shared memory: how wide, and charged to which line.
#pragma once
#include "ptx/module/line_table.h"
#include "ptx/tally/tally.h"

// One instruction of the kernel's machine code.
typedef struct MachineInst {
  uint64_t address;
  const char *opcode;  // "LDS.128"
} MachineInst;

// Holds the predicted widths against the machine code and takes over what differs, and the lines
// that it charges. False with a sentence in *why where the two cannot be brought together; the
// prediction stays then.
bool ptx_reconcile(Arena *arena, const PtxModule *module, const PtxFunction *kernel,
                   PtxTally *tally, const MachineInst *code, int n, const LineTable *source,
                   const LineTable *ptx, const char **why);
