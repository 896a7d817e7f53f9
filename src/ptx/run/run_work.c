// The work of blocks that have not begun: clusterlaunchcontrol. (PTX ISA, 9.7.13.19.)
//
// A block asks for it with an mbarrier, which is told when 16 bytes of answer are there. The answer
// here is always that there is none, which a GPU gives when every block has begun: so each block
// does its own work, and one that is run alone ends behind it.
#include "ptx/run/run_access.h"
#include "ptx/run/run_sync.h"

enum { ANSWER = 16 };

static void answer(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lane) {
  static const unsigned char none[ANSWER] = {0};
  const PtxGroup *to = &i->groups[0];
  PtxAccess access;
  ptx_access_begin(m, w, i, 1u << lane, ANSWER, true, to, &access);
  const PtxPlace place =
      ptx_access_lane(m, w, &access, lane, PTX_SPACE_SHARED, ptx_access_address(m, w, to, lane));
  const PtxMbarrier *own = place.bytes ? ptx_mbarrier_of(m, w, i, &i->groups[1], lane) : NULL;
  if (!own) return;
  const bool to_all = ptx_has(i, PTX_MOD_multicast_all);
  for (int rank = 0; rank < m->n_blocks; rank++) {
    if (!to_all && rank != ptx_rank_at(m, place.offset)) continue;
    const int64_t base = m->smem_stride * rank, at = base + ptx_smem_offset(m, place.offset);
    PtxMbarrier *b = ptx_mbarrier_at(
        m, w, lane, to_all ? base + ptx_smem_offset(m, own->address) : own->address);
    if (!b) return;
    ptx_reach(m, w, (int)lane, rank);
    ptx_touch_landing(m, w, (int)lane, at, ANSWER, none, b);
    memcpy(m->shared.bytes + at, none, ANSWER);
    memset(m->shared.state + at, PTX_BYTE_WRITTEN | PTX_BYTE_DATA, ANSWER);
    ptx_mbarrier_bytes(m, w, b, ANSWER);
  }
}

void run_ask_for_work(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  for (uint32_t l = 0; l < PTX_LANES; l++)
    if (mask >> l & 1) answer(m, w, i, l);
}

void run_got_work(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  ptx_put_pred(m, w, &i->groups[0], mask, 0);
}

// A program may not ask this of an answer without work: any number does.
void run_whose_work(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const PtxGroup *to = &i->groups[0];
  for (int k = 0; k < to->n; k++) {
    if (m->module->args[to->at + k] < 0) continue;
    uint64_t *out = ptx_lanes(m, w, to, k);
    for (int l = 0; l < PTX_LANES; l++)
      if (mask >> l & 1) out[l] = 0;
  }
}
