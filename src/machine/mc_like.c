// Operation → other instructions with it → operands that are the same.
#include "machine/mc_like.h"

#include <string.h>

#include "machine/mc_code.h"

static PtxArg swapped(PtxArg reg, bool writes, const McSwap *swap) {
  return swap && swap->writes == writes && swap->was == reg ? swap->is : reg;
}

static bool is_same_change(const McOperand *a, const McOperand *b) {
  return a->keep == b->keep && a->flip == b->flip && a->add == b->add && a->negated == b->negated;
}

static int operands_alike(const McStep *a, const McStep *b, const McSwap *swap) {
  int n = 0;
  for (int i = 0; i < a->n && i < b->n; i++) {
    const McOperand *x = &a->operands[i], *y = &b->operands[i];
    if (!x->present || !y->present || x->letter != y->letter) continue;
    const bool writes = x->letter == 'd' || x->letter == 'p';
    const PtxArg first = x->letter == 'p' || x->letter == 'q' ? MC_FRAME_T : 0;
    n += swapped(x->arg[0] + first, writes, swap) == y->arg[0] + first && is_same_change(x, y);
  }
  return n;
}

static int gathers_alike(const McStep *a, const McStep *b, const McSwap *swap) {
  int n = 0;
  for (int i = 0; i < a->n_gathers && i < b->n_gathers; i++) {
    const McGather *x = &a->gathers[i], *y = &b->gathers[i];
    n += swapped(x->low, false, swap) == y->low;
    n += swapped(x->uniform, false, swap) == y->uniform;
    n += x->offset == y->offset;
  }
  return n;
}

int mc_likeness(const PtxModule *module, int pc, const PtxInst *inst, const McSwap *swap) {
  const McStep *step = inst->machine;
  int most = 0;
  for (int at = 0; at < module->n_code; at++) {
    const McStep *other = module->code[at].machine;
    if (at == pc || !step || !other || other->op != step->op) continue;
    const bool same_guard =
        module->code[at].guard == inst->guard && module->code[at].guard_not == inst->guard_not;
    const int n = operands_alike(step, other, swap) + gathers_alike(step, other, swap) + same_guard;
    if (n > most) most = n;
  }
  return most;
}

// ---- modifiers ----------------------------------------------------------------------------------

bool mc_has_usual_words(const PtxModule *module, int pc, const PtxInst *inst) {
  const McStep *step = inst->machine;
  for (int at = 0; at < module->n_code; at++) {
    const McStep *other = module->code[at].machine;
    if (at != pc && step && other && other->op == step->op &&
        memcmp(other->words, step->words, sizeof step->words) == 0)
      return true;
  }
  return false;
}

// ---- numbers ------------------------------------------------------------------------------------

// Offsets of addresses are numbers like others; places in a constant bank are not.
static bool is_number(const McOperand *o, bool in_bank) {
  if (!o->present || !o->read) return false;
  if (in_bank) return o->read->kind == MC_CONSTANT;
  return (o->read->kind == MC_NUMBER && !o->read->is_float) || o->read->kind == MC_ADDRESS;
}

static bool has_number(const PtxModule *module, int but, int64_t value, bool in_bank) {
  for (int pc = 0; pc < module->n_code; pc++) {
    const McStep *step = pc == but ? NULL : module->code[pc].machine;
    for (int i = 0; step && i < step->n; i++)
      if (is_number(&step->operands[i], in_bank) && step->operands[i].read->value == value)
        return true;
  }
  return false;
}

int mc_lone_numbers(const PtxModule *module, int pc, const PtxInst *inst) {
  const McStep *step = inst->machine;
  int n = 0;
  for (int i = 0; step && i < step->n; i++)
    for (int in_bank = 0; in_bank < 2; in_bank++)
      n += is_number(&step->operands[i], in_bank) &&
           !has_number(module, pc, step->operands[i].read->value, in_bank);
  return n;
}

bool mc_has_odd_number(const PtxModule *module, int pc) {
  enum { LOW = 16 };
  const McStep *step = module->code[pc].machine;
  for (int i = 0; step && i < step->n; i++) {
    if (!is_number(&step->operands[i], false)) continue;
    const int64_t value = step->operands[i].read->value, low = value & ((1 << LOW) - 1);
    const int64_t high = value - low;
    if (value > 0 && low && high && !(high & (high - 1)) && !has_number(module, pc, value, false) &&
        has_number(module, pc, low, false))
      return true;
  }
  return false;
}
