// The functions by which threads meet, shared by run_sync.c, run_mbarrier.c and run_control.c.
#pragma once
#include "ptx/run/run.h"

// Lanes that the guard left out go on behind this instruction.
void ptx_only(PtxMachine *m, PtxWarp *w, uint32_t mask);
// Lanes have ended: whoever waited for them need not any more.
void ptx_recheck(PtxMachine *m, PtxWarp *w);
// The warp's clock goes to `into`, and what the warp does from now on is later.
void ptx_release(PtxMachine *m, PtxWarp *w, uint32_t *into);
void ptx_acquire(PtxMachine *m, PtxWarp *w, uint32_t lanes, const uint32_t *from);
// Bytes have come for the mbarrier at an address of shared memory.
void ptx_mbarrier_bytes(PtxMachine *m, PtxWarp *w, uint32_t lane, int64_t address, int64_t bytes);
// The lanes that an operand names. Where lanes of `mask` name different ones, those of a name whose
// lanes are all there remain in `mask`, and the others come again.
uint32_t ptx_members(PtxMachine *m, PtxWarp *w, const PtxGroup *g, uint32_t *mask);
// Whether lanes of this warp that are wanted may still come; then this instruction is run again.
bool ptx_awaits(PtxWarp *w, uint32_t wanted, uint32_t mask);
