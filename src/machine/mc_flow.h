// Which registers an instruction of machine code writes that nobody reads, along any way through
// the code, and which it reads that nobody has written. Compilers leave neither, but for a stack
// pointer and halves of pairs: an instruction with a wrong register leaves one or the other.
//
//   McFlow flow = mc_flow(arena, code, n);
//   flow.is_dead[pc]           all that it writes is lost
//   flow.lost_to[pc]           the instruction that takes the place of what it wrote; MC_NOWHERE
//   flow.is_unwritten[pc]      it reads a register that no instruction before it writes
#pragma once
#include "machine/mc_code.h"

enum { MC_NOWHERE = -1 };

typedef struct McFlow {
  const bool *is_dead, *is_unwritten;
  const int *lost_to;
  const struct McFlowNode *node;   // mc_flow.c's own
  const struct McFlowSet *behind;  // what is read behind each instruction
} McFlow;

McFlow mc_flow(Arena *arena, const PtxInst *code, int n);
// Whether a register is read behind an instruction, before anybody writes it.
bool mc_flow_is_read(const McFlow *flow, int pc, PtxArg reg);
// Whether one of so many instructions in front of it, as they stand, writes the register.
bool mc_flow_is_written(const McFlow *flow, int pc, int n, PtxArg reg);

// Registers and predicates (MC_FRAME_T and a predicate's number) that an instruction reads or
// writes, as places of the frame; their number.
enum { MC_FLOW_SOURCES = 64 };
int mc_flow_reads(const PtxInst *inst, PtxArg out[MC_FLOW_SOURCES]);
int mc_flow_writes(const PtxInst *inst, PtxArg out[MC_FLOW_SOURCES]);

// Whether it reads or writes registers that its operands do not tell: a product of a warp group.
bool mc_flow_is_untold(const PtxInst *inst);
bool mc_writes_register(const McStep *step, PtxArg reg);
// The last instruction in front of a place that writes a predicate that is never read; -1: none.
int mc_dead_predicate(const PtxInst *code, int n_code, int pc);
