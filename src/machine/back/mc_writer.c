// Address → the launch, run again → the last store to it.
#include "machine/back/mc_writer.h"

#include <string.h>

static void note_writer(void *self, const PtxAccess *access) {
  McWriter *w = self;
  const PtxMachine *m = w->machine;
  if (!access->is_store || !m || m->executed > w->before) return;
  if ((access->space == PTX_SPACE_SHARED) != (w->space == PTX_SPACE_SHARED)) return;
  FOR_LANES(access->mask) {
    const uint64_t from = (uint64_t)access->addr[l];
    if (w->address - from >= (uint64_t)access->bytes) continue;
    w->pc = access->pc;
    w->line = access->inst->line;
    w->thread.warp = access->rank * m->block_warps + access->warp;
    w->thread.lane = (int)l;
    w->when = m->executed;
    memcpy(w->thread.block, m->blocks[access->rank].index, sizeof w->thread.block);
  }
}

// Learns which machine it is about: a sink is not told.
static void note_machine(void *self, const PtxMachine *m, PtxWarp *w, int pc, uint32_t mask) {
  (void)w, (void)pc, (void)mask;
  ((McWriter *)self)->machine = m;
}

McWriter mc_writer_of(McAgain *again, void *self, bool machine_code, PtxSpace space,
                      uint64_t address, int64_t before) {
  McWriter w = {.space = space, .address = address, .before = before, .pc = MC_NOBODY};
  if (!again(self, machine_code, note_machine, note_writer, &w)) w.pc = MC_NOBODY;
  return w;
}

static void note_thread(void *self, const PtxMachine *m, PtxWarp *w, int pc, uint32_t mask) {
  McThread *out = self;
  (void)m, (void)pc;
  if (!mask) return;
  *out = (McThread){.warp = w->index, .lane = __builtin_ctz(mask)};
  memcpy(out->block, w->block->index, sizeof out->block);
}

McThread mc_last_thread(McAgain *again, void *self) {
  McThread out = {.warp = MC_NOBODY};
  again(self, true, note_thread, NULL, &out);
  return out;
}
