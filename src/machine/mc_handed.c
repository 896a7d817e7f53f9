// The two instructions with one register, and with the other → likeness, habits, control words →
// odds.
#include "machine/mc_handed.h"

#include <math.h>

#include "machine/mc_banks.h"
#include "machine/mc_flow.h"
#include "machine/mc_issue.h"

static int times_in(const PtxArg *regs, int n, PtxArg reg) {
  int times = 0;
  for (int i = 0; i < n; i++) times += regs[i] == reg;
  return times;
}

static int times_read(const PtxInst *inst, PtxArg reg) {
  PtxArg regs[MC_FLOW_SOURCES];
  return times_in(regs, mc_flow_reads(inst, regs), reg);
}

static int times_written(const PtxInst *inst, PtxArg reg) {
  PtxArg regs[MC_FLOW_SOURCES];
  return times_in(regs, mc_flow_writes(inst, regs), reg);
}

// How often instructions besides these two have a register.
static int uses_of(const PtxModule *module, const McHanded *h, PtxArg reg) {
  int n = 0;
  for (int pc = 0; pc < module->n_code; pc++)
    if (pc != h->writer && pc != h->reader)
      n += (times_read(&module->code[pc], reg) > 0) + (times_written(&module->code[pc], reg) > 0);
  return n;
}

// An instruction with one register in place of the other, if it has that.
static McSwap swap_to(const PtxInst *inst, bool writes, const McHanded *h, PtxArg reg) {
  const PtxArg other = reg == h->in ? h->or_in : h->in;
  const bool has_it = writes ? times_written(inst, reg) : times_read(inst, reg);
  return (McSwap){writes, has_it ? reg : other, reg, h->n};
}

enum { OF_LIKE = 5, OF_IN_PLACE = 13, OF_LOWER = 4, OF_ALONE = 25, OF_MISFIT = 20, OF_BANK = 10 };

// The weight of one of the two.
static int weight_of(const PtxModule *module, const McHanded *h, PtxArg reg) {
  const PtxInst *writer = &module->code[h->writer], *reader = &module->code[h->reader];
  const McSwap to = swap_to(writer, true, h, reg), from = swap_to(reader, false, h, reg);
  const int like = mc_likeness(module, h->writer, writer, &to) +
                   mc_likeness(module, h->reader, reader, &from),
            in_place = (times_read(writer, reg) > 0) + (times_written(reader, reg) > 0),
            uses = uses_of(module, h, reg);
  // In the code as it is one of the two has the register, and the other one has not.
  const bool writes_it = to.was != to.is;
  const int misfits =
      mc_issue_misfits(module, writes_it ? h->writer : h->reader, writes_it ? &to : &from, NULL);
  return OF_LIKE * like + OF_IN_PLACE * in_place + (int)lround(MC_ODDS * log(uses + 1)) -
         OF_ALONE * !uses - OF_MISFIT * misfits - OF_BANK * mc_meets_in_bank(reader, &from);
}

int mc_handed_in(const PtxModule *module, const McHanded *h) {
  return weight_of(module, h, h->in) - weight_of(module, h, h->or_in) +
         (h->in < h->or_in ? OF_LOWER : -OF_LOWER);
}
