// The functions by which threads meet, shared by run_sync.c, run_mbarrier.c and run_control.c.
#pragma once
#include "ptx/run/run.h"

// Lanes that the guard left out go on behind this instruction.
void ptx_only(PtxMachine *m, PtxWarp *w, uint32_t mask);
// Lanes have ended: the lanes that waited for them need not any more.
void ptx_recheck(PtxMachine *m, PtxWarp *w);
// The warp's clock goes to `into`, and what the warp does from now on is later.
void ptx_release(PtxMachine *m, PtxWarp *w, uint32_t *into);
void ptx_acquire(PtxMachine *m, PtxWarp *w, uint32_t lanes, const uint32_t *from);
// Lanes of a warp have met: what each did is in order with what the others do from now on.
void ptx_meet(PtxWarp *w, uint32_t lanes);
// For an instruction that all lanes of a warp run together (.aligned): false when it is run again
// as lanes may still come; a finding when they do not.
bool ptx_come_together(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask);
// The mbarrier that an operand addresses, or that lies at an offset in the cluster's shared memory;
// NULL after a finding that ends the block.
PtxMbarrier *ptx_mbarrier_of(PtxMachine *m, PtxWarp *w, const PtxInst *i, const PtxGroup *address,
                             uint32_t lane);
PtxMbarrier *ptx_mbarrier_at(PtxMachine *m, PtxWarp *w, uint32_t lane, int64_t offset);
// The arrivals that are missing have come.
void ptx_mbarrier_end_phase(PtxMachine *m, PtxWarp *w, PtxMbarrier *b);
// The four warps of a warpgroup meet.
void ptx_meet_group(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask);
// One arrival, of what a tcgen05.commit waits for.
void ptx_mbarrier_commit(PtxMachine *m, PtxWarp *w, uint32_t lane, PtxMbarrier *b);
// Bytes have come.
void ptx_mbarrier_bytes(PtxMachine *m, PtxWarp *w, PtxMbarrier *b, int64_t bytes);
// A lane began a bulk copy to elsewhere, in the group that is open.
void ptx_note_sent(PtxWarp *w, uint32_t lane);
// All groups of cp.async of a lane but the last `left` have landed.
void ptx_wait_for_copies(PtxWarp *w, uint32_t lane, uint32_t left);
// A finding for lanes that end and have not waited for theirs.
void ptx_check_sent(PtxMachine *m, PtxWarp *w, uint32_t mask);
// run_cluster.c: threads have ended.
void ptx_end_threads(PtxMachine *m, PtxWarp *w, uint32_t mask);
// The ranks of the blocks that a copy goes to: the mask of .multicast::cluster, operand `index`,
// or else only that of `rank`. 0 after a finding that ends the block.
uint32_t ptx_ranks_of(PtxMachine *m, PtxWarp *w, const PtxInst *i, int index, uint32_t lane,
                      int rank);
// The lanes that an operand names. Where lanes of `mask` name different sets, the lanes of one
// complete set remain in `mask`, and the others come again.
uint32_t ptx_members(PtxMachine *m, PtxWarp *w, const PtxGroup *g, uint32_t *mask);
// Whether lanes of this warp that are wanted may still come; then this instruction is run again.
bool ptx_awaits(PtxWarp *w, uint32_t wanted, uint32_t mask);
