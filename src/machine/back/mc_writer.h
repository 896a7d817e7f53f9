// The store that a word is from.
#pragma once
#include "machine/back/mc_follow.h"

// The last store to an address until a time; pc -1: there is none.
typedef struct McWriter {
  PtxSpace space;
  uint64_t address;
  int64_t before;  // lane instructions so far
  const PtxMachine *machine;
  int pc, line;  // line: of the PTX's
  McThread thread;
  int64_t when;
} McWriter;

McWriter mc_writer_of(McAgain *again, void *self, bool machine_code, PtxSpace space,
                      uint64_t address, int64_t before);
// The thread of machine code that was carried out last; its warp is -1: there is none.
McThread mc_last_thread(McAgain *again, void *self);
