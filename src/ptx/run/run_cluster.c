// Blocks that run together: their barrier, addresses in each other's shared memory, and when those
// may be used. (PTX ISA, 9.7.14.4 barrier.cluster, 9.7.9.23 mapa, 9.7.9.12 st.async.)
//
// When another block's may be used is order/order_cluster.h's to say.
#include "base/str.h"
#include "order/order_words.h"
#include "ptx/run/run_access.h"
#include "ptx/run/run_orders.h"
#include "ptx/run/run_sync.h"

// ---- reaching another block ---------------------------------------------------------------------

static void tell_ended(PtxMachine *m, PtxWarp *w, int pc, int lane, const PtxBlock *block) {
  PtxFinding *f = ptx_find(m, w, PTX_FINDING_ENDED, pc, block->last_pc, 1u << lane);
  if (f->count > 1) return;
  memcpy(f->other_block, block->index, sizeof f->other_block);
  f->other_thread = block->last_thread;
  f->text = arena_printf(m->arena, "it " ORDER_HAS_ENDED, block->rank);
}

void ptx_reach(PtxMachine *m, PtxWarp *w, int lane, int rank) {
  PtxBlock *block = &m->blocks[rank];
  if (block == w->block) return;
  const OrderReach reach = {w->clock[w->index], (uint32_t)w->pc, (uint32_t)lane};
  order_reach(m->life, rank, w->index, reach);
  if (!order_has_heard(w->clock, rank * m->block_warps, m->block_warps, 0))
    ptx_find(m, w, PTX_FINDING_ENDED, w->pc, -1, 1u << lane)->text =
        arena_printf(m->arena, "it " ORDER_NOT_BEGUN, rank);
  if (block->alive == 0) tell_ended(m, w, w->pc, lane, block);
}

// A block ends: what others did to its memory, some thread of it must know of.
static void check_reached(PtxMachine *m, const PtxBlock *block) {
  for (int n = -1; (n = order_outlived(m->order, m->life, block->rank, n + 1, 1)) >= 0;) {
    const OrderReach *reach = order_reach_of(m->life, block->rank, n);
    tell_ended(m, &m->warps[n], (int)reach->tag, (int)reach->lane, block);
  }
}

void ptx_end_threads(PtxMachine *m, PtxWarp *w, uint32_t mask) {
  const int n = __builtin_popcount(mask);
  ptx_check_sent(m, w, mask);
  m->events++;
  m->alive -= n;
  w->block->alive -= n;
  m->cluster_barrier.arrived -= __builtin_popcount(w->cluster_arrived & mask);
  w->cluster_arrived &= ~mask;
  order_end(m->order, m->life, w->block->rank, w->clock);
  ptx_orders_end(m, w);
  w->block->last_pc = w->pc;
  w->block->last_thread = w->in_block * PTX_LANES + __builtin_ctz(mask);
  if (w->block->alive == 0) check_reached(m, w->block);
  if (w->block->alive == 0 && w->block->tmem) ptx_tmem_end(m, w);
}

uint32_t ptx_ranks_of(PtxMachine *m, PtxWarp *w, const PtxInst *i, int index, uint32_t lane,
                      int rank) {
  if (!ptx_has(i, PTX_MOD_multicast)) return 1u << rank;
  const uint32_t mask = (uint32_t)ptx_lanes(m, w, &i->groups[index], 0)[lane] & 0xffff;
  if (mask && mask >> m->n_blocks == 0) return mask;
  ptx_stop(m, w, PTX_FINDING_OUT_OF_BOUNDS, 1u << lane,
           arena_printf(m->arena, "the mask 0x%x of a multicast, but the cluster has %d blocks",
                        mask, m->n_blocks));
  return 0;
}

// ---- addresses ----------------------------------------------------------------------------------

// The name of a block in an address: bits 24 to 31. Bit 31 says that there is one.
static uint64_t name_of(uint64_t address) {
  return address & (PTX_RANK_NAMED | ((UINT64_C(1) << PTX_RANK_BITS) - 1) << PTX_RANK_SHIFT);
}

void run_mapa(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint64_t *A = ptx_lanes(m, w, &i->groups[1], 0), *B = ptx_lanes(m, w, &i->groups[2], 0);
  uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
  FOR_LANES(mask) {
    const uint32_t rank = (uint32_t)B[l];
    if (rank >= (uint32_t)m->n_blocks) {
      ptx_stop(m, w, PTX_FINDING_OUT_OF_BOUNDS, 1u << l,
               arena_printf(m->arena, "rank %u, but the cluster has %d blocks", rank, m->n_blocks));
      return;
    }
    D[l] = ptx_ranked(A[l] - name_of(A[l]), rank);
  }
}

void run_getctarank(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint64_t *A = ptx_lanes(m, w, &i->groups[1], 0);
  uint64_t *D = ptx_lanes(m, w, &i->groups[0], 0);
  FOR_LANES(mask)
  D[l] = A[l] & PTX_RANK_NAMED ? ptx_cut(A[l] >> PTX_RANK_SHIFT, PTX_RANK_BITS)
                               : (uint64_t)w->block->rank;
}

// ---- the barrier --------------------------------------------------------------------------------

// Lanes go on that have arrived when all had.
static void pass(PtxMachine *m, PtxWarp *w, uint32_t lanes) {
  w->cluster_passed &= ~lanes;
  order_hear_of_all(w->clock, m->n_warps);
  ptx_acquire(m, w, lanes, m->cluster_over);
}

static void open_cluster(PtxMachine *m) {
  order_assign(m->order, m->cluster_over, m->cluster_barrier.clock);
  ptx_barrier_clear(m, &m->cluster_barrier);
  for (int n = 0; n < m->n_warps; n++) {
    PtxWarp *w = &m->warps[n];
    w->cluster_passed |= w->cluster_arrived;
    w->cluster_arrived = 0;
    for (int s = 0; s < w->n_splits; s++) {
      if (w->splits[s].state != PTX_WAITS_CLUSTER) continue;
      w->splits[s].state = PTX_RUNS;
      pass(m, w, w->splits[s].mask);
    }
  }
}

void ptx_recheck_cluster(PtxMachine *m) {
  const int arrived = m->cluster_barrier.arrived;
  if (arrived > 0 && arrived >= m->alive) open_cluster(m);
}

static void tell_order(PtxMachine *m, PtxWarp *w, uint32_t lanes, const char *text) {
  if (lanes) ptx_find(m, w, PTX_FINDING_CLUSTER_BARRIER, w->pc, -1, lanes)->text = text;
}

void run_cluster_arrive(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (!ptx_come_together(m, w, i, mask)) return;
  const uint32_t twice = mask & (w->cluster_arrived | w->cluster_passed);
  tell_order(m, w, twice, "it arrives twice without a wait");
  w->cluster_arrived |= mask & ~twice;
  m->cluster_barrier.arrived += __builtin_popcount(mask & ~twice);
  m->events++;
  ptx_orders_cluster_arrive(m, w, mask & ~twice, ptx_has(i, PTX_MOD_relaxed));
  if (ptx_has(i, PTX_MOD_relaxed))
    order_join(m->order, m->cluster_barrier.clock, w->fenced);
  else
    ptx_release(m, w, m->cluster_barrier.clock);
  ptx_recheck_cluster(m);
}

void run_cluster_wait(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (!ptx_come_together(m, w, i, mask)) return;
  const uint32_t early = mask & ~(w->cluster_arrived | w->cluster_passed);
  tell_order(m, w, early, "it waits without an arrival");
  ptx_orders_cluster_wait(m, w, mask);
  if (!(mask & w->cluster_arrived)) {
    pass(m, w, mask & ~early);
    return;
  }
  ptx_only(m, w, mask);
  PtxSplit *s = &w->splits[w->now];
  s->state = PTX_WAITS_CLUSTER;
  s->pc = w->pc + 1;
  s->mask = w->mask;
}

// ---- stores that an mbarrier tells of -----------------------------------------------------------

static bool put_async(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lane, bool reduces) {
  const PtxGroup *to = &i->groups[0], *from = &i->groups[1];
  const PtxTypeRow *type = &ptx_types[i->form.types[0]];
  const int size = type->bits / 8;
  PtxAccess access;
  ptx_access_begin(m, w, i, 1u << lane, size * from->n, true, to, &access);
  const PtxPlace place =
      ptx_access_lane(m, w, &access, lane, PTX_SPACE_SHARED, ptx_access_address(m, w, to, lane));
  PtxMbarrier *b = place.bytes ? ptx_mbarrier_of(m, w, i, &i->groups[2], lane) : NULL;
  if (!b) return false;
  unsigned char values[64];
  for (int k = 0; k < from->n; k++) {
    uint64_t was = 0, value = ptx_cut(ptx_lanes(m, w, from, k)[lane], type->bits);
    memcpy(&was, place.bytes + k * size, (size_t)size);
    if (reduces) value = ptx_atomic_result(i->form.logic, i->form.types[0], was, value, 0);
    memcpy(values + k * size, &value, (size_t)size);
  }
  if (reduces)
    ptx_touch(m, w, (int)lane, place.offset, access.bytes, PTX_ATOMIC, NULL);
  else
    ptx_touch_landing(m, w, (int)lane, place.offset, access.bytes, values, b);
  memcpy(place.bytes, values, (size_t)access.bytes);
  const bool unknown = w->doubt >> lane & 1 ||
                       (reduces && ptx_place_is_unknown(m, &place, PTX_SPACE_SHARED, access.bytes));
  ptx_mark_written(&place, access.bytes, true);
  if (unknown) ptx_mark_unknown(&place, access.bytes);
  ptx_mbarrier_bytes(m, w, b, access.bytes);
  return true;
}

void run_st_async(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  FOR_LANES(mask) if (!put_async(m, w, i, l, false)) return;
}
void run_red_async(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  FOR_LANES(mask) if (!put_async(m, w, i, l, true)) return;
}
