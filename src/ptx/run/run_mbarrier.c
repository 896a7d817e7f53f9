// mbarriers: phases, arrivals, awaited bytes. (PTX ISA, 9.7.14.15.)
//
// Their phases, and the clocks that arrivals hand to the threads that see one end, are
// order/order_mbar.h.
#include "order/order_words.h"
#include "ptx/run/run_access.h"
#include "ptx/run/run_orders.h"
#include "ptx/run/run_sync.h"

enum { ARRIVALS_MAX = (1 << 20) - 1 };  // PTX ISA, "Contents of the mbarrier Object"

static PtxMbarrier *find(PtxMachine *m, int64_t address) {
  for (int i = 0; i < m->n_mbarriers; i++)
    if (m->mbarriers[i].address == address) return &m->mbarriers[i];
  return NULL;
}

static const PtxGroup *address_of(const PtxInst *i) {
  for (int g = 0; g < i->n_groups; g++)
    if (i->groups[g].kind == PTX_GROUP_ADDRESS) return &i->groups[g];
  return NULL;
}

// The offset of a lane's mbarrier in the cluster's shared memory; −1 after a finding that ends the
// block.
static int64_t place_of(PtxMachine *m, PtxWarp *w, const PtxInst *i, const PtxGroup *g,
                        uint32_t lane) {
  PtxAccess access;
  ptx_access_begin(m, w, i, 1u << lane, 8, true, g, &access);
  // Where generic is said and an offset is given, as ThunderKittens gives it to tcgen05.commit, it
  // is one of shared memory: an mbarrier lies nowhere else.
  const uint64_t address = ptx_access_address(m, w, g, lane);
  const bool generic =
      i->space == PTX_SPACE_GENERIC && address - PTX_SHARED_WINDOW < PTX_WINDOW_BYTES;
  const PtxPlace place =
      ptx_access_lane(m, w, &access, lane, generic ? PTX_SPACE_GENERIC : PTX_SPACE_SHARED, address);
  return place.bytes ? place.offset : -1;
}

PtxMbarrier *ptx_mbarrier_at(PtxMachine *m, PtxWarp *w, uint32_t lane, int64_t offset) {
  PtxMbarrier *b = find(m, offset);
  if (!b) ptx_stop(m, w, PTX_FINDING_MBARRIER, 1u << lane, "it " ORDER_UNINITIALISED);
  // A thread uses it after it was initialized.
  if (b) ptx_touch(m, w, (int)lane, offset, 8, PTX_READS, NULL);
  return b;
}

PtxMbarrier *ptx_mbarrier_of(PtxMachine *m, PtxWarp *w, const PtxInst *i, const PtxGroup *address,
                             uint32_t lane) {
  const int64_t offset = place_of(m, w, i, address, lane);
  return offset < 0 ? NULL : ptx_mbarrier_at(m, w, lane, offset);
}

static PtxMbarrier *one_of(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lane) {
  return ptx_mbarrier_of(m, w, i, address_of(i), lane);
}

static void end_phase_if_over(PtxMachine *m, PtxWarp *w, PtxMbarrier *b) {
  m->events++;
  if (!order_phases_are_complete(&b->order->phases)) return;
  order_mbar_next(m->order, b->order);
  b->pc = w->pc;
}

static int64_t operand(PtxMachine *m, PtxWarp *w, const PtxInst *i, int index, uint32_t lane,
                       int64_t otherwise) {
  if (index >= i->n_groups) return otherwise;
  return (int64_t)(uint32_t)ptx_lanes(m, w, &i->groups[index], 0)[lane];
}

// A place among those that are kept; NULL after a finding that ends the block. Phases go on being
// counted where one is initialized again.
static PtxMbarrier *take_mbarrier(PtxMachine *m, PtxWarp *w, uint32_t lane, int64_t offset) {
  PtxMbarrier *b = find(m, offset);
  if (!b) b = find(m, -1);
  if (b) return b;
  if (m->n_mbarriers == PTX_MBARRIERS_MAX * m->n_blocks) {
    ptx_stop(m, w, PTX_FINDING_MBARRIER, 1u << lane, "too many mbarriers: at most 256 in a block");
    return NULL;
  }
  b = &m->mbarriers[m->n_mbarriers++];
  if (!b->order) b->order = order_mbar(m->order, 0, 0);
  if (!b->awaits) b->awaits = ARENA_ARRAY(m->arena, uint32_t, m->n_warps);
  b->order->party = m->order->parties++;
  return b;
}

// Whether another lane has just done the same: a whole warp initializes an mbarrier as if one lane
// did, as it may write one value to one place.
static bool was_done(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lanes, uint32_t lane,
                     int64_t n) {
  const uint64_t *address = ptx_lanes(m, w, &i->groups[0], 0);
  FOR_LANES(lanes & ((1u << lane) - 1)) {
    if (address[l] == address[lane] && operand(m, w, i, 1, l, 1) == n) return true;
  }
  return false;
}

void run_mbarrier_init(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  FOR_LANES(mask) {
    const int64_t n = operand(m, w, i, 1, l, 1);
    if (was_done(m, w, i, mask, l, n)) continue;
    const int64_t offset = place_of(m, w, i, &i->groups[0], l);
    PtxMbarrier *b = offset < 0 ? NULL : take_mbarrier(m, w, l, offset);
    if (!b) return;
    b->address = offset;
    if (n < 1 || n > ARRIVALS_MAX) {
      ptx_stop(m, w, PTX_FINDING_MBARRIER, 1u << l, "an mbarrier awaits 1 to 1048575 arrivals");
      return;
    }
    order_mbar_init(m->order, b->order, n);
    memset(b->awaits, 0, sizeof *b->awaits * (size_t)m->n_warps);
    ptx_orders_init(m, w, offset, n);
    ptx_touch(m, w, (int)l, offset, 8, PTX_WRITES, NULL);
    memset(m->shared.bytes + offset, 0, 8);
    memset(m->shared.state + offset, PTX_BYTE_WRITTEN, 8);
  }
}

void ptx_mbarrier_end_phase(PtxMachine *m, PtxWarp *w, PtxMbarrier *b) {
  ptx_orders_arrive(m, w, b->address, b->order->phases.pending, 0);
  b->order->phases.pending = 0;
  end_phase_if_over(m, w, b);
}

void run_mbarrier_inval(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  FOR_LANES(mask) {
    PtxMbarrier *b = one_of(m, w, i, l);
    if (!b) return;
    b->address = -1;
  }
}

// False after a finding that ends the block.
static bool take_arrivals(PtxMachine *m, PtxWarp *w, uint32_t lane, PtxMbarrier *b, int64_t n) {
  if (order_phases_arrive(&b->order->phases, n)) return true;
  ptx_stop(m, w, PTX_FINDING_MBARRIER, 1u << lane, "it " ORDER_TOO_MANY);
  return false;
}

// A relaxed one tells of what stands in front of its last fence alone, and of what is in tensor
// memory in front of tcgen05.fence::before_thread_sync, which is made for it (PTX ISA, tcgen05,
// "Specialized Inter-thread Synchronization").
static void tell(PtxMachine *m, PtxWarp *w, const PtxInst *i, PtxMbarrier *b) {
  uint32_t *gathered = order_mbar_gathered(b->order);
  if (!ptx_has(i, PTX_MOD_relaxed)) {
    ptx_release(m, w, gathered);
    return;
  }
  order_join(m->order, gathered, w->fenced);
  order_join_fact(m->order, gathered, w->clock, ORDER_BEFORE);
}

void run_mbarrier_arrive(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const bool drops = ptx_has(i, PTX_MOD_arrive_drop), expects = ptx_has(i, PTX_MOD_expect_tx);
  const int after = (int)(address_of(i) - i->groups) + 1;
  FOR_LANES(mask) {
    PtxMbarrier *b = one_of(m, w, i, l);
    if (!b) return;
    const int64_t n = operand(m, w, i, after, l, 1);
    if (i->groups[0].kind == PTX_GROUP_VALUE)
      ptx_lanes(m, w, &i->groups[0], 0)[l] = b->order->phases.phase;
    if (expects) b->order->phases.bytes += n;
    if (!take_arrivals(m, w, l, b, expects ? 1 : n)) return;
    ptx_orders_arrive(m, w, b->address, expects ? 1 : n, expects ? n : 0);
    if (drops) b->order->phases.expected--;
    tell(m, w, i, b);
    end_phase_if_over(m, w, b);
  }
}

void ptx_mbarrier_commit(PtxMachine *m, PtxWarp *w, uint32_t lane, PtxMbarrier *b) {
  if (!take_arrivals(m, w, lane, b, 1)) return;
  ptx_orders_commit(m, w, b->address);
  ptx_release(m, w, order_mbar_gathered(b->order));
  order_tell_done(m->order, order_mbar_gathered(b->order), ptx_share_of(m, w->index), w->asked + 1);
  end_phase_if_over(m, w, b);
}

void run_mbarrier_expect(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  FOR_LANES(mask) {
    PtxMbarrier *b = one_of(m, w, i, l);
    if (!b) return;
    const int64_t bytes = operand(m, w, i, 1, l, 0);
    b->order->phases.bytes += bytes;
    ptx_orders_arrive(m, w, b->address, 0, bytes);
  }
}

void run_mbarrier_complete(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  FOR_LANES(mask) {
    PtxMbarrier *b = one_of(m, w, i, l);
    if (!b) return;
    b->order->phases.bytes -= operand(m, w, i, 1, l, 0);
    ptx_release(m, w, order_mbar_gathered(b->order));
    end_phase_if_over(m, w, b);
  }
}

void ptx_mbarrier_bytes(PtxMachine *m, PtxWarp *w, PtxMbarrier *b, int64_t bytes) {
  b->order->phases.bytes -= bytes;
  ptx_orders_bytes(m, w, b->address, bytes);
  ptx_release(m, w, order_mbar_gathered(b->order));
  end_phase_if_over(m, w, b);
}

// A warp may know from others that phases are over for which it has not waited itself.
static bool is_behind(const PtxWarp *w, const PtxMbarrier *b, uint32_t parity) {
  const uint32_t awaited = b->awaits[w->index];
  return awaited < b->order->phases.phase && (awaited & 1) == (parity & 1);
}

// A parity tells the present phase from the one before. A warp that knows of none of the last two
// waits for the wrong one. Here a warp runs as far as it can before the others do, which finds
// faults that a GPU hides as long as its warps keep step. A warp that is late for this reason alone
// must not end the run: it is let through once no other warp can go on (m->forgives). True: it is
// late, and goes on.
static bool tell_missed(PtxMachine *m, PtxWarp *w, const PtxMbarrier *b, uint32_t lane,
                        uint32_t parity) {
  if (!order_mbar_is_missed(b->order, w->clock, parity))
    return m->forgives && is_behind(w, b, parity);
  PtxFinding *f = ptx_find(m, w, PTX_FINDING_MBARRIER, w->pc, b->pc, 1u << lane);
  f->text =
      m->forgives
          ? "it comes too late: the phase that it waits for and the next one are over, so the "
            "parity belongs to a later one; all others wait, so it is let through"
          : "it comes too late: the phase that it waits for and the next one are over, so the "
            "parity belongs to a later one";
  m->lapped = true;
  return m->forgives;
}

// Lanes ask together: none of them knew before what one of them learns now. A relaxed wait knows
// that the phase is over; it knows the work before that only behind its next fence.
static void learn(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t over,
                  PtxMbarrier *const *asked) {
  const bool relaxed = ptx_has(i, PTX_MOD_relaxed);
  w->acquires |= relaxed && over;
  FOR_LANES(over) {
    const uint32_t *ended = order_mbar_ended(m->order, asked[l]->order);
    const int party = asked[l]->order->party;
    if (!relaxed) ptx_acquire(m, w, 1u << l, ended);
    if (relaxed) order_join(m->order, m->released, ended);
    if (relaxed) order_join_fact(m->order, w->clock, ended, ORDER_BEFORE);
    if (relaxed) w->clock[party] = ended[party];
  }
}

// True in lanes with a phase that is over: the state that an arrival gave, or a parity.
void run_mbarrier_test(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const bool parity = ptx_has(i, PTX_MOD_parity);
  PtxMbarrier *asked[PTX_LANES];
  uint32_t over = 0;
  FOR_LANES(mask) {
    const PtxMbarrier *b = asked[l] = one_of(m, w, i, l);
    if (!b) return;
    const uint32_t given = (uint32_t)ptx_lanes(m, w, &i->groups[2], 0)[l];
    const OrderPhases *phases = &b->order->phases;
    bool done = parity ? order_phases_passes(phases, given & 1) : phases->phase != given;
    if (!done && parity) done = tell_missed(m, w, b, l, given);
    over |= (uint32_t)done << l;
  }
  FOR_LANES(parity ? over & -over : 0) {
    uint32_t *awaited = &asked[l]->awaits[w->index];
    *awaited += (*awaited & 1) == (ptx_lanes(m, w, &i->groups[2], 0)[l] & 1);
  }
  learn(m, w, i, over, asked);
  ptx_put_pred(m, w, &i->groups[0], mask, over);
  const uint32_t first = (uint32_t)__builtin_ctz(mask);
  ptx_orders_wait(m, w, asked[first]->address, (uint32_t)ptx_lanes(m, w, &i->groups[2], 0)[first],
                  over == mask);
  w->poll = -1;
  if (over == mask) return;
  w->yields = true;
  w->poll = w->pc;
}

// The copies so far arrive: they have landed. .noinc: as one of the arrivals that are awaited.
void run_cp_async_arrive(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  FOR_LANES(mask) {
    PtxMbarrier *b = one_of(m, w, i, l);
    if (!b) return;
    ptx_land_copies(w, l);
    if (ptx_has(i, PTX_MOD_noinc) && !take_arrivals(m, w, l, b, 1)) return;
    if (ptx_has(i, PTX_MOD_noinc)) ptx_orders_arrive(m, w, b->address, 1, 0);
    ptx_release(m, w, order_mbar_gathered(b->order));
    end_phase_if_over(m, w, b);
  }
}
