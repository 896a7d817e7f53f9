// An event of a thread, run again → its registers in all lanes → the one with another value than
// the PTX's.
//
//   SHFL.UP PT, R11, R8, 0x1, 0x1f     the PTX shuffles down: lane 3 has lane 2's value, not lane
//   4's
#include "machine/back/mc_follow.h"
#include "machine/mc_cubin.h"

// All lanes at one event: of the machine code by register, of the PTX by result.
typedef struct AllLanes {
  const McThread *thread;
  bool machine_code, found;
  int64_t when;
  int pc, line, n;
  const PtxArg *regs;
  uint32_t value[MC_PIECES][PTX_LANES];
} AllLanes;

static void take_lanes(AllLanes *a, const uint64_t *lanes, int shift) {
  if (a->n == MC_PIECES) return;
  for (int l = 0; l < PTX_LANES; l++) a->value[a->n][l] = (uint32_t)(lanes[l] >> shift);
  a->n++;
}

static void watch_lanes(void *self, const PtxMachine *m, PtxWarp *w, int pc, uint32_t mask) {
  AllLanes *a = self;
  const PtxInst *i = &m->module->code[pc];
  if (a->found || m->executed != a->when || w->index != a->thread->warp) return;
  if (a->machine_code ? pc != a->pc : i->line != a->line) return;
  if (!mc_is_thread(w, a->thread, mask)) return;
  a->found = true;
  for (int n = 0; a->machine_code && n < MC_PIECES && a->regs[n] >= 0; n++)
    take_lanes(a, mc_lanes(w, a->regs[n]), 0);
  for (int g = 0; !a->machine_code && g < i->n_groups; g++)
    for (int n = 0; n < i->groups[g].n && i->groups[g].written; n++) {
      if (i->groups[g].kind != PTX_GROUP_VALUE) continue;
      take_lanes(a, ptx_lanes(m, w, &i->groups[g], n), 0);
      if (ptx_reg_bits(m, w, &i->groups[g], n) > 32)
        take_lanes(a, ptx_lanes(m, w, &i->groups[g], n), 32);
    }
}

static bool has_lane(const AllLanes *ptx, uint32_t value, int lane) {
  for (int n = 0; n < ptx->n; n++)
    if (ptx->value[n][lane] == value || ptx->value[n][lane] == value - MC_RESERVED_SHARED)
      return true;
  return false;
}

int mc_wrong_lane(const McKnown *k, const McEvent *e, McAgain *again, void *self) {
  const McResult *result;
  PtxArg regs[MC_PIECES];
  for (int n = 0; n < MC_PIECES; n++)
    regs[n] = n < e->n_wrote && e->wrote[n] < MC_FRAME_T ? e->wrote[n] : MC_NOBODY;
  if (!e->line || mc_times_at(k, e->line, e->nth, &result) != e->times || !result ||
      result->mask != e->mask)
    return MC_NOBODY;
  AllLanes machine = {.thread = &k->thread, .machine_code = true, .when = e->when, .pc = e->pc};
  AllLanes ptx = {.thread = &k->thread, .when = result->when, .line = e->line};
  machine.regs = regs;
  again(self, true, watch_lanes, NULL, &machine);
  again(self, false, watch_lanes, NULL, &ptx);
  const int own = k->thread.lane;
  for (int n = 0; n < machine.n; n++)
    if (!ptx.found || !has_lane(&ptx, machine.value[n][own], own)) return MC_NOBODY;
  for (int l = 0; l < PTX_LANES; l++)
    for (int n = 0; n < machine.n && e->mask >> l & 1; n++)
      if (!has_lane(&ptx, machine.value[n][l], l)) return l;
  return MC_NOBODY;
}
