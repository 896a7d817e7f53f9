// How like an instruction is to others of a kernel. Compilers write the code of a loop, or of an
// address, several times with the same registers and numbers: of two changes that make memory right
// the one that leaves an instruction likest to others is the likelier.
//
//   IADD3 R34, R22, UR4, RZ       IMAD R27, R27, UR7, R50     should the second one read R34, or
//   IADD3 R34, R22, UR6, RZ       IMAD R27, R27, UR8, R34     the first one write R50?
#pragma once
#include "ptx/module/ptx_module.h"

// Other registers that an instruction reads or writes, the first one as a place of the frame, a
// predicate behind MC_FRAME_T.
typedef struct McSwap {
  bool writes;
  PtxArg was, is;
  int n;
} McSwap;

// Operands that an instruction, with the swap if there is one, has in common with the likest of the
// others of its operation, its guard among them; `pc`: its own place.
int mc_likeness(const PtxModule *module, int pc, const PtxInst *inst, const McSwap *swap);

// Whether another instruction of its operation has the same modifiers.
bool mc_has_usual_words(const PtxModule *module, int pc, const PtxInst *inst);
// Numbers of an instruction that no other one has: sizes, steps and masks come several times.
int mc_lone_numbers(const PtxModule *module, int pc, const PtxInst *inst);
// Whether it has a number that no other one has, but for one bit far above all others: 0x1000020
// beside 0x20.
bool mc_has_odd_number(const PtxModule *module, int pc);
