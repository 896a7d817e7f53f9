// One launch of a kernel, run from its PTX and from machine code, each on memory of its own.
#pragma once
#include "cli/common/options.h"
#include "cli/open/open_input.h"

enum { SIDE_PTX, SIDE_MACHINE, SIDES };

typedef struct Sides {
  const PtxModule *module[SIDES];
  const char *kernel;
  PtxLaunch launch;
  OpenBlocks blocks;
  OptionList args;
} Sides;

typedef struct Side {
  PtxMachine *machine;
  OpenBuffers buffers;  // of its arguments, the same ones on both sides
  PtxOutcome outcome;
} Side;

typedef struct SideWord {
  int buffer;  // of the arguments' memory; -1: memory is equal
  int64_t at;
  uint32_t of[SIDES];
  int64_t n;  // words that differ
} SideWord;

// `trace` and `sink` may be NULL. False after findings: the launch cannot be run.
bool side_run(const Sides *sides, Arena *arena, int which, PtxTrace *trace, PtxAccessSink *sink,
              void *context, Side *out, Diags *diags);
// The first word of the arguments' memory that differs.
SideWord side_first_word(const Side side[SIDES]);
// Whether that word is the same on both sides now.
bool side_is_equal_at(const Side side[SIDES], const SideWord *word);
// The finding that ended a run; NULL: none did.
const PtxFinding *side_end(const Side *side);
