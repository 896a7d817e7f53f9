// Bulk copies: one instruction copies many bytes, and no thread does the work. (PTX ISA, 9.7.9.27.)
//
// A copy is carried out where it is issued. The bytes that it brings have landed for a thread once
// it knows that the phase of the mbarrier is over. The bytes that it takes away may be written
// again once its thread has waited for its group (races.c). cp.reduce acts on every element like an
// atomic operation, one after the other.
#include "ptx/run/run_access.h"
#include "ptx/run/run_orders.h"
#include "ptx/run/run_sync.h"

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

void ptx_note_sent(PtxWarp *w, uint32_t lane) {
  w->last_sent[lane] = (PtxSent){w->groups->sends[lane].closed, w->pc};
}

// To the blocks of the cluster that `ranks` names, at the same offset in each, told at the same
// mbarrier of each.
static void land(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lane, int64_t to,
                 const PtxPlace *from, PtxSpace space, int64_t bytes) {
  const unsigned char *values = from->bytes;
  const bool unknown = ptx_place_is_unknown(m, from, space, (int)bytes);
  const PtxMbarrier *own = ptx_mbarrier_of(m, w, i, &i->groups[3], lane);
  if (!own) return;
  const int64_t barrier = ptx_smem_offset(m, own->address);
  const bool casts = ptx_has(i, PTX_MOD_multicast);
  const uint32_t ranks = ptx_ranks_of(m, w, i, 4, lane, ptx_rank_at(m, to));
  for (int rank = 0; rank < m->n_blocks; rank++) {
    if (!(ranks >> rank & 1)) continue;
    const int64_t base = m->smem_stride * rank, at = base + ptx_smem_offset(m, to);
    PtxMbarrier *b = ptx_mbarrier_at(m, w, lane, casts ? base + barrier : own->address);
    if (!b) return;
    ptx_reach(m, w, (int)lane, rank);
    const PtxPlace there = {m->shared.bytes + at, m->shared.state + at, at};
    bool forgets = unknown;
    if (ptx_has(i, PTX_MOD_reduce)) {
      forgets |= ptx_place_is_unknown(m, &there, PTX_SPACE_SHARED, (int)bytes);
      ptx_touch_landing(m, w, (int)lane, at, (int)bytes, NULL, b);
      ptx_atomic_bytes(i->form.logic, i->form.types[0], m->shared.bytes + at, values, bytes);
    } else {
      ptx_touch_landing(m, w, (int)lane, at, (int)bytes, values, b);
      memmove(m->shared.bytes + at, values, (size_t)bytes);
    }
    memset(m->shared.state + at,
           PTX_BYTE_WRITTEN | PTX_BYTE_DATA | (forgets ? PTX_BYTE_UNKNOWN : 0), (size_t)bytes);
    ptx_mbarrier_bytes(m, w, b, bytes);
  }
}

static void copy_bulk(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lane) {
  const bool to_shared = i->space == PTX_SPACE_SHARED && !ptx_has(i, PTX_MOD_bulk_group);
  const bool from_shared = !to_shared || ptx_has(i, PTX_MOD_shared_cta);
  const int64_t bytes = (int64_t)(uint32_t)ptx_lanes(m, w, &i->groups[2], 0)[lane];
  if (bytes == 0 || bytes % 16 != 0) {
    ptx_stop(m, w, PTX_FINDING_MISALIGNED, 1u << lane, "a bulk copy moves multiples of 16 bytes");
    return;
  }
  const PtxPlace to = take_side(m, w, i, &i->groups[0], lane,
                                to_shared ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL, bytes);
  if (!to.bytes) return;
  const PtxPlace from = take_side(m, w, i, &i->groups[1], lane,
                                  from_shared ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL, bytes);
  if (!from.bytes) return;
  if (from_shared)
    ptx_touch(m, w, (int)lane, from.offset, (int)bytes, to_shared ? PTX_FORWARDS : PTX_SENDS, NULL);
  if (to_shared) {
    land(m, w, i, lane, to.offset, &from, from_shared ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL, bytes);
    return;
  }
  ptx_note_sent(w, lane);
  const bool reduces = ptx_has(i, PTX_MOD_reduce);
  const PtxSpace space = from_shared ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
  const bool unknown = ptx_place_is_unknown(m, &from, space, (int)bytes) ||
                       (reduces && ptx_place_is_unknown(m, &to, PTX_SPACE_GLOBAL, (int)bytes));
  if (reduces) {
    ptx_atomic_bytes(i->form.logic, i->form.types[0], to.bytes, from.bytes, bytes);
    ptx_mark_atomic(&to, (int)bytes);
  } else {
    memmove(to.bytes, from.bytes, (size_t)bytes);
    ptx_mark_written(&to, (int)bytes, true);
  }
  if (unknown) ptx_mark_unknown(&to, (int)bytes);
}

void run_cp_async_bulk(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  FOR_LANES(mask) {
    copy_bulk(m, w, i, l);
    if (m->stopped) return;
  }
}

// ---- groups -------------------------------------------------------------------------------------

void run_bulk_commit(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  ptx_orders_close(m, w, PTX_ORDERS_SENDS);
  FOR_LANES(mask) {
    OrderGroups *groups = &w->groups->sends[l];
    w->groups->send_boards[l][groups->closed++ % ORDER_GROUPS_KEPT] = i->boards;
  }
}

static void wait_for_sends(PtxWarp *w, uint32_t lane, uint32_t left) {
  order_groups_wait_at(&w->groups->sends[lane], &w->groups->sent[lane], left, w->clock[w->index]);
}

// wait_group n leaves the last n groups. With .read or without it, what they read has been read.
void run_bulk_wait(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint64_t *left = ptx_lanes(m, w, &i->groups[0], 0);
  ptx_orders_groups(m, w, PTX_ORDERS_SENDS, (uint32_t)left[__builtin_ctz(mask)]);
  FOR_LANES(mask) wait_for_sends(w, l, (uint32_t)left[l]);
}

// The groups behind the last one that releases one of these scoreboards, `n` of those left out.
static uint32_t behind_board(const OrderGroups *groups, const uint8_t *released, unsigned boards,
                             uint32_t n) {
  uint32_t left = 0;
  for (; left != groups->closed - groups->done; left++)
    if (released[(groups->closed - left - 1) % ORDER_GROUPS_KEPT] & boards && n-- == 0) break;
  return left;
}

void ptx_await_boards(PtxMachine *m, PtxWarp *w, uint32_t mask, unsigned boards,
                      const uint64_t *left) {
  PtxGroups *g = w->groups;
  FOR_LANES(mask) {
    if (!order_groups_are_over(&g->copies[l]))
      ptx_wait_for_copies(
          w, l, behind_board(&g->copies[l], g->copy_boards[l], boards, (uint32_t)left[l]));
    if (order_groups_are_over(&g->sends[l])) continue;
    const uint32_t behind =
        behind_board(&g->sends[l], g->send_boards[l], boards, (uint32_t)left[l]);
    ptx_orders_groups(m, w, PTX_ORDERS_SENDS, behind);
    wait_for_sends(w, l, behind);
  }
}

// PTX asks for the wait. Machine code may do without: on an H200 none of 1.35 billion words that
// blocks sent and left behind was what the next block wrote there (lab/machine/exit.cu), and
// cuBLAS's own kernels end so.
void ptx_check_sent(PtxMachine *m, PtxWarp *w, uint32_t mask) {
  FOR_LANES(mask) {
    const PtxSent *sent = &w->last_sent[l];
    if (sent->pc < 0 || order_group_is_over(&w->groups->sends[l], sent->group)) continue;
    PtxFinding *f = ptx_find(m, w, PTX_FINDING_MISSING_WAIT, w->pc, sent->pc, 1u << l);
    f->other_thread = f->thread;
    f->text = "the thread ends while a bulk copy may still read its block's shared memory";
    if (m->module->machine)
      f->open = "an H200 keeps a block's memory until its copies have read it";
  }
}
