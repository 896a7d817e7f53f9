// mbarriers: phases, arrivals, awaited bytes; and bulk copies, which bring the bytes. (PTX ISA,
// 9.7.14.15 and 9.7.9.27.)
//
// A phase is over when no arrival and no byte is awaited any more; the next one begins at once.
// Arrivals hand their clocks to the threads that see the phase end. A bulk copy is carried
// out where it is issued: its bytes are writes of that thread, so reading them without waiting is a
// race.
#include "ptx/run/run_access.h"
#include "ptx/run/run_sync.h"

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

// The offset of a lane's mbarrier in shared memory; −1 after a finding that ends the block.
static int64_t place_of(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lane) {
  PtxAccess access;
  const PtxGroup *g = address_of(i);
  ptx_access_begin(m, w, i, 1u << lane, 8, true, g, &access);
  const PtxSpace space = i->space == PTX_SPACE_GENERIC ? PTX_SPACE_GENERIC : PTX_SPACE_SHARED;
  const PtxPlace place =
      ptx_access_lane(m, w, &access, lane, space, ptx_access_address(m, w, g, lane));
  return place.bytes ? place.offset : -1;
}

static PtxMbarrier *one_of(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lane) {
  const int64_t address = place_of(m, w, i, lane);
  if (address < 0) return NULL;
  PtxMbarrier *b = find(m, address);
  if (!b) ptx_stop(m, w, PTX_FINDING_MBARRIER, 1u << lane, "this mbarrier was not initialized");
  // Whoever uses it does so after it was initialized.
  if (b) ptx_touch(m, w, (int)lane, address, 8, PTX_READS, NULL);
  return b;
}

static void end_phase_if_over(PtxMachine *m, PtxMbarrier *b) {
  m->events++;
  if (b->pending > 0 || b->tx != 0) return;
  b->phase++;
  b->pending = b->expected;
  memcpy(b->done, b->clock, sizeof *b->done * (size_t)m->n_warps);
}

static int64_t operand(PtxMachine *m, PtxWarp *w, const PtxInst *i, int index, uint32_t lane,
                       int64_t otherwise) {
  if (index >= i->n_groups) return otherwise;
  return (int64_t)(uint32_t)ptx_lanes(m, w, &i->groups[index], 0)[lane];
}

void run_mbarrier_init(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  FOR_LANES(mask) {
    const int64_t address = place_of(m, w, i, l);
    if (address < 0) return;
    PtxMbarrier *b = find(m, address);
    if (!b && m->n_mbarriers == PTX_MBARRIERS_MAX) {
      ptx_stop(m, w, PTX_FINDING_MBARRIER, 1u << l, "more mbarriers than are kept (256)");
      return;
    }
    if (!b) b = &m->mbarriers[m->n_mbarriers++];
    const int expected = (int)operand(m, w, i, 1, l, 1);
    *b = (PtxMbarrier){.address = address, .expected = expected, .pending = expected, .pc = w->pc};
    const uint64_t bytes = 0;
    ptx_touch(m, w, (int)l, address, 8, PTX_WRITES, NULL);
    memcpy(m->shared.bytes + address, &bytes, sizeof bytes);
    memset(m->shared.state + address, PTX_BYTE_WRITTEN, sizeof bytes);
  }
}

void run_mbarrier_inval(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  FOR_LANES(mask) {
    PtxMbarrier *b = one_of(m, w, i, l);
    if (!b) return;
    *b = m->mbarriers[--m->n_mbarriers];
  }
}

void run_mbarrier_arrive(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const bool drops = ptx_has(i, PTX_MOD_arrive_drop), expects = ptx_has(i, PTX_MOD_expect_tx);
  const int after = (int)(address_of(i) - i->groups) + 1;
  FOR_LANES(mask) {
    PtxMbarrier *b = one_of(m, w, i, l);
    if (!b) return;
    const int64_t n = operand(m, w, i, after, l, 1);
    if (i->groups[0].kind == PTX_GROUP_VALUE) ptx_lanes(m, w, &i->groups[0], 0)[l] = b->phase;
    if (expects) b->tx += n;
    b->pending -= expects ? 1 : (int)n;
    if (drops) b->expected--;
    if (b->pending < 0)
      ptx_stop(m, w, PTX_FINDING_MBARRIER, 1u << l, "more arrivals than it was initialized with");
    ptx_clock_join(b->clock, w->clock, m->n_warps);
    end_phase_if_over(m, b);
  }
  w->clock[w->index]++;
}

void run_mbarrier_expect(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  FOR_LANES(mask) {
    PtxMbarrier *b = one_of(m, w, i, l);
    if (!b) return;
    b->tx += operand(m, w, i, 1, l, 0);
  }
}

void run_mbarrier_complete(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  FOR_LANES(mask) {
    PtxMbarrier *b = one_of(m, w, i, l);
    if (!b) return;
    b->tx -= operand(m, w, i, 1, l, 0);
    ptx_clock_join(b->clock, w->clock, m->n_warps);
    end_phase_if_over(m, b);
  }
}

void ptx_mbarrier_bytes(PtxMachine *m, PtxWarp *w, uint32_t lane, int64_t address, int64_t bytes) {
  PtxMbarrier *b = find(m, address);
  if (!b) {
    ptx_stop(m, w, PTX_FINDING_MBARRIER, 1u << lane, "this mbarrier was not initialized");
    return;
  }
  ptx_touch(m, w, (int)lane, address, 8, PTX_READS, NULL);
  b->tx -= bytes;
  ptx_clock_join(b->clock, w->clock, m->n_warps);
  end_phase_if_over(m, b);
}

// True in lanes whose phase is over: the state that an arrival gave, or a parity.
void run_mbarrier_test(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const bool parity = ptx_has(i, PTX_MOD_parity);
  uint32_t over = 0;
  FOR_LANES(mask) {
    const PtxMbarrier *b = one_of(m, w, i, l);
    if (!b) return;
    const uint32_t given = (uint32_t)ptx_lanes(m, w, &i->groups[2], 0)[l];
    const bool done = parity ? (b->phase & 1) != (given & 1) : b->phase != given;
    over |= (uint32_t)done << l;
    if (done) ptx_acquire(m, w, 1u << l, b->done);
  }
  ptx_put_pred(m, w, &i->groups[0], mask, over);
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
    if (ptx_has(i, PTX_MOD_noinc)) b->pending--;
    ptx_clock_join(b->clock, w->clock, m->n_warps);
    end_phase_if_over(m, b);
  }
  w->clock[w->index]++;
}

// ---- bulk copies --------------------------------------------------------------------------------

// All bytes of one side of a copy, in one plane; NULL after a finding.
static PtxPlace take_side(PtxMachine *m, PtxWarp *w, const PtxInst *i, const PtxGroup *g,
                          uint32_t lane, PtxSpace space, int64_t bytes) {
  const uint64_t address = ptx_access_address(m, w, g, lane);
  PtxAccess access;
  ptx_access_begin(m, w, i, 1u << lane, 16, false, g, &access);
  if (!ptx_access_lane(m, w, &access, lane, space, address).bytes) return (PtxPlace){0};
  const PtxPlace place = ptx_place(m, ptx_thread(w, (int)lane), &space, address, bytes);
  if (!place.bytes) {
    PtxFinding *f = ptx_find(m, w, PTX_FINDING_OUT_OF_BOUNDS, w->pc, -1, 1u << lane);
    f->address = address;
    f->space = space;
    f->bytes = (int)bytes;
    m->stopped = true;
  }
  return place;
}

static void copy_bulk(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lane, bool to_shared) {
  const int64_t bytes = (int64_t)(uint32_t)ptx_lanes(m, w, &i->groups[2], 0)[lane];
  if (bytes == 0 || bytes % 16 != 0) {
    ptx_stop(m, w, PTX_FINDING_MISALIGNED, 1u << lane, "a bulk copy moves multiples of 16 bytes");
    return;
  }
  const PtxSpace to_space = to_shared ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
  const PtxSpace from_space =
      to_shared && !ptx_has(i, PTX_MOD_shared_cta) ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
  const PtxPlace to = take_side(m, w, i, &i->groups[0], lane, to_space, bytes);
  if (!to.bytes) return;
  const PtxPlace from = take_side(m, w, i, &i->groups[1], lane, from_space, bytes);
  if (!from.bytes) return;
  if (from_space == PTX_SPACE_SHARED)
    ptx_touch(m, w, (int)lane, from.offset, (int)bytes, PTX_READS, NULL);
  if (to_shared) ptx_touch(m, w, (int)lane, to.offset, (int)bytes, PTX_WRITES, from.bytes);
  memmove(to.bytes, from.bytes, (size_t)bytes);
  ptx_mark_written(&to, (int)bytes, true);
}

void run_cp_async_bulk(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const bool to_shared = i->space == PTX_SPACE_SHARED && !ptx_has(i, PTX_MOD_bulk_group);
  FOR_LANES(mask) {
    copy_bulk(m, w, i, l, to_shared);
    if (m->stopped) return;
    if (!to_shared || i->n_groups < 4) continue;
    const uint64_t address = ptx_access_address(m, w, &i->groups[3], l);
    ptx_mbarrier_bytes(m, w, l, (int64_t)address,
                       (int64_t)(uint32_t)ptx_lanes(m, w, &i->groups[2], 0)[l]);
  }
  w->clock[w->index]++;
}
