// Operands and addresses → the first register of each → whether all are even, or all odd.
#include "machine/mc_banks.h"

#include <string.h>

#include "machine/mc_code.h"

enum { BANKS = 2, READ_AT_ONCE = 3, SOME = MC_OPERANDS_MAX + MC_TEMPORARIES };

typedef struct Read {
  int n;
  PtxArg of[SOME];
} Read;

static void add(Read *read, PtxArg reg, const McSwap *swap) {
  if (reg < MC_FRAME_R || reg >= MC_FRAME_R + MC_RZ) return;
  if (swap && !swap->writes && reg >= swap->was && reg < swap->was + swap->n)
    reg += swap->is - swap->was;
  for (int i = 0; i < read->n; i++)
    if (read->of[i] == reg) return;
  read->of[read->n++] = reg;
}

bool mc_meets_in_bank(const PtxInst *inst, const McSwap *swap) {
  const McStep *step = inst->machine;
  Read read = {0};
  bool has_choice = false;  // pairs and fours begin at even ones
  for (int i = 0; step && i < step->n; i++) {
    const McOperand *o = &step->operands[i];
    if (!o->present || !o->n || strchr("dpeqbixvj", o->letter) || strchr("atkoc", o->letter))
      continue;
    add(&read, o->arg[0], swap);
    has_choice |= o->n == 1;
  }
  for (int g = 0; step && g < step->n_gathers; g++) {
    add(&read, step->gathers[g].low, swap);
    has_choice |= step->gathers[g].low != step->gathers[g].high - 1;
  }
  if (!has_choice || read.n < BANKS || read.n > READ_AT_ONCE) return false;
  for (int i = 1; i < read.n; i++)
    if ((read.of[i] ^ read.of[0]) % BANKS) return false;
  return true;
}
