// The inside of the functions of mc_op.def. An operand is 32 numbers, one for each lane; what it
// does to them stands beside it.
#pragma once
#include "machine/mc_code.h"
#include "ptx/run/run.h"
#include "ptx/run/run_sync.h"

static inline const McOperand *mc_operand(const PtxInst *i, int n) {
  return &i->machine->operands[n];
}
static inline uint64_t *mc_lanes(PtxWarp *w, PtxArg arg) {
  return arg >= 0 ? w->frame + (size_t)arg * PTX_LANES : w->fixed + (size_t)~arg * PTX_LANES;
}
// Register k of an operand, as it lies in the frame.
static inline uint64_t *mc_row(PtxWarp *w, const PtxInst *i, int n, int k) {
  return mc_lanes(w, mc_operand(i, n)->arg[k]);
}
// A lane's value, sign and all.
static inline uint32_t mc_value(const McOperand *o, uint64_t value) {
  return (((uint32_t)value & o->keep) ^ o->flip) + o->add;
}
// The lanes in which a predicate that is read holds; `otherwise` where it is missing.
static inline uint32_t mc_pred(const PtxWarp *w, const PtxInst *i, int n, bool otherwise) {
  const McOperand *o = mc_operand(i, n);
  if (!o->present) return otherwise ? ~0u : 0;
  const bool always = o->arg[0] % MC_FRAME_UP == MC_PT && o->arg[0] < MC_FRAME_BP;
  const uint32_t bits = always ? ~0u : w->frame_preds[o->arg[0]];
  return o->negated ? ~bits : bits;
}
static inline void mc_put_pred(PtxWarp *w, const PtxInst *i, int n, uint32_t mask, uint32_t bits) {
  const McOperand *o = mc_operand(i, n);
  if (!o->present) return;
  uint32_t *pred = &w->frame_preds[o->arg[0]];
  *pred = (*pred & ~mask) | (bits & mask);
}
// The way of values, for a row with flow OWN: from the operands that are read, to those that are
// written.
void mc_follow(PtxWarp *w, const PtxInst *i, uint32_t mask, uint32_t data);
uint32_t mc_data(const PtxWarp *w, const PtxInst *i);

PtxRun mc_run_as;
// The row's function once for the warp: its result is every lane's.
PtxRun mc_run_once;
// The word at a place of a constant bank; false: there is none.
bool mc_constant(PtxMachine *m, PtxWarp *w, int bank, int64_t at, uint32_t *out);
// Fills the numbers and words of constant banks of all warps.
void mc_begin(PtxMachine *m);
