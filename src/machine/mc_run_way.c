// Branches and where lanes meet.
#include "machine/mc_run.h"

static void go(PtxMachine *m, PtxWarp *w, uint32_t lanes, int target) {
  if (lanes == w->mask)
    w->next = target;
  else
    ptx_leave(m, w, lanes, target);
}

// BRA q, L
void mc_run_branch(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint32_t lanes = mask & mc_pred(w, i, 0, true);
  if (lanes) go(m, w, lanes, i->target);
}

// BRA.U.ANY: all lanes go where one of them does.
void mc_run_branch_any(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (mask & mc_pred(w, i, 0, true)) go(m, w, w->mask, i->target);
}

// BRA.DIV a, L: the lanes of a mask are to be together, and meet. ptxas guards it by whether a
// lane's mask is the first one's: lanes that the guard leaves out have another mask, and all go on
// apart.
//
//   R2UR P1, URZ, R5      P1: R5 is another one than the first lane's
//   @!P1 BRA.DIV UR4, L
void mc_run_branch_apart(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (mask == w->mask)
    mc_run_as(m, w, i, mask);
  else
    go(m, w, w->mask, (int)(i->machine->reach / MC_BYTES));
}

// EXIT q
void mc_run_leave(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint32_t lanes = mask & mc_pred(w, i, 0, true);
  if (lanes) run_exit(m, w, i, lanes);
}

// BRX, RET: to the place that stands in the instruction, and a register more.
void mc_run_branch_by(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint64_t *low = mc_row(w, i, 0, 0), *high = mc_row(w, i, 0, 1);
  ptx_only(m, w, mask);
  uint32_t left = mask;
  while (left) {
    const uint32_t first = (uint32_t)__builtin_ctz(left);
    const uint64_t by = high[first] << 32 | (uint32_t)low[first];
    const int64_t at = i->machine->reach + (int64_t)by;
    if (at < 0 || at % MC_BYTES || at / MC_BYTES >= m->module->n_code) {
      ptx_stop(m, w, PTX_FINDING_OUT_OF_BOUNDS, 1u << first,
               "a branch to a place without an "
               "instruction");
      return;
    }
    uint32_t same = 0;
    FOR_LANES(left) same |= (uint32_t)((high[l] << 32 | (uint32_t)low[l]) == by) << l;
    left &= ~same;
    if (left)
      ptx_leave(m, w, same, (int)(at / MC_BYTES));
    else
      w->next = (int)(at / MC_BYTES);
  }
}

// A function that the runtime brings along: a kernel may print. What it returns is 0, in R4.
void mc_run_call_outside(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m, (void)i;
  uint64_t *D = mc_lanes(w, MC_FRAME_R + 4);
  FOR_LANES(mask) D[l] = 0;
}

// LEPC d: the address behind it.
void mc_run_own_place(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  uint64_t *low = mc_row(w, i, 0, 0), *high = mc_row(w, i, 0, 1);
  FOR_LANES(mask) {
    low[l] = (uint32_t)(w->pc * MC_BYTES);
    high[l] = 0;
  }
}

// BREAK q, B: these lanes are not waited for.
void mc_run_leave_meeting(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint32_t lanes = mask & mc_pred(w, i, 0, true);
  uint64_t *B = mc_row(w, i, 1, 0);
  for (int l = 0; l < PTX_LANES; l++) B[l] &= ~(uint64_t)lanes;
  ptx_recheck(m, w);
}

// WARPSYNC.EXCLUSIVE a: lanes that name the same mask go on together, and alone.
void mc_run_go_alone(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint64_t *A = mc_row(w, i, 0, 0);
  const uint64_t wanted = A[__builtin_ctz(mask)];
  ptx_only(m, w, mask);
  uint32_t same = 0;
  FOR_LANES(mask) same |= (uint32_t)(A[l] == wanted) << l;
  if (mask & ~same) ptx_leave(m, w, mask & ~same, w->pc);
  w->splits[w->now].apart = (uint32_t)wanted;
}
