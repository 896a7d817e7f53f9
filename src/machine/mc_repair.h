// Whether one other register in one instruction makes machine code right: a proof of where it is
// wrong.
//
// Instructions that hold what no compiler leaves (mc_flow.h) are tried first, then those that the
// way back came by, then guards. Each trial runs the launch once more: the instruction's result
// goes to another register, a source comes from another one, or its guard is another one or the
// opposite.
//
//   IADD3 R4, R2, R3, RZ      R4 is never read         two repairs, one meaning: it should write
//   R5, STG [R6], R5              nobody wrote R5          or the store should read R4
#pragma once
#include "machine/mc_flow.h"

// Runs a module of machine code; whether it leaves the memory that the PTX leaves, without further
// findings. *lanes gets the
// lane instructions that it took.
typedef bool McLeaves(void *self, const PtxModule *module, int64_t *lanes);

typedef enum McRepairKind { MC_REPAIR_RESULT, MC_REPAIR_SOURCE, MC_REPAIR_GUARD } McRepairKind;

typedef struct McRepair {
  bool found, is_not;  // is_not: of a guard, the predicate negated
  McRepairKind kind;
  int pc, tried;
  int gain;   // how much liker to others it makes the instruction (mc_like.h)
  int or_pc;  // the instruction of which the same can be said: the reader, or the writer; -1
  bool or_is_as_likely;
  PtxArg was, is;  // places of the frame; of a predicate behind MC_FRAME_T
  int n;           // registers
} McRepair;

// Named: instructions with results that are lost, those of the hints, and all guards. The sweep
// goes over every instruction. By one bit: those named, with registers whose numbers differ in one.
typedef enum McRepairWhere {
  MC_REPAIR_ONE_BIT,
  MC_REPAIR_NAMED,
  MC_REPAIR_SWEEP,
  MC_REPAIR_ALL,
} McRepairWhere;

// `hints`: instructions that the way back names, -1 for none. `lanes`: lane instructions that all
// trials together may take.
McRepair mc_repair(Arena *arena, const PtxModule *module, McLeaves *leaves, void *self,
                   const int *hints, int n_hints, int64_t lanes, McRepairWhere where);
// "it should write R5, not R4"
const char *mc_repair_text(Arena *arena, const McRepair *repair);
