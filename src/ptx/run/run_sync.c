// Barriers of the block and of the warp. (PTX ISA, 9.7.14.1 to 9.7.14.4.)
//
// A barrier counts threads as they come and lets all go when enough have come. Enough means the
// threads of the block that have not ended, or the number in the instruction, where a warp counts
// as 32.
#include "ptx/run/run_sync.h"
#include "ptx/run/run_orders.h"

void ptx_only(PtxMachine *m, PtxWarp *w, uint32_t mask) {
  if (w->mask & ~mask) ptx_leave(m, w, w->mask & ~mask, w->pc + 1);
}

void ptx_release(PtxMachine *m, PtxWarp *w, uint32_t *into) {
  order_tell(m->order, into, w->clock, w->index, w->clock[w->index] + 1);
}

static uint32_t living(const PtxWarp *w) { return w->exists & ~w->exited; }

void ptx_meet(PtxWarp *w, uint32_t lanes) {
  FOR_LANES(lanes) w->lane_epoch[l]++;
  if (!(living(w) & ~lanes)) w->met = ++w->clock[w->index];
}

void ptx_acquire(PtxMachine *m, PtxWarp *w, uint32_t lanes, const uint32_t *from) {
  order_join(m->order, w->clock, from);
  ptx_meet(w, lanes);
}

void ptx_barrier_clear(const PtxMachine *m, PtxBarrier *b) {
  *b = (PtxBarrier){.clock = b->clock};
  order_clear(m->order, b->clock);
}

// Lets lanes of this warp come that may still do so; false when no other lane runs.
bool ptx_awaits(PtxWarp *w, uint32_t wanted, uint32_t mask) {
  if (!(wanted & ~mask)) return false;
  for (int i = 0; i < w->n_splits; i++) {
    const PtxSplit *s = &w->splits[i];
    if (i == w->now || s->state != PTX_RUNS || s->parked || !(s->mask & wanted)) continue;
    w->splits[w->now].parked = w->again = true;
    return true;
  }
  return false;
}

// Lanes of a tile name their tile: the lanes of one warp may come together and mean different
// masks.
uint32_t ptx_members(PtxMachine *m, PtxWarp *w, const PtxGroup *g, uint32_t *mask) {
  const uint64_t *names = ptx_lanes(m, w, g, 0);
  const uint32_t first = (uint32_t)names[__builtin_ctz(*mask)];
  uint32_t left = *mask;
  while (left) {
    const uint32_t wanted = (uint32_t)names[__builtin_ctz(left)];
    uint32_t same = 0;
    FOR_LANES(left) same |= (uint32_t)((uint32_t)names[l] == wanted) << l;
    if (same == *mask) return wanted;
    left &= ~same;
    if (wanted & living(w) & ~same) continue;
    ptx_leave(m, w, *mask & ~same, w->pc);
    *mask = same;
    return wanted;
  }
  return first;
}

// ---- the block ----------------------------------------------------------------------------------

// Gives the result of bar.red to a split that waited.
static void put_reduction(PtxMachine *m, PtxWarp *w, const PtxSplit *s, const PtxBarrier *b) {
  const PtxInst *i = &m->module->code[s->pc - 1];
  if (i->run != run_bar_red) return;
  const PtxFrame *frame = &s->calls[s->depth];
  const PtxArg arg = m->module->args[i->groups[0].at];
  if (i->groups[0].kind == PTX_GROUP_PRED) {
    const bool holds = i->form.logic == PTX_MOD_or ? b->any : b->all;
    uint32_t *pred = &w->preds[frame->pred + arg];
    *pred = holds ? *pred | s->mask : *pred & ~s->mask;
    w->pred_taint[frame->pred + arg] |= s->mask;
  } else if (i->groups[0].kind == PTX_GROUP_VALUE) {
    uint64_t *D = w->regs + (size_t)(frame->reg + arg) * PTX_LANES;
    FOR_LANES(s->mask) D[l] = b->count;
    w->taint[frame->reg + arg] |= s->mask;
  }
}

static void open_barrier(PtxMachine *m, PtxBlock *block, int id) {
  PtxBarrier *b = &block->barriers[id];
  for (int n = 0; n < m->block_warps; n++) {
    PtxWarp *w = &m->warps[block->rank * m->block_warps + n];
    for (int s = 0; s < w->n_splits; s++) {
      PtxSplit *split = &w->splits[s];
      if (split->state != PTX_WAITS_BARRIER || split->barrier != id) continue;
      split->state = PTX_RUNS;
      put_reduction(m, w, split, b);
      ptx_acquire(m, w, split->mask, b->clock);
    }
  }
  ptx_barrier_clear(m, b);
}

static void open_if_full(PtxMachine *m, PtxBlock *block, int id) {
  const PtxBarrier *b = &block->barriers[id];
  const int expected = b->expected > 0 ? b->expected : block->alive;
  if (b->arrived > 0 && b->arrived >= expected) open_barrier(m, block, id);
}

static bool is_aligned(const PtxInst *i) {
  return i->row->name[3] == '\0' || ptx_has(i, PTX_MOD_aligned);
}

static void tell_divergence(PtxMachine *m, PtxWarp *w, uint32_t mask) {
  int other = -1;
  for (int s = 0; s < w->n_splits; s++)
    if (s != w->now && (w->splits[s].mask & living(w) & ~mask)) other = w->splits[s].pc;
  const PtxSplit *now = &w->splits[w->now];
  if (other >= 0 && other != now->pc)
    ptx_find(m, w, PTX_FINDING_DIVERGENT_BARRIER, w->pc, other, mask);
}

bool ptx_come_together(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (!is_aligned(i)) return true;
  if (ptx_awaits(w, living(w), mask)) return false;
  if (living(w) & ~mask) tell_divergence(m, w, mask);
  return true;
}

static PtxBarrier *arrive(PtxMachine *m, PtxWarp *w, uint32_t mask, int id, int count) {
  PtxBarrier *b = &w->block->barriers[id];
  m->events++;
  if (b->arrived == 0) b->all = true;
  b->arrived += count > 0 && mask == living(w) ? PTX_LANES : __builtin_popcount(mask);
  if (count > 0) b->expected = count;
  ptx_release(m, w, b->clock);
  return b;
}

static void wait_at(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask, int id, int count,
                    const PtxGroup *pred) {
  if (!ptx_come_together(m, w, i, mask)) return;
  ptx_only(m, w, mask);
  PtxBarrier *b = arrive(m, w, mask, id, count);
  ptx_orders_meet(m, w, mask, id, count, true);
  if (pred) {
    const uint32_t bits = ptx_pred(m, w, pred) & mask;
    b->any |= bits != 0;
    b->all &= bits == mask;
    b->count += (uint32_t)__builtin_popcount(bits);
  }
  PtxSplit *s = &w->splits[w->now];
  s->state = PTX_WAITS_BARRIER;
  s->barrier = id;
  s->pc = w->pc + 1;
  s->mask = w->mask;
  open_if_full(m, w->block, id);
}

static int number(PtxMachine *m, PtxWarp *w, const PtxGroup *g, uint32_t mask) {
  return (int)(uint32_t)ptx_lanes(m, w, g, 0)[__builtin_ctz(mask)];
}
static int barrier_id(PtxMachine *m, PtxWarp *w, const PtxGroup *g, uint32_t mask) {
  return number(m, w, g, mask) & 15;
}

// Machine code may have both in one register, the threads in its upper half: BAR.SYNC R9, R9.
static int barrier_threads(PtxMachine *m, PtxWarp *w, const PtxGroup *g, uint32_t mask) {
  const int n = number(m, w, g, mask);
  return m->module->machine && n >> 16 ? n >> 16 : n;
}

void ptx_meet_group(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  enum { WARPS = 4 };
  wait_at(m, w, i, mask, PTX_NAMED_BARRIERS + w->in_block / WARPS, WARPS * PTX_LANES, NULL);
}

void run_bar_sync(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const int count = i->n_groups > 1 ? barrier_threads(m, w, &i->groups[1], mask) : 0;
  wait_at(m, w, i, mask, barrier_id(m, w, &i->groups[0], mask), count, NULL);
}

// bar.red d, id, count, p: the predicate comes last.
void run_bar_red(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const int count = i->n_groups > 3 ? barrier_threads(m, w, &i->groups[2], mask) : 0;
  wait_at(m, w, i, mask, barrier_id(m, w, &i->groups[1], mask), count, &i->groups[i->n_groups - 1]);
}

void run_bar_arrive(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const int id = barrier_id(m, w, &i->groups[0], mask);
  const int count = barrier_threads(m, w, &i->groups[1], mask);
  arrive(m, w, mask, id, count);
  ptx_orders_meet(m, w, mask, id, count, false);
  open_if_full(m, w->block, id);
}

// ---- the warp -----------------------------------------------------------------------------------

static void open_warp(PtxWarp *w) {
  uint32_t here = 0;
  for (int s = 0; s < w->n_splits; s++)
    if (w->splits[s].state == PTX_WAITS_WARP) here |= w->splits[s].mask;
  for (int s = 0; s < w->n_splits; s++) {
    PtxSplit *split = &w->splits[s];
    if (split->state != PTX_WAITS_WARP || (split->wants & ~w->exited & ~here)) continue;
    split->state = PTX_RUNS;
    ptx_meet(w, split->mask);
  }
}

void run_warp_sync(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  w->splits[w->now].apart = 0;
  const uint32_t wanted = ptx_members(m, w, &i->groups[0], &mask) & living(w);
  if (!(wanted & ~mask)) {
    ptx_meet(w, mask);
    return;
  }
  if (ptx_awaits(w, wanted, mask)) return;
  ptx_only(m, w, mask);
  PtxSplit *s = &w->splits[w->now];
  s->state = PTX_WAITS_WARP;
  s->wants = wanted;
  s->mask = w->mask;
  open_warp(w);
}

void ptx_recheck(PtxMachine *m, PtxWarp *w) {
  open_warp(w);
  for (int id = 0; id < PTX_BARRIERS; id++) open_if_full(m, w->block, id);
  ptx_recheck_cluster(m);
}

void run_nothing(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (ptx_waits_for_grid(i)) ptx_orders_grid(m, w);
  if (!ptx_sets_registers(i)) return;
  w->registers = (int)ptx_lanes(m, w, &i->groups[0], 0)[__builtin_ctz(mask)];
  ptx_orders_registers(m, w, w->registers);
}
// A relaxed arrival publishes what its thread did before its last fence.
void run_fence(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const bool async = ptx_has(i, PTX_MOD_async) || ptx_has(i, PTX_MOD_async_proxy);
  if (ptx_has(i, PTX_MOD_proxy) && async && i->space != PTX_SPACE_GLOBAL)
    ptx_fence_async(m, w, mask), ptx_orders_fence(m, w);
  if (!ptx_has(i, PTX_MOD_proxy) && !ptx_has(i, PTX_MOD_mbarrier_init) && ptx_is_wide(i))
    ptx_orders_tell(m, w);
  if (w->acquires) ptx_acquire(m, w, mask, m->released);
  w->acquires = false;
  ptx_release(m, w, w->fenced);
}
void run_nanosleep(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m, (void)i, (void)mask;
  w->yields = true;
  if (w->poll < 0) w->poll = w->pc;  // a pause between two questions is not what it waits for
}
